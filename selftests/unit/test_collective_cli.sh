#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tosim steps: what it lists; toctl collective run: what it refuses before it waits for others.

. selftests/unit/cli.sh
export TOPOOPT_COLLECTIVE_TOKEN=of-this-test-alone

said() { # NAME PYTHON, with the JSON as d
	python3 - "$tmp/out" "$2" 2>>"$tmp/err" <<'END'
import json, sys, jsonschema
d = json.load(open(sys.argv[1]))
jsonschema.validate(d, json.load(open("Documentation/schemas/steps.schema.json")))
exec(sys.argv[2])
END
	result $? "$1"
}

refused() { # NAME TEXT ARGUMENT...: one line, and at once
	local name=$1 text=$2 program=$toctl status

	shift 2
	[[ $1 != steps ]] || program=$tosim
	"$program" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	((status)) && grep -qF -- "$text" "$tmp/err" && [[ $(wc -l <"$tmp/err") -eq 1 ]]
	result $? "refused: $name"
}

for algorithm in bml ps ring; do
	run_tosim 0 steps --bcube 3,2 --algorithm $algorithm --json
	said "$algorithm on BCube(3,2): its closed form" 'assert abs(d["time_tf"] - d["closed_form_tf"]) < 1e-9
assert d["servers"] == 9 and d["switches"] == 6 and d["pieces"] == 18'
	said "$algorithm: sends as much as it is sent" 'n = {"send": 0, "add": 0, "copy": 0}
for t in d["transfers"]:
    n[t["does"]] += t["pieces"]
assert n["send"] == n["add"] + n["copy"] and n["add"] == n["copy"] and n["send"] == 2 * 16'
done
run_tosim 0 steps --bcube 32,2 --server 1023 --json
said "1024 servers: 2(N-1)/(kN)" 'assert abs(d["time_tf"] - 2 * 1023 / (2 * 1024)) < 1e-9 and d["even"]'
run_tosim 0 steps --bcube 3,2 &&
	grep -qx 'bml on BCube(3,2): 9 servers of 2 ports, 6 switches of 3 ports' "$tmp/out" &&
	grep -qx '  thread 0 step 0: send to server 1: 1,4,7' "$tmp/out"
result $? "text: the network, and the pieces of the paper's example"

refused "a switch of one port" "BCube(1,2): a switch needs 2 ports or more" steps --bcube 1,2
refused "servers without ports" "BCube(3,0): servers need a port or more" steps --bcube 3,0
refused "a word" "expected n,k" steps --bcube 3x2
refused "a sign" "expected n,k" steps --bcube=-3,2
refused "too many servers" "more than 4096 servers" steps --bcube 100,2
refused "a server that is not there" "has the servers 0 to 8" steps --bcube 3,2 --server 9

"$toctl" plan -c examples/bcube-3-2/cluster.json -j examples/bcube-3-2/job.json --fixed -e 1 -o "$tmp/plan.json" >/dev/null
run 2 collective run "$tmp/plan.json" --size 10 --node s0 && grep -q "whole elements, 4 bytes each" "$tmp/err"
result $? "refused: half an element"
refused "fewer elements than servers" "9 members reduce 36 bytes or more" \
	collective run "$tmp/plan.json" --size 32 --node s0
refused "a group that is not there" "no group 1" collective run "$tmp/plan.json" --size 1MB --node s0 --group 1
refused "a server that is not there" "no server s9" collective run "$tmp/plan.json" --size 1MB --node s9
refused "a host without the ports" "s0: no interface" collective run "$tmp/plan.json" --size 1MB --node s0

"$toctl" plan -j examples/ring-4/job.json -c examples/ring-4/cluster.json --fixed -e 1 -o "$tmp/ring.json" >/dev/null
refused "links that are of no BCube" "BML runs on BCube" \
	collective run "$tmp/ring.json" --size 1MB --node s0 --algorithm bml

# a plan says which collective its job does
jq -n '{name: "all", servers: 9, allreduce: [{group: "all", bytes: 1800000}]}' >"$tmp/job.json"
for name in bml ps ring; do
	run 0 plan -j "$tmp/job.json" --topology bcube:3,2 --algorithm "$name" -o "$tmp/$name.json"
	result $? "plan --algorithm $name"
	run_tosim 0 steps "$tmp/$name.json" --json
	said "steps lists those of the plan: $name" "assert d['algorithm'] == '$name' and d['servers'] == 9"
done
jq -e '.collective == "bml" and ([.servers[] | [.name, .ipv4, .ports[].ipv4]][5] ==
	["s5", "10.200.2.3", "10.201.2.3", "10.202.2.3"]) and (.packet_switches | length) == 6' "$tmp/bml.json" >"$tmp/out"
result $? "the plan has its collective, its switches, and addresses by digits"
run_tosim 0 steps "$tmp/bml.json" --algorithm ring --json
said "--algorithm overrides the plan's" 'assert d["algorithm"] == "ring"'
refused "BML where links are of no BCube" "BML runs on BCube" \
	plan -j examples/ring-4/job.json -c examples/ring-4/cluster.json --fixed --algorithm bml -o "$tmp/no.json"
[[ ! -e $tmp/no.json ]]
result $? "and no plan is written"
jq '.allreduce = [] | .mp = [{from: "0", to: "1-8", bytes: 1}]' "$tmp/job.json" >"$tmp/mp.json"
refused "a collective without AllReduce" "--algorithm ps: the job has no AllReduce" \
	plan -j "$tmp/mp.json" --topology bcube:3,2 --algorithm ps -o "$tmp/no.json"
run 0 plan -j "$tmp/job.json" --topology bcube:3,2 -o "$tmp/none.json" &&
	run_tosim 2 steps "$tmp/none.json" && grep -q "names no algorithm: give --algorithm" "$tmp/err"
result $? "refused: the steps of a plan without one"
run_tosim 2 steps && grep -q "give a plan, or --bcube" "$tmp/err"
result $? "refused: no network"
refused "a switch with a port too few" "\"sw\" has 2 ports, they are taken" \
	plan -c <(jq -n '{servers: [range(3) | {name: "s\(.)", ipv4: "10.200.0.\(. + 1)", ports: [{name: "eth0", mac: "02:00:00:00:00:0\(.)", ipv4: "10.201.0.\(. + 1)", bandwidth: "1G", packet_switch: "sw"}]}], packet_switches: [{name: "sw", ports: 2}]}') \
	-j "$tmp/job.json" --fixed -o "$tmp/no.json"

echo "1..$count"
((!failed))
