#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Aggregates of a virtual machine, whose headers the host has not looked at: what the
# relay reads of them it must not read beside them.
#
#	tap0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 3
[[ -c /dev/net/tun ]] || must modprobe tun
must ip -n "$B" tuntap add dev tap0 mode tap vnet_hdr
must ip -n "$B" link set tap0 master topo0 up
mtu=$(on_sysfs "$B" cat /sys/class/net/eth1/mtu)

# TCPv6 aggregates that claim to have their TCP header behind the IPv6 header; it is
# behind destination options, each time more of them, and in page fragments.
#
#	HEADER: of TCP, in bytes; ROOM: what segments leave of the MTU; BEHIND: what
#	there is behind the options, if less than the header and three segments
aggregates() { # HEADER ROOM [BEHIND]
	on "$B" python3 - "$mtu" "$(on_sysfs "$B" cat /sys/class/net/tap0/address)" \
		"$(node6 "$A")" "$(node6 "$C")" "$@" <<-'END'
		import fcntl, os, socket, struct, sys
		mtu, mac, source, to, header, room, *behind = sys.argv[1:]
		tap = os.open("/dev/net/tun", os.O_RDWR)
		# TUNSETIFF: IFF_TAP, IFF_NO_PI, IFF_VNET_HDR
		fcntl.ioctl(tap, 0x400454ca, struct.pack("16sH22x", b"tap0", 0x5002))
		for units in range(128, 256, 8):
		    options = struct.pack("BB", 6, units - 1) + bytes(8 * units - 2)
		    if behind:   # more than the MTU without it
		        options = (b"\x3c" + options[1:]) * 4 + options
		    size = int(mtu) - 40 - len(options) - int(header) - int(room)
		    tcp = struct.pack("!HHIIBBHHH", 7001, 7001, 1, 1, int(header) // 4 << 4, 16, 1024, 0, 0)
		    tcp += b"\x01" * (int(header) - 20) + bytes(3 * size if size > 0 else 4096)
		    if behind:
		        tcp, size = tcp[:int(behind[0])], 500
		    packet = options + tcp
		    vnet = struct.pack("=BBHHHH", 1, 4, 74, size, 54, 16)   # checksum to do, TCPv6
		    ethernet = bytes.fromhex(mac.replace(":", "")) + b"\x02" + bytes(5) + b"\x86\xdd"
		    ipv6 = struct.pack("!IHBB", 6 << 28, len(packet), 60, 64) + b"".join(
		        socket.inet_pton(socket.AF_INET6, address) for address in (source, to))
		    os.write(tap, vnet + ethernet + ipv6 + packet)
	END
}
counter() { # NAME
	ethtool_counter "$B" topo0 "$1"
}
mtu_drops() { # COUNT
	(($(counter drop_mtu) - before == $1))
}

before=$(counter drop_mtu)
must aggregates 60 -1
check "segments that a byte of TCP options makes too big are" wait_for 60 mtu_drops 16
start=$(counter relay_rx_packets)
before=$(counter drop_mtu)
must aggregates 20 0
is "those that just fit are relayed" "$(($(counter relay_rx_packets) - start))" 48
is "all of them" "$(($(counter drop_mtu) - before))" 0
before=$(counter drop_header)
must aggregates 20 0 10
is "without a whole TCP header, they are dropped" "$(($(counter drop_header) - before))" 16
is "and not taken for too big" "$(counter drop_mtu)" 16

done_testing
