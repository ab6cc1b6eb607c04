#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tosim simulate: closed forms, bytes as predicted, JSON as its schema says, SIGINT, and
# what people get wrong.

. selftests/unit/cli.sh

said() { # NAME PYTHON, with the JSON as d
	python3 - "$tmp/out" "$tmp" "$2" 2>>"$tmp/err" <<'END'
import json, sys, jsonschema
d = json.load(open(sys.argv[1]))
tmp = sys.argv[2]
jsonschema.validate(d, json.load(open("Documentation/schemas/simulation.schema.json")))
exec(sys.argv[3])
END
	result $? "$1"
}

# What begins a step takes no time here, so that closed forms count bytes and links only.
simulate() { run_tosim "$1" simulate --step-latency 0ns "${@:2}"; } # STATUS ARGUMENTS...

refuses() { # NAME STATUS LINE ARGUMENTS...
	run_tosim "$2" simulate "${@:4}" && grep -qxF "tosim simulate: $3" "$tmp/err" &&
		[[ ! -s $tmp/out ]] && (($(grep -cv '^see tosim' "$tmp/err") == 1))
	result $? "$1"
}

jq -n '{name: "ring", servers: 16, allreduce: [{group: "0-15", bytes: 1073741824}], mp: []}' \
	>"$tmp/ring.json"
run 0 plan --job "$tmp/ring.json" --degree 2 -o "$tmp/ring.plan" &&
	simulate 0 "$tmp/ring.plan" --json --latency 2us --step-latency 3us
said "an AllReduce on the plan's ring takes what the closed form says" '
want = 2 * 15 / 16 * 2**30 * 8 / 200e9 + 30 * 5e-6
assert abs(d["iteration_time_s"]["mean"] / want - 1) < 1e-9, (d["iteration_time_s"], want)
assert list(d)[:4] == ["iteration_time_s", "events", "cpu_s", "links"]
assert len(d["links"]) == 32 and all(l["bytes"] == 15 / 16 * 2**30 for l in d["links"])
assert d["plan"].endswith("ring.plan") and d["complete"]'

run_tosim 0 simulate "$tmp/ring.plan" --json
said "a step takes as long to begin as plans count: 8us" '
want = 2 * 15 / 16 * 2**30 * 8 / 200e9 + 30 * 9e-6
assert abs(d["step_latency_s"] - 8e-6) < 1e-12 and abs(d["iteration_time_s"]["mean"] / want - 1) < 1e-9'

run 0 plan --job examples/jobs/dlrm-16.json --degree 4 -o "$tmp/dlrm.plan" &&
	simulate 0 "$tmp/dlrm.plan" -o "$tmp/dlrm.sim" && cp "$tmp/out" "$tmp/text" &&
	grep -qx 'dlrm-16 on topoopt: 16 servers, 0 packet switches, 64 links' "$tmp/text" &&
	grep -q '^  routing         tables of the plan$' "$tmp/text" && cp "$tmp/dlrm.sim" "$tmp/out"
said "a plan runs its own job; the file has its tasks" '
assert {t["kind"] for t in d["tasks"]} == {"allreduce", "mp"}
assert max(t["finish_s"] for t in d["tasks"]) == d["iteration_time_s"]["max"]
assert d["tasks"][d["critical_path"][-1]]["finish_s"] == d["iteration_time_s"]["max"]
mp = [t for t in d["tasks"] if t["kind"] == "mp"]
# a task has the longest latency of its transfers
late = max(t["finish_s"] for t in mp) - max(t["finish_s"] for t in d["transfers"])
assert 0 <= late < 1e-5 and all(t["start_s"] == 0 for t in d["transfers"])
assert max(d["utilisation"]["max"]) <= 1 + 1e-9 and len(d["utilisation"]["mean"]) > 100
sent = sum(l["bytes"] for l in d["links"]) * 8 / sum(l["bandwidth_bps"] for l in d["links"])
u = d["utilisation"]
last = d["iteration_time_s"]["max"] - (len(u["mean"]) - 1) * u["interval_s"]
carried = sum(u["mean"][:-1]) * u["interval_s"] + u["mean"][-1] * last
assert abs(carried / sent - 1) < 1e-6, (carried, sent)
assert all(max(mean, p90) <= most + 1e-9 for mean, p90, most in zip(u["mean"], u["p90"], u["max"]))
figures = json.load(open(tmp + "/dlrm.plan"))["predictions"]
busiest = max(l["bytes"] * 8 / l["bandwidth_bps"] for l in d["links"])
assert abs(busiest / figures["comm_time_s"] - 1) < 1e-6, (busiest, figures)'

