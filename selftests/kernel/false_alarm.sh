#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12
# Processors: 2
# Continuity checks of servers without a moment to spare: nobody is taken for dead.
#
#	A eth1 == eth0 B eth1 == eth0 C
#
# Two senders have B relay all that the processors can, beside two busy loops. TEST_ALARM=N
# lasts N checks of each port (200: 20 s), TEST_INTERVAL has others than each 100 ms.

. "$(dirname "$(realpath "$0")")/../lib.sh"

checks=${TEST_ALARM:-200} interval=${TEST_INTERVAL:-100ms}
chain_up 3
trace=/sys/kernel/tracing/instances/peers
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
must mkdir "$trace"
at_exit "rmdir $trace"
for server in "${servers[@]}"; do
	must jq --arg interval "$interval" '.checks.interval = $interval' "$plan" >"$tmp/checked.json"
	must on "$server" toctl apply "$tmp/checked.json" --node "$server"
done

peers() { # SERVER REASON: how many of its neighbours
	on "$1" python3 "$lib_dir/kernel/continuity.py" show | grep -c " $2 "
}
all_heard() {
	(($(peers "$A" heard) == 1 && $(peers "$B" heard) == 2 && $(peers "$C" heard) == 1))
}
received() { # the port of B that heard fewer
	on "$B" toctl show counters --json | jq '[.eth0, .eth1 | .["check-received"]] | min'
}
enough() {
	(($(received) >= until))
}
check "all are heard" wait_for 60 all_heard

flood() { # FROM TO
	exec in_netns "$1" python3 - "$(node "$2")" <<-'END'
	import socket, sys
	to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	to.connect((sys.argv[1], 9))
	while True:
	    try:
	        to.send(bytes(64))
	    except OSError:
	        pass    # nobody listens
	END
}
must tee "$trace/events/topoopt/topoopt_peer/enable" <<<1 >/dev/null
relayed=$(ethtool_counter "$B" topo0 relay_rx_packets)
busy=()
for ends in "$A $C" "$C $A"; do
	# shellcheck disable=SC2086 # two words
	flood $ends & busy+=($!)
	while :; do :; done & busy+=($!)
done
at_exit "kill ${busy[*]} 2>/dev/null"
until=$(($(received) + checks))
check "the servers are busy for $checks checks" wait_for 900 enough
is "nobody was taken for dead" "$(grep -c ' topoopt_peer: ' "$trace/trace")" 0
relayed=$(($(ethtool_counter "$B" topo0 relay_rx_packets) - relayed))
check "B relayed meanwhile" test "$relayed" -gt "$checks"
echo "# $relayed packets relayed, $(ethtool_counter "$B" topo0 check_received) checks received, $(
	ethtool_counter "$B" topo0 check_missing) missing"
kill "${busy[@]}"

# or nobody would have looked
must tc -n "$C" qdisc add dev eth0 clsact
must tc -n "$C" filter add dev eth0 egress matchall action drop
silent() {
	grep -q " server=$C port=eth0 heard -> silent" "$trace/trace"
}
check "who is silent is taken for dead" wait_for 60 silent

done_testing
