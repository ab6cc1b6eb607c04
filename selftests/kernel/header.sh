#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a router owes the next one: malformed IP headers are dropped and
# counted, packets are cut to their length, options are respected.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/frames.sh"

chain_up 3
frames_watch "$C" eth0
to_b=$(port_mac "$B" eth0)
v4=("$A" eth1 "$to_b" "$(node "$A")" "$(node "$C")")
v6=("$A" eth1 "$to_b" "$(node6 "$A")" "$(node6 "$C")")

before=$(ethtool_counter "$B" topo0 drop_header)
frame "${v4[@]}" mark-checksum --bad-checksum
frame "${v4[@]}" mark-short --length 19
frame "${v4[@]}" mark-long --length 500
frame "${v6[@]}" mark-long6 --length 500
frame "${v4[@]}" mark-version --version 5
frame "${v6[@]}" mark-version6 --version 5
frame "${v4[@]}" mark-ihl --ihl 4
frame "${v4[@]}" mark-ihl15 --ihl 15 --size 40 --cut 70
frame "${v4[@]}" mark-later
check "IPv4, wrong checksum" frame_lost "$C" eth0 mark-checksum mark-later
check "IPv4, total length below header length" frame_lost "$C" eth0 mark-short mark-later
check "IPv4, total length beyond the frame" frame_lost "$C" eth0 mark-long mark-later
check "IPv6, payload length beyond the frame" frame_lost "$C" eth0 mark-long6 mark-later
check "IPv4, wrong version" frame_lost "$C" eth0 mark-version mark-later
check "IPv6, wrong version" frame_lost "$C" eth0 mark-version6 mark-later
check "IPv4, header length below 20" frame_lost "$C" eth0 mark-ihl mark-later
check "IPv4, header length beyond the frame" frame_lost "$C" eth0 mark-ihl15 mark-later
# three of them are no IP headers at all and left to the stack, which drops them
is "drops are counted" "$(ethtool_counter "$B" topo0 drop_header)" $((before + 5))

frame "${v4[@]}" mark-padded --size 16 --pad 18
check "a padded IPv4 packet arrives" frame_arrives "$C" eth0 mark-padded
is "cut to its length" "$(frame_field len)" 44
frame "${v6[@]}" mark-padded6 --size 16 --pad 18
check "a padded IPv6 packet arrives" frame_arrives "$C" eth0 mark-padded6
is "cut to its length" "$(frame_field len)" 64

# record route, 1 slot; no operation; end
frame "${v4[@]}" mark-record --options 07070400000000
check "IPv4 options pass" frame_arrives "$C" eth0 mark-record
is "unchanged" "$(frame_field options)" 0707040000000000
is "with a right checksum" "$(frame_field csum)" ok

before=$(ethtool_counter "$B" topo0 relay_rx_packets)
frame "${v4[@]}" mark-alert --options 94040000
frame "${v4[@]}" mark-source --options "830704$(printf '%02x' 10 200 0 2)00"
frame "${v4[@]}" mark-broken --options 07ff0400
frame "${v4[@]}" mark-late
check "router alert is left to the stack" frame_lost "$C" eth0 mark-alert mark-late
check "source routes are left to the stack" frame_lost "$C" eth0 mark-source mark-late
check "broken options are left to the stack" frame_lost "$C" eth0 mark-broken mark-late
is "only the last was relayed" \
	"$(ethtool_counter "$B" topo0 relay_rx_packets)" $((before + 1))

# Addresses that no router forwards.
before=$(ethtool_counter "$B" topo0 relay_rx_packets)
for src in 127.0.0.1 0.0.0.0 169.254.1.1 224.0.0.1 255.255.255.255; do
	frame "$A" eth1 "$to_b" "$src" "$(node "$C")" "mark-from-${src//./-}"
done
frame "${v4[@]}" mark-last
for src in 127.0.0.1 0.0.0.0 169.254.1.1 224.0.0.1 255.255.255.255; do
	check "source $src is not relayed" frame_lost "$C" eth0 "mark-from-${src//./-}" mark-last
done
frame "$A" eth1 02:00:00:00:00:99 "$(node "$A")" "$(node "$C")" mark-other
frame "$A" eth1 ff:ff:ff:ff:ff:ff "$(node "$A")" "$(node "$C")" mark-broadcast
frame "${v4[@]}" mark-end
check "a frame to another MAC address is not relayed" frame_lost "$C" eth0 mark-other mark-end
check "a broadcast frame is not relayed" frame_lost "$C" eth0 mark-broadcast mark-end
is "only the last two were relayed" \
	"$(ethtool_counter "$B" topo0 relay_rx_packets)" $((before + 2))

done_testing
