#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Commands that are given a plan with packet switches: what they say of BCube(3,2), or why
# they do not take it.

. selftests/unit/cli.sh

refuses() { # NAME LINE ARGUMENTS...: one line, of the program that it begins with
	local program=${2%% *}

	run_program "${!program}" 1 "${@:3}" && [[ $(<"$tmp/err") == "$2" && ! -s $tmp/out ]]
	result $? "$1"
}

jq -n '{name: "nine", servers: 9, allreduce: [{group: "all", bytes: 9000000}],
	mp: [{from: "0", to: "4", bytes: 4000000}, {from: "0", to: "1", bytes: 1000000}]}' >"$tmp/job.json"
plan=$tmp/plan.json
"$toctl" plan --job "$tmp/job.json" --topology bcube:3,2 -o "$plan" >/dev/null || exit 1

# --- paths ---

run 0 route s4 from s0 --plan "$plan" --node s0 --dev none --json &&
	jq -e '[.path | .. | objects | select(.arrives or .unreachable or .loop) | [.server, .arrives]] | unique == [["s4", true]]' \
		"$tmp/out" >/dev/null &&
	jq -e '[.path | .. | objects | select(.then and .then.server != (.peer | split(":")[0]))] == []' "$tmp/out" >/dev/null
result $? "route: all branches from s0 to s4 arrive, each hop at its peer"
run 0 route s1:eth1 from s0:eth0 --plan "$plan" --node s0 --dev none &&
	[[ $(head -n 1 "$tmp/out") == "s0:eth0 -> s2:eth0" ]] && grep -q "s7:eth1 -> s1:eth1" "$tmp/out" &&
	! grep -qE "unreachable|loop" "$tmp/out"
result $? "route: a queue pair goes by another server to the port on another switch"

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

run_tosim 0 simulate "$plan" --step-latency 0ns --json &&
	jq -e '.packet_switches == 6 and (.links | length) == 36 and .iteration_time_s.mean > 0' "$tmp/out" >/dev/null &&
	cp "$tmp/out" "$tmp/simulated" && run 0 verify "$plan" --json &&
	jq -e --slurpfile simulated "$tmp/simulated" '
		($simulated[0].links | map(.bytes) | max) - .max_link_load_bytes | fabs < 1' "$tmp/out" >/dev/null
result $? "simulate: through the busiest port go as many bytes as are predicted"
run_tosim 0 simulate "$plan" --fabric ideal --json &&
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

# --- other traffic ---

# What s0 and s3 send to servers on their switches, beside what is planned for them.
"$toctl" heatmap "$plan" --json | jq --arg plan "$("$toctl" --json job ranks "$plan" | jq -r .plan)" '
	.bytes as $bytes | {format: "topoopt-tm", version: 1, job: "nine", plan: $plan,
	interval_ns: 1000000000, classes: ["roce", "tcp", "other"], servers: .servers, links: [],
	samples: [{start_ns: 0, end_ns: 1000000000, elapsed_ns: 1000000000, absent: 0, lost: [0, 0], links: [],
		pairs: [range(9) as $i | range(9) as $j | $bytes[$i][$j]
			+ (if [$i, $j] == [0, 1] then 40000000 elif [$i, $j] == [3, 5] then 60000000 else 0 end)
			| select(. > 0) | [$i, $j, 0, 1, .]]}]}' >"$tmp/hot.json"
jq -n '{name: "hot", servers: 9, mp: [{from: "0", to: "1", bytes: 40000000}, {from: "3", to: "5", bytes: 60000000}]}' >"$tmp/hot.job"
took() { # PLAN: seconds for the hot pairs alone
	"$tosim" simulate "$1" --job "$tmp/hot.job" --json | jq .iteration_time_s.mean
}

run 0 replan "$plan" --tm "$tmp/hot.json" -o "$tmp/routed.json" --json &&
	jq -e '.action == "reroute" and .cut == [] and .made == []' "$tmp/out" >/dev/null &&
	run 0 verify "$tmp/routed.json" && [[ $(jq -c '[.links[] | .a, .b]' "$tmp/routed.json") == "$(jq -c '[.links[] | .a, .b]' "$plan")" ]] &&
	jq -en "$(took "$tmp/routed.json") < 0.8 * $(took "$plan")" >/dev/null
result $? "replan --tm: new routes on the same links, by which the hot pairs are faster"
# Of eight servers in a ring of cables, all on one switch as well, pairs of opposite ones.
jq -n '{format: "topoopt-cluster", version: 1, optical_switches: [{name: "ocs0", ports: 16, reconfiguration_ns: 10000000}],
	packet_switches: [{name: "tor0", ports: 8}],
	servers: [range(8) as $i | {name: "s\($i)", ipv4: "10.0.0.\($i + 1)", ports: [range(3) as $q
		| {name: "eth\($q)", ipv4: "10.\($q + 1).0.\($i + 1)", mac: "02:00:00:00:0\($q):0\($i)", bandwidth: 100000000000}
		+ if $q == 2 then {packet_switch: "tor0"} else {optical_switch: "ocs0", optical_port: (2 * $i + $q + 1)} end]}],
	links: [range(8) as $i | {a: "s\($i):eth0", b: "s\(($i + 1) % 8):eth1"}]}' >"$tmp/tor.cluster"
