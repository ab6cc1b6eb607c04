#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tosim schedule: what it prints and writes, and that ranks need the order.

. selftests/unit/cli.sh

said() { # NAME FILE PYTHON, with its JSON as d
	python3 - "$tmp/$2" "$3" 2>>"$tmp/err" <<'END'
import json, sys, jsonschema
d = json.load(open(sys.argv[1]))
schema = json.load(open("Documentation/schemas/schedule.schema.json"))
jsonschema.validate(d, schema)
exec(sys.argv[2])
END
	result $? "$1"
}

dims=examples/papers/dims-3D-FC_Ring_SW.json
for collective in allreduce reduce-scatter allgather; do
	for policy in baseline themis; do
		run_tosim 0 schedule --network $dims --size 100MB --collective $collective --policy $policy --json
		said "$collective, $policy: all bytes, each stage once" out '
n = len(d["per_dimension"]) * (2 if d["collective"] == "allreduce" else 1)
assert len(d["chunks"]) == 64 and all(len(c) == n for c in d["chunks"])
for k, dim in enumerate(d["per_dimension"]):
    assert sorted(dim["order"]) == sorted([c, i] for c, stages in enumerate(d["chunks"])
        for i, s in enumerate(stages) if s["dimension"] == k + 1)
    starts = [d["chunks"][c][i]["start_s"] for c, i in dim["order"]]
    assert starts == sorted(starts)
    sent = sum(s["bytes"] for c in d["chunks"] for s in c if s["dimension"] == k + 1)
    assert abs(sent / dim["bytes"] - 1) < 1e-9
whole = n / 3 * 1e8 * (1 - 1 / d["ranks"])
assert abs(sum(dim["bytes"] for dim in d["per_dimension"]) / whole - 1) < 1e-9
assert max(s["end_s"] for c in d["chunks"] for s in c) == d["time_s"]'
	done
done

run_tosim 0 schedule --network $dims --size 1GB -o "$tmp/schedule.json" &&
	grep -qx 'allreduce of 954 MiB on 1024 ranks, 64 chunks of 14.9 MiB, themis, scf' "$tmp/out" &&
	grep -qE '^  1 +direct +8 +1400 +0.7 us +90.48%$' "$tmp/out" &&
	grep -q '^     28 chunks through 1 2 3 | 3 2 1$' "$tmp/out"
result $? "text: the time, the dimensions, the orders"
cp "$tmp/schedule.json" "$tmp/first"
run_tosim 0 schedule --network $dims --size 1GB -o - && cmp -s "$tmp/out" "$tmp/first"
result $? "schedule.json: the same again, to the byte"
said "schedule.json: 1.49 times as fast as the baseline" first \
	'assert d["baseline_time_s"] > 1.49 * d["time_s"] and d["utilisation"] > 0.91'

run_tosim 0 schedule --network examples/papers/dims-2D-SW_SW.json --size 1GB --chunks 4 --policy optimal --json
said "optimal: the best schedule of 4 chunks" out 'assert d["search"]["proved"]
assert d["time_s"] == d["search"]["bound_s"] and d["order"] == "searched"'
run_tosim 0 schedule --network examples/papers/dims-2D-SW_SW.json --size 1GB --chunks 30 --policy optimal --budget 5 &&
	grep -q 'the best found so far' "$tmp/out"
result $? "optimal: says when it has not searched all"

run_tosim 0 schedule --network $dims --size 100MB --chunks 16 --jitter 100us --json
said "late ranks that keep to the order come through" out \
	'assert not d["replay"]["deadlock"] and d["replay"]["time_s"] > d["time_s"]'
run_tosim 0 schedule --network $dims --size 100MB --chunks 16 --jitter 100us --unordered --json
said "late ranks that do not, deadlock" out 'assert d["replay"]["deadlock"]
assert d["replay"]["waits"].startswith("in dimension ")'

echo "1..$count"
((!failed))
