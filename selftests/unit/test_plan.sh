#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# toctl plan and verify on the examples, and on what people get wrong.

. selftests/unit/cli.sh

refuses() { # NAME STATUS LINE ARGUMENTS...
	run "$2" "${@:4}" && grep -qxF "$3" "$tmp/err" && [[ ! -s $tmp/out ]]
	result $? "$1"
}

# A figure that verify recomputes for the plan in $tmp/plan.json.
figure() { # KEY
	"$toctl" verify --json "$tmp/plan.json" |
		python3 -c "import json, sys; print(json.load(sys.stdin)['$1'])"
}

# hybrid-128 with fewer servers, as it is planned eight times.
python3 - "$tmp/hybrid-48.json" <<'END'
import json, sys
job = json.load(open("examples/jobs/hybrid-128.json")) | {"name": "hybrid-48", "servers": 48}
job["mp"][0]["from"] = ",".join(str(x) for x in sorted((13 * t + 11) % 48 for t in range(24)))
json.dump(job, open(sys.argv[1], "w"))
END
for job in examples/jobs/{dlrm-16,candle-16}.json "$tmp/hybrid-48.json"; do
	for degree in 2 3 4 8; do
		for links in duplex simplex; do
			run 0 plan --job "$job" --degree $degree --links $links \
				-o "$tmp/plan.json" && run 0 verify "$tmp/plan.json"
			result $? "$(basename "$job" .json), degree $degree, $links: planned and verified"
		done
	done
done

run 0 plan -v --job examples/prototype-12/job.json --degree 4 -o "$tmp/plan.json" &&
	grep -q 'group 0, 12 servers, .*: +-1, +-5$' "$tmp/out" && [[ $(figure diameter) == 3 ]]
result $? "the paper's prototype has its links at +-1 and +-5"

run 0 plan --job examples/ring-4/job.json --cluster examples/ring-4/cluster.json --fixed \
	-o "$tmp/plan.json" && run 0 verify -v "$tmp/plan.json" &&
	grep -q '4 duplex links (4 for rings)' "$tmp/out"
result $? "fixed ring of four servers"

job9=examples/bcube-3-2/job.json
run 0 plan --job $job9 --topology mesh:3,2 -o "$tmp/mesh.json" && run 0 verify -v "$tmp/mesh.json" &&
	grep -q '9 servers, 18 duplex links' "$tmp/out" &&
	grep -qE "^  diameter +2 " "$tmp/out" &&
	run_tosim 0 schedule --network "$tmp/mesh.json" --size 1GB &&
	grep -qE '^  2 +direct +3 ' "$tmp/out"
result $? "mesh:3,2: two dimensions of full meshes"
run 0 plan --job $job9 --topology bcube:3,2 -o "$tmp/bcube.json" --report "$tmp/bcube.html" &&
	run 0 verify -v "$tmp/bcube.json" &&
	grep -q '9 servers, 18 duplex links' "$tmp/out" &&
	grep -qE "^  any one packet switch down: [0-9]+ of [0-9]+ cases covered" "$tmp/out" &&
	grep -q '<td>s8:eth1</td>' "$tmp/bcube.html"
result $? "bcube:3,2: planned, verified and drawn"
run 0 plan --job $job9 --topology rail:2 -o "$tmp/rail.json" && run 0 verify -v "$tmp/rail.json" &&
	grep -qE "^  diameter +1 " "$tmp/out"
result $? "rail:2: everybody at one hop"
refuses "a topology without a number" 1 "toctl plan: --topology mesh:3: expected mesh:n,k, bcube:n,k, rail:g, sip-ring:W,REACH or sip-ocs:Q" \
	plan --job $job9 --topology mesh:3
refuses "a topology of another word" 1 "toctl plan: --topology torus:3,2: expected mesh:n,k, bcube:n,k, rail:g, sip-ring:W,REACH or sip-ocs:Q" \
	plan --job $job9 --topology torus:3,2
refuses "a topology of other servers" 1 "toctl plan: mesh:2,3 has 8 servers, the job 9" \
	plan --job $job9 --topology mesh:2,3