simulate 0 "$tmp/dlrm.plan" --fabric fat-tree:4 --json && cp "$tmp/out" "$tmp/first" &&
	simulate 0 "$tmp/dlrm.plan" --fabric fat-tree:4 --json
said "other fabrics have the plan's ports; hashes differ by iteration, not by run" '
first = json.load(open(tmp + "/first"))
assert d["iteration_time_s"] == first["iteration_time_s"] and d["iterations"] == 20
assert d["iteration_time_s"]["min"] < d["iteration_time_s"]["max"] == d["iteration_time_s"]["p99"]
assert d["routing"] == "hash" and d["allreduce"] == "ring" and d["packet_switches"] == 20
assert {l["bandwidth_bps"] for l in d["links"]} == {400e9}'

for fabric in ideal switch fat-tree:4,oversub=2 cost-equivalent expander:3 rail:4 rail:2,pod=4; do
	simulate 0 "$tmp/dlrm.plan" --fabric "$fabric" --iterations 2 --json || break
	jq -r .iteration_time_s.mean "$tmp/out" >>"$tmp/means"
done
said "all fabrics that have a name" '
ideal, switch, over, equivalent, expander, rail, pods = map(float, open(tmp + "/means"))
assert switch <= ideal <= over < equivalent and rail > 0.999 * switch and expander > equivalent'

for algorithm in ring double-tree halving-doubling; do
	simulate 0 --job "$tmp/ring.json" -d 4 --fabric switch --algorithm "$algorithm" --json ||
		break
	jq -r .iteration_time_s.mean "$tmp/out" >>"$tmp/algorithms"
done
said "AllReduce by other algorithms" '
ring, tree, halving = map(float, open(tmp + "/algorithms"))
assert abs(ring - halving - (30 - 8) * 2e-6) < 1e-12 and tree > ring'

model=(--model examples/models/dlrm.json -n 8 -d 4 --budget 80)
simulate 0 "${model[@]}" --json && cp "$tmp/out" "$tmp/topoopt" &&
	simulate 0 "${model[@]}" --fabric ideal --json
said "a model with the strategy that suits the fabric" '
topoopt = json.load(open(tmp + "/topoopt"))
jsonschema.validate(topoopt, json.load(open("Documentation/schemas/simulation.schema.json")))
for run in d, topoopt:
	names = [name for row in run["strategy"] for name in row["operators"]]
	assert sorted(names) == sorted(o["name"] for o in
		json.load(open("examples/models/dlrm.json"))["operators"])
	path = run["critical_path_s"]
	assert path["compute"] > 0
	assert abs(sum(path.values()) / run["iteration_time_s"]["mean"] - 1) < 1e-9'

for fabric in elect-flat sip-ocs:4 sip-ring:16,4 elect-cluster:4,2G; do
	simulate 0 --model examples/papers/sip-resnet50.json --placement sip -n 16 -d 1 -b 10G \
		--latency 0ns --fabric "$fabric" --json || break
	jq -r '.iteration_time_s.mean' "$tmp/out" >>"$tmp/sips"
done
said "SiP-ML's fabrics and its placement" '
flat, ocs, ring, cluster = map(float, open(tmp + "/sips"))
assert flat <= ocs * 1.0001 and flat <= ring * 1.0001 and max(ocs, ring) < cluster
names = [name for row in d["strategy"] for name in row["operators"]]
assert sorted(names) == sorted(o["name"] for o in
	json.load(open("examples/papers/sip-resnet50.json"))["operators"])
jsonschema.validate(d, json.load(open("Documentation/schemas/simulation.schema.json")))'

# the model of the lines above
simulate 0 "${model[@]}" --fabric ideal --placement "$tmp/topoopt" --json && cp "$tmp/out" "$tmp/given" &&
	simulate 0 "${model[@]}" --placement "$tmp/given" --json
