#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What arrives for this server, what has no route, what is not IP: all of it
# goes up the stack, where each belongs; what leaves without a route fails.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/frames.sh"

chain_up 3

counter() { ethtool_counter "$@"; }

# The node address belongs to topo0: with strict reverse path filtering, a
# packet for it that came in at the port would be a martian.
for dev in all default topo0 eth0 eth1; do
	must on "$C" sysctl -qw "net.ipv4.conf.$dev.rp_filter=1"
done
received() { # SERVER DEVICE
	ip -n "$1" -s -j link show "$2" | jq '.[0].stats64.rx.packets'
}
before=$(received "$C" topo0)
check "the node address, rp_filter strict" on "$A" ping -c 1 -W 30 "$(node "$C")"
is "received by topo0" "$(received "$C" topo0)" $((before + 1))
check "the node address, IPv6" on "$A" ping -c 1 -W 30 "$(node6 "$C")"
check "of the neighbour" on "$A" ping -c 1 -W 30 "$(node "$B")"

frames_watch "$C" topo0
frames_watch "$C" eth0
frame "$A" eth1 "$(port_mac "$B" eth0)" "$(node "$A")" "$(node "$C")" mark-node
frame "$A" eth1 "$(port_mac "$B" eth0)" "$(port_ip "$A" eth1)" "$(port_ip "$C" eth0)" mark-port
check "topo0 receives what is for the node address" frame_arrives "$C" topo0 mark-node
check "the port receives what is for its own" frame_arrives "$C" eth0 mark-port
check "and topo0 does not" bash -c "! grep mark-port $tmp/frames-$C-topo0"

# RDMA NICs take no packets for each other: what is for B's other port leaves by it,
# and C sends it back.
frames_watch "$B" eth1
wrong_port() { # MARK [OPTION...]
	frame "$A" eth1 "$(port_mac "$B" eth0)" "$(port_ip "$A" eth1)" "$(port_ip "$B" eth1)" "$@"
}
relayed=$(counter "$B" topo0 relay_rx_packets) before=$(counter "$B" topo0 local_packets)
on "$B" socat -u UDP-RECV:4791 OPEN:/dev/null &
must wait_listen "$B" 4791
wrong_port mark-round --ports 49152:4791
check "RoCEv2 for another port arrives there" frame_arrives "$B" eth1 mark-round
is "by way of the neighbour" "$(frame_field ttl)" 62
wrong_port mark-udp
both_local() { (($(counter "$B" topo0 local_packets) == before + 2)); }
check "what is not RoCEv2 is delivered where it arrived" wait_for 60 both_local
is "and not relayed" $(($(counter "$B" topo0 relay_rx_packets) - relayed)) 1

before=$(counter "$C" topo0 local_packets)
check "a port address" on "$A" ping -c 1 -W 30 -I "$(port_ip "$A" eth1)" "$(port_ip "$C" eth0)"
is "is counted as local" "$(counter "$C" topo0 local_packets)" $((before + 1))

# Other addresses on the ports work as on any interface: ARP, then a miss.
must ip -n "$A" addr add 192.0.2.1/24 dev eth1
must ip -n "$B" addr add 192.0.2.2/24 dev eth0
before=$(counter "$B" topo0 miss_packets)
check "an address that no table knows" on "$A" ping -c 1 -W 30 192.0.2.2
check "is a miss" test "$(counter "$B" topo0 miss_packets)" -gt "$before"
check "link-local IPv6 works" on "$A" ping -c 1 -W 30 \
	"$(ip -n "$B" -j -6 addr show dev eth0 scope link | jq -r 'first(.[].addr_info[].local // empty)')%eth1"

# Without a route.
must ip -n "$A" route add 10.200.9.0/24 dev topo0
check_fails "no route for the destination: ping is told" \
	'Destination Host Unreachable|No route to host' on "$A" ping -c 1 -W 30 10.200.9.9
check_fails "a UDP sender is told" 'No route to host' on "$A" python3 -c '
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("10.200.9.9", 9))'
check_fails "a TCP sender is told" 'No route to host' \
	timeout 10 in_netns "$A" socat -u /dev/null TCP:10.200.9.9:9

# Without a link.
must "$fabric" darken "$B:eth1"
check "B's topo0 still has carrier" wait_for 60 grep -qx 1 \
	<(on_sysfs "$B" cat /sys/class/net/topo0/carrier)
check "C's has not" wait_for 60 bash -c "ip -n $C link show topo0 | grep -q NO-CARRIER"
before=$(counter "$B" topo0 drop_no_port)
check "no port left on the way: the sender is told" \
	grep -q "From $(node "$B").*Destination Host Unreachable" \
	<(on "$A" ping -c 1 -W 30 "$(node "$C")")
is "and it is counted" "$(counter "$B" topo0 drop_no_port)" $((before + 1))
must "$fabric" light "$B:eth1"
check "with light again it works again" \
	wait_for 60 on "$A" ping -c 1 -W 1 "$(node "$C")"

# topo0 down: the ports are NICs like others.
must ip -n "$B" link set topo0 down
before=$(counter "$B" topo0 relay_rx_packets)
check_fails "with topo0 down nothing is relayed" '100% packet loss' \
	on "$A" ping -c 1 -W 1 "$(node "$C")"
check "but the port's own addresses answer" on "$A" ping -c 1 -W 30 192.0.2.2
is "nothing was counted" "$(counter "$B" topo0 relay_rx_packets)" "$before"

done_testing