sips() { # WORD LINE
	run 0 plan --job $job9 --topology "$1" -o "$tmp/sip.json" --report "$tmp/sip.html" &&
		grep -qE "$2" "$tmp/out" && run 0 verify "$tmp/sip.json"
	result $? "$1: planned and verified"
}
sips sip-ring:8,3 '9 servers, [0-9]+ simplex links'
grep -q 'class="lightpath"' "$tmp/sip.html" && [[ $(jq -r '[.links[] | (.from // .a) |
	split(":")[1]] | unique | length' "$tmp/sip.json") == 8 ]]
result $? "sip-ring:8,3: lightpaths on each of 8 wavelengths, drawn"
sips sip-ocs:4 '9 servers, [0-9]+ simplex links'
! grep -q 'class="lightpath"' "$tmp/sip.html"
result $? "sip-ocs:4: no lightpaths are drawn"
refuses "no wavelengths" 1 \
	"toctl plan: sip-ring:0,4: expected an even number of wavelengths, 2 to 1024, half of them for each way round" \
	plan --job $job9 --topology sip-ring:0,4
refuses "no reach" 1 "toctl plan: sip-ring:4,0: expected a reach of 1 to 64" \
	plan --job $job9 --topology sip-ring:4,0
refuses "a ring without a reach" 1 \
	"toctl plan: sip-ring:4: expected sip-ring:W,REACH, wavelengths and the segments that a lightpath passes at most" \
	plan --job $job9 --topology sip-ring:4
refuses "no optical switches" 1 "toctl plan: sip-ocs:0: expected 1 to 64 optical switches" \
	plan --job $job9 --topology sip-ocs:0
refuses "a topology, and a degree" 2 \
	"toctl plan: --topology says servers and links: it excludes --cluster, --degree, --family and --links" \
	plan --job $job9 --topology mesh:3,2 --degree 4

ring_path() { # DST SRC: servers on the way from s0
	"$toctl" route "$1" from "$2" --plan "$tmp/plan.json" --node s0 --json |
		jq -r '[.path | .. | .server? // empty] | join(" ")'
}
[[ $(ring_path s2:eth1 s0:eth0) == "s0 s1 s2" && $(ring_path s2:eth1 s0) == "s0 s1 s2" &&
	$(ring_path s2:eth0 s0) == "s0 s3 s2" ]]
result $? "a path begins at the port whose address sends"
[[ $(ring_path s1:eth1 s0:eth0) == "s0 s1" && $(ring_path s1:eth0 s0:eth0) == "s0 s1 s2 s1" ]]
result $? "RoCEv2 that arrived at another port leaves once more by the right one"
[[ $(ring_path s2:eth0 s0:eth0) == "s0 s1 s2 s3 s2" ]] &&
	run 0 route s2:eth0 from s0:eth0 --plan "$tmp/plan.json" --node s0 --dev none &&
	cmp "$tmp/out" - <<-END 2>>"$tmp/err"
		s0:eth0 -> s1:eth1
		  s1:eth0 -> s2:eth1 for what arrives at eth1
		    s2:eth0 -> s3:eth1
		      s3:eth1 -> s2:eth0
		        s2: arrives
	END
result $? "a path follows alternates"

run 0 plan --job examples/jobs/hybrid-128.json --degree 8 --seed 7 -o "$tmp/a.json" &&
	run 0 plan --job examples/jobs/hybrid-128.json --degree 8 --seed 7 -o - &&
	cmp "$tmp/a.json" "$tmp/out" 2>>"$tmp/err" && run 0 verify "$tmp/a.json"
result $? "same seed, same bytes, also on standard output, of a plan that verifies"

run 0 plan --json --job examples/jobs/dlrm-16.json --degree 4 -o "$tmp/plan.json" &&
	python3 -c "
import json
said = json.load(open('$tmp/out'))
assert said == json.load(open('$tmp/plan.json'))['predictions']
assert said['max_link_load_bytes'] < 1.05 * said['max_link_load_bound_bytes']" 2>>"$tmp/err"
result $? "--json prints the predictions of the plan"

python3 -c "
import json
plan = json.load(open('$tmp/plan.json'))
won = [c for c in plan['candidates'] if c.get('chosen')]
assert len(won) == 1, won
# what is slower by a thousandth is as good, if its routes are more regular
assert won[0]['comm_time_s'] <= 1.001 * min(c.get('comm_time_s', 9e9) for c in plan['candidates'])
made = plan['predictions']
assert abs(won[0]['comm_time_s'] / (made['comm_time_s'] + made['allreduce_latency_s']) - 1) < 1e-6" 2>>"$tmp/err"
result $? "the plan tells which candidate won, the fastest of those routed"

for family in totient double-binary-tree kautz moore recursive-halving; do
	run 0 plan --job examples/jobs/dlrm-16.json --degree 4 --family $family \
		-o "$tmp/family.json" && run 0 verify --json "$tmp/family.json" && python3 -c "
import json
plan = json.load(open('$tmp/family.json'))
assert [c['family'] for c in plan['candidates']] == ['$family']
assert json.load(open('$tmp/out'))['family'] == plan['predictions']['family'] == '$family'
assert ('trees' in plan) == ('$family' in ('double-binary-tree', 'recursive-halving'))" 2>>"$tmp/err"
	result $? "--family $family plans one, and verify sees that"
done

run 0 plan --job examples/prototype-12/job.json --degree 4 --family one-order -o "$tmp/family.json" &&
	grep -q '^  one order of ranks: communication time .* ms, +[0-9.]* % of the .* ms that a free plan takes$' \
		"$tmp/out" && run 0 verify --json "$tmp/family.json" && python3 -c "
import json
plan = json.load(open('$tmp/family.json'))
assert json.load(open('$tmp/out'))['family'] == 'one-order' == plan['candidates'][0]['family']
assert len(plan['rings']) == 2 and plan['rings'][0]['order'] == plan['rings'][1]['order']" 2>>"$tmp/err"
result $? "--family one-order: two rings of one order on parallel links, and their price"
echo '{"format": "topoopt-job", "version": 1, "name": "eight", "servers": 8,
	"allreduce": [{"group": "all", "bytes": 1000000000}]}' >"$tmp/eight.json"
run 0 plan --job "$tmp/eight.json" --degree 3 --links simplex --family one-order \
	-o "$tmp/family.json" && run 0 verify --json "$tmp/family.json" && python3 -c "
import json
plan = json.load(open('$tmp/family.json'))
assert [ring['order'] for ring in plan['rings']] == 3 * ['0,1,2,3,4,5,6,7']" 2>>"$tmp/err"
result $? "--family one-order on simplex links: no ring is backwards"
run 0 plan --job examples/prototype-12/job.json --degree 4 -o "$tmp/family.json" &&
	! grep -q 'one-order' "$tmp/family.json"
result $? "which competes only when it is asked for"

run 0 plan -v --job examples/jobs/dlrm-16.json --degree 5 -o "$tmp/family.json" &&
	grep -q '^  group 0, 16 servers, .* packed trees$' "$tmp/out" &&
	run 0 plan --job examples/jobs/dlrm-16.json --degree 5 --rings -o "$tmp/rings.json" &&
	run 0 verify --json "$tmp/rings.json" && python3 -c "
import json
trees, rings = (json.load(open(f'$tmp/{name}.json')) for name in ('family', 'rings'))
assert not trees.get('rings') and trees['predictions']['family'] == 'packed-trees'
assert abs(sum(tree['share'] for tree in trees['trees']) - 1) < 1e-9
assert not rings.get('trees') and len(rings['rings']) == 2
assert 1.24 < rings['predictions']['allreduce_time_s'] / trees['predictions']['allreduce_time_s'] < 1.26" 2>>"$tmp/err"
result $? "five ports: trees use all, --rings leaves one idle"
run 1 plan --job examples/jobs/dlrm-16.json --degree 5 --rings --family double-binary-tree &&
	grep -q '^toctl plan: this family has no rings$' "$tmp/err"
result $? "--rings of a family of trees"

run 1 plan --job examples/jobs/dlrm-16.json --degree 4 --family torus &&
	grep -q '^toctl plan: no family is called "torus": totient, ' "$tmp/err" &&
	[[ $(grep -o totient "$tmp/err" | wc -l) == 1 ]] &&
	[[ $(wc -l <"$tmp/err") == 1 ]]
result $? "a family that there is not"

# What a terminal sees of a command, a line for each part of it.
on_terminal() { # ARGUMENTS...
	script -qec "$toctl $*" /dev/null </dev/null | tr '\r' '\n' >"$tmp/out"
}

on_terminal plan --job examples/jobs/dlrm-16.json --degree 4 -o "$tmp/bar.json" &&
	grep -Eq '^\[#+ *\] +[0-9]+ %' "$tmp/out" && grep -q '^dlrm-16: 16 servers' "$tmp/out" &&
	on_terminal verify "$tmp/bar.json" && grep -Eq '^\[#+ *\] +100 %' "$tmp/out" &&
	grep -q '^dlrm-16: 16 servers' "$tmp/out" &&
	run 0 plan --job examples/jobs/dlrm-16.json --degree 4 -o "$tmp/bar.json" &&
	[[ ! -s $tmp/err ]] && run 0 verify "$tmp/bar.json" && [[ ! -s $tmp/err ]]
result $? "plan and verify show a terminal how far they are, and nobody else"

run 0 plan --effort 1 --job examples/jobs/dlrm-16.json --degree 4 -o "$tmp/quick.json" &&
	run 0 verify "$tmp/quick.json"
result $? "little effort makes a plan too"

echo '{"format": "topoopt-job", "version": 1, "name": "x", "servers": 4}' >"$tmp/idle.json"
run 0 plan -v --job "$tmp/idle.json" --degree 2 -o "$tmp/idle-plan.json" -r "$tmp/idle.html" &&
	grep -q '^  family .*; .* ports$' "$tmp/out" && ! grep -q '[^a-z]nan' "$tmp/out" "$tmp/idle.html"
result $? "a job without traffic: families that no figure tells apart"

run 2 plan --job examples/jobs/dlrm-16.json --degree 4 --max-stretch 0.5 &&
	grep -q -- '--max-stretch: .* 1 or more' "$tmp/err"
result $? "routes cannot be shorter than the shortest"

run 0 plan -v --job examples/jobs/dlrm-16.json --degree 4 --max-stretch 1 -o "$tmp/short.json" &&
	grep -q '^  at most 1 times the hops of a shortest path; longer ones would save less than 1 %$' "$tmp/out" &&
	grep -Eq '^    MP, bytes +[0-9]+ +[0-9.]+  s[0-9]+ > s[0-9]+$' "$tmp/out" &&
	grep -Eq '^    16 flows a pair +[0-9.]+ ' "$tmp/out" &&
	run 0 verify --json "$tmp/short.json" && python3 - "$tmp/out" "$tmp/short.json" <<'END' 2>>"$tmp/err"
import json, sys
said, plan = (json.load(open(path)) for path in sys.argv[1:])
made = plan["predictions"]
assert plan["max_stretch"] == 1
assert said["routes"]["all"]["max_hops"] == said["diameter"], said["routes"]
assert said["routes"] == made["routes"] and said["mp_max_load_flows"] == made["mp_max_load_flows"]
assert [flows["flows"] for flows in said["mp_max_load_flows"]] == [1, 4, 16]
means = [flows["mean_bytes"] for flows in said["mp_max_load_flows"]]
assert means == sorted(means, reverse=True) and means[2] > said["mp_max_load_bytes"], means
assert made["comm_time_unbounded_s"] <= made["comm_time_s"] * 1.001
END
result $? "routes as short as the shortest, with their price, and what flows make of loads"

run 0 plan -v --job examples/jobs/hybrid-128.json --degree 4 --max-stretch 1 --effort 2 -o "$tmp/short.json" &&
	grep -qE '; with routes of any length on these links, communication takes [0-9.]+ ms, -[1-9][0-9.]* %$' "$tmp/out"
result $? "routes that take the shortest paths alone where others would be faster"

echo '{"name": "buckets", "servers": 16, "allreduce": [
	{"group": "all", "bytes": 1048576, "calls": 16}, {"group": "all", "bytes": 33554432}]}' \
	>"$tmp/buckets.json"
