#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tosim sweep: a file a point, none run twice, the same by tosim, a shell or when killed.

. selftests/unit/cli.sh

sweep=selftests/unit/formats/sweep.json

said() { # NAME PYTHON, with the JSON as d
	python3 - "$tmp/out" "$tmp" "$2" 2>>"$tmp/err" <<'END2'
import glob, json, os, sys, warnings
warnings.simplefilter("ignore")
import jsonschema
d = json.load(open(sys.argv[1]))
tmp = sys.argv[2]
schemas = [json.load(open(f"Documentation/schemas/{name}.schema.json"))
           for name in ("swept", "simulation")]
jsonschema.validate(d, schemas[0], resolver=jsonschema.RefResolver(
	"swept.schema.json", schemas[0], {s["$id"]: s for s in schemas}))
exec(sys.argv[3])
END2
	result $? "$1"
}

refuses() { # NAME STATUS LINE ARGUMENTS...
	run_tosim "$2" sweep "${@:4}" && grep -qxF "tosim sweep: $3" "$tmp/err" && [[ ! -s $tmp/out ]]
	result $? "$1"
}

run_tosim 0 sweep "$sweep" -o "$tmp/dir" --json
said "a file for each point" '
assert d["missing"] == 0 and len(d["points"]) == 8
assert len(glob.glob(tmp + "/dir/*.json")) == 9 and os.path.exists(tmp + "/dir/sweep.json")
one = json.load(open(tmp + "/dir/job_expander:3_1us.json"))
jsonschema.validate(one, schemas[1])
point = [p for p in d["points"] if p["values"] == {"job": "job", "fabric": "expander:3", "latency": "1us"}]
assert point[0]["iteration_time_s"] == one["iteration_time_s"] and one["iterations"] == 3
times = {tuple(p["values"].values())[1:]: p["iteration_time_s"]["mean"] for p in d["points"]}
assert times["switch", "0ns"] < times["switch", "1us"]
assert times["switch", "0ns"] <= times["expander:3", "0ns"]
assert d["axes"][1] == {"option": "fabric", "values": ["switch", "ideal", "expander:3", "ocs:1us,relay"]}
ratio = d["ratios"][0]
found = [times["expander:3", l] / times["switch", l] for l in ("0ns", "1us")]
assert len(d["ratios"]) == 1 and ratio["name"] == "expander over a switch" and ratio["published"] == 2.5
assert ratio["pairs"] == 2 and abs(ratio["mean"] - sum(found) / 2) < 1e-12
assert (ratio["min"], ratio["max"]) == (min(found), max(found))'
cp "$tmp/out" "$tmp/first"

# half of a file, as a shell that is killed may leave; a file of an interrupted run; none
whole=$(<"$tmp/dir/job_ideal_1us.json")
echo "${whole:0:100}" >"$tmp/dir/job_ideal_1us.json"
jq '.complete = false' <<<"$whole" >"$tmp/dir/job_ideal_0ns.json"
rm "$tmp/dir/job_switch_0ns.json"
touch -d @1 "$tmp/dir/job_switch_1us.json"
run_tosim 0 sweep "$sweep" -o "$tmp/dir" --collect --json
said "what is not whole is not there" 'assert d["missing"] == 3 and len(d["points"]) == 5'
run_tosim 0 sweep "$sweep" -o "$tmp/dir" --collect &&
	grep -qx 'small: 5 points, 3 more are missing' "$tmp/out" &&
	(($(grep -c '^  job .* us$' "$tmp/out") == 5))
result $? "as text, too"
grep -qE '^  expander over a switch +2.5 +[0-9.]+ +[-+][0-9]+% +[0-9.]+ to [0-9.]+$' "$tmp/out"
result $? "with the ratio that was published"
jq '.comment = "seen again" | .published[0].ratio = 3' "$sweep" >"$tmp/again.json" &&
	cp selftests/unit/formats/job.json "$tmp" &&
	run_tosim 0 sweep "$tmp/again.json" -o "$tmp/dir" --collect --json
