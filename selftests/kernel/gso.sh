#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 300
# Aggregates are relayed whole and arrive intact, unless they are of RoCE
# packets, which nobody may take apart.
#
#	A eth1 == eth0 B eth1 == eth0 C eth1 == eth0 D

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 4

head -c 16M /dev/urandom >"$tmp/short"
cat "$tmp"/short{,,,} >"$tmp/long"
stream() { # FILE FROM TO ADDRESS: does what is sent arrive?
	on "$3" socat -u -b 262144 TCP6-LISTEN:7000,ipv6only=0,reuseaddr - |
		cmp - "$1" &
	wait_listen "$3" 7000
	timeout 200 in_netns "$2" socat -u -b 262144 - "$4:7000" <"$1"
	wait $!
}

trace=/sys/kernel/tracing/instances/topoopt
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
must mkdir "$trace"
at_exit "rmdir $trace"
echo 'len > 4200' >"$trace/events/topoopt/topoopt_relay/filter"
echo 1 >"$trace/events/topoopt/topoopt_relay/enable"
check "a 64 MB TCP stream arrives intact" stream "$tmp/long" "$A" "$D" "TCP:$(node "$D")"
echo 0 >"$trace/events/topoopt/topoopt_relay/enable"
check "relayed in aggregates" grep -q topoopt_relay "$trace/trace"
check "and over IPv6" stream "$tmp/short" "$D" "$A" "TCP6:[$(node6 "$A")]"
is "nothing was dropped for it" "$(ethtool_counter "$B" topo0 drop_gso)" 0

# Above 64 KiB. Before Linux 7.0, IPv6 has an option then that segments do not have.
limit() { # SERVER DEVICE NAME
	ip -n "$1" -d -j link show "$2" | jq --arg name "$3" '.[0][$name]'
}
devices() { # SERVER: ports and topo0, or the wires in the namespace ocs
	ip -n "$1" -br link | sed -n 's/^\(eth[01]\|topo0\|w[^@ ]*\)[@ ].*/\1/p'
}
sizes=(gso_max_size 180000 gro_max_size 180000)
# IPv4 came with 6.3.
ipv4=
if [[ $(limit "$A" topo0 gso_ipv4_max_size) != null ]]; then
	ipv4=1
	sizes+=(gso_ipv4_max_size 180000 gro_ipv4_max_size 180000)
fi
is "topo0 takes what its ports take" "$(limit "$B" topo0 tso_max_size) $(limit "$B" topo0 tso_max_segs)" \
	"$(limit "$B" eth0 tso_max_size) $(limit "$B" eth0 tso_max_segs)"
for server in "${servers[@]}" ocs; do
	for dev in $(devices "$server"); do
		must ip -n "$server" link set "$dev" "${sizes[@]}"
	done
done
is "and is set to it" "$(limit "$A" topo0 gso_max_size)" 180000

# A port that takes less lowers the limit, and its removal ends that.
modprobe tun
must ip -n "$B" tuntap add dev tap0 mode tap
must ip -n "$B" link set tap0 master topo0
is "a port that takes less lowers the limit" \
	"$(limit "$B" topo0 tso_max_size) $(limit "$B" topo0 gso_max_size)" "65536 65536"
check_fails "more is refused" "greater than|too big|Invalid argument" \
	ip -n "$B" link set topo0 gso_max_size 180000
must ip -n "$B" link delete tap0
is "without the port the limit is back" "$(limit "$B" topo0 tso_max_size)" \
	"$(limit "$B" eth0 tso_max_size)"
must ip -n "$B" link set topo0 gso_max_size 180000
echo 0 >"$trace/trace"
echo 'len > 66000' >"$trace/events/topoopt/topoopt_relay/filter"
echo 1 >"$trace/events/topoopt/topoopt_relay/enable"
echo 'bytes > 66000' >"$trace/events/topoopt/topoopt_account/filter"
echo 1 >"$trace/events/topoopt/topoopt_account/enable"
# A sender makes aggregates of what it would send in some time, and larger ones
# to a neighbour that is near. Everybody is near, however slow the machine is.
must on "$A" sysctl -qw net.ipv4.tcp_tso_rtt_log=30

check "larger aggregates arrive over IPv6" \
	stream "$tmp/short" "$A" "$D" "TCP6:[$(node6 "$D")]"
