#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 240
# Processors: 2
# Ports, devices, namespaces and the module go away under traffic.
#
#	A eth1 == eth0 B eth1 == eth0 C eth1 == eth0 D

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 4

flood() { # FROM TO: until killed, both families and GSO
	on "$2" iperf3 -s >/dev/null 2>&1 &
	on "$1" ping -q -f -i 0.01 "$(node "$2")" >/dev/null 2>&1 &
	on "$1" ping -q -f -i 0.01 "$(node6 "$2")" >/dev/null 2>&1 &
	wait_listen "$2" 5201
	on "$1" iperf3 -b 10M -t 1000 -c "$(node "$2")" >/dev/null 2>&1 &
	wait_for 60 on "$1" ping -c 1 -W 1 "$(node "$2")"
}
relayed() { ethtool_counter "$1" topo0 relay_rx_packets; }
grows() { # SERVER: does it relay?
	local before

	before=$(relayed "$1")
	wait_for 60 bash -c "((\$(in_netns $1 ethtool -S topo0 |
		awk '\$1 == \"relay_rx_packets:\" { print \$2 }') > $before))"
}
master() { ip -n "$1" -j link show "$2" | jq -r '.[0].master // "none"'; }

must flood "$A" "$D"
check "B relays" grows "$B"

# A port leaves and returns: the table knows it again.
sum=$(relayed "$B")
for ((i = 0; i < 10; i++)); do
	must ip -n "$B" link set eth1 nomaster
	must ip -n "$B" link set eth1 master topo0
done
check "a port that left and came back is in its place" \
	wait_for 60 on "$A" ping -c 1 -W 1 "$(node "$D")"
check "the device kept the counters of the port" test "$(relayed "$B")" -ge "$sum"
for ((i = 0; i < 10; i++)); do
	must ip -n "$B" link set eth1 down
	must ip -n "$B" link set eth1 up
done
check "a port that was down and is up works" \
	wait_for 60 on "$A" ping -c 1 -W 1 "$(node "$D")"

# The device goes and comes: without a table, nothing passes.
must ip -n "$C" link del topo0
is "ports of a deleted device are free" "$(master "$C" eth0)" none
check_fails "without the device nothing passes" '100% packet loss' \
	on "$A" ping -c 1 -W 1 "$(node "$D")"
must ip -n "$C" link add topo0 type topoopt
must ip -n "$C" link set eth0 master topo0
must ip -n "$C" link set eth1 master topo0
must ip -n "$C" addr add "$(node "$C")/32" dev topo0
must ip -n "$C" link set topo0 up
must apply "$C" "$plan" >/dev/null
check "a new device works" wait_for 60 on "$A" ping -c 1 -W 1 "$(node "$D")"

# A NIC disappears.
must ip -n ocs link del "w1-1"
check "the port of a NIC that disappeared is gone" \
	bash -c "! ip -n $B link show eth1"
check "the device stays" ip -n "$B" link show topo0

# A namespace disappears.
must ip netns pids "$C" >/dev/null
must ip netns del "$C"
check "a namespace with ports in use can be deleted" \
	wait_for 60 bash -c "! ip netns list | grep -q $C"
check "its neighbour stays" on "$D" ping -c 1 -W 1 "$(node "$D")"

# The module.
must rmmod topoopt_fwd
is "without the module, no devices" \
	"$(for server in "$A" "$B" "$D"; do ip -n "$server" -br link show type topoopt; done)" ""
is "and free ports" "$(master "$A" eth1)" none
check "the module can be loaded again" modprobe topoopt_fwd

done_testing
