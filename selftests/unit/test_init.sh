#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# toctl init: clusters from words, and what people get wrong.

. selftests/unit/cli.sh

refuses() { # NAME STATUS LINE ARGUMENTS...
	run "$2" init "${@:4}" && grep -qxF "toctl init: $3" "$tmp/err" && [[ ! -s $tmp/out ]] &&
		[[ ! -e $tmp/refused.json ]]
	result $? "$1"
}

# The cluster at FILE as jq sees it, in one line.
has() { # FILE EXPRESSION
	jq -c "$2" "$tmp/$1"
}

none=(--offline -o "$tmp/refused.json")

run 0 init ring s0 s1 s2 s3 --ports eth0,eth1 --offline --bandwidth 200G -o "$tmp/ring.json" &&
	[[ $(has ring.json '[.links[] | "\(.a) \(.b)"]') == "$(jq -c '[.links[] | "\(.a) \(.b)"]' \
		examples/ring-4/cluster.json)" ]] &&
	[[ $(has ring.json '[.servers[].ports[].bandwidth] | unique') == '[200000000000]' ]] &&
	grep -qx 's3 eth0 -- eth1 s0' "$tmp/out" && (($(wc -l <"$tmp/out") == 5))
result $? "a ring is README's, and each cable is a line"
run 0 plan --cluster "$tmp/ring.json" --job examples/ring-4/job.json --fixed -o "$tmp/plan.json" &&
	run 0 verify "$tmp/plan.json"
result $? "it can be planned for"

for n in 3 5 9; do
	ports=$(seq -s, -f 'p%g' 2 $n)
	# shellcheck disable=SC2046
	run 0 init full-mesh $(seq -f 'h%g' $n) --ports "$ports" --offline -o "$tmp/mesh.json" &&
		[[ $(has mesh.json '[.links[] | [.a, .b] | map(split(":")[0]) | sort] | unique | length') \
			== $((n * (n - 1) / 2)) ]] &&
		[[ $(has mesh.json '[.links[] | .a, .b] | unique | length') == $((n * (n - 1))) ]]
	result $? "a full mesh of $n servers: every pair, every port once"
done

for family in totient hamiltonian double-binary-tree kautz moore one-order; do
	run 0 init $family s{0..11} --ports a,b,c,d --offline -o "$tmp/family.json" &&
		[[ $(has family.json '[.links[] | .a, .b] | unique | length') == 48 ]] &&
		run 0 plan --cluster "$tmp/family.json" --job examples/prototype-12/job.json --fixed \
			-o "$tmp/plan.json" && run 0 verify "$tmp/plan.json"
	result $? "$family: all ports cabled, a plan that verifies"
done

run 0 init ring s0 s1 s2 --ports eth0,eth1 --prefix 10.20.0.0/16 --offline -o "$tmp/prefix.json" &&
	[[ $(has prefix.json '[.servers[0].ipv4, .servers[2].ipv4, .servers[0].ports[1].ipv4]') \
		== '["10.20.0.1","10.20.0.3","10.20.3.2"]' ]]
result $? "addresses from a prefix"

# --- addresses that tell cables apart ---

mixed='subnets do not tell the cables apart: NCCL may relay what a cable could carry'
by_index() { # FILE [PREFIX]: addresses as port indices number them
	jq --arg prefix "${2:-}" '.servers |= [to_entries[] | .key as $s | .value |
		.ports |= [to_entries[] | .key as $q | .value |
			.ipv4 = (if $prefix == "" then "10.\(201 + $q).0.\($s + 1)"
				else "\($prefix).\($q * 8 + $s + 9)" end)]]' "$1"
}
warns() { # CLUSTER: toctl plan warns of its subnets
	run 0 plan --cluster "$1" --job examples/ring-4/job.json --fixed -o "$tmp/plan.json" &&
		[[ $(grep -cF "$mixed; toctl init --renumber" "$tmp/err") == 1 ]]
}
quiet() { # CLUSTER
	run 0 plan --cluster "$1" --job examples/ring-4/job.json --fixed -o "$tmp/plan.json" &&
		[[ ! -s $tmp/err ]]
}

run 0 init ring s0 s1 s2 s3 --ports eth0,eth1 --offline -o "$tmp/ring4.json" && quiet "$tmp/ring4.json" &&
	[[ $(has ring4.json '[.servers[].ports[].ipv4]') \
		== "$(jq -c '[.servers[].ports[].ipv4]' examples/ring-4/cluster.json)" ]]