run 0 plan -v --job "$tmp/buckets.json" --degree 4 --step-latency 10us -o "$tmp/buckets" &&
	grep -Eq '^    and its latency +[0-9.]+ ' "$tmp/out" &&
	run 0 verify --json "$tmp/buckets" && python3 - "$tmp/out" "$tmp/buckets" <<'END' 2>>"$tmp/err"
import json, sys
said, plan = (json.load(open(path)) for path in sys.argv[1:])
assert plan["step_latency_s"] == 1e-5 and plan["relay_latency_s"] == 1.35e-6
assert [group.get("calls") for group in plan["demand"]["allreduce"]] == [16, None]
assert said["allreduce_latency_s"] == plan["predictions"]["allreduce_latency_s"]
# two steps for each of 17 calls
assert abs(said["allreduce_latency_bound_s"] - 17 * 2e-5) < 1e-9, said
assert said["allreduce_latency_s"] > said["allreduce_latency_bound_s"]
END
result $? "buckets of a group: each call waits for latency"
run 0 plan -v --job "$tmp/buckets.json" --degree 4 --step-latency 0 --relay-latency 0 \
	-o "$tmp/buckets" && ! grep -q latency "$tmp/buckets" "$tmp/out"
result $? "without latencies no figure of them"

run 0 verify --json "$tmp/plan.json" && python3 -c "
import json
keys = '''servers degree links family diameter diameter_bound mean_hops mean_hops_bound
mp_max_load_bytes mp_max_load_bound_bytes max_link_load_bytes max_link_load_bound_bytes
mp_max_load_rdma_bytes mp_max_load_rdma_ports_bytes
bandwidth_tax allreduce_time_s allreduce_time_bound_s comm_time_s valid violations'''
said = json.load(open('$tmp/out'))
assert not set(keys.split()) - set(said), set(keys.split()) - set(said)
assert said['valid'] and not said['violations']" 2>>"$tmp/err"
result $? "verify --json has all keys"

