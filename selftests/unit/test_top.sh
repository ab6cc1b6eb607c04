#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# toctl top in a terminal of 80 columns, on a ring of four whose agents are ring_agent.py.

. selftests/unit/cli.sh

command -v tmux >/dev/null || {
	echo "1..0 # SKIP no tmux here"
	exit
}
server=0	# a server that ends would take the next one's session with it
terminal() {
	tmux -L "toctl-test-$$-$server" -f /dev/null "$@"
}
trap 'terminal kill-server 2>/dev/null; rm -rf "$tmp"' EXIT

run 0 plan --cluster examples/ring-4/cluster.json --job examples/ring-4/job.json --fixed \
	-o "$tmp/plan.json"

screen() {
	terminal capture-pane -p -t top >"$tmp/screen" 2>/dev/null
}
shows() { # PATTERN: the screen does, soon
	for _ in {1..300}; do
		screen && grep -qE -- "$1" "$tmp/screen" && return
		sleep .1
	done
	cp "$tmp/screen" "$tmp/err"
	return 1
}
first() { # PORT: it becomes the one whose link is on top
	for _ in {1..300}; do
		screen && [[ $(sed -n 5p "$tmp/screen") == "$1 "* ]] && return
		sleep .1
	done
	cp "$tmp/screen" "$tmp/err"
	return 1
}
begin() { # COLUMNS LINES [PLAN]
	terminal kill-server 2>/dev/null
	((++server))
	terminal new-session -d -s top -x "$1" -y "$2" \
		"$toctl top '${3:-$tmp/plan.json}' --interval 100ms --set 'agents.command=python3 selftests/unit/ring_agent.py $tmp/agent {}' 2>'$tmp/said'; echo \$? >'$tmp/status'; sleep 1000"
}

begin 80 24
shows '^s1:eth0 +> s2:eth1 +########\.+ +40\.0%'
result $? "a link with its utilisation, at 80 columns"
first s1:eth0
result $? "the busiest is first"
shows '4 of 4 servers, generation 7: healthy' && grep -q 'ports 8 of 8 lit' "$tmp/screen" &&
	! grep -E '.{80}' "$tmp/screen" && sed -n 5p "$tmp/screen" | grep -qE '40\.0% +80\.00 +100\.0% +[0-9.]+%$'
result $? "its rate, its share and the plan's fit; so does the head"
terminal send-keys -t top n
first s0:eth0
result $? "by name"
terminal send-keys -t top j
first s0:eth1
result $? "scrolled"
terminal send-keys -t top u
first s1:eth0
result $? "by utilisation, from the top again"
touch "$tmp/agent.dark-s2"
shows '^s2:eth0 .*no light' && shows 's2:eth0: carrier: no light$' && shows 'degraded$'
result $? "a port goes dark: its links say so, and there is an event"
rm "$tmp/agent.dark-s2"
shows 's2:eth0: carrier: well again'
result $? "and when it is back"
terminal send-keys -t top s
shows '^s3 +7 +2/2 +0 +0 +0 +0$'
result $? "servers"
terminal send-keys -t top p
shows '^s1 +> s2 +#{20} +40\.00 +80\.0% +[0-9.]+%$'
result $? "pairs of servers, the hottest first"
first s1 && sed -n 6p "$tmp/screen" | grep -qE '^s0 +> s3 +#{5}\.{15} +10\.00 +20\.0% ' &&
	! grep -E '.{80}' "$tmp/screen"
result $? "the next one, at 80 columns"
terminal send-keys -t top n
first s0
result $? "pairs by name"
terminal send-keys -t top s
touch "$tmp/agent.gone-s3"
shows '^s3 +the agent ended' && shows 's3: agent: '
result $? "a server that does not answer"
terminal send-keys -t top q
for _ in {1..100}; do
	[[ -s $tmp/status ]] && break
	sleep .1
done
[[ $(<"$tmp/status") == 0 && ! -s $tmp/said ]]
result $? "q quits"

rm "$tmp/agent.gone-s3"
jq -n '{name: "four", servers: 4, allreduce: [{group: "all", bytes: 1000000000}], mp: []}' >"$tmp/job.json"
run 0 plan --job "$tmp/job.json" --topology bcube:2,2 -o "$tmp/switches.json"
begin 80 24 "$tmp/switches.json"
shows '^s1:eth0 +> sw0\.0 +#{16}\.{4} +80\.0%' && first s1:eth0 && grep -qE '^sw0\.0 +> s1:eth0 ' "$tmp/screen" &&
	grep -q '4 of 4 servers, generation 7: healthy' "$tmp/screen" && grep -q 'ports 8 of 8 lit' "$tmp/screen"
result $? "ports on packet switches, out and back"
touch "$tmp/agent.dark-s2"
shows '^s2:eth0 +> sw0\.1 +no light' && first s2:eth0 && sed -n 6p "$tmp/screen" | grep -qE '^sw0\.1 +> s2:eth0 +no light' &&
	shows 's2:eth0: carrier: no light$'
result $? "one of them goes dark: it is on top, both ways"
rm "$tmp/agent.dark-s2"

begin 40 12
shows '^EVENTS' && ! grep -E '.{40}' "$tmp/screen"
result $? "a small terminal"
terminal send-keys -t top C-c
run 1 top "$tmp/plan.json" --set "agents.command=python3 selftests/unit/ring_agent.py $tmp/agent {}" &&
	grep -qxF 'toctl top: not on a terminal: toctl status looks once' "$tmp/err"
result $? "no terminal"
run 2 top --json && grep -q 'toctl status --json' "$tmp/err"
result $? "no JSON"

echo "1..$count"
((!failed))