said "a strategy that was kept, elsewhere and on a plan for it" '
topoopt, given = (json.load(open(tmp + "/" + name)) for name in ("topoopt", "given"))
assert d["strategy"] == given["strategy"] == topoopt["strategy"]
assert abs(d["iteration_time_s"]["mean"] / topoopt["iteration_time_s"]["mean"] - 1) < 0.05'
simulate 0 --model examples/models/candle.json -n 4 -d 4 --placement data --json
said "data parallelism: all on all servers" '
assert [(row["how"], row["servers"]) for row in d["strategy"]] == [("replicated", [0, 1, 2, 3])]
want = 2 * 3 / 4 * 61748281344 * 8 / 400e9
assert d["critical_path_s"]["mp"] == 0 and d["critical_path_s"]["allreduce"] < want * 1.01
assert all(abs(l["bytes"] / (want * l["bandwidth_bps"] / 8) - 1) < 0.01 for l in d["links"])'
# Two stages on a server each, by hand: a roofline of four A100 an operator, with twice the
# forward pass for the backward one; activations one way, their gradients back.
jq '[.operators[].name] as $all | {strategy: [[$all[:14], 0], [$all[14:], 1]
	| {operators: .[0], how: "replicated", servers: [.[1]]}]}' examples/models/bert.json >"$tmp/stages"
simulate 0 --model examples/models/bert.json -n 2 -d 1 --fabric switch --placement "$tmp/stages" --json
said "BERT as a pipeline of two stages" '
ops = json.load(open("examples/models/bert.json"))["operators"]
out = {o["name"]: o["output_bytes"] for o in ops}
samples = 16 * 4 * 2
def touched(o):	# bytes of memory, of rows and their copies or of parameters, inputs and result
	if o["type"] == "embedding":
		return 2 * samples * o["output_bytes"]
	return 4 * o["parameter_bytes"] + samples * (o["output_bytes"] + sum(out[i] for i in o["inputs"]))
compute = 3 * sum(max(samples * o["flops"] / (156e12 / 2), touched(o) / 2039e9) / 4 for o in ops)
send = samples * ops[13]["output_bytes"] * 8 / 100e9 + 2e-6
assert abs(d["iteration_time_s"]["mean"] / (compute + 2 * send) - 1) < 1e-6'
simulate 0 "${model[@]}" --fabric switch --placement tables --json
said "each embedding table on one server" '
assert {len(row["servers"]) for row in d["strategy"] if "table-0" in row["operators"]} == {1}'

for fabric in topoopt-reconfig topoopt-reconfig,relay sip-ring ocs:1us; do
	simulate 0 "$tmp/dlrm.plan" --fabric "$fabric" --json || break
	jq -r '.iteration_time_s.mean, .changes' "$tmp/out" >>"$tmp/changes"
done
said "links that change: relays or less time in the dark help" '
reconfig, n, relay, _, sip, many, fast, _ = map(float, open(tmp + "/changes"))
ideal = float(open(tmp + "/means").readline())
assert ideal < fast < sip < reconfig and ideal < relay < reconfig and many > n > 0
assert d["allreduce"] == "ring-both-ways" and d["stragglers"] is None
assert len(d["links"]) == 64 and all(l["to"] is None for l in d["links"])
assert {l["port"] for l in d["links"]} == {0, 1, 2, 3}'

model=(--model examples/models/bert.json -n 4 -d 2 --budget 20 --fabric switch)
simulate 0 "${model[@]}" --json && cp "$tmp/out" "$tmp/even" &&
	simulate 0 "${model[@]}" --stragglers slow:1,3 --iterations 2 --json
said "stragglers compute longer" '
even = json.load(open(tmp + "/even"))
ratio = d["critical_path_s"]["compute"] / even["critical_path_s"]["compute"]
assert even["iterations"] == 1 and d["iterations"] == 2 and d["stragglers"] == "slow:1,3"
assert abs(ratio - 3) < 0.3, ratio'
simulate 0 "${model[@]}" --stragglers lognormal:0.3 --iterations 9 --json
said "anew in each iteration" '
assert d["iteration_time_s"]["min"] < d["iteration_time_s"]["max"]'

jq -n '{name: "pair", servers: 9, allreduce: [], mp: [{from: "0", to: "4", bytes: 1000000000}]}' \
	>"$tmp/pair.json"
simulate 0 --job "$tmp/pair.json" --fabric examples/networks/bcube-9.json --iterations 3 --json
said "the network of a file, whose servers relay" '
want = 1e9 * 8 / 100e9 + 4 * 1e-6 + 1350e-9
assert abs(d["iteration_time_s"]["mean"] / want - 1) < 1e-9
assert len([l for l in d["links"] if l["bytes"]]) in (4, 8) and d["routing"] == "hash"'

