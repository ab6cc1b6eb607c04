#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# toctl diff: links, routes, figures and moves between two plans, and how it exits.

. selftests/unit/cli.sh

plan() { # FILE ARGUMENTS...
	"$toctl" plan -o "$tmp/$1" "${@:2}" >"$tmp/out" 2>"$tmp/err" || result 1 "plan of $1"
}

# Change the plan at FILE by a jq expression, into OUT.
edited() { # FILE OUT EXPRESSION
	jq "$3" "$tmp/$1" >"$tmp/$2"
}

# What the last --json run says, in one line.
said() { # JQ-EXPRESSION
	jq -c "$1" "$tmp/out"
}

ring=(--job examples/ring-4/job.json --cluster examples/ring-4/cluster.json --fixed)
panel=(--job examples/panel-6/job.json --cluster examples/panel-6/cluster.json)
plan ring.json "${ring[@]}"
plan one.json "${panel[@]}"
plan kautz.json "${panel[@]}" --family kautz

edited ring.json spaced.json .
run 0 diff "$tmp/ring.json" "$tmp/spaced.json" && [[ ! -s $tmp/out ]] &&
	run 0 --json diff "$tmp/ring.json" "$tmp/spaced.json" &&
	[[ $(said '[.same, .members, .links.cut, .servers]') == '[true,[],[],[]]' ]]
result $? "the same plan, laid out otherwise: nothing, status 0"

# --- links and routes ---

run 1 diff "$tmp/one.json" "$tmp/kautz.json" && cp "$tmp/out" "$tmp/text" &&
	run 1 diff --json "$tmp/one.json" "$tmp/kautz.json" &&
	python3 - "$tmp/out" "$tmp/one.json" "$tmp/kautz.json" "$tmp/text" "$toctl" 2>>"$tmp/err" <<'END'
import json, subprocess, sys, warnings
warnings.simplefilter("ignore")
import jsonschema
said, old, new = (json.load(open(path)) for path in sys.argv[1:4])
text = open(sys.argv[4]).read()
schemas = {s["$id"]: s for s in (json.load(open(f"Documentation/schemas/{name}.schema.json"))
                                 for name in ("diff", "replan"))}
jsonschema.Draft202012Validator(schemas["diff.schema.json"], resolver=jsonschema.RefResolver(
    "diff.schema.json", schemas["diff.schema.json"], schemas)).validate(said)
links = lambda plan: {frozenset((l["a"], l["b"])) for l in plan["links"]}
pairs = lambda found: {frozenset(l.values()) for l in found}
assert pairs(said["links"]["cut"]) == links(old) - links(new)
assert pairs(said["links"]["made"]) == links(new) - links(old)
for link in said["links"]["cut"]:
    assert f"- {link['a']} -- {link['b']}\n" in text, link
crosses = lambda plan: {(c["optical_switch"], *sorted((c["a"], c["b"])))
                        for c in plan["cross_connects"]}
moves = lambda found: {(c["optical_switch"], c["a"], c["b"]) for c in found}
assert moves(said["cross_connects"]["cut"]) == crosses(old) - crosses(new)
assert moves(said["cross_connects"]["made"]) == crosses(new) - crosses(old)
for switch, a, b in crosses(new) - crosses(old):
    assert f"make {switch} {a} {b}\n" in text
for side, path in (("before", sys.argv[2]), ("after", sys.argv[3])):
    verified = json.loads(subprocess.run([sys.argv[5], "verify", "--json", path],
                                         capture_output=True).stdout)
    for key, value in said["figures"][side].items():
        assert verified[key] == value, key
changed = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)} - {"predictions"}
assert set(said["members"]) == changed, (said["members"], changed)
END
result $? "links, cross-connects, figures and members that differ are those of the files"

# Routes as everybody writes them: address, next hops with their peers.
counted() { # OLD NEW
	python3 - "$tmp/$1" "$tmp/$2" "$tmp/out" 2>>"$tmp/err" <<'END'
import json, sys
from collections import Counter
old, new, said = (json.load(open(path)) for path in sys.argv[1:])

def members(text):
    out = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        out |= set(range(int(first), int(last or first) + 1))
    return out

def routes(plan):
    peer = {}
    for link in plan["links"]:
        peer[link["a"]] = link["b"]
        if plan["link_mode"] == "duplex":
            peer[link["b"]] = link["a"]
    servers, tables = plan["servers"], {}
    for table in plan["tables"]:
        me, own = table["server"], {}
        hops = [{json.dumps(hop, sort_keys=True) + str(peer.get(f"{me}:{hop['port']}"))
                 for hop in group} for group in table["groups"]]
        for route in table["routes"]:
            for slot, dsts in enumerate([route.get("nodes", ""), *route.get("ports", [])]):
                for dst in members(dsts):
                    port = servers[dst]["ports"][slot - 1]["name"] if slot else ""
                    own[servers[dst]["name"], port] = hops[route["group"]]
        tables[me] = own
    return tables

a, b = routes(old), routes(new)
want = {}
for server in a.keys() & b.keys():
    count = (len(b[server].keys() - a[server].keys()), len(a[server].keys() - b[server].keys()),
             sum(a[server][k] != b[server][k] for k in a[server].keys() & b[server].keys()))
    if any(count):
        want[server] = count
got = {s["server"]: (s["added"], s["removed"], s["changed"]) for s in said["servers"]
       if s["in"] == "both" and (s["added"] or s["removed"] or s["changed"])}
if got != want:
    sys.exit(f"{got} instead of {want}")
END
}

