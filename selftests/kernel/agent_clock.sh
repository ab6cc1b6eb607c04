#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12
#
# An agent that samples. It waits for the end of an interval no longer when somebody
# sets the clock back, and ends at once when it is told to. What it sends lists the
# servers, unless the controller says that it has these names.
#
#	A ==== B

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 2

request() { # JSON
	echo "$1" >&"${agent[1]}"
}
reply() { # SECONDS: sets line
	read -r -t "$1" line <&"$replies"
}
until_ns() { # SECONDS from now
	echo "$(($(date +%s%N) + $1 * 1000000000))"
}
sample() { # SECONDS until it ends [FINGERPRINT of names]
	request "{\"op\": \"sample\", \"names\": \"${2:-}\", \"interval_ns\": 1000000000, \"until_ns\": $(until_ns "$1")}"
}
waiting() { # does the agent sleep, and for the interval?
	grep -q 'nanosleep' "/proc/$1/wchan" 2>/dev/null
}

# The active table, as a controller has it: an agent knows its plan then.
stage=$(jq -c --arg server "$A" '{op: "stage", generation: 5, job,
	cluster: ({format: "topoopt-cluster", version: 1, servers, links: [.links[] | {a, b}]} | tojson),
	table: (.tables[] | select(.server == $server) | tojson)}' "$plan")
coproc agent { exec in_netns "$A" toctl agent --stdio 2>"$tmp/err"; }
agent_process=$!
exec {replies}<&"${agent[0]}"	# bash closes the other when the agent ends
for request in "$stage" '{"op": "commit", "generation": 5}' '{"op": "confirm", "generation": 5}'; do
	request "$request"
	reply 60
	check "$(jq -r .op <<<"$request")" jq -e .ok <<<"$line"
done
sample 0
reply 60
check "the counting starts" jq -e .ok <<<"$line"

named() { # FINGERPRINT: prints what stands for the servers
	sample 0 "$1"
	reply 60 && jq -c '.tm | fromjson.servers' <<<"$line"
}
names=$(jq -c '[.servers[].name]' "$plan")
# 64-bit FNV-1a of the names, each with its end
known=$(jq -r '.servers[].name' "$plan" | python3 -c "import functools, sys
print('%016x' % functools.reduce(lambda h, byte: (h ^ byte) * 0x100000001b3 % 2**64,
	sys.stdin.buffer.read().replace(b'\n', b'\0'), 0xcbf29ce484222325))")
is "a recording lists the servers" "$(named 0123456789abcdef)" "$names"
is "unless the controller has the names" "$(named "$known")" "\"$known\""

sample 10
check "the agent waits" wait_for 9 waiting "$agent_process"
must date -s '-1 hour' >/dev/null
at_exit "date -s '+1 hour'"
check "a clock that is set back: the interval ends nevertheless" reply 60
check "and the next one is counted" eval 'sample 1; reply 60; sample 1; reply 60; jq -e .ok <<<"$line"'

sample 10
check "the agent waits again" wait_for 9 waiting "$agent_process"
kill -TERM "$agent_process"
reply 60
check "SIGTERM interrupts an agent that waits" grep "interrupted by a signal" <<<"$line"
check "and ends it" wait "$agent_process"

done_testing
