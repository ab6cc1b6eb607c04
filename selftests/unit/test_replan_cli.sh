#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# toctl replan: decisions in words, JSON and exit statuses, the plans that it
# writes, and what people get wrong.

. selftests/unit/cli.sh

# A job or a matrix of 12 servers, of which pairs that add up to TURN are hot.
made() { # job|tm TURN FILE
	python3 - "$@" <<'END'
import json, sys
kind, turn, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
n = 12
mp = [[0 if x == y else 20000 + (60000000 if (x + y - turn) % n == 0 else 0)
       for y in range(n)] for x in range(n)]
names = [f"s{x}" for x in range(n)]
if kind == "job":
    said = {"format": "topoopt-job", "version": 1, "name": "pairs", "servers": names, "mp": mp}
else:
    said = {"format": "topoopt-tm", "version": 1, "job": "pairs", "plan": "0" * 16,
            "interval_ns": 50000000, "classes": ["roce", "tcp", "other"], "servers": names,
            "links": [], "samples": [
                {"start_ns": 0, "end_ns": 50000000, "elapsed_ns": 50000000, "absent": 0,
                 "lost": [0, 0], "links": [],
                 "pairs": [[x, y, 1, 1, mp[x][y]] for x in range(n) for y in range(n) if x != y]}]}
json.dump(said, open(path, "w"))
END
}

# Change FILE by a Python expression on its content d, into OUT.
edited() { # FILE OUT STATEMENT
	python3 -c "import json, sys
d = json.load(open(sys.argv[1]))
$3
json.dump(d, open(sys.argv[2], 'w'))" "$1" "$2"
}

refuses() { # NAME STATUS LINE ARGUMENTS...
	run "$2" replan "${@:4}" && grep -qxF "toctl replan: $3" "$tmp/err" &&
		[[ ! -s $tmp/out ]] && (($(grep -cv '^see toctl' "$tmp/err") == 1))
	result $? "$1"
}

made job 1 "$tmp/job.json"
made tm 1 "$tmp/steady.json"
made tm 4 "$tmp/shifted.json"
run 0 plan --job "$tmp/job.json" --degree 4 -o "$tmp/planned.json"
edited "$tmp/planned.json" "$tmp/plan.json" \
	"d['optical_switches'][0]['reconfiguration_ns'] = 10000000; d['collective'] = 'ps'"
plan=("$tmp/plan.json")

run 0 replan -v --tm "$tmp/shifted.json" "${plan[@]}" -o "$tmp/new.json" &&
	grep -q '^rewire: [0-9]* new cross-connects save ' "$tmp/out" &&
	grep -q '^  single failures  links ' "$tmp/out" &&
	grep -q '^ \* reconfig ' "$tmp/out" && grep -q '^   topology-finder ' "$tmp/out" &&
	run 0 verify "$tmp/new.json"
result $? "hot pairs shift: new links, in a plan that verifies"
jq -e '.collective == "ps"' "$tmp/new.json" >/dev/null
result $? "the new plan's job does AllReduce as the old one's did"

run 0 plan --job "$tmp/job.json" --degree 4 --no-buffer-cycles -o "$tmp/planned.json" &&
	edited "$tmp/planned.json" "$tmp/ordered.json" \
		"d['optical_switches'][0]['reconfiguration_ns'] = 10000000" &&
	run 0 replan --tm "$tmp/shifted.json" "$tmp/ordered.json" -o "$tmp/ordered.new" &&
	grep -q '^rewire: ' "$tmp/out" && run 0 verify --json "$tmp/ordered.new" &&
	jq -e '.buffer_cycles.routes.servers == []' "$tmp/out" >/dev/null &&
	jq -e '.no_buffer_cycles' "$tmp/ordered.new" >/dev/null
result $? "a plan without buffer cycles: nor do new links have any"

# One link is on no switch, and in a ring with others that are.
python3 - "$tmp" <<'END'
import json, sys
tmp, n, port = sys.argv[1], 6, 0
servers = []
for s in range(n):
    ports = []
    for q in range(4):
        ports.append({"name": f"eth{q}", "mac": f"02:00:00:00:{s:02x}:{q:02x}",
                      "ipv4": f"10.{q + 1}.0.{s + 1}", "bandwidth": 10**11})
        if q or s > 1:
            port += 1
            ports[-1] |= {"optical_switch": "ocs", "optical_port": port}
    servers.append({"name": f"s{s}", "ipv4": f"10.200.0.{s + 1}", "ports": ports})
json.dump({"format": "topoopt-cluster", "version": 1, "servers": servers, "optical_switches": [
    {"name": "ocs", "ports": 64, "reconfiguration_ns": 10000000}]},
    open(f"{tmp}/mixed.cluster", "w"))
json.dump({"name": "pairs", "servers": [f"s{s}" for s in range(n)],
           "allreduce": [{"group": "all", "bytes": 10**9}],
           "mp": [{"from": [0], "to": [3], "bytes": 10**8, "both": True}]},
          open(f"{tmp}/mixed.job", "w"))
