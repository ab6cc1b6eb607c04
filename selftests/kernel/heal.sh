#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# Timeout: 1200
# toctl run on a ring whose links fail in ways that light does not show: silence one way and
# both, swapped cables, servers that hang, restart, lose their tables or a NIC, and agents that
# are away. After each, pairs that the cables connect reach each other again, and the log names
# what is wrong. The state machine itself is in unit/test_course.c, unit/test_carrier.c and
# unit/test_held.c.
#
#	s0 eth0 == eth1 s1 eth0 == eth1 s2 eth0 == eth1 s3 eth0 == eth1 s0

. "$(dirname "$(realpath "$0")")/../lib.sh"

example=$lib_dir/../examples/ring-4
must toctl plan --cluster "$example/cluster.json" --job "$example/job.json" \
	--fixed -o "$tmp/ring.json" >/dev/null
cp "$tmp/ring.json" "$tmp/run.json"
fabric_up "$tmp/ring.json" >/dev/null

events() { # EVENT [JQ-CONDITION]
	jq -c "select(.event == \"$1\" and (${2:-true}))" "$tmp/run.log"
}

# How many such events there are since fault_begin.
saw() { # EVENT CONDITION
	tail -n "+$((lines + 1))" "$tmp/run.log" | grep "^{.*}$" |
		jq -e -n "[inputs | select(.event == \"$1\" and ($2))] | length > 0"
}

# Pairs that do not answer a ping, each way of it by its own tables.
dead_pairs() { # SERVER...
	local from to dead=''

	for from in "$@"; do
		for to in "$@"; do
			[[ $from == "$to" ]] || on "$from" ping -c 1 -W 1 "$(node "$to")" >/dev/null ||
				dead+=" $from-$to"
		done
	done
	[[ -z $dead ]] || { echo "$dead"; return 1; }
}

wire() { # SERVER:PORT
	awk -v port="$1" '$1 == port { print $2 }' /run/topoopt-fabric/ports
}

# What leaves a port is lost, with its light on.
lose() { # SERVER:PORT
	tc -n ocs filter del dev "$(wire "$1")" ingress
	must tc -n ocs filter add dev "$(wire "$1")" ingress pref 1 handle 1 matchall action drop
}

pass() { # SERVER:PORT SERVER:PORT
	tc -n ocs filter del dev "$(wire "$1")" ingress
	must tc -n ocs filter add dev "$(wire "$1")" ingress pref 1 handle 1 matchall \
		action mirred egress redirect dev "$(wire "$2")"
}

join() { # SERVER:PORT SERVER:PORT
	pass "$1" "$2"
	pass "$2" "$1"
}

fault_begin() {
	lines=$(wc -l <"$tmp/run.log")
	began=${EPOCHREALTIME/./}
}

# Until the log has the event; then until all of the servers reach each other.
fault_heals() { # NAME EVENT CONDITION SERVER...
	local seen=never

	if check "$1: the loop acts" wait_for 60 saw "$2" "$3"; then
		seen=$(tail -n "+$((lines + 1))" "$tmp/run.log" |
			jq -n --argjson began "$began" "[inputs | select(.event == \"$2\" and ($3))]
				| (first.time * 1000 - \$began / 1000 | floor)")
	fi
	check "$1: all that cables connect reach each other" wait_for 60 dead_pairs "${@:4}"
	echo "# $1: acted after $seen ms, by the log"
}

# All links carry what they should again.
mended() { # NAME
	check "$1, mended: the fabric returns" wait_for 90 saw changed '.action == "return"'
	check "$1, mended: all reach each other" wait_for 60 dead_pairs "${servers[@]}"
}

: >"$tmp/run.log"
toctl run "$tmp/run.json" -o "$tmp/run.log" --set agents.timeout=20s --repair-hold 2s \
	--interval 500ms \
	--set "agents.command=sh -c '[ ! -e $tmp/gone.\$0 ] && exec in_netns \$0 toctl agent --stdio' {}" \
	>"$tmp/run.text" 2>&1 &
run_pid=$!
lines=0
check "the loop starts" wait_for 300 saw restored '.why == "start" and .ok'
all_heard() {
	local server

	for server in "${servers[@]}"; do
		echo '{"op": "hello"}' | on "$server" toctl agent --stdio |
			jq -e '.peers | length == 2 and all(.reason == "heard")' || return
	done
}
check "all hear each other" wait_for 60 all_heard

# --- silent with light ---

fault_begin
lose s0:eth0
fault_heals "one way" changed '.action == "repair"' "${servers[@]}"
is "one way: the end that hears nothing is named" "$(events decision '.action == "repair"' |
	tail -n 1 | jq -c '[.held[] | select(.port != "s0:eth0") | "\(.port) \(.reason)"]')" \
	'["s1:eth1 silent"]'
