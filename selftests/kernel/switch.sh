#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12
# Timeout: 600
# toctl switch drives the lab's optical switch: four servers, two ports each.

. "$(dirname "$(realpath "$0")")/../lib.sh"

ring() { # ORDER: servers in a ring, eth0 to the next one's eth1
	jq -n --argjson order "$1" -f <(cat <<-'END'
		{
			format: "topoopt-plan", version: 1, job: "ring", link_mode: "duplex",
			optical_switches: [{name: "ocs0", ports: 8, reconfiguration_ns: 10000000,
				control: {driver: "netns"}}],
			servers: [range(4) | {name: "s\(.)", ipv4: "10.9.0.\(. + 1)", ports: [. as $i | range(2) |
				{name: "eth\(.)", mac: "02:00:00:00:0\(.):0\($i)", bandwidth: 1000000000,
				 optical_switch: "ocs0", optical_port: (2 * $i + . + 1)}]}],
			demand: {servers: 4},
			links: [range(4) | {a: "s\($order[.]):eth0", b: "s\($order[(. + 1) % 4]):eth1", use: "fixed"}],
			cross_connects: [range(4) | {optical_switch: "ocs0", a: (2 * $order[.] + 1),
				b: (2 * $order[(. + 1) % 4] + 2)}],
			tables: [range(4) as $i | ($order | index($i)) as $at | {server: "s\($i)",
				groups: [[{port: "eth0"}], [{port: "eth1"}]],
				routes: [{group: 0, nodes: "\($order[($at + 1) % 4])"},
					 {group: 1, nodes: "\($order[($at + 3) % 4])"},
					 {group: 0, nodes: "\($order[($at + 2) % 4])"}], pairs: []}]
		}
	END
	) >"$tmp/$2"
}

ring '[0, 1, 2, 3]' a.json
ring '[0, 2, 1, 3]' b.json
fabric_up "$tmp/a.json"

links() { "$fabric" links | sort; }
planned() { # PLAN
	jq -r '.links[] | "\(.a) \(.b)", "\(.b) \(.a)"' "$1" | sort
}

check_fails "nobody has allowed that" 'not allowed; .* add to /etc/topoopt/allow: netns ocs$' \
	toctl switch show "$tmp/a.json"
at_exit "rm /etc/topoopt/allow"
must mkdir -p /etc/topoopt
echo "netns ocs" >/etc/topoopt/allow
is "the fabric is lit as planned" "$(links)" "$(planned "$tmp/a.json")"
check "show: nothing differs" jq -e '.differs | not' <(toctl switch show "$tmp/a.json" --json)
is "show: the other plan differs" "$(toctl switch show "$tmp/b.json" | grep -c '^[-+]')" 6
check "apply --dry-run" toctl switch apply "$tmp/b.json" --dry-run
is "apply --dry-run changes nothing" "$(links)" "$(planned "$tmp/a.json")"
check "apply" toctl switch apply "$tmp/b.json" --json
is "lit as the other plan says" "$(links)" "$(planned "$tmp/b.json")"
for server in "${servers[@]}"; do
	must apply "$server" "$tmp/b.json" >/dev/null
done
check "and traffic follows, over a relay" wait_for 60 on s0 ping -c 1 -W 1 10.9.0.2
check "apply again: nothing to do" grep -q "nothing to do" <(toctl switch apply "$tmp/b.json")

must "$fabric" darken s0:eth0
check "a cut fibre is no other cross-connect" jq -e '.differs | not' \
	<(toctl switch show "$tmp/b.json" --json)
must "$fabric" light s0:eth0

# --- a change that fails half way ---

must ip -n ocs link set w3-0 alias ""
check_fails "a port that is not there" 'no interface has the alias ocs0\.7; .*have their old cross-connects' \
	toctl switch apply "$tmp/a.json"
is "and nothing has changed" "$(links)" "$(planned "$tmp/b.json")"
must ip -n ocs link set w3-0 alias ocs0.7
check "mended" toctl switch apply "$tmp/a.json"
is "lit as planned" "$(links)" "$(planned "$tmp/a.json")"
# --- look-ahead: every port behind a 1x2 switch ---
#
#	s0:eth0 -- 1x2 (flip) === ocs0	this job
#			      === ocs1	the next one
#
# The cross-connects take half a minute to move, the 1x2 switches 1 ms.

ahead() { # PLAN FILE
	jq '.optical_switches = [
			{name: "ocs0", ports: 8, reconfiguration_ns: 30000000000, control: {driver: "netns"}},
			{name: "ocs1", ports: 8, reconfiguration_ns: 0, control: {driver: "netns"}},
			{name: "flip", ports: 24, reconfiguration_ns: 1000000, control: {driver: "netns"}}]
		| .servers[].ports[] |= (.optical_port as $n | .look_ahead = {optical_switch: "ocs1",
			optical_port: $n, selector: "flip", common: $n, ends: [$n + 8, $n + 16]})' \
		"$tmp/$1" >"$tmp/$2"
}

must "$fabric" down
ahead a.json ahead-a.json
ahead b.json ahead-b.json
fabric_up "$tmp/ahead-a.json"
check "traffic through the 1x2 switches" wait_for 60 on s0 ping -c 1 -W 1 10.9.0.2
check "the active ports are as planned" jq -e '.differs | not' \
	<(toctl switch show "$tmp/ahead-a.json" --json)
must toctl switch apply --prepare "$tmp/ahead-b.json" >/dev/null
check "prepared while this job runs" on s0 ping -c 1 -W 30 10.9.0.2
for server in "${servers[@]}"; do
	must apply "$server" "$tmp/ahead-b.json" --stage >/dev/null
done
check "flip" toctl switch flip "$tmp/ahead-b.json"
for server in "${servers[@]}"; do
	must apply "$server" "$tmp/ahead-b.json" --commit >/dev/null
done
check "the next job has its links before a cross-connect could have moved" \
	wait_for 60 on s0 ping -c 1 -W 1 10.9.0.3
check "and its relays" wait_for 60 on s0 ping -c 1 -W 1 10.9.0.2
check "on the plan's cross-connects" jq -e '.differs | not' \
	<(toctl switch show "$tmp/ahead-b.json" --json)

echo "netns nowhere" >/etc/topoopt/allow
check_fails "no such namespace" "network namespace nowhere: No such file" \
	toctl switch show <(jq '.optical_switches[0].control.address = "nowhere"' "$tmp/a.json")

done_testing