run 0 route --plan "$tmp/plan.json" --node s1 --dev none --json s8 && python3 -c "
import json
shares = json.load(open('$tmp/out'))['rdma_shares']
assert abs(sum(shares.values()) - 1) < 1e-9, shares" 2>>"$tmp/err" &&
	run 0 route --plan "$tmp/plan.json" --node s1 --dev none s8 &&
	grep -q '^RDMA to s8: eth[0-9]* [0-9.]* %' "$tmp/out"
result $? "route says which ports RDMA should enter by"

python3 - "$tmp/plan.json" "$tmp/broken.json" <<'END'
import json, sys
plan = json.load(open(sys.argv[1]))
plan["tables"][3]["routes"] = [r for r in plan["tables"][3]["routes"] if not r.get("nodes")]
json.dump(plan, open(sys.argv[2], "w"))
END
run 1 verify "$tmp/broken.json" && grep -qxF "toctl verify: $tmp/broken.json: s3 has no route to s4" "$tmp/err"
result $? "verify names the file and a route that is missing, and fails"
run 1 verify --json "$tmp/broken.json" && python3 -c "
import json
said = json.load(open('$tmp/out'))
assert not said['valid'] and 's3 has no route to s4' in said['violations']" 2>>"$tmp/err"
result $? "verify --json lists it"