fault_begin
pass s0:eth0 s1:eth1
mended "one way"

fault_begin
lose s1:eth0
lose s2:eth1
fault_heals "both ways" changed '.action == "repair"' "${servers[@]}"
fault_begin
join s1:eth0 s2:eth1
mended "both ways"

# --- two cables swapped at s1 ---

fault_begin
join s0:eth0 s1:eth0
join s1:eth1 s2:eth1
fault_heals "swapped" changed '.action == "repair"' s0 s2 s3
recabled() {
	jq -e '[.links[] | [.a, .b] | sort | join(" ")] | sort ==
		["s0:eth0 s1:eth0", "s0:eth1 s3:eth0", "s1:eth1 s2:eth1", "s2:eth0 s3:eth1"]' \
		"$tmp/run.json.repair"
}
check "swapped: the plan is for the cables as they are" wait_for 60 recabled
check "swapped: all reach each other" wait_for 60 dead_pairs "${servers[@]}"
is "swapped: what is heard is named" "$(events decision '.action == "repair"' | tail -n 1 |
	jq -c '.held[] | select(.port == "s1:eth0")')" \
	'{"port":"s1:eth0","reason":"swapped","hears":"s0:eth0"}'
check "swapped: the plan that was asked for stays" cmp "$tmp/run.json" "$tmp/ring.json"
fault_begin
join s0:eth0 s1:eth1
join s1:eth0 s2:eth1
mended "swapped"

# --- a server hangs with its light on ---

fault_begin
mapfile -t agent < <(pgrep -f "^toctl agent --stdio" | while read -r pid; do
	[[ $(ip netns identify "$pid") != s2 ]] || echo "$pid"
done)
touch "$tmp/gone.s2"
must kill -STOP "${agent[@]}"
lose s2:eth0
lose s2:eth1
lose s1:eth0
lose s3:eth1
fault_heals "hung" changed '.action == "repair"' s0 s1 s3
hung_named() {
	events decision '.action == "repair"' | tail -n 1 |
		jq -e '.held | any(.port == "s2" and .reason == "dead")'
}
check "hung: it is named" wait_for 60 hung_named
fault_begin
rm "$tmp/gone.s2"
kill -CONT "${agent[@]}" 2>/dev/null	# unless the loop gave up on it
join s1:eth0 s2:eth1
join s2:eth0 s3:eth1
mended "hung"

# --- servers that lose their tables, with light ---

fault_begin
must on s1 toctl clear >/dev/null
check "cleared: all reach each other" wait_for 60 dead_pairs "${servers[@]}"

fault_begin
touch "$tmp/gone.s3"
pgrep -f "^toctl agent --stdio" | while read -r pid; do
	[[ $(ip netns identify "$pid") != s3 ]] || kill "$pid"
done
must ip -n s3 link del topo0
rm "$tmp/gone.s3"
fault_heals "restarted" brought '.servers == ["s3"] and .ok' "${servers[@]}"

planned() {
	[[ ! -e $tmp/run.json.repair ]] && all_heard
}
check "restarted: the plan is in force again" wait_for 90 planned

# --- an agent is away, and a cable is cut elsewhere ---

touch "$tmp/gone.s3"
pgrep -f "^toctl agent --stdio" | while read -r pid; do
	[[ $(ip netns identify "$pid") != s3 ]] || kill "$pid"
done
fault_begin
must "$fabric" darken s0:eth0
# s3 relays by its old table until its agent is back: half of the flows to s1 by way of s0
fault_heals "agent away" changed '.action == "repair"' s1 s2
is "agent away: it is named once" "$(tail -n "+$((lines + 1))" "$tmp/run.log" |
	jq -sc 'map(select(.event == "away")) | map([.server, .away])')" '[["s3",true]]'
fault_begin
rm "$tmp/gone.s3"
fault_heals "agent back" brought '.servers == ["s3"] and .ok' "${servers[@]}"
must "$fabric" light s0:eth0
mended "agent away"

# --- a NIC is replaced: another MAC, which no table has ---

fault_begin
must ip -n s1 link set eth0 nomaster
must ip -n s1 link set eth0 down
must ip -n s1 link set eth0 address 02:00:00:00:be:ef up
fault_heals "NIC" changed '.action == "repair"' "${servers[@]}"
check "NIC: s1 runs the plan without it" wait_for 60 eval \
	'apply s1 "$tmp/run.json.repair" --dry-run --json | jq -e ".differs == false"'

jq -c 'select(.event != "step" or (.ok | not))' "$tmp/run.log" | cut -c 1-400 | sed 's/^/# /'
kill -TERM "$run_pid"
wait "$run_pid"
is "the loop ends with all as planned" $? 0

done_testing