"$tosim" simulate "$tmp/dlrm.plan" --fabric fat-tree:8 --iterations 1000000 --json >"$tmp/out" 2>"$tmp/err" &
pid=$!
# until it has worked for a fifth of a second
while read -r -a stat <"/proc/$pid/stat" && [[ ${stat[2]} != Z ]] &&
	((stat[13] + stat[14] < 20)); do :; done
kill -INT "$pid"
wait "$pid"
ended=$?
((!ended))
result $? "SIGINT ends it well"
said "with what is done" 'assert not d["complete"] and 1 <= d["iterations"] < 1000000'

refuses "nothing to run" 2 "give a plan, --model, --job or --chakra"
refuses "two workloads" 2 "--model, --job and --chakra are workloads: give one" \
	"$tmp/dlrm.plan" --model examples/models/dlrm.json -j "$tmp/ring.json"
refuses "a job of other servers" 1 "$tmp/five.json is for 5 servers, $tmp/dlrm.plan for 16" \
	"$tmp/dlrm.plan" --job "$(jq '.servers = 5 | .allreduce = []' "$tmp/ring.json" >"$tmp/five.json"
		echo "$tmp/five.json")"
words='ideal, switch, fat-tree:K[,oversub=R], cost-equivalent, expander[:SEED], rail:G[,pod=P]'
words+=', elect-flat, elect-cluster[:G,RATE], topoopt-reconfig[,relay], sip-ring[,relay]'
words+=', ocs:DARK[,every=T][,relay], sip-ring:W,REACH, sip-ocs:Q'
for word in torus fat-tree:5 fat-tree:-4 fat-tree:4x expander:-1 rail:0 rail:4,pod=0 ocs:10 sip-ring,x \
	elect-cluster:0,1G elect-cluster:8 elect-cluster:8,0; do
	refuses "no fabric: $word" 1 "--fabric: expected one of $words, not \"$word\"" \
		"$tmp/dlrm.plan" --fabric "$word"
done
refuses "no wavelengths" 1 \
	"--fabric: sip-ring:0,8: expected an even number of wavelengths, 2 to 1024, half of them for each way round" \
	"$tmp/dlrm.plan" --fabric sip-ring:0,8
refuses "placement without a model" 2 \
	"--placement is for --model" "$tmp/dlrm.plan" --fabric switch --placement sip
refuses "SiP-ML's placement on a plan" 2 \
	"--placement sip is for other fabrics: toctl parallelize makes plans" \
	--model examples/models/dlrm.json -n 8 -d 4 --placement sip
refuses "a fabric that is too small" 1 \
	"--fabric: a fat-tree of arity 2 has room for 2 servers, not 16" "$tmp/dlrm.plan" --fabric fat-tree:2
refuses "uplinks that cannot be left out" 1 \
	'--fabric: "fat-tree:8,oversub=3": 4 uplinks of a ToR switch are not divided by 3' \
	"$tmp/dlrm.plan" --fabric fat-tree:8,oversub=3
refuses "links that change before they are there" 1 \
	'--fabric: "ocs:5us,every=5us" decides again before its links are there' \
	"$tmp/dlrm.plan" --fabric ocs:5us,every=5us
refuses "no random graph" 1 \
	"--fabric: there is no connected 1-regular graph of 16 servers that repeats no link" \
	--job "$tmp/ring.json" -d 1 --fabric expander
refuses "a speed without prices" 1 \
	"--fabric: no prices for 1 Gbit/s in \"TopoOpt, Table 3; typical watts\", but for 10, 25, 40, 100, 200" \
	"$tmp/dlrm.plan" --fabric cost-equivalent --degree 4 --bandwidth 1G
refuses "a file of other servers" 1 \
	"examples/networks/bcube-9.json has 9 servers, the workload 16" \
	"$tmp/dlrm.plan" --fabric examples/networks/bcube-9.json
refuses "a file that is not there" 1 "$tmp/none.json: No such file or directory" \
	"$tmp/dlrm.plan" --fabric "$tmp/none.json"
refuses "an algorithm against the plan" 2 \
	"--routing and --algorithm are for other fabrics: a plan says both" \
	"$tmp/dlrm.plan" --algorithm ring