python3 - <<END
import json
cluster = json.load(open("examples/ring-4/cluster.json"))
del cluster["links"][1::2]
json.dump(cluster, open("$tmp/cluster.json", "w"))
END
refuses "cabling that does not connect all" 1 \
	"toctl plan: the links do not lead from s2 to s0" \
	plan --job examples/ring-4/job.json --cluster "$tmp/cluster.json" --fixed
# A ring of the two would take the ports that connect them to the third.
python3 - "$tmp" <<'END'
import json, sys
servers = [{"name": f"s{s}", "ipv4": f"10.200.0.{s + 1}", "ports": [
    {"name": f"eth{q}", "mac": f"02:00:00:00:{s:02x}:{q:02x}", "ipv4": f"10.{q + 1}.0.{s + 1}",
     "bandwidth": 10**11} for q in range(ports)]} for s, ports in enumerate((3, 1, 1))]
json.dump({"format": "topoopt-cluster", "version": 1, "servers": servers},
          open(f"{sys.argv[1]}/star.cluster", "w"))
json.dump({"name": "star", "servers": 3, "allreduce": [{"group": [1, 2], "bytes": 10**9}]},
          open(f"{sys.argv[1]}/star.job", "w"))
END
run 0 plan --job "$tmp/star.job" --cluster "$tmp/star.cluster" -o "$tmp/plan.json" &&
	run 0 verify "$tmp/plan.json"