result $? "a /24 per cable, as examples/ring-4 has it"
by_index "$tmp/ring4.json" >"$tmp/index.json"
by_index "$tmp/ring4.json" 10.210.0 >"$tmp/one-subnet.json"
jq '.links = [["s0:eth0", "s1:eth0"], ["s1:eth1", "s2:eth1"], ["s2:eth0", "s3:eth0"], ["s3:eth1", "s0:eth1"]] |
	.links |= map({a: .[0], b: .[1]})' "$tmp/index.json" >"$tmp/straight.json"
jq 'del(.servers[].ipv4, .servers[].ports[].ipv4)' "$tmp/ring4.json" >"$tmp/ipv6.json"
for what in index one-subnet straight ipv6; do
	warns "$tmp/$what.json" &&
		run 0 init --renumber "$tmp/$what.json" -o "$tmp/$what-new.json" &&
		quiet "$tmp/$what-new.json"
	result $? "$what: a warning, until it is renumbered"
done
[[ $(has index-new.json '[.servers, .links]') == "$(has ring4.json '[.servers, .links]')" ]]
result $? "renumbering changes nothing but addresses"
refuses "renumbering: optical switches" 1 \
	"examples/panel-6/cluster.json: behind optical switches links move, and ports keep their addresses" \
	--renumber examples/panel-6/cluster.json -o "$tmp/refused.json"
jq '.links = []' "$tmp/ring4.json" >"$tmp/no-links.json"
refuses "renumbering: no links" 1 "$tmp/no-links.json: it has no links that subnets could tell apart" \
	--renumber "$tmp/no-links.json" -o "$tmp/refused.json"
refuses "renumbering: no servers beside the file" 2 "--renumber takes a file, and no servers or ports" \
	--renumber "$tmp/ring4.json" ring s0 s1 -o "$tmp/refused.json"

run 0 init ring s0 s1 s2 --ports eth0,eth1 --offline --json -o "$tmp/ring.json" &&
	python3 - "$tmp/out" "$tmp/ring.json" 2>>"$tmp/err" <<'END'
import json, sys, warnings
warnings.simplefilter("ignore")
import jsonschema
said, cluster = (json.load(open(path)) for path in sys.argv[1:])
schemas = {s["$id"]: s for s in (json.load(open(f"Documentation/schemas/{name}.schema.json"))
                                 for name in ("init", "diff"))}
jsonschema.Draft202012Validator(schemas["init.schema.json"], resolver=jsonschema.RefResolver(
    "init.schema.json", schemas["init.schema.json"], schemas)).validate(said)
assert [(l["a"], l["b"]) for l in said["links"]] == [(l["a"], l["b"]) for l in cluster["links"]]
END
result $? "--json: the cables of the file"

# --- what servers say of their interfaces ---

for s in 1 2; do
	cat >"$tmp/h$s.inventory" <<-END
	{"format": "topoopt-inventory", "version": 1, "addresses": [], "nics": [
	  {"name": "eth0t", "mac": "02:00:00:00:0$s:00", "up": true, "carrier": false, "mtu": 9000,
	   "bandwidth": 0, "rdma": "", "not_a_port": "", "answers": []},
	  {"name": "eth0", "mac": "02:00:00:00:0$s:01", "up": true, "carrier": false, "mtu": 9000,
	   "bandwidth": 400000000000, "rdma": "mlx5_0", "not_a_port": "", "answers": []},
	  {"name": "eth1", "mac": "02:00:00:00:0$s:02", "up": true, "carrier": false, "mtu": 9000,
	   "bandwidth": 0, "rdma": "", "not_a_port": "", "answers": []}]}
	END
