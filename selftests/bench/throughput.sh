#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What users see of a relay: TCP goodput and latency over up to three of them,
# beside kernel forwarding and a direct link, RDMA over one of them beside a
# direct link, and what a new table every 10 ms does to any of it. Figures to
# read and build/bench/throughput.json. Loss or reordering while tables are
# replaced fails.
#
#	throughput.sh [-k KERNEL] [-r ROUNDS] [-w]
#
#	-k  guest kernel (7.2, where rdma_rxe works in namespaces)
#	-r  rounds, each of which measures everything once (2)
#	-w  wall-clock time and two processors instead of instructions: ratios
#	    only, they depend on the host; to build/bench/throughput-time.json
#
# Instructions are counted by QEMU (-icount), a nanosecond each, so that the
# machine does not matter: all servers share one processor that does 10^9 of them
# a second. Only ratios mean anything. Loss and reordering are what numbered
# datagrams beside TCP say, TCP (segments sent again) and the RDMA responder
# (requests out of sequence or twice).

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
. selftests/lab/common.sh
kernel=7.2 rounds=2 out=build/bench/throughput.json
count=(-i)
while getopts k:r:wh option; do
	case $option in
	k) kernel=$OPTARG; lab_check_kernel "$kernel" ;;
	r) rounds=$OPTARG ;;
	w) out=build/bench/throughput-time.json count=() ;;
	*) sed -n '3,/^$/s/^#[[:space:]]\?//p' "$0" >&2; exit 2 ;;
	esac
done

lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
selftests/lab/guest -k "$kernel" "${count[@]}" -m 2048 -t 3600 -- \
	/src/selftests/bench/throughput_guest.sh "$rounds" >"$lines"
mkdir -p build/bench
jq -s 'group_by([.measure, .path, .relays, .commits])
	| map(first + { runs: map(.value), value: (map(.value) | sort | .[length / 2 | floor]),
		lost: (map(.lost) | add), reordered: (map(.reordered) | add) })' "$lines" >"$out"
echo "== Over relays, kernel $kernel, median of $rounds rounds"
jq -r -f selftests/bench/throughput.jq "$out" | column -t -s $'\t'
jq -e 'all(.[]; .commits and .lost + .reordered > 0 | not)' "$out" >/dev/null ||
	lab_die "loss or reordering while tables were replaced"
