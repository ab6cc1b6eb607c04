#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What users see of a relay: TCP goodput and latency over up to three of them,
# beside kernel forwarding and a direct link, RDMA over one of them beside a
# direct link, and what a new table every 10 ms does to any of it. Figures to
# read and build/bench/throughput.json.
#
#	throughput.sh [-k KERNEL] [-r ROUNDS]
#
#	-k  guest kernel (7.2, where rdma_rxe works in namespaces)
#	-r  rounds, each of which measures everything once (3)
#
# All of it runs in one emulated machine: only ratios inside one run mean
# anything. Loss and reordering are what numbered packets say: iperf3's of UDP,
# TCP's own (segments sent again, segments that arrived out of order).

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
. selftests/lab/common.sh
kernel=7.2 rounds=3 out=build/bench/throughput.json
while getopts k:r:h option; do
	case $option in
	k) kernel=$OPTARG; lab_check_kernel "$kernel" ;;
	r) rounds=$OPTARG ;;
	*) sed -n '3,/^$/s/^#[[:space:]]\?//p' "$0" >&2; exit 2 ;;
	esac
done

lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
selftests/lab/guest -k "$kernel" -m 2048 -t 3600 -- \
	/src/selftests/bench/throughput_guest.sh "$rounds" >"$lines"
mkdir -p build/bench
jq -s 'group_by([.measure, .path, .relays, .commits])
	| map(first + { runs: map(.value), value: (map(.value) | sort | .[length / 2 | floor]),
		lost: (map(.lost // 0) | add), reordered: (map(.reordered // 0) | add) })' \
	"$lines" >"$out"
echo "== Over relays, kernel $kernel, median of $rounds rounds"
jq -r -f selftests/bench/throughput.jq "$out" | column -t -s $'\t'
