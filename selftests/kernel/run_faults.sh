#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# Timeout: 1800
# toctl run in the middle of a change, with links dark: a server does not commit,
# the controller dies, the optical switch refuses. Each time the fabric ends on the
# old plan, and a TCP stream misses nothing. Each step's failures are in
# unit/test_run_fabric.py, without kernels.
#
#	s0 .. s7, three ports each, on one optical switch; wires have a rate

. "$(dirname "$(realpath "$0")")/../lib.sh"
phases_servers=8 phases_degree=3 phases_allreduce=1
. "$lib_dir/lab/phases.sh"

must phase_plan near >"$tmp/near.json"
must phase_of "$tmp/near.json" across >"$tmp/across.traffic"
must fabric_up "$tmp/near.json"
must phases_shape sfq limit 64 depth 8

# Packets for which a server had no live port, since there were so many.
without_port() { # [SO-MANY]
	local server

	for server in "${servers[@]}"; do
		on "$server" toctl show --json
	done | jq -s --argjson before "${1:-0}" \
		'(map(.counters["drop-no-port"]) | add) - $before'
}
dropped=$(without_port)

# A TCP stream from s1 to s2, until stream_end.
stream_begin() {
	local line=0

	touch "$tmp/stream"
	in_netns s2 socat -u TCP-LISTEN:7777 "CREATE:$tmp/got" &
	stream=$!
	wait_listen s2 7777
	while [[ -e $tmp/stream ]]; do
		echo "line $((line++)) of a stream that must not miss any"
		pause 0.1
	done | tee "$tmp/sent" | in_netns s1 socat -u - "TCP:$(node s2):7777" &
}

stream_end() {
	rm "$tmp/stream"
	wait "$stream"
}

# Traffic of other hot pairs in the background, until traffic_end.
traffic_begin() {
	phase_traffic "$tmp/across.traffic" fault 100000 2>/dev/null &
	traffic=$!
}

traffic_end() {
	pkill -x job
	wait "$traffic"
}

# Traffic of phase "across" makes toctl run change the fabric. The switch is slow,
# so that it can be stopped, and harm done, while links are dark.

with_switch() { # JQ-OBJECT
	jq ".optical_switches[] += $1" "$tmp/near.json" >"$tmp/slow.json"
}

run_into() { # [ARGUMENT...]
	cp "$tmp/slow.json" "$tmp/run.json"
	must run_start "$tmp/run.json" --interval 250ms "$@"
	traffic_begin
}

is_dark() {
	ip -n ocs -br link show type veth | grep -q DOWN
}

# Stops the controller as soon as the kernel tells that a link goes dark, as a busy machine
# may look for that too late.
run_into_dark() { # WHAT [ARGUMENT...]
	local links line

	exec {links}< <(exec ip -n ocs -o monitor link)
	run_into "${@:2}"
	while IFS= read -rt 300 -u "$links" line && [[ $line != *"state DOWN"* ]]; do :; done
	kill -STOP "$run_pid"
	exec {links}<&-
	check "$1: while links are dark" is_dark
}

failed() { # WHAT REASON
	check "$1: noticed" wait_for 300 run_saw restored ".why | test(\"$2\")"
}

went_back() { # WHAT
	check "$1: undone" wait_for 120 run_saw restored '.why != "start" and .ok'
	run_end
	traffic_end
	as_planned "$tmp/slow.json" "$1"
	is "$1: no packet without a live port" "$(without_port "$dropped")" 0
}

stream_begin
with_switch '{reconfiguration_ns: 5000000000}'

# Commits do not get through to s3 while there is a file $tmp/refuse.
cat >"$tmp/agent" <<'END'
#!/bin/bash
[[ $1 == s3 ]] || exec in_netns "$1" toctl agent --stdio
while IFS= read -r line; do
	[[ ! -e ${0%/*}/refuse ]] || line=${line/'"op":"commit"'/'"op":"refused by the test"'}
	printf '%s\n' "$line"
done | in_netns s3 toctl agent --stdio
END
chmod +x "$tmp/agent"
run_into_dark "s3 cannot commit" --set "agents.command=$tmp/agent {}"
touch "$tmp/refuse"
run_events step '.step == "drain"' | jq -r '"# \(.note)"'
is "s3 cannot commit: all have drained the links that are dark" "$(fabric_state)" "[1,8]"
is "s3 cannot commit: all pairs are reached in the dark" "$(phases_reach "$tmp/slow.json")" 56
kill -CONT "$run_pid"
failed "s3 cannot commit" "commit: s3: .*refused by the test"
rm "$tmp/refuse"
went_back "s3 cannot commit"

run_into_dark "the controller dies"
kill -9 "$run_pid"
traffic_end
check "the controller dies: the change is left half done" test -e "$tmp/run.json.next"
must run_start "$tmp/run.json"
is "the controller dies: the next one undoes it" "$(run_events restored | jq -c '[.why, .ok]')" \
	'["unfinished change undone",true]'
must run_end
as_planned "$tmp/slow.json" "the controller dies"
is "the controller dies: no packet without a live port" "$(without_port "$dropped")" 0

cat >"$tmp/stuck" <<END
#!/bin/bash
read -r request
[[ \$request == *'"read"'* ]] || { echo "laser interlock is open" >&2; exit 1; }
jq -c '{cross_connects: [.cross_connects[] | [.a, .b]]}' $tmp/near.json
END
chmod +x "$tmp/stuck"
phases_allow "command $tmp/stuck"
with_switch "{control: {driver: \"command\", command: \"$tmp/stuck\", timeout_ms: 60000}}"
run_into
failed "the switch refuses" "laser interlock is open"
went_back "the switch refuses"

stream_end
check "a TCP stream lost nothing in all that" cmp "$tmp/sent" "$tmp/got"
check "and was no idle one" test -s "$tmp/got"

done_testing
