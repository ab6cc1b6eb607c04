#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What relaying a packet costs, beside everything else that could relay it:
# figures to read and build/bench/relay.json. Loss or reordering fails.
#
#	relay.sh [-k KERNEL] [-w] [PATH...]
#
#	-k  guest kernel (6.12)
#	-w  wall-clock time instead of instructions: ratios only, they depend on
#	    the host; to build/bench/relay-time.json
#
# PATH: base-skb floor-skb topoopt-skb ip-forward ip-forward-conntrack nexthop
# flowtable tc-flower ovs base-xdp floor-xdp topoopt-xdp xdp-fib; all when none is given.
#
# Instructions are counted by QEMU (-icount), so that the machine does not
# matter; they say nothing of caches and locks. A floor does nothing but give
# packets constant MAC addresses and send them on; at a base, B drops them.
# Every path has a route of its own for each destination. Competitors are
# measured where a plain run of some minutes can set them up: 100,000 routes and
# VLAN tags are for topoopt and what it is held against. 4096 bytes stand for
# RoCEv2 with its largest payload.

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
. selftests/lab/common.sh
kernel=6.12 unit=instructions out=build/bench/relay.json packets=1024
count=(-i)
while getopts k:wh option; do
	case $option in
	k) kernel=$OPTARG; lab_check_kernel "$kernel" ;;
	w) unit=nanoseconds out=build/bench/relay-time.json packets=16384 count=(-c 1) ;;
	*) sed -n '3,/^$/s/^#[[:space:]]\?//p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))

lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
selftests/lab/guest -k "$kernel" "${count[@]}" -t 1800 -- \
	/src/selftests/bench/relay_guest.sh "$packets" "$@" >"$lines"
mkdir -p build/bench
jq -s --arg unit "$unit" \
	'map(. + { "\($unit)_per_packet": (.runs | sort | .[length / 2 | floor]) })' "$lines" >"$out"
echo "== Relaying a packet, kernel $kernel: $unit (net: without what the floor, the base takes)"
jq -r --arg unit "$unit" -f selftests/bench/relay.jq "$out" | column -t -s $'\t'
