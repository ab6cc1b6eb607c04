#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12 7.2
# The relay at XDP where drivers do what veth does not: headers in frags as ConnectX has them,
# no redirecting, redirects that the kernel refuses. Packets are counted by what relayed them.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/nic.sh"

nic_chain 3
nic_peers "${servers[@]}"
must on "$B" ethtool -K eth0 rxvlan off
must on "$B" ethtool -K eth1 rxvlan off
must wait_for 60 on "$A" ping -c 1 -W 1 "$(node "$C")" >/dev/null

xdp() { # off|auto|on
	must apply "$B" "$plan" --xdp "$1" >"$tmp/out" 2>&1
}
# Packets that B relayed: all, by XDP, by generic XDP, and lost at XDP.
paths() {
	on "$B" toctl show --json | jq -r '[.ports[].counters | [."relay-rx-packets",
		."relay-xdp-packets", ."relay-xdp-generic-packets", ."drop-tx"]] | transpose | map(add) | @tsv'
}
relayed() { # NAME EXPECTED ADDRESS LENGTH [PORT]
	local before now i

	read -ra before < <(paths)
	answer_is "$1: five datagrams of $4 bytes arrive" ok \
		datagrams "$A" "$C" "$3" "$4" 5 "${5:-4791}"
	read -ra now < <(paths)
	for i in 0 1 2 3; do
		((now[i] -= before[i]))
	done
	is "$1: all, by XDP, by generic XDP, lost" "${now[*]}" "$2"
}
# What the kernel says of B's eth1, or does with it.
port() { # get|set KEY|{KEY: VALUE}
	on "$B" env PYTHONPATH="$lib_dir" python3 - "$@" <<-'EOF'
		import genl, json, socket, sys
		family = genl.Family()
		ifindex, port = socket.if_nametoindex("topo0"), {"ifindex": socket.if_nametoindex("eth1")}
		if sys.argv[1] == "set":
		    port.update(json.loads(sys.argv[2]))
		answer = family.do("port-" + sys.argv[1], {"ifindex": ifindex, "port": port})
		if sys.argv[1] == "get":
		    print(answer["port"].get(sys.argv[2]))
	EOF
}
four=$(node "$C") six=$(node6 "$C")

# --- headers in frags ---

relayed "no XDP" "5 0 0 0" "$four" 4164
# a frame that passes is to become a packet whose headers are linear, as ever
nic_trait 17 0 linear 0
relayed "nor a linear part" "5 0 0 0" "$four" 4164
xdp auto
for linear in 4096 0 10 14 18 34 54 64; do
	nic_trait 17 0 linear "$linear"
	relayed "$linear bytes linear" "5 5 0 0" "$four" 4164
	relayed "$linear bytes linear, IPv6" "5 5 0 0" "$six" 4164
done
nic_trait 17 0 linear 0
relayed "a page more or less" "5 5 0 0" "$four" 100
relayed "the shortest frame" "5 5 0 0" "$four" 46
relayed "what auto leaves to the kernel" "5 0 0 0" "$four" 4164 9
nic_ask tcp "$A" "$C" 300000 "$four"
is "TCP" "${nic_ask%% *}" ok
xdp on
relayed "all but TCP" "5 5 0 0" "$four" 4164 9
relayed "IPv6" "5 5 0 0" "$six" 4164 9
relayed "hardly any payload" "5 5 0 0" "$six" 64 9

must on "$B" ip link add link eth0 name eth0.9 type vlan id 9
relayed "beside a VLAN device" "5 5 0 0" "$four" 4164
must on "$B" ip link del eth0.9

must xdp off
for interface in eth0 eth1; do
	must on "$B" ip link set "$interface" xdpdrv obj "$lib_dir/../build/kernel/lookup.bpf.o" \
		program lookup_relay
done
relayed "a program without flags relays RoCEv2" "5 5 0 0" "$four" 4164
relayed "and nothing else" "5 0 0 0" "$four" 4164 9
must on "$B" ip link set eth0 xdpdrv off
must on "$B" ip link set eth1 xdpdrv off

# --- what drivers and the kernel refuse ---

xdp auto
nic_trait 17 0 redirect 0
xdp off
xdp auto
relayed "a driver that does not redirect" "5 0 0 0" "$four" 4164
xdp off
nic_trait 17 0 redirect 1

xdp auto
relayed "one that does" "5 5 0 0" "$four" 4164
is "the port sends for XDP" "$(port get xdp-transmit) $(port get xdp-error)" "True None"
must port set '{"xdp-classes": ["tcp", "other"]}'
relayed "RoCEv2 is not to leave by XDP here" "5 0 0 0" "$four" 4164
is "it is said" "$(port get xdp-classes) $(port get xdp-transmit)" "['tcp', 'other'] None"
check_fails "there are three classes" "xdp-classes" port set '{"xdp-classes": 8}'
check_fails "to set nothing is no request" "Neither tx-ifindex nor xdp-classes" port set '{}'
must port set '{"xdp-classes": ["roce", "tcp", "other"]}'
relayed "again" "5 5 0 0" "$four" 4164

nic_trait 17 1 send_frags 0
xdp off
xdp auto
relayed "a driver that sends nothing of several buffers" "5 0 0 0" "$four" 4164
check "is named" grep -q "ok .*eth1: xdp: eth1 sends no frames of several buffers by XDP" \
	<(on_sysfs "$B" toctl doctor "$plan" --node "$B")
nic_trait 17 1 send_frags 1
xdp off
xdp auto
relayed "and one that does" "5 5 0 0" "$four" 4164

# A program of somebody else's sends frames to eth1 that are beyond its MTU.
must on "$B" ip link set eth1 mtu 1500
must on "$B" ip link set eth0 xdpdrv off
must on "$B" ip link set eth0 xdpdrv obj "$lib_dir/../build/kernel/nic.bpf.o" program nic_redirect
eth1=$(ip -n "$B" -j link show eth1 | jq '.[0].ifindex')
must bpftool map update id "$(bpftool -j map show name nic_values | jq 'if type == "array" then .[0] else . end | .id')" \
	key 2 0 0 0 value $((eth1 & 255)) $((eth1 >> 8)) 0 0
nic_ask send eth1 "$(port_mac "$B" eth0)" 4178 n=3
lost() { [[ $(paths | cut -f 4) == "$1" ]]; }
check "redirects that the kernel refuses are drops" wait_for 60 lost 3
is "why is said" "$(port get xdp-error)" 90
is "and that XDP no longer sends there" "$(port get xdp-transmit)" None
must on "$B" ip link set eth0 xdpdrv off
xdp auto
relayed "all goes through the queues" "5 0 0 0" "$four" 1400
nic_cut "$B:1"
must wait_for 60 sh -c "! ip -n $B -br link show eth1 | grep -q LOWER_UP"
nic_cable "$B:1" "$C:0"
must wait_for 60 on "$A" ping -c 1 -W 1 "$four" >/dev/null
relayed "until there is light again" "5 5 0 0" "$four" 1400

done_testing
