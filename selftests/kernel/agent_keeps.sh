#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# An agent keeps what toctl apply made: what somebody removes is there again, what somebody
# removes three times within a minute is left alone and named, and so is a port that somebody
# sets down. Routes and rules of others that win are named by doctor, apply and status.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 3
mkfifo "$tmp/in"
in_netns "$B" toctl agent --stdio --node "$B" <"$tmp/in" >"$tmp/out" 2>"$tmp/notes" &
exec {requests}>"$tmp/in"

# The reply of B's agent to a look.
looks=0
look() {
	local reply="{\"id\":$((++looks)),"

	echo "{\"op\": \"look\", \"id\": $looks}" >&"$requests"
	must wait_for 30 grep -qF "$reply" "$tmp/out"
	grep -F "$reply" "$tmp/out"
}
deviates() { # JQ-CONDITION, of some deviation
	look | jq -e "any(.deviations // [] | .[]; $1)"
}
well() { # no deviation
	look | jq -e '.deviations == null'
}
# What B has beside its table.
beside() {
	for family in -4 -6; do
		printf '%s\n' "addr show scope global" "rule show" "route show table all proto 116" \
			"neigh show nud permanent" | ip -n "$B" -o "$family" -batch -
	done | sed "s, proto 0x74 , ," | sort
	ip -n "$B" -br link show master topo0 up
	ip -n "$B" -br link show topo0 up
}
is_whole() { [[ $(beside) == "$whole" ]]; }
# One test: what a command removes comes back.
comes_back() { # NAME COMMAND...
	local name=$1 since=${EPOCHREALTIME/./}

	shift
	must "$@"
	check "$name" wait_for 30 is_whole || diff <(echo "$whole") <(beside)
	echo "# after $(((${EPOCHREALTIME/./} - since) / 1000)) ms"
}
ip_b() { ip -n "$B" "$@"; }
flap() { ip_b link set eth0 down && ip_b link set eth0 up; }

# As a controller that has the plan: it is the agent's.
give() {
	jq -c --arg server "$B" '{op: "assume", id: 0, job: "", table: (.tables[] | select(.server == $server)
		| tojson), cluster: ({format: "topoopt-cluster", version: 1, servers, link_mode,
		links: (.links | map({a, b}))} | tojson)}' "$plan" >&"$requests"
	must wait_for 30 grep -qE '"id":0,.*"ok":true' "$tmp/out" || tail -n 1 "$tmp/out"
}

whole=$(beside)
check "all is as applied" well
must ip_b rule del from "$(port_ip "$B" eth1)" pref 1160
check "an agent that no controller gave a plan only names what is lost" wait_for 30 deviates '.kind == "lost"'
give
check "one that has the plan restores it" wait_for 30 is_whole
check "and names it no longer" wait_for 30 well

# --- what somebody removes ---

comes_back "the node's address, and its routes" ip_b addr del "$(node "$B")/32" dev topo0
comes_back "a route" ip_b route del "$(port_ip "$C" eth0)"
comes_back "a rule" ip_b rule del from "$(port_ip "$B" eth0)" pref 1160
check "the agent says so" grep -q "restored: rule from $(port_ip "$B" eth0)" "$tmp/notes"
comes_back "a neighbour" ip_b neigh del "$(port_ip "$A" eth1)" dev eth0
comes_back "a port that was released" ip_b link set eth1 nomaster
comes_back "the device, which was down" ip_b link set topo0 down
for i in {1..4}; do
	comes_back "all of a port that was down, time $i" flap
done
check "nothing is left alone" well

# --- what stays as it is, and is named ---

must ip_b link set eth0 down
check "a port that was set down is named" wait_for 30 deviates '.kind == "port-down" and .port == "eth0"'
check "and stays down" bash -c "! ip -n $B -br link show eth0 up | grep -q ."
comes_back "all of it, when it is up" ip_b link set eth0 up
check "and it is no longer named" wait_for 30 well
for i in {1..2}; do
	comes_back "an address, time $i" ip_b addr del "$(port_ip "$B" eth1)/32" dev eth1
done
must ip_b addr del "$(port_ip "$B" eth1)/32" dev eth1
check "three times within a minute: it is left alone, and named" \
	wait_for 30 deviates ".kind == \"left-alone\" and (.text | contains(\"$(port_ip "$B" eth1)/32\"))"
must apply "$B" "$plan"
check "until it is there" wait_for 30 well
mac=$(port_mac "$B" eth1)
must ip_b link set eth1 address 02:00:00:00:00:77
check "a NIC that was replaced" wait_for 30 deviates \
	'.kind == "port-mac" and .port == "eth1" and .mac == "02:00:00:00:00:77"'
must ip_b link set eth1 address "$mac"
check "and back" wait_for 30 well

# --- routes and rules of others ---

must ip_b link add other type dummy
must ip_b link set other up
must ip_b route add default dev other table 77
must ip_b rule add to "$(node "$C")" lookup 77 pref 100
check "a rule that wins" wait_for 30 deviates \
	'.kind == "conflict" and (.text | contains("rule 100")) and .fix == "ip rule del priority 100"'
on "$B" toctl doctor "$plan" --node "$B" >"$tmp/doctor"
check "doctor names it" grep -q "$(node "$C").*0.0.0.0/0 dev other of table 77, by rule 100" "$tmp/doctor"
apply "$B" "$plan" >/dev/null 2>"$tmp/warned"
check "apply warns of it" grep -q "$(node "$C").*by rule 100 wins" "$tmp/warned"
toctl status "$plan" --set "agents.command=ip netns exec {} toctl agent --stdio --node {}" >"$tmp/status"
check "status names it" grep -q "by rule 100 wins" "$tmp/status"
must ip_b rule del pref 100
check "until it is gone" wait_for 30 well
must ip_b route replace "$(port_ip "$C" eth0)" dev other
check "a route in the place of the plan's" wait_for 30 deviates \
	".kind == \"conflict\" and (.text | contains(\"route $(port_ip "$C" eth0)/32 dev other\"))"
comes_back "the plan's, when that is gone" ip_b route del "$(port_ip "$C" eth0)" dev other
check "and it is no longer named" wait_for 30 well
must ip_b address add "$(port_ip "$C" eth0)/32" dev eth1
check "an address of another server" wait_for 30 deviates \
	'.kind == "conflict" and (.text | contains("an address of this server, too"))'
apply "$B" "$plan" >/dev/null 2>"$tmp/warned"
check "apply warns of it, too" grep -q "an address of this server, too" "$tmp/warned"
check "and leaves it" grep -qw "$(port_ip "$C" eth0)" <(ip_b -br address show dev eth1)
must ip_b address del "$(port_ip "$C" eth0)/32" dev eth1
check "until it is taken away" wait_for 30 well

# --- what an operator does ---

must on "$B" toctl clear >/dev/null
check "after toctl clear there is no table" wait_for 30 deviates '.kind == "no-table"'
is "and nothing comes back" "$(ip_b -o route show table all proto 116 | wc -l)" 0
must apply "$B" "$plan"
check "after toctl apply all is as applied" wait_for 30 well
whole=$(beside)
comes_back "a port that was down" flap
cat "$tmp/notes"
done_testing
