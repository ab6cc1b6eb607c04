#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bench/nic_relay.sh's part in the guest: B relays RoCEv2 from A to C.
#
#	nic_relay_guest.sh CASE
#
#	A eth1 == eth0 B eth1 == eth0 C
#	  eth0    eth1   eth2    eth3		as the guest finds them

. "$(dirname "$(realpath "$0")")/../lib.sh"
# shellcheck source=selftests/nic.sh
. "$lib_dir/nic.sh"
case=$1

plan=$tmp/plan.json
chain_plan 3 >"$plan"
lib_read_plan
must modprobe topoopt_fwd
case $case in
virtio*) must modprobe virtio_net ;;
*) must modprobe "$case" ;;
esac
for server in A B C; do
	must ip netns add $server
	must ip -n $server link set lo up
done

plug() { # DEVICE SERVER PORT
	must ip link set "$1" down
	nic_move "$2" "$1" "$3"
	must ip -n "$2" link set "$3" address "$(port_mac "$2" "$3")" up
	on "$2" ethtool -K "$3" rxvlan off >/dev/null 2>&1
}
plug eth0 A eth1
plug eth1 B eth0
plug eth2 B eth1
plug eth3 C eth0
# the ends of the row
must ip -n A link add eth0 address "$(port_mac A eth0)" mtu 4200 up type dummy
must ip -n C link add eth1 address "$(port_mac C eth1)" mtu 4200 up type dummy
nic_peers A B C

shines() { # SERVER PORT
	ip -n "$1" link show "$2" | grep -q LOWER_UP
}
all_shine() {
	shines A eth1 && shines B eth0 && shines B eth1 && shines C eth0
}

# Packets that B relayed, and by native XDP.
relayed() {
	on B toctl show --json | jq -r '[.ports[].counters |
		[."relay-rx-packets", ."relay-xdp-packets"]] | transpose | map(add) | @tsv'
}

row() { # MTU XDP WHAT-APPLY-SAYS
	printf '| %s | %s | %s | %s |\n' "$case" "$1" "$2" "$3" >>"$tmp/table"
}

try() { # MTU
	local all xdp all_before xdp_before port way=no

	for port in A/eth1 B/eth0 B/eth1 C/eth0; do
		must ip -n "${port%/*}" link set "${port#*/}" mtu "$1"
	done
	must wait_for 60 all_shine
	for server in A B C; do
		must apply $server "$plan" >/dev/null
	done
	must apply B "$plan" --xdp auto >/dev/null 2>"$tmp/said"
	must wait_for 60 all_shine	# drivers restart
	must wait_for 60 on A ping -c 1 -W 1 "$(node C)" >/dev/null
	read -r all_before xdp_before < <(relayed)
	answer_is "$case, MTU $1: RoCEv2 arrives" ok datagrams A C "$(node C)" $(($1 - 20)) 20 4791
	read -r all xdp < <(relayed)
	is "$case, MTU $1: all of it relayed" $((all - all_before)) 20
	if ((xdp - xdp_before == 20)); then
		way=yes
	elif ((xdp - xdp_before)); then
		way="$((xdp - xdp_before)) of 20"
	fi
	row "$1" "$way" "$(paste -sd ' ' "$tmp/said")"
	must apply B "$plan" --xdp off >/dev/null
	is "$case, MTU $1: at native XDP" "$way" "$2"
}

case $case in
virtio*) try 1500 yes; try 4200 yes ;;
e1000e) try 1500 no; try 4200 no ;;
# frames of one buffer alone
igb) try 1500 yes; try 4200 no ;;
esac
cat "$tmp/table"
done_testing