echo 0 >"$trace/events/topoopt/topoopt_account/enable"
echo 0 >"$trace/events/topoopt/topoopt_relay/enable"
check "they are larger" grep -q topoopt_relay "$trace/trace"
check "from their origin on" grep -q 'topoopt_account: .* in=0 ' "$trace/trace"
is "nothing was too big for the MTU" "$(ethtool_counter "$B" topo0 drop_mtu)" 0
mtu=$(on_sysfs "$B" cat /sys/class/net/eth0/mtu)
is "nor do their segments count for more than that" "$(sed -n 's/.* packets=\([0-9]*\) bytes=/\1 /p' \
	"$trace/trace" | awk -v frame=$((mtu + 14)) '$2 > $1 * frame { n++ } END { print n + 0, (NR > 0) }')" \
	"0 1"

if [[ $ipv4 ]]; then
	echo 0 >"$trace/trace"
	echo 1 >"$trace/events/topoopt/topoopt_relay/enable"
	echo 1 >"$trace/events/topoopt/topoopt_account/enable"
	check "and over IPv4" stream "$tmp/short" "$A" "$D" "TCP:$(node "$D")"
	echo 0 >"$trace/events/topoopt/topoopt_account/enable"
	echo 0 >"$trace/events/topoopt/topoopt_relay/enable"
	check "they are larger, too" grep -q topoopt_relay "$trace/trace"
	check "from their origin on" grep -q 'topoopt_account: .* in=0 ' "$trace/trace"
fi

# Three segments in one packet that does not say how long it is, as larger ones.
forge() { # MTU
	on "$A" python3 - "$1" "$(on_sysfs "$B" cat /sys/class/net/eth0/address)" \
		"$(port_ip6 "$A" eth1)" "$(port_ip6 "$D" eth0)" <<-END
		import socket, struct, sys
		mtu, mac, source, to = sys.argv[1:]
		size = int(mtu) - 60
		sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		sock.setsockopt(263, 15, 1)   # SOL_PACKET, PACKET_VNET_HDR
		sock.bind(("eth1", 0))
		offload = struct.pack("=BBHHHH", 1, 4, 74, size, 54, 16)   # TCPv6
		ethernet = bytes.fromhex(mac.replace(":", "")) + bytes(6) + b"\x86\xdd"
		ipv6 = struct.pack("!IHBB", 6 << 28, 0, 6, 64) + b"".join(
		    socket.inet_pton(socket.AF_INET6, address) for address in (source, to))
		tcp = struct.pack("!HHIIBBHHH", 7001, 7001, 1, 1, 5 << 4, 16, 1024, 0, 0)
		sock.send(offload + ethernet + ipv6 + tcp + bytes(3 * size))
	END
}
too_big() {
	(($(ethtool_counter "$B" topo0 drop_mtu) == 3))
}
must forge "$mtu"
must forge $((mtu + 8))
check "segments that are larger by an option are too big" wait_for 60 too_big

must on "$B" ethtool -K eth0 tso off gso off
must on "$B" ethtool -K eth1 tso off gso off
check "taken apart at the egress port, it arrives intact, too" \
	stream "$tmp/short" "$A" "$D" "TCP:$(node "$D")"

# Ten datagrams of 1000 bytes in one.
aggregate() { # PORT
	on "$A" python3 - "$(node "$D")" "$1" <<-END
		import socket, sys
		sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		sock.setsockopt(socket.IPPROTO_UDP, 103, 1000)   # UDP_SEGMENT
		sock.sendto(bytes(10000), (sys.argv[1], int(sys.argv[2])))
	END
}
datagrams() { # PORT FILE: what D gets
	on "$D" socat -u "UDP-RECV:$1" - >"$2" &
	must wait_listen "$D" "$1"
}
datagrams 5000 "$tmp/other"
datagrams 4791 "$tmp/roce"
must aggregate 4791
must aggregate 5000
other_arrived() {
	(($(wc -c <"$tmp/other") == 10000))
}
check "a UDP aggregate arrives" wait_for 60 other_arrived
is "one of RoCE packets does not" "$(wc -c <"$tmp/roce")" 0
is "its packets are counted" "$(ethtool_counter "$B" topo0 drop_gso)" 10

done_testing