refuses "stragglers that do not compute" 2 \
	"--stragglers is for --model and --chakra: a job does not compute" "$tmp/dlrm.plan" --stragglers slow:1,2
refuses "no distribution" 1 \
	'--stragglers: expected one of slow:P,F, lognormal:SIGMA, exponential:MEAN (P from 0 to 1, F from 1, SIGMA to 10), not "gauss"' \
	"${model[@]}" --stragglers gauss
refuses "what does not fit" 1 \
	"data: no room: 329 GB of parameters are on one server, which holds 320 GB" \
	--model examples/models/dlrm.json -n 8 -d 4 --placement data
refuses "a strategy of other servers" 1 \
	"$tmp/given:$(jq . "$tmp/given" >"$tmp/given.json"; mv "$tmp/given.json" "$tmp/given"
		grep -n table-0 "$tmp/given" | cut -d: -f1): strategy[0].operators[0]: \"table-0\" cannot be there: 2 servers, and only parameters can be sharded" \
	--model examples/models/dlrm.json -n 2 -d 4 --placement "$tmp/given"
jq 'del(.strategy[0].operators[0])' "$tmp/given" >"$tmp/less"
refuses "a strategy that leaves one out" 1 \
	"$tmp/less:$(grep -n '"strategy"' "$tmp/less" | cut -d: -f1): strategy: \"table-0\" is placed nowhere" \
	--model examples/models/dlrm.json -n 8 -d 4 --placement "$tmp/less"
refuses "no strategy" 1 \
	"$tmp/ring.json:1: has no strategy: expected what tosim simulate --model prints with --json" \
	--model examples/models/dlrm.json -n 8 -d 4 --placement "$tmp/ring.json"
refuses "servers of a plan" 2 "--servers is for --model: a plan, a job or traces have their own" \
	"$tmp/dlrm.plan" --servers 16

# dimensions
network=(--network examples/papers/dims-3D-SW_SW_SW_homo.json)
for policy in baseline themis ideal; do
	simulate 0 --model examples/papers/themis-resnet152.json "${network[@]}" --policy $policy --json
	result $? "dimensions, $policy"
	cp "$tmp/out" "$tmp/$policy.json"
done
python3 - "$tmp" <<'END' 2>"$tmp/err"
import json, sys, jsonschema
schema = json.load(open("Documentation/schemas/rank-simulation.schema.json"))
found = {p: json.load(open(f"{sys.argv[1]}/{p}.json")) for p in ("baseline", "themis", "ideal")}
for one in found.values():
    jsonschema.validate(one, schema)
    assert one["gradient_bytes"] == 2 * 60192808 and one["results_s"] == 0
    assert abs(one["time_s"] / (one["computing_s"] + one["gradients_s"]) - 1) < 1e-9
# what tosim schedule prints of this AllReduce
assert found["baseline"]["gradients_s"] > 2.5 * found["themis"]["gradients_s"]
ideal = 2 * 2 * 60192808 * 8 * (1 - 1 / 1024) / 2400e9
assert abs(found["ideal"]["gradients_s"] / ideal - 1) < 1e-9 and found["ideal"]["utilisation"] > 0.999
END
result $? "dimensions: gradients wait as tosim schedule says"
refuses "dimensions without a model" 2 "--network: give a --model" "${network[@]}"
refuses "parts of no dimensions" 1 \
	"transformer-1t on examples/papers/dims-3D-FC_Ring_SW.json: 24 ranks are no whole dimensions, or part of a switch or direct one, from the innermost outwards" \
	--model examples/papers/themis-transformer-1t.json --network examples/papers/dims-3D-FC_Ring_SW.json --model-parallel 24
refuses "a model that has no room" 1 \
	"transformer-1t on examples/papers/dims-3D-SW_SW_SW_homo.json: no room: a rank has 2016 GB of parameters, and holds 40 GB" \
	--model examples/papers/themis-transformer-1t.json "${network[@]}"
refuses "dimensions, to a file" 2 "--network: without --output and --report" \
	--model examples/papers/themis-resnet152.json "${network[@]}" -o "$tmp/none"
refuses "a policy without dimensions" 2 "--policy goes with --network" "$tmp/dlrm.plan" --policy ideal

echo "1..$count"
exit $((failed > 0))
