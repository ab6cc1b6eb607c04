#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tosim simulate --level packet: beside the flow level, same seed same packets, JSON as its
# schema says, what pauses and drops, and what people get wrong.

. selftests/unit/cli.sh

said() { # NAME PYTHON, with the JSON as d
	python3 - "$tmp/out" "$tmp" "$2" 2>>"$tmp/err" <<'END'
import json, sys, jsonschema
d = json.load(open(sys.argv[1]))
tmp = sys.argv[2]
jsonschema.validate(d, json.load(open("Documentation/schemas/simulation.schema.json")))
count = d["packets"] and d["packets"]["counts"]
if count:
	assert count["sent"] == count["received"] + count["dropped"] + count["queued"], count
	assert sum(l["drops"] for l in d["links"]) == count["dropped"] / d["iterations"]
	assert sum(l["pauses"] for l in d["links"]) == count["pauses"] / d["iterations"]
exec(sys.argv[3])
END
	result $? "$1"
}

packets() { run_tosim 0 simulate --level packet --step-latency 0ns --json "$@"; }

refuses() { # NAME STATUS LINE ARGUMENTS...
	run_tosim "$2" simulate "${@:4}" && grep -qxF "tosim simulate: $3" "$tmp/err" && [[ ! -s $tmp/out ]]
	result $? "$1"
}

jq -n '{name: "mixed", servers: 8, allreduce: [{group: "0-7", bytes: 16777216}],
	mp: [range(8) as $x | range(8) as $y | select($x != $y) |
		{from: "\($x)", to: "\($y)", bytes: 262144}]}' >"$tmp/mixed.json"
run 0 plan --job "$tmp/mixed.json" --degree 4 -o "$tmp/plan"
run_tosim 0 simulate "$tmp/plan" --step-latency 0ns --json
said "the flow level says so" 'assert d["level"] == "flow" and d["packets"] is None'
cp "$tmp/out" "$tmp/flow"
packets "$tmp/plan" --headers 0 && cp "$tmp/out" "$tmp/first" &&
	packets "$tmp/plan" --headers 0
said "a plan, as the flow level has it, and again" '
flow, first = (json.load(open(tmp + name)) for name in ("/flow", "/first"))
assert {k: v for k, v in d.items() if k != "cpu_s"} == {k: v for k, v in first.items() if k != "cpu_s"}
assert d["level"] == "packet" and d["iterations"] == 1
f, p = (run["iteration_time_s"]["mean"] for run in (flow, d))
assert 1 <= p / f < 1.2, (f, p)
if not count["dropped"]:
	# rings take the same links, to a byte a chunk
	sent = [sum(l["bytes"] for l in run["links"]) for run in (flow, d)]
	assert abs(sent[1] / sent[0] - 1) < 0.1, sent
assert d["packets"]["transfer_time_s"]["p99"] <= d["packets"]["transfer_time_s"]["max"] <= p'

packets "$tmp/plan" --seed 2
said "another seed, other hashes" '
first = json.load(open(tmp + "/first"))
assert [l["packets"] for l in d["links"]] != [l["packets"] for l in first["links"]]'

for fabric in ideal switch fat-tree:4,oversub=2 cost-equivalent expander:3 rail:4 rail:2,pod=4; do
	packets "$tmp/plan" --fabric "$fabric" || break
	jq -r '[.iteration_time_s.mean, .packets.counts.received] | @tsv' "$tmp/out" >>"$tmp/means"
done
said "all fabrics that have a name" '
rows = [list(map(float, line.split())) for line in open(tmp + "/means")]
ideal, switch, over, equivalent, expander, rail, pods = (row[0] for row in rows)
assert ideal < equivalent and switch < equivalent and expander > switch, rows
assert all(row[1] > 56 * 64 for row in rows)'

packets "$tmp/plan" --fabric switch --transport none --buffer 200kB
said "PFC pauses, and nothing is lost" 'assert count["pauses"] > 0 and count["dropped"] == 0'
packets "$tmp/plan" --fabric switch --routing hash --transport none --buffer 10kB --no-pfc --retransmission-timeout 1ms
said "without PFC a switch drops" 'assert count["pauses"] == 0 and count["dropped"] > 0'
packets "$tmp/plan" --fabric expander:3 --transport none --relay-queue 20 --retransmission-timeout 1ms
said "relays drop, go-back-N sends again" '
assert count["dropped"] > 0 and count["sent_again"] > 0 and count["cnps"] == 0'
packets "$tmp/plan" --fabric expander:3 --transport tcp --relay-queue 20 --iterations 2 --retransmission-timeout 1ms
said "TCP, in several iterations" '
assert d["iterations"] == 2 and d["packets"]["headers"] == 90 and count["cnps"] == 0'
packets --model examples/models/dlrm.json -n 4 -d 2 --budget 20 --batch 4
said "a model" 'assert d["critical_path_s"]["compute"] > 0 and d["strategy"]'