result $? "AllReduce where all ports are needed to connect the servers"
refuses "more effort than there is" 2 \
	"toctl plan: --effort: expected 1 to 9, not 10" \
	plan --job examples/jobs/dlrm-16.json --degree 4 --effort 10
refuses "neither cluster nor degree" 2 \
	"toctl plan: give --cluster, --degree or --topology" plan --job examples/jobs/dlrm-16.json
refuses "fixed links of no cluster" 2 \
	"toctl plan: --fixed keeps the links of a cluster: give it with --cluster" \
	plan --job examples/jobs/dlrm-16.json --degree 4 --fixed
refuses "a family for links that are there" 2 \
	"toctl plan: --family chooses links, --fixed keeps them" \
	plan --job examples/ring-4/job.json --cluster examples/ring-4/cluster.json --fixed \
	--family kautz
refuses "trees where there are too few ports" 1 \
	"toctl plan: no topology of family double-binary-tree connects 16 servers with up to 3 ports each" \
	plan --job examples/jobs/dlrm-16.json --degree 3 --family double-binary-tree
refuses "more ports than there are" 1 "toctl plan: degree 3: the servers have up to 2 ports" \
	plan --job examples/ring-4/job.json --cluster examples/ring-4/cluster.json --degree 3
refuses "a job larger than the cluster" 1 "toctl plan: the job has 16 servers, the cluster 4" \
	plan --job examples/jobs/dlrm-16.json --cluster examples/ring-4/cluster.json
refuses "one duplex port for sixteen servers" 1 \
	"toctl plan: 16 servers with up to 1 ports each cannot be connected with duplex links" \
	plan --job examples/jobs/dlrm-16.json --degree 1
echo '{"format": "topoopt-job", "version": 1, "name": "n", "servers": ["s1", "gpu7"]}' >"$tmp/job.json"
refuses "a server that the cluster does not have" 1 \
	"toctl plan: the job's server gpu7 is not in the cluster" \
	plan --job "$tmp/job.json" --cluster examples/ring-4/cluster.json
run 0 plan --job "$tmp/job.json" --degree 2 -o "$tmp/plan.json" &&
	grep -q '"name":"gpu7"' "$tmp/plan.json"
result $? "a synthetic cluster has the job's names"

# A bar grows on the line that it is then wiped from, for who looks on.
for command in "plan --job examples/jobs/dlrm-16.json --degree 4 -o $tmp/plan.json" "verify $tmp/plan.json"; do
	# shellcheck disable=SC2086
	run 0 $command && cp "$tmp/out" "$tmp/said" && [[ ! -s $tmp/err ]] &&
		script -qec "$toctl $command 2>&1 >$tmp/out" /dev/null </dev/null 2>"$tmp/err" |
			tr '\r' '\n' >"$tmp/bar" && cmp "$tmp/said" "$tmp/out" &&
		[[ $(sed -nE 's/^\[#* *\] +([0-9]+) % *$/\1/p' "$tmp/bar" | sort -nu | wc -l) -ge 3 ]] &&
		! grep -vE '^(\[.*|) *$' "$tmp/bar" >"$tmp/err" && [[ $(tail -n 1 "$tmp/bar") =~ ^\ *$ ]]
	result $? "${command%% *}: progress on a terminal, and nowhere else"
done

echo "1..$count"
exit $((failed > 0))
