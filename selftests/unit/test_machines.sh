#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Machines that toctl init knows: the examples are what it writes, and have plans that verify.

. selftests/unit/cli.sh

is_written() { # EXAMPLE TOPOLOGY SERVERS MACHINE
	# shellcheck disable=SC2046
	run 0 init "$2" $(seq -f spark%g "$3") --machine "$4" --offline -o "$tmp/cluster.json" &&
		diff "$tmp/cluster.json" "examples/$1" >>"$tmp/err"
	result $? "examples/$1 is what toctl init writes"
}
for n in 2 3 4 8; do
	is_written "spark-$n/cluster.json" ring $n dgx-spark
done
is_written spark-4/straight.json straight-ring 4 dgx-spark
is_written spark-4/one-domain.json ring 4 dgx-spark-one-domain
is_written spark-4-relay/cluster.json ring 4 dgx-spark-relay

# --- figures: those of owners, and what they follow from ---

allreduce() { # CLUSTER SERVERS: GB/s of bus bandwidth that an AllReduce of 1 GiB is planned with
	jq -n --argjson n "$2" '{name: "allreduce", servers: $n, mp: [],
		allreduce: [{group: "0-\($n - 1)", bytes: 1073741824}]}' >"$tmp/job.json"
	run 0 plan --cluster "examples/$1" --job "$tmp/job.json" --fixed -o "$tmp/plan.json" &&
		run 0 verify --json "$tmp/plan.json" &&
		jq --argjson n "$2" '2 * ($n - 1) / $n * 1073741824 / .allreduce_time_s / 1e9' "$tmp/out"
}
within() { # NAME CLUSTER SERVERS LOW HIGH
	local rate

	rate=$(allreduce "$2" "$3") && jq -en --argjson r "$rate" "\$r >= $4 and \$r <= $5" >/dev/null
	result $? "$1: ${rate:-no} GB/s, $4 to $5 expected"
}
# othexmr/switchless-nccl, 16 to 256 MiB on four: 22.50 to 23.23 GB/s by four functions, 13.46
# to 13.79 by two; FujitsuPolycom/sparkring, 256 MiB on eight: 23.6
within "four functions" spark-4/cluster.json 4 20.2 26.8
within "two functions of one domain" spark-4/one-domain.json 4 12.2 15.2
within "eight Sparks" spark-8/cluster.json 8 21.2 26
within "straight cables" spark-4/straight.json 4 20.2 26.8
# on one function of each PCIe link the chip binds, as on four
within "one function of each connector relays" spark-4-relay/cluster.json 4 20.2 26.8
run 0 verify "$tmp/plan.json" && grep -q "^ *PCIe .*chip, .*binds" "$tmp/out"
result $? "verify says that the chip's PCIe link binds"

# --- servers that are asked: before their cables are plugged, drivers name no speed ---

nic() { # SERVER NUMBER NAME
	printf '{"name": "%s", "mac": "02:00:00:00:0%s:0%s", "up": false, "carrier": false, "mtu": 1500,
		"bandwidth": 0, "rdma": "mlx5_%s", "not_a_port": "", "answers": []}' "$3" "$1" "$2" "$2"
}
mkdir "$tmp/inventories"
for i in 1 2; do
	printf '{"format": "topoopt-inventory", "version": 1, "host": "spark%s", "addresses": ["192.0.2.%s"],
		"nics": [%s, %s, %s, %s]}' $i $i "$(nic $i 0 enp1s0f0np0)" "$(nic $i 1 enp1s0f1np1)" \
		"$(nic $i 2 enP2p1s0f0np0)" "$(nic $i 3 enP2p1s0f1np1)" >"$tmp/inventories/spark$i"
done
cat >"$tmp/agent" <<'END'
#!/bin/sh
while read -r request; do
	id=$(printf %s "$request" | sed 's/.*"id": *\([0-9]*\).*/\1/')
	printf '{"ok": true, "id": %s, "inventory": %s}\n' "$id" "$(tr '\n' ' ' <"$1")"
