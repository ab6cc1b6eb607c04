#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The measurements of collective.sh, in a guest: one JSON object per line.

# Standard output is for measurements.
exec 3>&1 1>&2
. "$(dirname "$(realpath "$0")")/../lib.sh"
example=$lib_dir/../examples/bcube-3-2

must toctl plan --cluster "$example/cluster.json" --job "$example/job.json" --fixed \
	-o "$tmp/plan.json" >/dev/null
must fabric_up "$tmp/plan.json"
for server in "${servers[@]}"; do
	printf 'qdisc replace dev %s root tbf rate 1mbit burst 16k latency 5s\n' eth0 eth1 eth2 eth3 |
		tc -n "$server" -b -
done
for algorithm in bml plan ps ring; do
	pids=()
	for server in "${servers[@]}"; do
		on "$server" toctl collective run "$plan" --node "$server" --json --size 1800000 \
			--repeat 3 --timeout 600s --algorithm "$algorithm" >"$tmp/$server.json" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		must wait "$pid"
	done
	jq -c 'del(.links)' "$tmp/s0.json" >&3
done