END
run 0 plan --job "$tmp/mixed.job" --cluster "$tmp/mixed.cluster" -o "$tmp/mixed.json" &&
	run 0 heatmap --json "$tmp/mixed.json" && cp "$tmp/out" "$tmp/mixed.bytes"
for hot in 100000000 3000000000; do
	jq --argjson hot "$hot" '
		(.bytes | [[0, 2], [3, 5], [1, 4]] as $p | reduce ($p + ($p | map(reverse)))[] as [$x, $y]
			(.; .[$x][$y] += $hot)) as $b |
		{ format: "topoopt-tm", version: 1, job: "pairs", plan: ("0" * 16),
		  interval_ns: 1000000000, classes: ["roce", "tcp", "other"], servers, links: [],
		  samples: [{ start_ns: 0, end_ns: 1000000000, elapsed_ns: 1000000000, absent: 0,
			lost: [0, 0], links: [], pairs: [range(6) as $x | range(6) as $y |
				select($b[$x][$y] > 0) | [$x, $y, 0, 1, $b[$x][$y]]] }] }' \
		"$tmp/mixed.bytes" >"$tmp/mixed.tm"
	run 0 replan --tm "$tmp/mixed.tm" "$tmp/mixed.json" -o "$tmp/mixed.new" &&
		run 0 verify "$tmp/mixed.new"
	result $? "a ring over a link on no switch: a plan that verifies, $hot bytes on hot pairs"
done

run 0 replan --tm "$tmp/shifted.json" "$tmp/new.json" -o "$tmp/again.json" &&
	grep -q '^keep: ' "$tmp/out" && cmp "$tmp/new.json" "$tmp/again.json" 2>>"$tmp/err"
result $? "they stay: the plan does, to the byte"

run 0 replan --tm "$tmp/shifted.json" "${plan[@]}" -o "$tmp/other.json" &&
	cmp "$tmp/new.json" "$tmp/other.json" 2>>"$tmp/err"
result $? "same inputs, same bytes"

run 0 replan --tm "$tmp/shifted.json" "${plan[@]}" --dark 120s -o "$tmp/new.json" &&
	grep -q '^reroute: new routes on the same links save ' "$tmp/out" &&
	run 0 verify "$tmp/new.json" &&
	run 0 replan --tm "$tmp/shifted.json" "${plan[@]}" --dark 120s --horizon 86400s &&
	grep -q '^rewire: ' "$tmp/out"
result $? "a patch panel: new routes only, unless the traffic stays for a day"

decides() { # ACTION ARGUMENTS...
	run 0 replan --tm "$tmp/shifted.json" "${plan[@]}" "${@:2}" && grep -q "^$1: " "$tmp/out" &&
		run 0 replan --json --tm "$tmp/shifted.json" "${plan[@]}" "${@:2}" &&
		[[ $(jq -r .action "$tmp/out") == "$1" ]]
}
decides rewire && decides reroute --horizon 1ms && decides keep --threshold 0.99
result $? "status 0 whatever is decided: text and JSON tell decisions apart"

run 0 replan --json --tm "$tmp/shifted.json" "${plan[@]}" -o "$tmp/new.json" &&
	python3 - "$tmp/out" "$tmp/plan.json" "$tmp/new.json" 2>>"$tmp/err" <<'END'
import json, sys, jsonschema
said, old, new = (json.load(open(path)) for path in sys.argv[1:])
jsonschema.validate(said, json.load(open("Documentation/schemas/replan.schema.json")))
chosen, = (c for c in said["choices"] if c["chosen"])
assert chosen["action"] == said["action"] == "rewire"
assert len(said["cut"]) == chosen["cut"] and len(said["made"]) == chosen["made"] > 0
def lit(plan):
    return {(x["optical_switch"], *sorted((x["a"], x["b"]))) for x in plan["cross_connects"]}
def of(list):
    return {(x["optical_switch"], x["a"], x["b"]) for x in list}
assert lit(old) - of(said["cut"]) | of(said["made"]) == lit(new)
assert not of(said["cut"]) & of(said["made"])
END
result $? "--json says which cross-connects go and come, as its schema has it"

# One switch, set by hand or by a driver.
moves() {
	run 0 replan --tm "$tmp/shifted.json" "$tmp/$1.json" &&
		grep -E '^(cut|make) ' "$tmp/out" | sort >"$tmp/moves"
}
edited "$tmp/plan.json" "$tmp/hand.json" "d['optical_switches'][0].pop('control', 0)"
edited "$tmp/plan.json" "$tmp/driven.json" "d['optical_switches'][0]['control'] = {'driver': 'netns'}"
jq -r '(.cut[] | "cut \(.optical_switch) \(.a) \(.b)"),
	(.made[] | "make \(.optical_switch) \(.a) \(.b)")' "$tmp/out" | sort >"$tmp/wanted"
