#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# toctl parallelize: files that fit together, the same on any number of cores,
# and what people get wrong.

. selftests/unit/cli.sh

refuses() { # NAME STATUS LINE ARGUMENTS...
	run "$2" parallelize "${@:4}" && grep -qxF "toctl parallelize: $3" "$tmp/err" &&
		[[ ! -s $tmp/out ]] && (($(grep -cv '^see toctl' "$tmp/err") == 1))
	result $? "$1"
}

model=(--model examples/models/dlrm.json)
fabric=(--servers 8 --degree 4)
search=("${model[@]}" "${fabric[@]}" --budget 80)

run 0 parallelize "${search[@]}" -o "$tmp/found" &&
	grep -qE '^  co-optimised .* 1\.000 +[0-9.]+ GiB$' "$tmp/out" &&
	grep -q '^  table-0.*: .* on' "$tmp/out" && run 0 verify "$tmp/found/plan.json" &&
	[[ $(ls "$tmp/found") == $'job.json\nplan.json' ]]
result $? "a strategy in words, and a plan that verifies"

run 0 plan --job "$tmp/found/job.json" --degree 4 -o "$tmp/again.json" &&
	run 0 heatmap "$tmp/found/job.json"
result $? "its job can be planned and looked at"

first=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
run 0 parallelize --json "${search[@]}" -o "$tmp/all.dir" &&
	cp "$tmp/out" "$tmp/all" &&
	taskset -c "$first" "$toctl" parallelize --json "${search[@]}" \
		-o "$tmp/one.dir" >"$tmp/one" 2>>"$tmp/err" &&
	cmp "$tmp/all" "$tmp/one" 2>>"$tmp/err" && cmp "$tmp"/{all,one}.dir/job.json &&
	cmp "$tmp"/{all,one}.dir/plan.json
result $? "same seed, same bytes on one core and on all"

python3 - "$tmp/all" 2>>"$tmp/err" <<'END'
import json, sys
said = json.load(open(sys.argv[1]))
assert said["servers"] == 8 and said["samples"] == 8 * 4 * 128, said
ours = said["approaches"]["search"]
names = [name for row in ours["strategy"] for name in row["operators"]]
assert sorted(names) == sorted(o["name"] for o in
	json.load(open("examples/models/dlrm.json"))["operators"])
for key in ("data_parallel", "naive", "tables_by_hand"):
	other = said["approaches"][key]
	assert not other["fits"] or other["time_s"] >= ours["time_s"], key
	assert abs(other["ratio"] - other["time_s"] / ours["time_s"]) < 1e-9
assert said["predictions"]["servers"] == 8
END
result $? "--json has the strategy and the comparison"

run 0 parallelize "${search[@]}" --placement sip -o "$tmp/found" &&
	grep -qE "^  SiP-ML's placement .* [0-9.]+ +[0-9.]+ GiB$" "$tmp/out" &&
	grep -qE '^  [0-9]+ blocks? of [0-9]+ contiguous servers?, sub-ops divide ' "$tmp/out" &&
	run 0 verify "$tmp/found/plan.json" &&
	run 0 parallelize --json "${search[@]}" --placement sip &&
	jq -e '.approaches.sip | .time_s > 0 and .fits' "$tmp/out" >"$tmp/err"
result $? "SiP-ML's placement beside the search, and its plan"

run 0 parallelize --model examples/models/bert.json --cluster examples/ring-4/cluster.json \
	--budget 8 -o "$tmp/found" && run 0 verify "$tmp/found/plan.json"
result $? "on a cluster of one's own"
run 0 parallelize --model examples/models/bert.json --cluster examples/spark-4/cluster.json --budget 8 \
	-o "$tmp/spark" && diff <(jq -c '.links[] | [.a, .b]' "$tmp/spark/plan.json") \
		<(jq -c '.links[] | [.a, .b]' examples/spark-4/cluster.json) >>"$tmp/err"
result $? "links on shared cables stay"

printf '%s\n' '{"format": "topoopt-model", "version": 1, "name": "idle", "batch_per_gpu": 1, "operators": [
	{"name": "ids", "type": "other", "flops": 0, "parameter_bytes": 0, "output_bytes": 0}]}' >"$tmp/idle.json"
