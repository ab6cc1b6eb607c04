# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by tests that need a choice of links: three servers, two links
# between the last two. Sets A, R and T.
#
#	A eth0 == eth0 R eth1 == eth0 T
#	               R eth2 == eth1 T
#
# R sends to T through the group that the caller gives as the JSON of a plan.

double_up() { # GROUP-OF-R
	local suffix

	printf -v suffix %04x "$RANDOM"
	A=A-$suffix R=R-$suffix T=T-$suffix
	jq -n --argjson group "$1" --arg suffix "-$suffix" '
	def server($name; $i; $ports): {name: ($name + $suffix), ipv4: "10.200.0.\($i)",
		ipv6: "fd00:746f::\($i)", ports: [range($ports) | {name: "eth\(.)",
		mac: "02:54:4f:00:0\($i):0\(.)", ipv4: "10.201.\($i).\(. + 1)",
		ipv6: "fd00:746f:\($i)::\(. + 1)", bandwidth: 100000000000}]};
	def link($a; $b): {a: ($a | sub(":"; $suffix + ":")), b: ($b | sub(":"; $suffix + ":")),
		use: "fixed"};
	def table($name; $groups; $routes): {server: ($name + $suffix), groups: $groups,
		routes: ($routes | to_entries | map({group: .key} + .value)), pairs: []};
	{
	  format: "topoopt-plan", version: 1, job: "double", seed: 1, link_mode: "duplex",
	  servers: [server("A"; 1; 1), server("R"; 2; 3), server("T"; 3; 2)],
	  optical_switches: [],
	  links: [link("A:eth0"; "R:eth0"), link("R:eth1"; "T:eth0"), link("R:eth2"; "T:eth1")],
	  rings: [], cross_connects: [], demand: {servers: 3, allreduce: [], mp: []},
	  tables: [
	    table("A"; [[{port: "eth0"}]]; [{nodes: "1-2", ports: ["1-2", "2", ""]}]),
	    table("R"; [[{port: "eth0"}], $group, [{port: "eth1"}], [{port: "eth2"}]];
		  [{nodes: "0", ports: ["0", "", ""]}, {nodes: "2", ports: ["", "", ""]},
		   {nodes: "", ports: ["2", "", ""]}, {nodes: "", ports: ["", "2", ""]}]),
	    table("T"; [[{port: "eth0"}, {port: "eth1"}]]; [{nodes: "0-1", ports: ["0", "", ""]}])
	  ],
	  predictions: {}
	}' >"$tmp/double.json"
	fabric_up "$tmp/double.json"
	must wait_for 60 on "$A" ping -c 1 -W 1 "$(node "$T")"
}

# Packets that R has sent through a port.
sent() { # PORT
	on "$R" toctl show --json | jq --arg port "$1" \
		'.ports[] | select(.port == $port).counters["relay-tx-packets"]'
}
