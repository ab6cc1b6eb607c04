#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a server spends on a packet that it relays, beside everything else that could relay it,
# with several drivers: tables as of Documentation/performance.md, and build/bench/relay.json.
# Loss or reordering fails.
#
#	relay.sh [-k KERNEL] [-d DRIVER]... [-w] [PATH...]
#
#	-k  guest kernel (6.12)
#	-d  veth, virtio-net-pci, e1000e or igb; all when none is given. The NICs are QEMU's;
#	    igb is in Debian 13's (lab/qemu.sh), which is fetched unless LAB_QEMU is another.
#	-w  wall-clock time instead of instructions: ratios only, they depend on
#	    the host; to build/bench/relay-time.json
#
# PATH: generator direct direct-xdp floor-skb topoopt-skb ip-forward ip-forward-conntrack
# nexthop flowtable tc-flower ovs floor-xdp topoopt-xdp xdp-fib; all that the driver can do
# when none is given.
#
# Instructions are counted by QEMU (-icount), so that the machine does not matter; they say
# nothing of caches and locks, and devices take none. "direct" sends from one server to the
# next. What a path takes beyond that is what the server in between spends: to receive a
# packet, to relay it and to send it. "generator" is the sender without a driver. A floor does
# nothing but give packets constant MAC addresses and send them on. Every path has a route of
# its own for each destination. VLAN tags, IPv6, several next hops, counting and 100,000
# routes are measured with veth. 4096 bytes stand for RoCEv2 with its largest payload.

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
. selftests/lab/common.sh
. selftests/bench/qemu_nics.sh
kernel=6.12 unit=instructions out=build/bench/relay.json packets=4096
count=(-i) drivers=()
while getopts k:d:wh option; do
	case $option in
	k) kernel=$OPTARG; lab_check_kernel "$kernel" ;;
	d) drivers+=("$OPTARG") ;;
	w) unit=nanoseconds out=build/bench/relay-time.json packets=16384 count=(-c 1) ;;
	*) sed -n '3,/^$/s/^#[[:space:]]\?//p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
((${#drivers[@]})) || drivers=(veth virtio-net-pci e1000e igb)

# Two links of two NICs each. virtio-net sends by a timer of the guest's clock, so that as many
# packets as the driver has queued leave together whatever QEMU's threads do.
devices() { # DRIVER
	local model=$1

	[[ $1 != virtio-net-pci ]] || model+=,tx=timer,ioeventfd=off
	qemu_nics "$model" 1 1 2 2
}

paths() { # DRIVER: what it can do
	local all="generator direct topoopt-skb flowtable ip-forward ip-forward-conntrack tc-flower ovs"

	case $1 in
	veth) echo "$all direct-xdp floor-skb nexthop topoopt-xdp xdp-fib floor-xdp" ;;
	e1000e) echo "$all" ;;
	*) echo "$all topoopt-xdp xdp-fib" ;;
	esac
}

measure() { # DRIVER [PATH...]
	local driver=$1 nics=''

	shift
	# shellcheck disable=SC2046 # words
	(($#)) || set -- $(paths "$driver")
	[[ $driver == veth ]] || nics=$(devices "$driver")
	if [[ $driver == igb && -z ${LAB_QEMU:-} ]]; then
		local -x LAB_QEMU
		LAB_QEMU=$(selftests/lab/qemu.sh)
	fi
	selftests/lab/guest -k "$kernel" "${count[@]}" -t 1800 ${nics:+-n "$nics"} -- \
		/src/selftests/bench/relay_guest.sh "$driver" "$packets" "$@"
}

lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
status=0
for driver in "${drivers[@]}"; do
	measure "$driver" "$@" >>"$lines" || status=1
done
mkdir -p build/bench
jq -s --arg unit "$unit" \
	'map(. + { "\($unit)_per_packet": (.runs | sort | .[length / 2 | floor]) })' "$lines" >"$out"
echo "Relaying a packet, kernel $kernel: $unit"
jq -r --arg unit "$unit" -f selftests/bench/relay.jq "$out"
exit "$status"