run 0 parallelize --model "$tmp/idle.json" "${fabric[@]}" --budget 8 &&
	grep -q '^  co-optimised  *0 us  *0 us  *- ' "$tmp/out" &&
	run 0 parallelize --json --model "$tmp/idle.json" "${fabric[@]}" --budget 8 &&
	jq -e '.approaches.search.ratio == null' "$tmp/out" >/dev/null
result $? "a model that takes no time"
refuses "a rate for a cluster that has its own" 2 \
	"--bandwidth is for synthetic clusters (--servers and --degree)" "${model[@]}" \
	--cluster examples/ring-4/cluster.json --bandwidth 400G
refuses "neither cluster nor servers" 2 "give --cluster, or --servers and --degree" \
	"${model[@]}" --degree 4
cp examples/jobs/dlrm-16.json "$tmp/job.json"
refuses "a job to write" 2 "unknown option -j" "${search[@]}" -j "$tmp/job.json"
cmp "$tmp/job.json" examples/jobs/dlrm-16.json
result $? "the job is as it was"
cp examples/ring-4/cluster.json "$tmp/found/plan.json"
refuses "a cluster that would be overwritten" 2 \
	"--output would overwrite $tmp/found/plan.json, which --cluster reads" \
	--model examples/models/bert.json --cluster "$tmp/found/plan.json" -o "$tmp/found"
refuses "a directory that is a file" 1 "$tmp/job.json/job.json: Not a directory" \
	--model examples/models/bert.json --cluster examples/ring-4/cluster.json --budget 8 -o "$tmp/job.json"
refuses "one server" 2 "--servers: expected 2 to 65536, not 1" "${model[@]}" --degree 4 -n 1
refuses "no degree" 2 "--degree: expected 1 to 64, not 0" "${model[@]}" -n 8 -d 0
refuses "more ports than there are" 1 "degree 3: the servers have up to 2 ports" \
	--model examples/models/bert.json --cluster examples/ring-4/cluster.json --degree 3
refuses "a degree for shared cables" 1 \
	"examples/spark-4/cluster.json: ports share cables, whose links are all kept: without --servers and --degree" \
	--model examples/models/bert.json --cluster examples/spark-4/cluster.json --degree 2
refuses "more servers than there are" 1 "the cluster has 4 servers, not 8" \
	--model examples/models/bert.json --cluster examples/ring-4/cluster.json --servers 8
jq -n '{format: "topoopt-cluster", version: 1, servers: [range(1025) | {name: "s\(.)",
	ipv4: "10.\(. / 250 | floor).\(. % 250 + 1).1", ports: [{name: "eth0",
	mac: "02:54:4f:\(. / 250 | floor + 10):\(. % 250 / 90 | floor + 10):\(. % 90 + 10)",
	ipv4: "10.\(. / 250 | floor).\(. % 250 + 1).2", bandwidth: 1000000000}]}]}' \
	>"$tmp/many.json"
refuses "a cluster of more than 1024 servers" 1 \
	"$tmp/many.json: servers: 1025 are more than 1024: --large allows that" \
	--model examples/models/bert.json --cluster "$tmp/many.json"
refuses "one duplex port for eight servers" 1 \
	"8 servers with up to 1 ports each cannot be connected with duplex links" \
	"${model[@]}" -n 8 -d 1 --budget 8
refuses "a file that is not there" 1 "$tmp/none.json: No such file or directory" \
	--model "$tmp/none.json" "${fabric[@]}"
sed 's/\["below"\]/["top"]/' selftests/unit/formats/model.json >"$tmp/cycle.json"
refuses "operators that wait for each other" 1 \
	"$tmp/cycle.json:15: operators[2].inputs: \"right\" and \"top\" wait for each other: the operators form a cycle" \
	--model "$tmp/cycle.json" "${fabric[@]}"
sed 's/"memory_bytes": 1000000000/"memory_bytes": 1/' selftests/unit/formats/model.json \
	>"$tmp/large.json"
refuses "a model that does not fit" 1 \
	"8 servers are too few: of two towers's parameters 5.75e-07 GB would be on each, which holds 2e-09 GB" \
	--model "$tmp/large.json" "${fabric[@]}"

echo "1..$count"
exit $((failed > 0))
