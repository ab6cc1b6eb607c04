#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# VLAN tags and their priority survive relays, taken out by the NIC or not,
# one or two of them, by a VLAN device as a port or not.
#
#	A eth1 == eth0 B eth1 == eth0 C
#	topo0.100                topo0.100

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/frames.sh"

chain_up 3
frames_watch "$C" eth0
tagged() { # MARK TAG... [-- OPTION...]
	local mark=$1 tags=()

	shift
	while (($#)) && [[ $1 != -- ]]; do
		tags+=(--tag "$1")
		shift
	done
	frame "$A" eth1 "$(port_mac "$B" eth0)" "$(node "$A")" "$(node "$C")" "$mark" \
		"${tags[@]}" "${@:2}"
}

for offload in on off; do
	for dev in "$A eth1" "$B eth0" "$B eth1" "$C eth0"; do
		# shellcheck disable=SC2086
		must on ${dev% *} ethtool -K ${dev#* } txvlan $offload rxvlan $offload >/dev/null
	done
	tagged "mark-vlan-$offload" 8100:100:5
	check "VLAN 100, priority 5, arrives (offload $offload)" \
		frame_arrives "$C" eth0 "mark-vlan-$offload"
	is "with its tag" "$(frame_field tags)" 8100:100:5
	is "and one hop less" "$(frame_field ttl)" 63
	tagged "mark-priority-$offload" 8100:0:3
	check "a priority tag arrives (offload $offload)" \
		frame_arrives "$C" eth0 "mark-priority-$offload"
	is "with its priority" "$(frame_field tags)" 8100:0:3
	tagged "mark-two-$offload" 88a8:200:6 8100:100:2
	check "two tags arrive (offload $offload)" \
		frame_arrives "$C" eth0 "mark-two-$offload"
	is "both" "$(frame_field tags)" 88a8:200:6,8100:100:2
	is "and one hop less" "$(frame_field ttl)" 63
	is "with a right checksum" "$(frame_field csum)" ok
done

# Tagged packets for the node address belong to VLAN devices on topo0.
for server in "$A" "$C"; do
	must ip -n "$server" link add link topo0 name topo0.100 type vlan id 100 egress-qos-map 0:5
	must ip -n "$server" link set topo0.100 up
done
must ip -n "$A" route replace "$(node "$C")/32" dev topo0.100 src "$(node "$A")"
must ip -n "$C" route replace "$(node "$A")/32" dev topo0.100 src "$(node "$C")"
check "ping over VLAN devices on topo0" on "$A" ping -c 1 -W 30 "$(node "$C")"
check "received by the VLAN device" \
	jq -e '.[0].stats64.rx.packets > 0' <(ip -n "$C" -s -j link show topo0.100)
check "an answer to what is tagged, too" \
	grep -q "From $(node "$B").*Time to live exceeded" \
	<(on "$A" ping -c 1 -W 30 -t 1 "$(node "$C")")

head -c 2M /dev/urandom >"$tmp/sent"
on "$C" socat -u TCP-LISTEN:7000 "OPEN:$tmp/got,creat" &
must wait_listen "$C" 7000
check "TCP over VLAN devices" \
	timeout 60 in_netns "$A" socat -u "OPEN:$tmp/sent" "TCP:$(node "$C"):7000"
wait $!
check "arrives intact" cmp "$tmp/sent" "$tmp/got"

# VLAN devices as B's ports. They take the tag, and give another one.
for port in eth0 eth1; do
	must ip -n "$B" link set $port nomaster down
	must ip -n "$B" link set $port name nic-$port
	must ip -n "$B" link add link nic-$port name $port type vlan id 7 \
		egress-qos-map 1:1 2:2 3:3 4:4 5:5 6:6 7:7
	must ip -n "$B" link set nic-$port up
	must ip -n "$B" link set $port up master topo0
done
must apply "$B" "$plan" >/dev/null
pass_through() { # MARK PCP NAME EXPECTED [OPTION...]
	tagged "$1" "8100:7:$2" -- "${@:5}"
	check "$3" frame_arrives "$C" eth0 "$1"
	is "with that priority" "$(frame_field tags)" "8100:7:$4"
}
pass_through mark-plain 5 "VLAN devices as ports relay by DSCP" 3 --tos 0x68
must ip -n "$B" link set eth0 type vlan ingress-qos-map 1:1 2:2 3:3 4:4 5:5 6:6 7:7
pass_through mark-mapped 5 "with an ingress map, by the tag" 5 --tos 0x68
pass_through mark-bottom 0 "with a tag of 0, too" 0 --tos 0x68
must ip -n "$B" link set eth0 type vlan ingress-qos-map 5:2
pass_through mark-moved 5 "as the map has it" 2 --tos 0x68
pass_through mark-inner 5 "a tag inside stays" 2,8100:9:1 --tag 8100:9:1

done_testing
