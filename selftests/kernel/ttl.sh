#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A relay takes one off the TTL or hop limit, keeps the IP checksum right, and
# drops and answers what arrives with 1.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/frames.sh"

chain_up 3
frames_watch "$C" eth0
from_a() { # DST MARK [OPTION...]
	local src

	case $1 in
	*:*) src=$(node6 "$A") ;;
	*) src=$(node "$A") ;;
	esac
	frame "$A" eth1 "$(port_mac "$B" eth0)" "$src" "$@"
}

check "ping through a relay" on "$A" ping -c 1 -W 30 "$(node "$C")"

for ttl in 255 64 2; do
	from_a "$(node "$C")" "mark-$ttl" --ttl "$ttl"
	check "IPv4 with TTL $ttl arrives" frame_arrives "$C" eth0 "mark-$ttl"
	is "with one less" "$(frame_field ttl)" $((ttl - 1))
	is "and a right checksum" "$(frame_field csum)" ok
	from_a "$(node6 "$C")" "mark-six-$ttl" --ttl "$ttl"
	check "IPv6 with hop limit $ttl arrives" frame_arrives "$C" eth0 "mark-six-$ttl"
	is "with one less" "$(frame_field ttl)" $((ttl - 1))
done
is "source is the relay's egress port" "$(frame_field from)" "$(port_mac "$B" eth1)"
is "destination is the next hop" "$(frame_field to)" "$(port_mac "$C" eth0)"

before=$(ethtool_counter "$B" topo0 drop_ttl)
for ttl in 0 1; do
	from_a "$(node "$C")" "mark-spent-$ttl" --ttl "$ttl"
	from_a "$(node6 "$C")" "mark-spent-six-$ttl" --ttl "$ttl"
done
from_a "$(node "$C")" mark-later
for ttl in 0 1; do
	check "IPv4 with TTL $ttl is not relayed" \
		frame_lost "$C" eth0 "mark-spent-$ttl" mark-later
	check "IPv6 with hop limit $ttl is not relayed" \
		frame_lost "$C" eth0 "mark-spent-six-$ttl" mark-later
done
is "drops are counted" "$(ethtool_counter "$B" topo0 drop_ttl)" $((before + 4))

check "the sender is told" \
	grep -q "From $(node "$B").*Time to live exceeded" \
	<(on "$A" ping -c 1 -W 30 -t 1 "$(node "$C")")
check "the sender is told, IPv6" \
	grep -q "From $(node6 "$B").*Time exceeded" \
	<(on "$A" ping -c 1 -W 30 -t 1 "$(node6 "$C")")

done_testing
