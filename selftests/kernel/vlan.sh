#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# VLAN tags and their priority survive relays, taken out by the NIC or not,
# one or two of them.
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
check "ping over VLAN devices on topo0" on "$A" ping -c 1 -W 2 "$(node "$C")"
check "received by the VLAN device" \
	jq -e '.[0].stats64.rx.packets > 0' <(ip -n "$C" -s -j link show topo0.100)
check "an answer to what is tagged, too" \
	grep -q "From $(node "$B").*Time to live exceeded" \
	<(on "$A" ping -c 1 -W 2 -t 1 "$(node "$C")")

head -c 2M /dev/urandom >"$tmp/sent"
on "$C" socat -u TCP-LISTEN:7000 "OPEN:$tmp/got,creat" &
must wait_listen "$C" 7000
check "TCP over VLAN devices" \
	timeout 60 ip netns exec "$A" socat -u "OPEN:$tmp/sent" "TCP:$(node "$C"):7000"
wait $!
check "arrives intact" cmp "$tmp/sent" "$tmp/got"

done_testing