moves hand && cmp "$tmp/moves" "$tmp/wanted" 2>>"$tmp/err" && moves driven && [[ ! -s $tmp/moves ]]
result $? "the cross-connects that hands have to move"

run 0 replan --json --tm "$tmp/steady.json" "${plan[@]}" --horizon 1ms --threshold 0.5 &&
	python3 - "$tmp/out" 2>>"$tmp/err" <<'END'
import json, sys, jsonschema
said = json.load(open(sys.argv[1]))
jsonschema.validate(said, json.load(open("Documentation/schemas/replan.schema.json")))
assert said["action"] == "keep" and not said["cut"] and not said["made"], said
assert said["choices"][0]["payback_s"] is None
END
result $? "--json when the plan is kept"

run 0 replan --tm "$tmp/shifted.json" "${plan[@]}" -o - && grep -q '^rewire: ' "$tmp/err" &&
	cmp "$tmp/out" "$tmp/new.json"
result $? "the plan on standard output, the decision beside it"

edited "$tmp/shifted.json" "$tmp/bad.json" "d['job'] = 'pears'"
refuses "a matrix of another job" 1 \
	"$tmp/bad.json: job: it is of job \"pears\", the plan of job \"pairs\"" \
	--tm "$tmp/bad.json" "${plan[@]}" -o "$tmp/none.json"
edited "$tmp/shifted.json" "$tmp/bad.json" "d['servers'][7] = 'zebra'"
refuses "other servers" 1 "$tmp/bad.json: servers[7]: it is zebra, in the plan it is s7" \
	--tm "$tmp/bad.json" "${plan[@]}" -o "$tmp/none.json"
edited "$tmp/shifted.json" "$tmp/bad.json" "d['missing'] = ['s3']"
refuses "a matrix without a server" 1 "$tmp/bad.json: missing: it was merged without s3" \
	--tm "$tmp/bad.json" "${plan[@]}" -o "$tmp/none.json"
edited "$tmp/shifted.json" "$tmp/bad.json" "d['samples'] = []"
refuses "no samples" 1 "$tmp/bad.json: samples: there are none" \
	--tm "$tmp/bad.json" "${plan[@]}" -o "$tmp/none.json"

# A server began half a period later: of the first sample, half of the traffic is not there.
partial="import copy
half = copy.deepcopy(d['samples'][0])
half['pairs'] = [p for p in half['pairs'] if p[0] < 6]
half['absent'] = 6
d['samples'][0]['start_ns'] += 50000000
d['samples'][0]['end_ns'] += 50000000
d['samples'] = [half] + d['samples']"
edited "$tmp/steady.json" "$tmp/late.json" "$partial"
run 0 replan --json --tm "$tmp/steady.json" "${plan[@]}" && cp "$tmp/out" "$tmp/expected"
run 0 replan --json --tm "$tmp/late.json" "${plan[@]}" &&
	grep -qxF "toctl replan: warning: 1 of 2 samples of $tmp/late.json lack a server's part and are left out" \
		"$tmp/err" && cmp -s "$tmp/expected" "$tmp/out"
result $? "samples that lack a server's part do not count"
edited "$tmp/late.json" "$tmp/bad.json" "d['samples'] = d['samples'][:1]"
refuses "nothing but such samples" 1 "$tmp/bad.json: samples: every one lacks a server's part" \
	--tm "$tmp/bad.json" "${plan[@]}" -o "$tmp/none.json"
edited "$tmp/late.json" "$tmp/bad.json" "d['samples'].reverse()"
refuses "samples in reverse" 1 \
	"$tmp/bad.json:1: samples[1]: of the fabric: it begins before samples[0]" \
	--tm "$tmp/bad.json" "${plan[@]}" -o "$tmp/none.json"
edited "$tmp/plan.json" "$tmp/bad.json" "d['optical_switches'][0]['ports'] = 40"
run 1 replan --tm "$tmp/shifted.json" "$tmp/bad.json" -o "$tmp/none.json" &&
	grep -q "^toctl replan: $tmp/bad.json:1: servers\[10\].ports\[0\].optical_port: " "$tmp/err" &&
	(($(wc -l <"$tmp/err") == 1))
result $? "a switch with too few ports"
edited "$tmp/plan.json" "$tmp/bad.json" \
	"d['cross_connects'][0]['a'] = d['cross_connects'][1]['a']"
run 1 replan --tm "$tmp/shifted.json" "$tmp/bad.json" -o "$tmp/none.json" &&
	grep -Eqx "toctl replan: $tmp/bad.json: links, cross_connects: port [0-9]+ of optical switch ocs0 is on two cross-connects" \
		"$tmp/err" && (($(wc -l <"$tmp/err") == 1))
result $? "cross-connects that collide"
refuses "plan and decision on standard output" 2 \
	"plan and decision cannot both go to standard output: give -o FILE" \
	--json --tm "$tmp/shifted.json" "${plan[@]}" -o -
[[ ! -e $tmp/none.json ]]
result $? "nothing was written meanwhile"

echo "1..$count"
((!failed))