compared() { # NAME OLD NEW: the routes that differ are counted
	run 1 diff --json "$tmp/$2" "$tmp/$3" && counted "$2" "$3"
	result $? "$1"
}

plan hybrid.json --job examples/jobs/dlrm-16.json --degree 4
plan seed.json --job examples/jobs/dlrm-16.json --degree 4 --seed 7 --links simplex
plan three.json --job examples/jobs/dlrm-16.json --degree 3
compared "routes, kautz instead" one.json kautz.json
compared "routes, simplex instead of duplex" hybrid.json seed.json
compared "routes, servers with a port less" hybrid.json three.json
compared "routes, servers with a port more" three.json hybrid.json

# s1 and s3 change cables: no table of s0 does, but who gets its packets.
edited ring.json crossed.json '(.links[] | select(.a == "s0:eth0")).b = "s3:eth1"
	| (.links[] | select(.a == "s2:eth0")).b = "s1:eth1"'
compared "routes that lead elsewhere by the same port" ring.json crossed.json
[[ $(said '.servers[] | select(.server == "s0").changed') -gt 0 ]]
result $? "those of s0 are among them"

edited ring.json weight.json '(.tables[0].groups[0][0].weight) = 2'
compared "a weight" ring.json weight.json
[[ $(said '[.servers[] | .server]') == '["s0"]' && $(said .members) == '["tables"]' ]]
result $? "only that server, only tables"
edited ring.json source.json '.tables[0].pairs = [{"group": 0, "from": "1", "ports": ["", "2"]}]'
run 1 diff --json "$tmp/ring.json" "$tmp/source.json" &&
	[[ $(said '[.servers[] | [.server, .changed, .sources]]') == '[["s0",0,1]]' ]]
result $? "a route of a single source"

# --- servers ---

edited ring.json address.json '.servers[1].ipv4 = "10.200.9.9"'
run 1 diff --json "$tmp/ring.json" "$tmp/address.json" &&
	[[ $(said '[.servers[] | [.server, .settings, .changed]]') == '[["s1",true,0]]' ]]
result $? "another address of a server"
jq '(.. | strings) |= gsub("^s3(?<port>:.*)?$"; "new\(.port // "")")' "$tmp/ring.json" >"$tmp/named.json"
run 1 diff "$tmp/ring.json" "$tmp/named.json" && grep -qE '^  s3 .*  gone$' "$tmp/out" &&
	grep -qE '^  new .*  new server$' "$tmp/out" && grep -qxF -- '- s2:eth0 -- s3:eth1' "$tmp/out" &&
	grep -qxF -- '+ s2:eth0 -- new:eth1' "$tmp/out"
result $? "another server"
edited one.json switch.json '(.. | strings | select(. == "panel")) |= "other"'
run 1 diff "$tmp/one.json" "$tmp/switch.json" &&
	grep -qxF 'cross-connects: on other optical switches' "$tmp/out" &&
	run 1 diff --json "$tmp/one.json" "$tmp/switch.json" && [[ $(said .cross_connects) == null ]]
result $? "another optical switch: no moves"

# --- trouble ---

run 3 diff "$tmp/ring.json" "$tmp/none.json" && [[ ! -s $tmp/out ]] &&
	grep -qxF "toctl diff: $tmp/none.json: No such file or directory" "$tmp/err" &&
	(($(wc -l <"$tmp/err") == 1))
result $? "a file that is not there: status 3"
echo '{"format":"topoopt-plan"}' >"$tmp/bad.json"
run 3 diff "$tmp/bad.json" "$tmp/ring.json" && grep -q '^toctl diff: .*bad.json' "$tmp/err"
result $? "a file that is no plan: status 3"
run 2 diff "$tmp/ring.json" && grep -q '^see toctl diff --help' "$tmp/err"
result $? "one plan: status 2"

echo "1..$count"
((!failed))
