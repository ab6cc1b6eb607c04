#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Path MTU discovery over relays: what does not fit the egress port is dropped
# and answered, never fragmented; GSO packets fit when their segments do.
#
#	A eth1 == eth0 B eth1 == eth0 C eth1 == eth0 D
#	     4200           1400           4200

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 4
narrow=1400

mtu() { on_sysfs "$1" cat "/sys/class/net/$2/mtu"; }
is "the topoopt device has the MTU of its ports" "$(mtu "$B" topo0)" "$(mtu "$B" eth1)"
must ip -n "$B" link set eth1 mtu $narrow
must ip -n "$C" link set eth0 mtu $narrow
is "and follows the smallest" "$(mtu "$B" topo0)" $narrow
is "A knows nothing of it" "$(mtu "$A" topo0)" 4200

before=$(ethtool_counter "$B" topo0 drop_mtu)
check "IPv4: fragmentation needed" \
	grep -q "From $(node "$B").*mtu = $narrow" \
	<(on "$A" ping -c 1 -W 30 -M "do" -s 3000 "$(node "$D")")
check "IPv6: packet too big" \
	grep -q "From $(node6 "$B").*mtu=$narrow" \
	<(on "$A" ping -c 1 -W 30 -M "do" -s 3000 "$(node6 "$D")")
is "drops are counted" "$(ethtool_counter "$B" topo0 drop_mtu)" $((before + 2))
check "A learnt the path MTU" \
	grep -q "mtu $narrow" <(on "$A" ip route get "$(node "$D")")
check "A learnt the path MTU, IPv6" \
	grep -q "mtu $narrow" <(on "$A" ip route get "$(node6 "$D")")
check "what just fits passes" \
	on "$A" ping -c 1 -W 30 -M "do" -s $((narrow - 28)) "$(node "$D")"
check "what just fits passes, IPv6" \
	on "$A" ping -c 1 -W 30 -M "do" -s $((narrow - 48)) "$(node6 "$D")"

# Without DF, too: C has not been asked yet.
check "IPv4 without DF: not fragmented, but answered" \
	grep -q "From $(node "$B")" <(on "$A" ping -c 1 -W 30 -M dont -s 3000 "$(node "$C")")
check "then the sender fragments" on "$A" ping -c 1 -W 30 -M dont -s 3000 "$(node "$C")"

# D has learnt nothing yet: TCP has to discover the path MTU in either direction.
transfer() { # FROM TO ADDRESS
	local file

	file=$(mktemp "$tmp/got-XXXX")
	on "$2" socat -u TCP6-LISTEN:7000,ipv6only=0,reuseaddr "OPEN:$file,trunc" &
	wait_listen "$2" 7000
	timeout 60 in_netns "$1" socat -u "OPEN:$tmp/sent" "$3:7000"
	wait $!
	cmp "$tmp/sent" "$file"
}
head -c 2M /dev/urandom >"$tmp/sent"
check "TCP, D to A" transfer "$D" "$A" "TCP:$(node "$A")"
check "TCP, D to A, IPv6" transfer "$D" "$A" "TCP6:[$(node6 "$A")]"
check "TCP, A to D" transfer "$A" "$D" "TCP:$(node "$D")"

# A sender whose own port is too narrow learns it from its own device.
must ip -n "$A" link set topo0 mtu 4000
must ip -n "$A" link set eth1 mtu 2000
is "an MTU set by hand stays" "$(mtu "$A" topo0)" 4000
check "the sender's own port" \
	grep -qE "mtu[ =]+2000" <(on "$A" ping -c 1 -W 30 -M "do" -s 3000 "$(node "$B")" 2>&1)

done_testing