jq -n '{name: "tor", servers: 8, allreduce: [{group: "all", bytes: 80000000}]}' >"$tmp/tor.job"
"$toctl" plan --fixed --cluster "$tmp/tor.cluster" --job "$tmp/tor.job" -o "$tmp/tor.json" >/dev/null || exit 1
"$toctl" heatmap "$tmp/tor.json" --json | jq --arg plan "$("$toctl" --json job ranks "$tmp/tor.json" | jq -r .plan)" '
	.bytes as $bytes | {format: "topoopt-tm", version: 1, job: "tor", plan: $plan,
	interval_ns: 1000000000, classes: ["roce", "tcp", "other"], servers: .servers, links: [],
	samples: [{start_ns: 0, end_ns: 1000000000, elapsed_ns: 1000000000, absent: 0, lost: [0, 0], links: [],
		pairs: [range(8) as $i | range(8) as $j | select($i != $j)
			| [$i, $j, 0, 1, $bytes[$i][$j] + if ($i + 4) % 8 == $j then 4000000000 else 0 end] | select(.[4] > 0)]}]}' >"$tmp/opposite.json"
run 0 replan "$tmp/tor.json" --tm "$tmp/opposite.json" -o "$tmp/rewired.json" --json &&
	jq -e '.action == "rewire" and (.cut | length) == (.made | length) and (.cut | length) > 0
		and (.choices | map(select(.chosen))[0].comm_time_s) < 0.5 * .choices[0].comm_time_s' "$tmp/out" >/dev/null &&
	# dark for 10 ms, while eth2 alone sends 4 GB and 2 x 7/8 of 80 MB in 331.2 ms, 11.12 ms more than now
	jq -e '.choices | map(select(.chosen))[0].lost_s / (0.01 * (1 - 1 / 1.01112)) - 1 | fabs < 0.02' "$tmp/out" >/dev/null &&
	run 0 verify "$tmp/rewired.json" &&
	[[ $(jq '[.links[] | select(.a | endswith("eth2"))] | length' "$tmp/rewired.json") == 28 ]]
result $? "replan --tm: cables of an optical switch move beside a packet switch that stays"

# --- what is down ---

run 0 verify "$plan" --down s0:eth0 --json && cp "$tmp/out" "$tmp/port" &&
	jq -e '.down | .rdma_ports == ["s0:eth0"] and .last_hops == 8 and .uncovered > 0 and .left_out_bytes > 0
		and .cases == .covered + .uncovered + .last_hops + .disconnected
		and (.dark | length) == 2' "$tmp/port" >/dev/null &&
	run 0 verify "$plan" --down s0:eth0 && grep -q "^  dark: s0:eth0 on sw0.0$" "$tmp/out"
result $? "verify --down: what others send to a port that is down is lost, its own server goes round"
run 0 verify "$plan" --down sw0.0 --json && jq .down "$tmp/out" >"$tmp/switch" &&
	jq -e '.uncovered == 0 and .last_hops == 24 and .left_out_bytes == 0
		and .max_link_load_bytes > 1.9e7' "$tmp/switch" >/dev/null &&
	run 0 verify "$plan" --down s0:eth0 --down s1:eth0 --down s2:eth0 --json &&
	jq .down "$tmp/out" | cmp -s - "$tmp/switch"
result $? "verify --down: of a switch all see it, and go round; it is the same as all of its ports"
without() { # DOWN JQ: which bytes, by source and destination, are none then
	run 0 replan "$plan" --down "$1" -o "$tmp/down.json" && jq -e '.dark == []' "$tmp/down.json" >/dev/null &&
		run 0 heatmap "$tmp/down.json" --load --json && jq -e ".bytes | $2 | add == 0" "$tmp/out" >/dev/null
	result $? "replan --down $1: nothing is sent there any more"
}
without s4 '.[4] + [.[][4]]'
without s0:eth0 '[.[0][1, 2], .[1, 2][0]]'
without sw0.0 '[.[0, 1, 2][0, 1, 2]]'
run 0 verify "$tmp/down.json"
result $? "replan --down: the plan that is left is whole"
refuses "replan --down: nobody is called that" "toctl replan: $plan: no server or packet switch is called \"sw9\"" \
	replan "$plan" --down sw9

# --- packet by packet ---

run_tosim 0 simulate "$plan" --level packet --step-latency 0ns --json && cp "$tmp/out" "$tmp/packets" &&
	jq -e --slurpfile flows "$tmp/simulated" '
		.iteration_time_s.mean / $flows[0].iteration_time_s.mean | . > 1 and . < 1.1' "$tmp/packets" >/dev/null &&
	jq -e '.packets.counts.dropped == 0 and ([.links[] | select(.to | startswith("sw"))] | group_by(.to) | map(map(.bytes) | add))
		== ([.links[] | select(.from | startswith("sw"))] | group_by(.from) | map(map(.bytes) | add))' "$tmp/packets" >/dev/null
