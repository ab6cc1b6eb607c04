#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# toctl top in a terminal of 80 columns, on a ring of four whose agents say what the test
# has them say.

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

# Each look finds the server a second later, and 10 GB more sent by eth0 of s1 in that time.
cat >"$tmp/agent" <<'END'
looks=0
while IFS= read -r request; do
	id=${request##*'"id":'} id=${id%%[,\}]*} looks=$((looks + 1)) live=true sent=1
	[[ $1 == s1 ]] && sent=10000000000
	[[ -e $0.dark-$1 ]] && live=false
	[[ -e $0.gone-$1 ]] && exit
	printf '{"id":%s,"ok":true,"generation":7,"staged":false,"live":["eth0","eth1"],' "$id"
	printf '"time_ns":%s000000000,"device":4,"backups":0,"counters":{},"ports":[' $looks
	printf '{"name":"eth0","live":%s,"rx_bytes":1,"tx_bytes":%s,"counters":{}},' $live $((looks * sent))
	printf '{"name":"eth1","live":true,"rx_bytes":1,"tx_bytes":%s,"counters":{}}]}\n' $looks
done
END
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
begin() { # COLUMNS LINES
	terminal kill-server 2>/dev/null
	((++server))
	terminal new-session -d -s top -x "$1" -y "$2" \
		"$toctl top '$tmp/plan.json' --interval 100ms --command 'bash $tmp/agent {}' 2>'$tmp/said'; echo \$? >'$tmp/status'; sleep 1000"
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
shows '^s2:eth0 .*no light' && shows 's2:eth0: carrier: no light$' && shows 'NOT healthy$'
result $? "a port goes dark: its links say so, and there is an event"
rm "$tmp/agent.dark-s2"
shows 's2:eth0: carrier: well again'
result $? "and when it is back"
terminal send-keys -t top s
shows '^s3 +7 +2/2 +0 +0 +0 +0$'
result $? "servers"
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
begin 40 12
shows '^EVENTS' && ! grep -E '.{40}' "$tmp/screen"
result $? "a small terminal"
terminal send-keys -t top C-c
run 1 top "$tmp/plan.json" --command "bash $tmp/agent {}" &&
	grep -qxF 'toctl top: not on a terminal: toctl status looks once' "$tmp/err"
result $? "no terminal"
run 2 top --json && grep -q 'toctl status --json' "$tmp/err"
result $? "no JSON"

echo "1..$count"
((!failed))