jq '.allreduce[].bytes /= 64 | .mp[].bytes /= 64' examples/jobs/candle-16.json >"$tmp/trees.json"
run 0 plan --job "$tmp/trees.json" --degree 4 --step-latency 0 --relay-latency 0 -o "$tmp/trees" &&
	run_tosim 0 simulate "$tmp/trees" --step-latency 0ns --json && cp "$tmp/out" "$tmp/flow" &&
	packets "$tmp/trees" --headers 0
said "trees use all links between two servers" '
plan, flow = (json.load(open(tmp + name)) for name in ("/trees", "/flow"))
pairs = [frozenset(link[end].split(":")[0] for end in "ab") for link in plan["links"]]
assert plan["trees"] and len(set(pairs)) < len(pairs)
planned, most = (max(l["bytes"] for l in run["links"]) for run in (flow, d))
assert most < 1.05 * planned, (most, planned)'

captured() { # NAME PYTHON, with the frames of the link to the switch as f: (time, length, bytes)
	python3 - "$tmp/link.pcap" "$tmp/out" "$2" 2>>"$tmp/err" <<'END'
import json, struct, sys
data, d, f, at = open(sys.argv[1], "rb").read(), json.load(open(sys.argv[2])), [], 24
assert struct.unpack("<IHHiIII", data[:24]) == (0xa1b23c4d, 2, 4, 0, 0, 16384, 1)
while at < len(data):
	s, ns, captured, length = struct.unpack("<IIII", data[at:at + 16])
	f.append((s * 10**9 + ns, length, data[at + 16:at + 16 + captured]))
	at += 16 + captured
assert at == len(data) and all(len(b) == n for t, n, b in f)
assert [t for t, n, b in f] == sorted(t for t, n, b in f)
link = next(l for l in d["links"] if l["from"] == "s1" and l["to"] == "switch")
assert len(f) == link["packets"], (len(f), link)
for t, n, b in f:
	words = struct.unpack(">10H", b[14:34])
	total = sum(words)
	assert (total & 0xffff) + (total >> 16) == 0xffff or total % 0xffff == 0, words
	assert words[1] + 14 == n
exec(sys.argv[3])
END
	result $? "$1"
}

packets "$tmp/plan" --fabric switch --capture s1,switch -o "$tmp/link.pcap"
captured "a capture of RoCEv2" '
data = [(t, n, b) for t, n, b in f if b[42] < 0x10]
assert sum(n - 58 for t, n, b in data) == link["bytes"]
assert {b[42] for t, n, b in data} >= {0, 1, 2} and {b[42] for t, n, b in f} <= {0, 1, 2, 4, 0x11, 0x81}
assert {struct.unpack(">H", b[36:38])[0] for t, n, b in f} == {4791}
first = [int.from_bytes(b[51:54], "big") for t, n, b in data if b[47:50] == data[0][2][47:50]
	and b[30:34] == data[0][2][30:34]]
assert first == list(range(len(first)))'
ln "$tmp/link.pcap" "$tmp/linked" && cp "$tmp/linked" "$tmp/as-it-was"
packets "$tmp/plan" --fabric switch --transport dctcp --capture s1,switch -o "$tmp/link.pcap"
captured "a capture of TCP" '
data = [(t, n, b) for t, n, b in f if n > 66]
assert sum(n - 66 for t, n, b in data) == link["bytes"] and all(b[23] == 6 for t, n, b in f)'
cmp "$tmp/linked" "$tmp/as-it-was"
result $? "a capture is written beside the last one, and takes its place"
refuses "no link to capture" 1 '--capture: no link "s1,s2", expected FROM,TO' \
	"$tmp/plan" --fabric switch --level packet --capture s1,s2 -o "$tmp/none.pcap"
refuses "a capture that goes nowhere" 2 "--capture: give --output, where the packets go" \
	"$tmp/plan" --level packet --capture s0,s1

