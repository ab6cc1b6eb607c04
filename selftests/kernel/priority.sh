#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A relay queues a packet in the class that it came in: that of the VLAN tag,
# else that of the DSCP. The ECN bits stay the egress queue's business.
#
#	A eth1 == eth0 B eth1 == eth0 C
#	               one band for each priority

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/frames.sh"

chain_up 3
frames_watch "$C" eth0
must on "$B" tc qdisc add dev eth1 root handle 1: prio bands 8 \
	priomap 0 1 2 3 4 5 6 7 0 0 0 0 0 0 0 0
for band in {0..7}; do
	must on "$B" tc qdisc add dev eth1 parent 1:$((band + 1)) pfifo
done

# only relayed packets leave by the port then: no neighbour discovery
must on "$B" sysctl -qw net.ipv6.conf.eth1.disable_ipv6=1

# Packets that each band of B's egress port has sent, one line.
bands() {
	on "$B" tc -s -j qdisc show dev eth1 |
		jq -r '[.[] | select(.kind == "pfifo")] | sort_by(.parent) | map(.packets) | join(" ")'
}
through() { # MARK [OPTION...]: sets $band to the band that a frame goes through
	local after i

	band=
	frame "$A" eth1 "$(port_mac "$B" eth0)" "${family[@]}" "$@"
	frame_arrives "$C" eth0 "$1" || return
	read -ra after <<<"$(bands)"
	for i in {0..7}; do
		((after[i] == before[i])) || band+=$i
	done
	before=("${after[@]}")
}
read -ra before <<<"$(bands)"

for name in IPv4 IPv6; do
	family=("$(node "$A")" "$(node "$C")")
	[[ $name == IPv4 ]] || family=("$(node6 "$A")" "$(node6 "$C")")
	# best effort, AF31 (26, RoCE's usual), CS3, CNPs' CS6
	while read -r dscp priority; do
		through "mark-$name-$dscp" --tos $((dscp << 2 | 2))
		is "$name, DSCP $dscp is priority $priority" "$band" "$priority"
		is "DSCP and ECN arrive unchanged" "$(frame_field tos)" \
			"$(printf '%#04x' $((dscp << 2 | 2)))"
	done <<-END
		0 0
		26 3
		24 3
		48 6
	END
	through "mark-$name-tag" --tos 0x68 --tag 8100:100:5
	is "$name, the tag's priority counts, not the DSCP" "$band" 5
	through "mark-$name-tags" --tos 0x68 --tag 88a8:9:4 --tag 8100:100:5
	is "$name, of two tags the outer's" "$band" 4
done
through mark-zero --tos 0x68 --tag 8100:100:0
is "a tag's priority 0 counts, too" "$band" 0

# What A sends itself gets the same class at its own port, unless chosen otherwise.
must on "$A" tc qdisc add dev eth1 root handle 1: prio bands 8 \
	priomap 0 1 2 3 4 5 6 7 0 0 0 0 0 0 0 0
for band in {0..7}; do
	must on "$A" tc qdisc add dev eth1 parent 1:$((band + 1)) pfifo
done
own_band() { # DSCP PRIORITY
	on "$A" python3 - "$(node "$C")" "$1" "$2" <<-END
		import socket, sys
		sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(sys.argv[2]) << 2)
		sock.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, int(sys.argv[3]))
		sock.sendto(b"own", (sys.argv[1], 9))
	END
	on "$A" tc -s -j qdisc show dev eth1 | jq -r --arg parent "1:$3" \
		'.[] | select(.parent == $parent).packets'
}
is "originated, by DSCP" "$(own_band 24 0 4)" 1
is "originated, by the socket's priority" "$(own_band 24 6 7)" 1

done_testing