result $? "simulate --level packet: what enters a switch leaves it, a little later than flows do"
# 2 x 20 MB into one port of 100 Gbit/s, in packets of 4096 bytes and 82 of headers: 3.264 ms.
jq -n '{name: "incast", servers: 3, mp: [{from: "1-2", to: "0", bytes: 20000000}]}' >"$tmp/incast.job"
"$toctl" plan --job "$tmp/incast.job" --topology rail:1 -o "$tmp/incast.json" >/dev/null &&
	run_tosim 0 simulate "$tmp/incast.json" --level packet --transport none --step-latency 0ns --json &&
	jq -e '.iteration_time_s.mean / 3.264e-3 - 1 | fabs < 0.01' "$tmp/out" >/dev/null &&
	jq -e '[.links[] | select(.to == "rail0" and .from != "s0") | .pauses > 0 and .drops == 0] == [true, true]' "$tmp/out" >/dev/null
result $? "simulate --level packet: two into one take as long as its port, which pauses them"

# --- side by side ---

run 0 report "$plan" "$tmp/routed.json" -o "$tmp/page.html" && grep -q "0 links are cut and 0 made" "$tmp/page.html"
result $? "report: two plans"

# --- a model ---

jq '{format: "topoopt-cluster", version: 1, link_mode, packet_switches, servers}' "$plan" >"$tmp/cluster.json"
run 0 parallelize --model examples/models/dlrm.json --cluster "$tmp/cluster.json" --budget 8 -o "$tmp/dlrm" --json &&
	jq -e '.approaches.search | .time_s >= .bound_s and .bound_s > 0' "$tmp/out" >/dev/null && run 0 verify "$tmp/dlrm/plan.json"
result $? "parallelize: on the links that there are"
refuses "parallelize: of less of them" "toctl parallelize: $tmp/cluster.json: it has packet switches (\"sw0.0\"), whose links are all kept: without --servers and --degree" \
	parallelize --model examples/models/dlrm.json --cluster "$tmp/cluster.json" --servers 8

# --- what a job sent ---

measured 0
run 0 job check "$plan" --tm "$tmp/tm.json" && grep -q "^ring 0: .*, by packet switches, where what is relayed counts as on its links$" "$tmp/out" &&
	run 0 job check "$plan" --tm "$tmp/tm.json" --json &&
	jq -e '.off_links == 0 and .stray == 0 and .shared > 9000000 * 16 and (.rings | map(.shared and .linked) | all)' "$tmp/out" >/dev/null
result $? "job check --tm: all on the rings, as far as switches tell"
jq '.samples[0].pairs += [[0, 8, 1, 1, 20000000]]' "$tmp/tm.json" >"$tmp/astray.json"
run 1 job check "$plan" --tm "$tmp/astray.json" && grep -q "most s0 -> s8: 20000000 bytes" "$tmp/err"
result $? "job check --tm: what went between servers that are no neighbours"
read -ra ring < <("$toctl" job ranks "$plan" --json | jq -r '[.rings[0].order[]] | join(" ")')
nccl() { # FROM: lines of all ranks, in the order of ring 0, where rank FROM is also joined to rank 7
	local rank

	for rank in {0..8}; do
		sed "s/^/${ring[rank]}:1:1 [0] NCCL INFO /" <<END
comm 0x1 rank $rank nRanks 9 nNodes 9 localRanks 1 localRank 0 MNNVL 0
Channel 00/0 : ${rank}[0] -> $(((rank + 1) % 9))[0] [send] via NET/IB/0
$( ((rank)) || echo "Channel 00/01 :    0   1   2   3   4   5   6   7   8")
$( ((rank == $1)) && echo "Channel 00/0 : ${rank}[0] -> 7[0] [send] via NET/IB/0")
END
	done
}
nccl 0 >"$tmp/nccl" && run 0 job check "$plan" --nccl-log "$tmp/nccl" &&
	grep -qx "channel 0: ${ring[*]}: ring 0" "$tmp/out" && grep -qx "${ring[0]} -> ${ring[7]}: no cable, relayed: 1 channels" "$tmp/out" &&
	[[ $(grep -c relayed "$tmp/out") == 1 ]]
result $? "job check --nccl-log: a ring over switches has links, what no switch joins is relayed"

# --- switches that are optical, users of etcd ---

run 1 switch apply "$tmp/tor.json" && [[ $(<"$tmp/err") == 'toctl switch apply: optical switch ocs0 has no "control": it is set by hand' ]]
result $? "switch apply: of an optical switch beside a packet switch"
run 1 fabric init-etcd "$tmp/cluster.json" --set etcd.endpoints=http://127.0.0.1:1 -o "$tmp/passwords" && grep -q "etcd http://127.0.0.1:1: " "$tmp/err"
result $? "fabric init-etcd: asks etcd"

# --- those that refuse it, and why ---

refuses "days" "tosim days: $tmp/cluster.json: it has packet switches (\"sw0.0\"): this command knows ports with one cable each, whose other end it can tell" \
	days --cluster "$tmp/cluster.json" examples/traces/day.json

echo "1..$count"
((!failed))