done
END
chmod +x "$tmp/agent"
for machine in dgx-spark dgx-spark-one-domain dgx-spark-relay; do
	run 0 init ring spark1 spark2 --machine $machine --offline -o "$tmp/offline.json" &&
		run 0 init ring spark1 spark2 --machine $machine -o "$tmp/asked.json" \
			--set "agents.command=$tmp/agent $tmp/inventories/{}" && [[ ! -s $tmp/err ]] &&
		jq -s 'map(del(.servers[].ports[] | .mac, .relay_mac)) | .[0] == .[1]' \
			"$tmp/offline.json" "$tmp/asked.json" | grep -qx true &&
		jq -e '[.servers[0].ports[].mac | startswith("02:00:00:00:01:")] | all' "$tmp/asked.json" \
			>/dev/null
	result $? "$machine: servers that are asked give their MAC addresses, and nothing is missed"
done

# --- RDMA ---

for n in 2 3; do
	run 0 plan --cluster "examples/spark-$n/cluster.json" \
		--job <(jq -n --argjson n $n '{name: "a", servers: $n, mp: [],
			allreduce: [{group: "0-\($n - 1)", bytes: 1000000}]}') --fixed -o "$tmp/plan.json" &&
		run 0 verify "$tmp/plan.json"
	result $? "spark-$n: a plan"
done

# --- what pages say ---

guide=Documentation/dgx-spark.md
shown() { # FILE: its lines that are verify's
	grep -E '^ +(PCIe|RDMA pairs) ' "$1" | sed 's/^ *//'
}
run 0 plan --cluster examples/spark-4/cluster.json --job examples/ring-4/job.json --fixed \
	-o "$tmp/plan.json" && run 0 verify "$tmp/plan.json" &&
	[[ $(shown "$tmp/out") == "$(shown $guide)" && $(shown $guide) == "$(shown Documentation/nics.md)" ]]
result $? "pages show what verify prints"
relays() { # PCI addresses of the functions that relay in examples/spark-4-relay
	jq -r '.servers[0].ports[].name' examples/spark-4-relay/cluster.json |
		sed -E 's/^enp1s0f(.)np.$/0000:01:00.\1/; s/^enP2p1s0f(.)np.$/0002:01:00.\1/'
}
[[ $(sed -n 's|.*ExecStart=devlink dev reload pci/||p' $guide) == "$(relays)" ]]
result $? "the guide turns RDMA off on the functions that relay"

# --- cables that functions share ---

for example in spark-3 spark-4 spark-8; do
	allreduce $example/cluster.json "${example#spark-}" >/dev/null &&
		run 0 verify --json "$tmp/plan.json" &&
		jq -e '.failures | .covered > 0 and .uncovered == 0' "$tmp/out" >/dev/null
	result $? "$example: backups survive each cut"
done
run 0 verify --json "$tmp/plan.json" --down spark1:enp1s0f0np0 &&
	[[ $(jq -c '.down | [.down, (.dark | length)]' "$tmp/out") \
		== '[["spark1:enp1s0f0np0","spark1:enP2p1s0f0np0"],2]' ]]
result $? "a port that is down stands for its cable"
allreduce spark-4/cluster.json 4 >/dev/null &&
	run 0 plan -v --cluster examples/spark-4/cluster.json --job "$tmp/job.json" --fixed -o "$tmp/plan.json" \
	--report "$tmp/page.html" && grep -q '^allreduce: 4 servers, 8 duplex links on 4 cables$' "$tmp/out" &&
	grep -q '8 duplex links on 4 cables (8 for rings)' "$tmp/out" &&
	grep -qE 'any one function of a shared cable down: [1-9][0-9]* of [0-9]+ cases covered' "$tmp/out"
result $? "links are counted, and cables, and functions that fail alone"
grep -q '4 servers of degree 2, 8 duplex links on 4 cables' "$tmp/page.html" &&
	grep -qF '<tr><th scope="row">spark1:enp1s0f0np0</th><td>p0</td><td>card0</td><td>x4a</td><td>nobody</td></tr>' \
		"$tmp/page.html" &&
	grep -qF '<tr><th scope="row">spark1:x4a</th><td>chip</td><td>126 Gbit/s</td><td>109 Gbit/s, measured</td><td>109 Gbit/s, measured</td></tr>' \
		"$tmp/page.html" &&
	grep -qF '<tr><th scope="row">spark1:chip</th><td>&ndash;</td><td>&ndash;</td><td>214.4 Gbit/s, measured</td><td>192 Gbit/s, measured</td></tr>' \
		"$tmp/page.html"
