#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Commands that are given a plan with packet switches: what they say of BCube(3,2), or why
# they do not take it.

. selftests/unit/cli.sh

refuses() { # NAME LINE ARGUMENTS...: one line
	run 1 "${@:3}" && [[ $(<"$tmp/err") == "$2" && ! -s $tmp/out ]]
	result $? "$1"
}

jq -n '{name: "nine", servers: 9, allreduce: [{group: "all", bytes: 9000000}],
	mp: [{from: "0", to: "4", bytes: 4000000}, {from: "0", to: "1", bytes: 1000000}]}' >"$tmp/job.json"
plan=$tmp/plan.json
"$toctl" plan --job "$tmp/job.json" --topology bcube:3,2 -o "$plan" >/dev/null || exit 1
it="$plan: it has packet switches (\"sw0.0\"):"

# --- paths ---

run 0 route get s4 from s0 --plan "$plan" --node s0 --dev none --json &&
	jq -e '[.path | .. | objects | select(.arrives or .unreachable or .loop) | [.server, .arrives]] | unique == [["s4", true]]' \
		"$tmp/out" >/dev/null &&
	jq -e '[.path | .. | objects | select(.then and .then.server != (.peer | split(":")[0]))] == []' "$tmp/out" >/dev/null
result $? "route get: all branches from s0 to s4 arrive, each hop at its peer"
run 0 route get s1:eth1 from s0:eth0 --plan "$plan" --node s0 --dev none &&
	[[ $(head -n 1 "$tmp/out") == "s0:eth0 -> s2:eth0" ]] && grep -q "s7:eth1 -> s1:eth1" "$tmp/out" &&
	! grep -qE "unreachable|loop" "$tmp/out"
result $? "route get: a queue pair goes by another server to the port on another switch"

# --- demands and matrices ---

run 0 heatmap "$plan" --load --json &&
	jq -e '.bytes as $b | [range(9) as $i | range(9) as $j
		| select($b[$i][$j] > 0 and ($i / 3 | floor) != ($j / 3 | floor) and $i % 3 != $j % 3)] == []' "$tmp/out" >/dev/null &&
	jq -e '[.bytes[][]] | add > 9000000 * 16 / 9 * 9' "$tmp/out" >/dev/null
result $? "heatmap --load: only servers that share a switch send to each other"

# A matrix with what the plan says that the job sends, or so many bytes less from s0 to s4.
measured() { # BYTES
	"$toctl" heatmap "$plan" --json | jq --arg plan "$("$toctl" --json job ranks "$plan" | jq -r .plan)" --argjson less "$1" '
		.bytes as $bytes | {format: "topoopt-tm", version: 1, job: "nine", plan: $plan,
		interval_ns: 1000000000, classes: ["roce", "tcp", "other"], servers: .servers, links: [],
		samples: [{start_ns: 0, end_ns: 1000000000, elapsed_ns: 1000000000, absent: 0, lost: [0, 0], links: [],
			pairs: [range(9) as $i | range(9) as $j | $bytes[$i][$j]
				- (if $i == 0 and $j == 4 then $less else 0 end)
				| select(. > 0) | [$i, $j, 0, 1, .]]}]}' >"$tmp/tm.json"
}

measured 0
run 0 tm compare "$plan" "$tmp/tm.json" --slack 0 --tolerance 0 &&
	grep -q "^every pair within 0 % and 0 bytes" "$tmp/out"
result $? "tm compare: measured as planned"
measured 500000
run 1 tm compare "$plan" "$tmp/tm.json" --slack 0 && grep -q "most s0 -> s4: planned 4000000, measured 3500000" "$tmp/err"
result $? "tm compare: a pair that sent less"

# --- how long ---

run 0 simulate "$plan" --json &&
	jq -e '.packet_switches == 6 and (.links | length) == 36 and .iteration_time_s.mean > 0' "$tmp/out" >/dev/null &&
	cp "$tmp/out" "$tmp/simulated" && run 0 verify "$plan" --json &&
	jq -e --slurpfile simulated "$tmp/simulated" '
		($simulated[0].links | map(.bytes) | max) - .max_link_load_bytes | fabs < 1' "$tmp/out" >/dev/null
result $? "simulate: through the busiest port go as many bytes as are predicted"
run 0 simulate "$plan" --fabric ideal --json &&
	jq -e '[.links[] | select(.from == "s0") | .bandwidth_bps] == [200e9]' "$tmp/out" >/dev/null
result $? "simulate: another fabric for servers with these ports"

# --- jobs ---

run 0 job ranks "$plan" --format openmpi && [[ $(sort "$tmp/out" | cut -d" " -f1 | xargs) == "s0 s1 s2 s3 s4 s5 s6 s7 s8" ]]
result $? "job ranks"

# --- differences ---

jq '.mp[0].bytes = 1' "$tmp/job.json" >"$tmp/other.job"
run 0 diff "$plan" "$plan" && [[ ! -s $tmp/out ]] &&
	"$toctl" plan --job "$tmp/other.job" --topology bcube:3,2 -o "$tmp/other.json" >/dev/null &&
	run 1 diff "$plan" "$tmp/other.json" --json &&
	jq -e '.links.cut == [] and .links.made == []' "$tmp/out" >/dev/null
result $? "diff: the same packet switches make the same links"

# --- those that refuse it, and why ---

refuses "replan --tm" "toctl replan: $it it moves cables and cannot weigh ports that share a segment: toctl plan --fixed routes anew" \
	replan --plan "$plan" --tm "$tmp/job.json"
refuses "replan --down" "toctl replan: $it it moves cables and cannot weigh ports that share a segment: toctl plan --fixed routes anew" \
	replan --plan "$plan" --down s0:eth0 -o "$tmp/x"
refuses "simulate --level packet" "toctl simulate: $it --level packet has no queues for the ports of such a switch: --level flow" \
	simulate "$plan" --level packet
refuses "job check --tm" "toctl job check: $it what a port on one carried is counted for all others there together, not for its ring" \
	job check "$plan" --tm "$tmp/job.json"
refuses "job run" "toctl job run: $it what a port on one carried is counted for all others there together, not for its ring" \
	job run "$plan" -- true
refuses "switch apply" "toctl switch apply: $it this command knows ports with one cable each, whose other end it can tell" \
	switch apply "$plan"

echo "1..$count"
((!failed))
