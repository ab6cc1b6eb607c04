#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12
# Timeout: 300
# Processors: 2
# A million routes: how fast toctl apply brings them from a plan into the
# active table, that a second apply finds all of them, and what they weigh.
#
#	s0 eth0 == eth1 s1 eth0 == eth1 s2	and 705 servers that nobody asks
#
# Every pair of the 708 servers has a route of its own on s1, in IPv4 and IPv6.

. "$(dirname "$(realpath "$0")")/../lib.sh"

jq -n '
	708 as $n |
	def others: if . == 0 then "1-\($n - 1)" elif . == $n - 1 then "0-\($n - 2)"
		else "0-\(. - 1),\(. + 1)-\($n - 1)" end;
	def bytes: "\(. / 256 | floor).\(. % 256)";
	def hex: . as $n | "0123456789abcdef" | .[$n / 16 | floor:][:1] + .[$n % 16:][:1];
	{ format: "topoopt-plan", version: 1, job: "load", seed: 1, link_mode: "duplex",
	  servers: [range($n) | { name: "s\(.)", ipv4: "10.200.\(. + 1 | bytes)",
		ipv6: "fd00:746f::\(. + 1)",
		ports: [range(2) as $q | { name: "eth\($q)",
			mac: "02:54:4f:\($q | hex):\(. / 256 | floor | hex):\(. % 256 | hex)",
			ipv4: "10.\(201 + $q).\(. + 1 | bytes)", bandwidth: 100000000000 }] }],
	  optical_switches: [],
	  links: [{ a: "s0:eth0", b: "s1:eth1", use: "fixed" },
		  { a: "s1:eth0", b: "s2:eth1", use: "fixed" }],
	  rings: [], cross_connects: [], demand: { servers: $n, allreduce: [], mp: [] },
	  tables: [range($n) | { server: "s\(.)", groups: [], routes: [], pairs: [] }
		| if .server == "s1" then . + {
			groups: [[{ port: "eth0" }], [{ port: "eth1" }]],
			routes: [{ group: 0, nodes: "2-\($n - 1)" }, { group: 1, nodes: "0" }],
			pairs: [range($n) | select(. != 1) | {
				group: (if . == 0 then 1 else 0 end),
				from: others, nodes: "\(.)" }] }
		  else . end],
	  predictions: {} }' >"$tmp/plan.json"

server=s1-$(od -An -N2 -tx1 /dev/urandom | tr -d ' ')
must modprobe topoopt_fwd
must ip netns add "$server"
at_exit "ip netns del $server"
for q in 0 1; do
	must ip -n "$server" link add "eth$q" address "02:54:4f:0$q:00:01" type veth peer "wire$q"
	must ip -n "$server" link set "wire$q" up
done

apply_load() { on "$server" toctl apply "$tmp/plan.json" --node s1 --json; }

must apply_load >"$tmp/first"
routes=$(jq .routes "$tmp/first")
is "a million routes" $((routes > 990000)) 1
is "in one table" "$(on "$server" toctl show --json | jq .routes)" "$routes"
echo "# $(jq '.routes_per_second | floor' "$tmp/first") routes/s from the plan to the commit"
echo "# $(on "$server" toctl show --json | jq '.memory / .routes * 10 | floor / 10') bytes of kernel memory per route"
# On an idle machine it is over 300,000; others may keep this one busy.
is "at a rate that scales" \
	$(($(jq '.routes_per_second | floor' "$tmp/first") > 60000 / ${TEST_SLOWER:-1})) 1

must apply_load >"$tmp/second"
is "a second apply compares all of them and changes none" "$(jq .changed "$tmp/second")" false

check "route finds one of them" grep -q "10.200.2.196/32 from 10.200.0.1/32 via eth0" \
	<(on "$server" toctl route 10.200.2.196 from 10.200.0.1)
is "clear removes them" \
	"$(on "$server" toctl clear >/dev/null; on "$server" ip link show topo0 2>&1 | grep -c 'does not exist')" 1

done_testing
