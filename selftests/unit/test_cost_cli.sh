#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tosim cost: text and JSON say the same, as the schema has it.

. selftests/unit/cli.sh

said() { # NAME PYTHON, with the JSON as d
	python3 - "$tmp/out" "$2" 2>>"$tmp/err" <<'END'
import json, sys, jsonschema
d = json.load(open(sys.argv[1]))
jsonschema.validate(d, json.load(open("Documentation/schemas/cost.schema.json")))
exec(sys.argv[2])
END
	result $? "$1"
}

figure_11=(--degree 4 --bandwidth 100G)

run_tosim 0 cost --servers 128 "${figure_11[@]}" --fabric topoopt --json
said "one fabric" 'assert d["per_server_usd"] == 4536 and d["total_usd"] == 128 * 4536
assert sum(c["usd"] for c in d["components"]) == 4536'

for of in "4 100G topoopt" "4 100G ideal" "8 200G topoopt" "8 200G ideal"; do
	read -r degree bandwidth fabric <<<"$of"
	run_tosim 0 cost --servers 128 --degree "$degree" --bandwidth "$bandwidth" --fabric "$fabric" --json || break
	jq .per_server_usd "$tmp/out" >>"$tmp/usd"
done
[[ $(jq -sc . "$tmp/usd") == "[4536,11316,10904,37424]" ]]
result $? "what TopoOpt's Table 3 comes to, for both panels of its Figure 11"

run_tosim 0 cost --servers 2000 "${figure_11[@]}" --json
said "all that have prices, at the end of the axis of Figure 11" 'f = {c["fabric"]: c for c in d["fabrics"]}
assert len(f) == 6 and "sip-ml" not in f
assert f["ideal"]["servers"] == 2000 and f["ideal"]["total_usd"] == 2000 * 11316
assert min(f.values(), key=lambda c: c["per_server_usd"])["fabric"] == "expander"
assert abs(f["cost-equivalent"]["server_bandwidth_bps"] / 160.34e9 - 1) < 1e-3'

run_tosim 0 cost --servers 128 "${figure_11[@]}" --prices selftests/unit/formats/prices.json --json
said "with a price of a wavelength, sip-ml too" 'f = {c["fabric"]: c for c in d["fabrics"]}
assert f["sip-ml"]["per_server_usd"] == 4 * (2000 + 250) and f["sip-ml"]["prices"] == "round figures"'

run_tosim 0 cost --servers 2000 "${figure_11[@]}" --fabric topoopt &&
	grep -qx 'topoopt: 2000 servers, 4 x 100 Gbit/s each' "$tmp/out" &&
	grep -qE '^  a server +4536.00 +76.00$' "$tmp/out" &&
	grep -qx 'topoopt: 2000 servers want 2000 ports of each patch panel, the largest have 1008' "$tmp/out"
result $? "text of one fabric, and that its panels are not sold"

run_tosim 0 cost --servers 128 "${figure_11[@]}" --assume tree-levels=1 &&
	grep -qE '^  ideal +4932.00 +1.087 ' "$tmp/out" &&
	grep -qE '^  expander .* 427008$' "$tmp/out" &&
	grep -q '^sip-ml has no price' "$tmp/out" && grep -q '^  tree-levels=1: ' "$tmp/out"
result $? "text of all, with what is assumed and what has no price"

run_tosim 2 cost --servers 128 "${figure_11[@]}" --fabric torus &&
	grep -q '^tosim cost: --fabric: expected one of topoopt, .*, expander, not "torus"$' "$tmp/err"
result $? "refused: a fabric that nobody prices"

echo "1..$count"
((!failed))
