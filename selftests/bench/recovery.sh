#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a cut link costs: on a ring of four servers and on the prototype of twelve, each
# link in turn goes dark and returns, under numbered UDP and TCP streams between all
# pairs of servers, relayed by the kernel's stack and at XDP. Prints what was lost, and
# writes build/bench/recovery.json; fails when more than a datagram is lost after a cut,
# TCP stalls for longer than its least retransmission timeout, something wrong is
# delivered, or a TTL is not that of a path in the tables.
#
#	recovery.sh [-k KERNEL] [-r ROUNDS]
#
#	-k  guest kernel (6.12)
#	-r  how often to cut each link (1)
#
# A guest nanosecond is an instruction, so the busy host does not count.

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
. selftests/lab/common.sh
kernel=6.12 rounds=1 out=build/bench/recovery.json
while getopts k:r:h option; do
	case $option in
	k) kernel=$OPTARG; lab_check_kernel "$kernel" ;;
	r) rounds=$OPTARG ;;
	*) sed -n '3,/^$/s/^#[[:space:]]\?//p' "$0" >&2; exit 2 ;;
	esac
done

mkdir -p build/bench
build/toctl plan --cluster examples/ring-4/cluster.json --job examples/ring-4/job.json \
	--fixed -o build/bench/recovery-ring-4.json >/dev/null
build/toctl plan --job examples/prototype-12/job.json --degree 4 \
	-o build/bench/recovery-prototype-12.json >/dev/null
for fabric in ring-4 prototype-12; do
	selftests/lab/guest -i -k "$kernel" -t 3600 -- /src/selftests/bench/recovery_guest.sh \
		"/src/build/bench/recovery-$fabric.json" "$rounds" |
		jq -c --arg fabric "$fabric" '{fabric: $fabric} + .'
done >"$out.part"
jq -s . "$out.part" >"$out"
rm "$out.part"
# 200 ms is TCP_RTO_MIN; 20 ms more for one processor that plays all servers
jq -r '.[] | "\(.fabric), \(.path): \(.cuts) cuts, \(.streams) streams, a datagram every \(.interval_ns / 1e3 | round) us",
	"  lost after a cut: \(.lost_median) (median), \(.lost_max) (most); when light returns: \(.lost_light_max) (most)",
	"  TCP: \(.tcp_messages) messages, \(.tcp_missing) missing, \(.tcp_stall_ns_max / 1e6 | round) ms at most",
	"  wrong: \(.wrong_delivered) delivered, \(.wrong_order) in order, \(.wrong_ttl) TTLs"' "$out"
jq -e 'all(.[]; .lost_max <= 1 and .lost_light_max <= 1 and .tcp_missing == 0 and
	.tcp_stall_ns_max <= 220e6 and .wrong_delivered == 0 and .wrong_ttl == 0 and
	.wrong_refused == 0 and (.path == "skb" or .xdp_redirected > 0))' "$out" >/dev/null ||
	lab_die "a cut link costs more than it may: $out"