said "another figure for it makes no other points" 'assert d["ratios"][0]["published"] == 3'
run_tosim 0 sweep "$sweep" -o "$tmp/dir" --json && [[ $(stat -c %Y "$tmp/dir/job_switch_1us.json") == 1 ]]
result $? "and is run again, the others are not"
said "with the same outcome" '
first = json.load(open(tmp + "/first"))
for run in d, first:
	for point in run["points"]:
		del point["cpu_s"]
assert d == first'

run_tosim 0 sweep "$sweep" -o "$tmp/o'dir" --list && (($(wc -l <"$tmp/out") == 8)) &&
	sed "s|^tosim |$tosim |" "$tmp/out" | head -7 | bash -e 2>>"$tmp/err" &&
	run_tosim 0 sweep "$sweep" -o "$tmp/o'dir" --collect --json
said "a command a point, which a shell runs, in a folder of any name" '
first = json.load(open(tmp + "/first"))
assert d["missing"] == 1
for point, other in zip(d["points"], first["points"]):
	assert point["iteration_time_s"] == other["iteration_time_s"]'

jq '.axes[1].values[1] = "torus"' "$sweep" >"$tmp/torus.json"
cp selftests/unit/formats/job.json "$tmp"
run_tosim 1 sweep "$tmp/torus.json" -o "$tmp/torus" &&
	grep -q "^tosim sweep: $tmp/torus/job_torus_.*json: tosim simulate: --fabric: .*(2 of 8 points failed)$" "$tmp/err" &&
	run_tosim 0 sweep "$tmp/torus.json" -o "$tmp/torus" --collect --json
said "a point that fails does not stop the others" 'assert d["missing"] == 2'

jq '.axes[1].values = ["switch"] | .axes[2] = {option: "level", values: ["flow", "packet"]} | del(.published)' \
	"$sweep" >"$tmp/levels.json"
run_tosim 0 sweep "$tmp/levels.json" -o "$tmp/levels" --json
said "packets, too" '
flow, packet = (p["iteration_time_s"]["mean"] for p in d["points"])
assert flow < packet < 2 * flow, (flow, packet)
assert json.load(open(tmp + "/levels/job_switch_packet.json"))["packets"]["counts"]["sent"] > 0'

refuses "the folder of another sweep" 1 \
	"$tmp/dir is of another sweep than $tmp/torus.json: $tmp/dir/sweep.json differs" \
	"$tmp/torus.json" -o "$tmp/dir"
refuses "a folder of none, to collect" 1 "$tmp/none/sweep.json: No such file or directory" \
	"$sweep" -o "$tmp/none" --collect
refuses "a list of what is collected" 2 \
	"--list prints commands: without --collect, --report and --json" "$sweep" -o "$tmp/x" --list --collect

bad() { # FILTER LINE: what is wrong with such a sweep
	jq -c "$1" "$sweep" >"$tmp/bad.json"
	refuses "a sweep with $1" 1 "$tmp/bad.json:1: $2" "$tmp/bad.json" -o "$tmp/x"
}

bad '.options.colour = 1' \
	'options.colour: expected an option of tosim simulate, not "colour"'
bad '.axes[0].option = "output"' \
	'axes[0].option: expected an option of tosim simulate, not "output"'
bad '.axes[1].values = []' 'axes[1].values: expected at least one value'
bad '.axes[1].values[0] = null' 'axes[1].values[0]: expected a string or a number'
bad '.axes[1].values[0] = true' 'axes[1].values[0]: expected a string or a number'
bad '.axes[1].values[2] = "x/switch.json"' \
	'axes[1].values[2]: "switch" is the name of another value, too'
bad '.axes[2].option = "fabric"' 'axes[2]: "fabric" has an axis before'
bad '.axes[1].values = [range(60000)]' 'axes: more than 100000 points'
bad '.published[0].of.colour = "red"' 'published[0].of.colour: expected one of the axes, not "colour"'
bad '.published[0].over.fabric = "torus"' \
	'published[0].over.fabric: the axis has no value "torus"'
bad '.published[0].ratio = 0' 'published[0].ratio: expected more than 0'

echo "1..$count"
exit $((failed > 0))
