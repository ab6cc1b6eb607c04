#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12 6.12-arm64
# Timeout: 300
# Flows spread over next hops by weight, each flow keeps its port, and when a
# port goes dark only its own flows move.
#
#	A eth0 == eth0 R eth1 == eth0 T		weight 3
#	               R eth2 == eth1 T		weight 1

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/double.sh"

flows=2000
double_up '[{"port": "eth1", "weight": 3}, {"port": "eth2"}]'

# One UDP datagram from each of as many source ports.
send_flows() { # ADDRESS [FIRST-PORT COUNT]
	on "$A" python3 - "$1" "${2:-10000}" "${3:-$flows}" <<-'EOF'
	import socket, sys, time
	target, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
	family = socket.AF_INET6 if ":" in target else socket.AF_INET
	for port in range(first, first + count):
	    s = socket.socket(family, socket.SOCK_DGRAM)
	    s.bind(("", port))
	    s.sendto(b"flow", (target, 9))
	    s.close()
	    if port % 64 == 0:
	        time.sleep(0.01)
	EOF
}

# Packets that eth1 and eth2 of R sent since the last call.
spread() {
	local one two

	one=$(sent eth1) two=$(sent eth2)
	gone1=$((one - last1)) gone2=$((two - last2))
	last1=$one last2=$two
}
all_left() {
	(($(sent eth1) + $(sent eth2) - last1 - last2 >= flows))
}
last1=0 last2=0

# Nobody listens: T's port-unreachable messages come back, by eth0 of R.
for address in "$(node "$T")" "$(node6 "$T")"; do
	spread
	send_flows "$address"
	wait_for 60 all_left
	spread
	first=$gone2
	is "$address: all flows left" $((gone1 + gone2)) "$flows"
	# 500 expected, standard deviation 19
	check "$address: a quarter by eth2, $gone2 of $flows" test "$gone2" -gt 400 -a "$gone2" -lt 600
	send_flows "$address"
	wait_for 60 all_left
	spread
	is "$address: the same flows by the same port again" "$gone2" "$first"
done

# Ports of T that the first flows arrive at, as "SOURCE-PORT INTERFACE" lines.
# T's eth0 is at the other end of R's eth1, its eth1 of R's eth2.
paths() {
	local count=200 capture

	in_netns "$T" tcpdump --immediate-mode -s 96 -i any -nn -l "udp dst port 9" \
		>"$tmp/capture" 2>"$tmp/capture-state" &
	capture=$!
	wait_for 60 grep -q "listening on" "$tmp/capture-state"
	send_flows "$(node "$T")" 10000 "$count"
	wait_for 60 eval "((\$(grep -c ' eth[01] ' $tmp/capture) >= count))"
	kill "$capture"
	wait "$capture"
	sed -nE 's/.* (eth[01]) +In +IP [0-9.]+\.([0-9]+) > .*/\2 \1/p' "$tmp/capture" | sort -u
}
live() { # PORT true|false
	[[ $(on "$R" toctl show --json | jq --arg port "$1" '.ports[] | select(.port == $port).live') == "$2" ]]
}

paths >"$tmp/lit"
is "200 flows take one port each" "$(wc -l <"$tmp/lit")" 200
check "some of them eth2" grep -q eth1 "$tmp/lit"
"$fabric" darken "$R:eth2"
wait_for 60 live eth2 false
paths >"$tmp/dark"
is "eth2 dark: all flows by eth1" "$(cat "$tmp/dark")" "$(sed s/eth1/eth0/ "$tmp/lit")"
"$fabric" light "$R:eth2"
wait_for 60 live eth2 true
paths >"$tmp/again"
is "lit again: every flow where it was" "$(cat "$tmp/again")" "$(cat "$tmp/lit")"
done_testing