jq -n '{name: "rings", servers: 8, allreduce: [{group: "0-7", bytes: 400000000}]}' >"$tmp/rings.json"
run 0 plan --job "$tmp/rings.json" --degree 4 -o "$tmp/rings" && packets "$tmp/rings" &&
	cp "$tmp/out" "$tmp/whole" && packets "$tmp/rings" --fast-forward
said "steady rings are skipped, not counted differently" '
whole, f = json.load(open(tmp + "/whole")), d["packets"]["fast_forward"]
time = whole["iteration_time_s"]["mean"]
assert whole["packets"]["fast_forward"] is None and f["skips"] > 0 and f["skipped_s"] > time / 3, f
assert abs(d["iteration_time_s"]["mean"] / time - 1) <= f["error"] < 0.01, (time, f)
assert [l["bytes"] for l in d["links"]] == [l["bytes"] for l in whole["links"]]
assert d["events"] < whole["events"] / 1.5 and count["sent"] == whole["packets"]["counts"]["sent"]'
jq -n '{name: "steps", servers: 32, allreduce: [{group: "0-31", bytes: 50000000}]}' >"$tmp/steps.json"
run 0 plan --job "$tmp/steps.json" --degree 2 -o "$tmp/steps" && packets "$tmp/steps" &&
	cp "$tmp/out" "$tmp/whole" && packets "$tmp/steps" --fast-forward
said "so are steps of rings" '
whole, f = json.load(open(tmp + "/whole")), d["packets"]["fast_forward"]
time = whole["iteration_time_s"]["mean"]
assert f["skips"] == 1 and f["skipped_s"] > time / 2, f
assert abs(d["iteration_time_s"]["mean"] / time - 1) <= f["error"] < 0.01, (time, f)
assert [l["bytes"] for l in d["links"]] == [l["bytes"] for l in whole["links"]]
assert count["sent"] == whole["packets"]["counts"]["sent"]'
run_tosim 0 simulate "$tmp/rings" --level packet --fast-forward &&
	grep -q '^  fast-forward    [0-9]* times, .* in all, at most 0.[0-9]* % wrong$' "$tmp/out"
result $? "skipped, as text"
refuses "a capture of what is skipped" 2 "--capture is of all packets: leave out --fast-forward" \
	"$tmp/plan" --level packet --fast-forward --capture s0,s1 -o "$tmp/none.pcap"

run_tosim 0 simulate "$tmp/plan" --level packet --transport dctcp &&
	grep -q '^  packets         dctcp, 4096 B and 90 B of headers: [0-9]* sent' "$tmp/out" &&
	grep -q '^  longest queue   .*, for the link from s[0-7] to s[0-7]$' "$tmp/out"
result $? "as text"

packets "$tmp/plan" --fabric switch --transport dctcp --marks 10kB,20kB && cp "$tmp/out" "$tmp/early" &&
	packets "$tmp/plan" --fabric switch --transport dctcp --marks 1GB,2GB
said "queues mark from --marks on" '
early = json.load(open(tmp + "/early"))["packets"]["counts"]
assert early["marks"] > 0 and count["marks"] == 0, (early, count)'
refuses "marks the wrong way round" 2 \
	'--marks: expected MIN,MAX, bytes like 100kB,400kB, not "2MB,1MB"' \
	"$tmp/plan" --level packet --marks 2MB,1MB
refuses "sprayed packets that get lost" 1 \
	"without PFC packets get lost, which is not seen where they are sprayed: --routing hash" \
	"$tmp/plan" --fabric ideal --level packet --no-pfc
refuses "a buffer without head-room" 1 \
	"PFC needs a buffer of 120974 bytes for head-room on the link from s0 to switch" \
	"$tmp/plan" --fabric switch --level packet --buffer 50kB
refuses "links that change" 2 "--level packet: the links of ocs:1ms change" \
	"$tmp/plan" --fabric ocs:1ms --level packet
run_tosim 2 simulate "$tmp/plan" --transport tcp && grep -q -- '--level' "$tmp/err"
result $? "options of the other level"
run_tosim 2 simulate "$tmp/plan" --level flow --capture s0,s1 -o "$tmp/none.pcap" &&
	grep -q -- '--capture goes with --level=packet' "$tmp/err" && [[ ! -e $tmp/none.pcap ]]
result $? "options of the other level, beside --level"

echo "1..$count"
exit $((failed > 0))
