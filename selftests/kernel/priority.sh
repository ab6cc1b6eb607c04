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

# One band for each priority at a server's eth1, and one for continuity checks.
bands_up() { # SERVER
	local band

	must on "$1" tc qdisc add dev eth1 root handle 1: prio bands 9 \
		priomap 0 1 2 3 4 5 6 7 0 0 0 0 0 0 0 0
	for band in {1..8}; do
		must on "$1" tc qdisc add dev eth1 parent "1:$band" pfifo
	done
	must on "$1" tc filter add dev eth1 parent 1: protocol 0x8902 matchall flowid 1:9
}
bands_up "$B"

# only relayed packets leave by the port then: no neighbour discovery
must on "$B" sysctl -qw net.ipv6.conf.eth1.disable_ipv6=1

# Packets that each band of a server's eth1 has sent, one line.
bands() { # SERVER
	on "$1" tc -s -j qdisc show dev eth1 |
		jq -r '[.[] | select(.kind == "pfifo")] | sort_by(.parent) | map(.packets) | join(" ")'
}
through() { # MARK [OPTION...]: sets $band to the band that a frame goes through
	local after i

	band=
	frame "$A" eth1 "$(port_mac "$B" eth0)" "${family[@]}" "$@"
	frame_arrives "$C" eth0 "$1" || return
	read -ra after <<<"$(bands "$B")"
	for i in {0..7}; do
		((after[i] == before[i])) || band+=$i
	done
	before=("${after[@]}")
}
read -ra before <<<"$(bands "$B")"

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
must on "$A" sysctl -qw net.ipv6.conf.eth1.disable_ipv6=1
bands_up "$A"
# Packets of A's own that each band sends: for each DSCP one without a priority of the
# socket, one with 0, and one with 7.
own() { # TO DSCP...
	local before after i sent=()

	read -ra before <<<"$(bands "$A")"
	on "$A" python3 - "$@" <<-END
		import socket, sys
		to, *dscps = sys.argv[1:]
		v6 = ":" in to
		for dscp in map(int, dscps):
		    for priority in None, 0, 7:
		        sock = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM)
		        if v6:
		            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, dscp << 2)
		        else:   # sets a priority, too, but that of a TOS field
		            sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, dscp << 2)
		        if priority is not None:
		            sock.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, priority)
		        sock.sendto(b"own", (to, 9))
	END
	read -ra after <<<"$(bands "$A")"
	for i in {0..7}; do
		sent+=($((after[i] - before[i])))
	done
	echo "${sent[@]}"
}
hush 9
for to in "$(node "$C")" "$(node6 "$C")"; do
	[[ $to == *:* ]] && name=IPv6 || name=IPv4
	is "originated, $name: by DSCP, unless the socket has a priority" \
		"$(own "$to" 0 26 34 46)" "2 0 0 2 2 2 0 4"
	is "$name, DSCP 24, which IP_TOS makes no priority of" "$(own "$to" 24)" "0 0 0 2 0 0 0 1"
done

done_testing