done
# An agent whose server h1 has h1.inventory. The id is a number that jq would round.
cat >"$tmp/agent" <<'END'
cd "$1" || exit
while read -r request; do
	touch asked
	id=${request##*'"id":'}
	inventory=$(tr -d '\n' <"$2.inventory") || exit
	echo "{\"ok\": true, \"inventory\": $inventory, \"id\": ${id%%[,\}]*}}"
done
END
ask=(--set "agents.command=bash $tmp/agent $tmp {}")
run 0 init ring h1 h2 --ports eth0t:eth0,eth1 "${ask[@]}" -o "$tmp/asked.json" &&
	[[ $(has asked.json '[.servers[1].ports[] | [.name, .transmit, .mac, .relay_mac, .bandwidth]]') \
		== '[["eth0t","eth0","02:00:00:00:02:01","02:00:00:00:02:00",400000000000],["eth1",null,"02:00:00:00:02:02",null,100000000000]]' ]] &&
	grep -qxF 'toctl init: warning: h2:eth1: the driver names no speed, 100 Gbit/s are taken; give --bandwidth' "$tmp/err"
result $? "MAC addresses, speeds and second interfaces are the servers'"
cp "$tmp/h1.inventory" "$tmp/twin.inventory"
refuses "two servers with one MAC address" 1 \
	"twin:eth0t has the MAC address of h1:eth0t, too: give one of them another" \
	ring h1 twin --ports eth0t:eth0,eth1 "${ask[@]}" -o "$tmp/refused.json"
run 0 init ring h1 h2 --ports eth0t:eth0,eth1 "${ask[@]}" -q -o "$tmp/asked.json" && [[ ! -s $tmp/err ]]
result $? "-q: no warnings"
run 0 init ring h1 h2 --ports eth0t:eth0,eth1 "${ask[@]}" -o - && jq -e .links "$tmp/out" >/dev/null &&
	grep -qx 'h1 eth0t -- eth1 h2' "$tmp/err"
result $? "the file on standard output, the cables on standard error"
run 1 init ring h1 h2 --ports eth0,eth7 "${ask[@]}" -o "$tmp/refused.json" &&
	grep -qxF 'toctl init: h1 has no interface eth7' "$tmp/err" && [[ ! -e $tmp/refused.json ]]
result $? "an interface that a server has not"
run 3 init ring h1 h3 --ports eth0,eth1 "${ask[@]}" -o "$tmp/refused.json" &&
	grep -q "^toctl init: h3: .*No such file" "$tmp/err" && [[ ! -e $tmp/refused.json ]]
result $? "a server that does not answer is named"

# --- mistakes ---

refuses "a ring with an odd number of ports" 1 \
	"a ring takes two ports of each server, or twice as many, not 3" \
	ring a b c --ports x,y,z "${none[@]}"
refuses "a full mesh with too few" 1 "a full mesh of 4 servers takes 3 ports of each, not 2" \
	full-mesh a b c d --ports x,y "${none[@]}"
refuses "a topology that there is not" 1 \
	'no topology is called "torus": ring, straight-ring, full-mesh, totient, hamiltonian, double-binary-tree, kautz, moore, recursive-halving, one-order' \
	torus a b c --ports x,y "${none[@]}"
rm "$tmp/asked"
run 1 init full-mesh h1 h2 h3 --ports eth0 "${ask[@]}" -o "$tmp/refused.json" && [[ ! -e $tmp/asked ]] &&
	grep -q 'a full mesh of 3 servers takes 2 ports of each, not 1' "$tmp/err"
result $? "they are told of before a server is asked"
refuses "one server" 2 "TOPOLOGY SERVER SERVER... expected" ring a --ports x,y "${none[@]}"
refuses "no ports" 2 "--ports is required, or --machine" ring a b "${none[@]}"
refuses "a server twice" 2 "server b is there twice" ring a b b --ports x,y "${none[@]}"
refuses "a port twice" 2 "--ports: x is there twice" ring a b --ports x,x "${none[@]}"
# shellcheck disable=SC2016
refuses "a port that a shell would read" 2 \
	'--ports: expected names of interfaces like eth0,eth1, not "x,$(id)"' \
	ring a b --ports 'x,$(id)' "${none[@]}"
refuses "a prefix that is none" 2 \
	'--prefix: expected an IPv4 prefix of 8 to 28 bits like 10.210.0.0/16, not "10.0.0.1/8"' \
	ring a b --ports x,y --prefix 10.0.0.1/8 "${none[@]}"
for first in 0 127 224 240; do
	refuses "a prefix whose addresses no host has: $first" 2 \
		"--prefix: expected an IPv4 prefix of 8 to 28 bits like 10.210.0.0/16, not \"$first.0.0.0/8\"" \
		ring a b --ports x,y --prefix $first.0.0.0/8 "${none[@]}"
done
refuses "a prefix that is too small" 1 "the prefix is too small" \
	ring s{0..9} --ports x,y --prefix 10.0.0.0/28 "${none[@]}"

echo "1..$count"
((!failed))
