#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What it takes to apply a plan on 1024 servers through one etcd: the agents
# have no kernel (agents.c), all else is real.
#
#	fabric.sh [SERVERS]

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
servers=${1:-1024}
tmp=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; wait; rm -rf "$tmp"' EXIT
url=http://127.0.0.1:23479

etcd --data-dir "$tmp/etcd" --listen-client-urls "$url" --advertise-client-urls "$url" \
	--listen-peer-urls http://127.0.0.1:23480 >"$tmp/etcd.log" 2>&1 &
pids+=($!)
jq -n --argjson n "$servers" '{name: "bench", servers: $n,
	allreduce: [{group: "all", bytes: 1000000000}],
	mp: [{from: "0-15", to: "all", bytes: 1000000, both: true}]}' >"$tmp/job.json"
echo "# plan of $servers servers, 8 ports each"
build/toctl plan --job "$tmp/job.json" --degree 8 -o "$tmp/plan.json" >/dev/null
stat -c %s "$tmp/plan.json" | awk '{ printf "# plan.json: %.1f MB\n", $1 / 1e6 }'
mkdir "$tmp/kernels"
build/bench/agents "$url" "$tmp/kernels" 0 "$servers" &
pids+=($!)
export ETCDCTL_API=3
until (($(etcdctl --endpoints "$url" get --prefix --keys-only /topoopt/agents/ |
	grep -c state) == servers)); do
	sleep 1
done
for run in 1 2 3; do
	jq -c --argjson w "$run" '.tables[].groups[][0].weight = $w' "$tmp/plan.json" >"$tmp/next.json"
	build/toctl apply --all --set "etcd.endpoints=$url" --set agents.timeout=300s -v "$tmp/next.json" | tail -n 1
done
etcdctl --endpoints "$url" endpoint status -w json |
	jq -r '.[0].Status.dbSize / 1e6 | "# etcd: \(.) MB"'
