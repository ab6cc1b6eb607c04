#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# toctl replan --down: plans for what is left, and what people get wrong.

. selftests/unit/cli.sh

refuses() { # NAME STATUS LINE ARGUMENTS...
	run "$2" replan "${@:4}" && grep -qxF "toctl replan: $3" "$tmp/err" && [[ ! -s $tmp/out ]]
	result $? "$1"
}

run 0 plan --cluster examples/ring-4/cluster.json --job examples/ring-4/job.json \
	-o "$tmp/plan.json" && cp "$tmp/plan.json" "$tmp/before.json"
result $? "a ring of four servers"

run 0 replan "$tmp/plan.json" --down s0:eth0 -o "$tmp/new.json" &&
	grep -q '^repair: 1 dark link, 0 moved to other ports; rings: kept$' "$tmp/out" &&
	grep -q '; busiest link 800 MiB before, 1.56 GiB after$' "$tmp/out" &&
	run 0 verify "$tmp/new.json" && cmp "$tmp/plan.json" "$tmp/before.json"
result $? "a port: a plan that verifies, beside the old one"

python3 - "$tmp" 2>>"$tmp/err" <<'END'
import json, sys, jsonschema
old, new = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("plan", "new"))
assert new["down"] == ["s0:eth0"] and len(new["dark"]) == 1, new["down"]
ends = lambda links: {frozenset((link["a"], link["b"])) for link in links}
assert ends(new["links"]) | ends(new["dark"]) == ends(old["links"])
assert not ends(new["links"]) & ends(new["dark"])
assert any("s0:eth0" in end for end in ends(new["dark"]))
assert "down" not in old and "dark" not in old
END
result $? "it says what it does without"

run 0 replan "$tmp/new.json" --down s2:eth0 --down s3 -o "$tmp/more.json" --json &&
	python3 - "$tmp" 2>>"$tmp/err" <<'END'
import json, sys, jsonschema
said = json.load(open(f"{sys.argv[1]}/out"))
jsonschema.validate(said, json.load(open("Documentation/schemas/repair.schema.json")))
assert said["action"] == "repair" and said["cut_off"] == ["s0", "s3"], said
assert said["down"] == ["s0:eth0", "s2:eth0", "s3"] and said["dark"] == 2, said
assert len(json.load(open(f"{sys.argv[1]}/more.json"))["dark"]) == 3
END
result $? "more of them, of a plan that was repaired already"

run 0 replan "$tmp/plan.json" --down s1 -o - &&
	grep -q '^cut off: s1$' "$tmp/err" && python3 -m json.tool "$tmp/out" >/dev/null
result $? "a server, the plan on standard output"

ordered() { # DEGREE PARTS THAT_IS_DOWN...
	run 0 plan --job examples/prototype-12/job.json --degree "$1" --effort 1 --no-buffer-cycles \
		-o "$tmp/ordered.json" &&
		run 0 replan "$tmp/ordered.json" "${@:3}" -o "$tmp/repaired.json" --json &&
		jq -e --argjson parts "$2" '.parts == $parts' "$tmp/out" >/dev/null &&
		jq -e '.no_buffer_cycles' "$tmp/repaired.json" >/dev/null || return
	# pairs without a path are no routes
	"$toctl" verify "$tmp/repaired.json" 2>&1 >/dev/null | grep -v ' has no route to ' >"$tmp/err"
	[[ ! -s $tmp/err ]]
}
ordered 4 1 --down s3:eth1
result $? "a plan without buffer cycles: none without a port"
ordered 4 2 --down s3
result $? "nor without a server"
ordered 2 4 --down s0 --down s6
result $? "nor where a ring falls into two"

refuses "an unknown server" 1 "$tmp/plan.json: no server is called \"s9\"" \
	"$tmp/plan.json" --down s9
refuses "an unknown port" 1 "$tmp/plan.json: server \"s1\" has no port \"eth7\"" \
	"$tmp/plan.json" --down s0 --down s1:eth7 -o "$tmp/none.json"
refuses "nothing left" 1 "$tmp/plan.json: no link is left" \
	"$tmp/plan.json" --down s0 --down s2 -o "$tmp/none.json"
refuses "neither traffic nor what is down" 2 "--tm or --down is required" "$tmp/plan.json"
refuses "both" 2 "--down goes without --tm" "$tmp/plan.json" --down s0 --tm "$tmp/tm.json"
[[ ! -e $tmp/none.json ]]
result $? "nothing was written meanwhile"

for bad in "d['down'] = ['s7']" "d['down'] = ['s1:eth7']" "d['down'] = 's1'" \
	"d['dark'].append(d['links'][0] | {})" "d['dark'][0]['b'] = 's9:eth0'" \
	"d['dark'] = [{'a': d['links'][0]['a'], 'b': d['dark'][0]['b']}]"; do
	python3 -c "import json, sys
d = json.load(open(sys.argv[1]))
$bad
json.dump(d, open(sys.argv[2], 'w'))" "$tmp/new.json" "$tmp/bad.json"
	run 1 verify "$tmp/bad.json" && grep -Eq "^toctl verify: $tmp/bad.json:[0-9]+: (down|dark)" "$tmp/err"
	result $? "a plan with $bad"
done

echo "1..$count"
((!failed))