result $? "the page has rates of sysfs and measured ones, cables and cards"
"$tosim" simulate "$tmp/plan.json" --fabric expander --json >"$tmp/out" 2>"$tmp/err" &&
	"$tosim" simulate --job "$tmp/job.json" --fabric expander -d 2 -b 200G --json >"$tmp/other" 2>>"$tmp/err" &&
	jq -e '.links | length == 8 and all(.bandwidth_bps == 2e11)' "$tmp/out" >/dev/null &&
	diff <(jq '.iteration_time_s, .links' "$tmp/out") <(jq '.iteration_time_s, .links' "$tmp/other") >>"$tmp/err"
result $? "another fabric has as many cables, each as fast as its functions"
run 1 plan --cluster examples/spark-4/cluster.json --job examples/ring-4/job.json -o "$tmp/free.json" &&
	grep -q "examples/spark-4/cluster.json: ports share cables, which no plan can move apart" "$tmp/err"
result $? "links of shared cables are not free"
jq '.servers[0].ports[0].transit = "nic"' examples/spark-4/cluster.json >"$tmp/nic.json"
jq '.servers[0].pcie[0].to_host = 1000000000' examples/spark-4/cluster.json >"$tmp/slow.json"
jq '(.servers[0].ports[] | select(.cable == "p0")).cable = "p9"' examples/spark-4/cluster.json >"$tmp/cable.json"
jq '.servers[0].ports[0].card = "card9"' examples/spark-4/cluster.json >"$tmp/card.json"
jq '.servers[0].ports[0].pcie = "chip"' examples/spark-4/cluster.json >"$tmp/pcie.json"
jq '.servers[0].pcie[1].rate = 63000000000' examples/spark-4/cluster.json >"$tmp/rate.json"
jq '.links[0].b = "spark3:enp1s0f1np1" | .links[2].b = "spark4:enp1s0f1np1" | .links[4].b = "spark2:enp1s0f1np1"
	| .links[6].b = "spark1:enp1s0f1np1"' examples/spark-4/cluster.json >"$tmp/torn.json"
run 1 plan --cluster "$tmp/torn.json" --job examples/ring-4/job.json --fixed -o "$tmp/free.json" &&
	grep -q 'torn.json:.*links\[.\].*cable "p.*" of server "spark.*" has its other end at' "$tmp/err"
result $? "functions of a cable lead to one place"
run 0 plan --cluster examples/spark-4/cluster.json --job examples/ring-4/job.json --fixed -o "$tmp/plan.json"
for other in nic slow cable card pcie rate; do
	run 0 plan --cluster "$tmp/$other.json" --job examples/ring-4/job.json --fixed -o "$tmp/other.json"
	"$toctl" diff "$tmp/plan.json" "$tmp/other.json" >"$tmp/out" 2>"$tmp/err"
	grep -q "spark1 .*other addresses, ports or PCIe links" "$tmp/out"
	result $? "toctl diff shows what changed: $other"
done

# --- what people get wrong ---

refuses() { # NAME LINE ARGUMENTS...
	! "$toctl" init "${@:3}" --offline -o "$tmp/refused.json" >"$tmp/out" 2>"$tmp/err" &&
		grep -qF -- "$2" "$tmp/err" && [[ ! -e $tmp/refused.json ]]
	result $? "$1"
}
refuses "an odd straight ring" "a straight ring has an even number of servers, not 3" \
	straight-ring a b c --machine dgx-spark
refuses "a full mesh of more cables than connectors" "a full mesh of 4 servers takes 3 ports of each, not 2" \
	full-mesh a b c d --machine dgx-spark
refuses "ports and a machine" "--machine says what --ports would" ring a b --machine dgx-spark --ports x,y
refuses "a bandwidth and a machine" "--machine says what --bandwidth would" ring a b \
	--machine dgx-spark --bandwidth 1G
refuses "no such machine" "dgx-spark" ring a b --machine dgx

echo "1..$count"
((!failed))
