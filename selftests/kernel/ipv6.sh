#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# IPv6 between node addresses, and what of it must not be relayed.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/frames.sh"

chain_up 3
frames_watch "$C" eth0
to_b=$(port_mac "$B" eth0)

check "node to node" on "$A" ping -c 1 -W 30 "$(node6 "$C")"
check "port to port" on "$A" ping -c 1 -W 30 -I "$(port_ip6 "$A" eth1)" "$(port_ip6 "$C" eth0)"

head -c 2M /dev/urandom >"$tmp/sent"
on "$C" socat -u TCP6-LISTEN:7000 "OPEN:$tmp/got,creat" &
must wait_listen "$C" 7000
check "TCP" timeout 60 in_netns "$A" socat -u "OPEN:$tmp/sent" "TCP6:[$(node6 "$C")]:7000"
wait $!
check "arrives intact" cmp "$tmp/sent" "$tmp/got"

# Extension headers are the relay's business only where they say so.
frame "$A" eth1 "$to_b" "$(node6 "$A")" "$(node6 "$C")" mark-padding --options 01040000
check "hop-by-hop padding is relayed" frame_arrives "$C" eth0 mark-padding
is "unchanged" "$(frame_field next)" 0

# Link-local and multicast sources and destinations never leave their link,
# even if a table had a route for them; this one has none, and the frame must
# come out at B's stack as it went in.
frames_watch "$B" eth0
before=$(ethtool_counter "$B" topo0 relay_rx_packets)
frame "$A" eth1 "$to_b" fe80::1 "$(node6 "$C")" mark-link-local
frame "$A" eth1 "$to_b" :: "$(node6 "$C")" mark-unspecified
frame "$A" eth1 "$to_b" ff02::1 "$(node6 "$C")" mark-multicast
frame "$A" eth1 "$to_b" "$(node6 "$A")" "$(node6 "$C")" mark-alert --options 05020000
frame "$A" eth1 "$to_b" "$(node6 "$A")" "$(node6 "$C")" mark-later
for mark in link-local unspecified multicast; do
	check "a $mark source is not relayed" frame_lost "$C" eth0 "mark-$mark" mark-later
done
check "router alert is left to the stack" frame_lost "$C" eth0 mark-alert mark-later
is "only the last was relayed" \
	"$(ethtool_counter "$B" topo0 relay_rx_packets)" $((before + 1))

done_testing
