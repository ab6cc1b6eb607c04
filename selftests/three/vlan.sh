#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tagged frames in transit, through NICs that drop those of VLANs they were not told
# of: a VLAN device on the topoopt device tells all ports. veth has no such filter.
#
#	A eth1 ===== eth0 B eth1 ===== eth0 C
#
# Kernels: 6.1
# Timeout: 300

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/frames.sh"

# B does what A asks for by a file in /out.
serve() {
	local n=0

	while wait_for 300 test -e "/out/request.$((++n))" -o -e /out/done; do
		[[ -e /out/request.$n ]] || break
		bash "/out/request.$n" >"/out/served.$n" 2>&1
		echo $? >>"/out/served.$n"
		touch "/out/over.$n"
	done
	exit 0
}

three_up "$1"
case $1 in
B) serve ;;
C) three_wait; exit 0 ;;
esac

at_b() { # COMMAND...: prints what it says
	local n=0

	while [[ -e /out/request.$((++n)) ]]; do :; done
	echo "$*" >/out/request.new
	mv /out/request.new "/out/request.$n"
	wait_for 120 test -e "/out/over.$n" || return 1
	head -n -1 "/out/served.$n"
	return "$(tail -n 1 "/out/served.$n")"
}
relayed() {
	at_b "ethtool -S topo0" | awk '$1 == "relay_rx_packets:" { print $2 }'
}
tagged() { # MARK VID
	frame A eth1 "$(port_mac B eth0)" "$(node A)" "$(node C)" "$1" --tag "8100:$2:5"
}
tags=0
sent() {
	(($(wc -l <"$tmp/sent-A-eth1") == tags))
}
# Sets $passed to how many of 3 frames in a VLAN B relays. A ping, there and back, comes
# after them.
pass() { # VID
	local before i

	before=$(relayed)
	for i in {1..3}; do
		tagged "mark-$i" "$1"
	done
	passed=
	tags=$((tags + 3))
	wait_for 60 sent && ping -c 1 -W 60 "$(node C)" >/dev/null &&
		passed=$(($(relayed) - before - 2))
}
passing() { # NAME VID FRAMES
	pass "$2"
	is "$1" "$passed" "$3"
}

check "the servers reach each other" wait_for 60 ping -c 1 -W 5 "$(node C)"
passing "the NIC of a port drops frames of other VLANs" 100 0
must at_b ip link add link topo0 name topo0.100 type vlan id 100
passing "a VLAN device on the topoopt device, down, lets them pass" 100 3
passing "those of its VLAN" 101 0
must at_b "ip link set eth0 nomaster && ip link set eth0 master topo0 && toctl apply $plan --node B"
passing "at a port that joins later, too" 100 3
must at_b ip link set eth0 nomaster
must at_b ip link add link eth0 name eth0.101 type vlan id 101
must at_b "ip link set eth0 master topo0 && toctl apply $plan --node B"
must at_b ip link del topo0.100
passing "without the device they are dropped again" 100 0
must at_b ip link add link topo0 name topo0.101 type vlan id 101
must at_b ip link del eth0.101
passing "a VLAN that the port had a device for stays with the topoopt device's" 101 3

done_testing
