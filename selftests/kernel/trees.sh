#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# AllReduce over packed trees: at an odd degree they keep all links busy alike.
#
#	s0 .. s7, three ports each, cabled and routed by toctl plan

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$(dirname "$(realpath "$0")")/../lab/workers.sh"

cat >"$tmp/cube.json" <<-END
	{"name": "cube", "servers": 8, "allreduce": [{"group": "all", "bytes": 48000000}]}
END
# Where each step waits, a cube has trees by recursive halving instead.
must toctl plan --job "$tmp/cube.json" --degree 3 --step-latency 0 -o "$tmp/plan.json"
is "the plan has trees" "$(jq -r .predictions.family "$tmp/plan.json")" packed-trees
must fabric_up "$tmp/plan.json"

sent() { # of every port: SERVER:PORT BYTES
	local server

	for server in "${servers[@]}"; do
		on "$server" ip -s -j link | jq -r --arg s "$server" '.[] |
			select(.ifname | startswith("eth")) | "\($s):\(.ifname) \(.stats64.tx.bytes)"'
	done | sort
}

sent >"$tmp/before"
check "the job ran on every server" workers "$plan" job
sent >"$tmp/after"
is "sums were right on all servers, in all trees" \
	"$(cat "$tmp"/job.* | jq -c '[.trees, .trees_ok]' | sort -u)" \
	"$(jq -c '[(.trees | length), (.trees | length)]' "$plan")"

# Every hop takes the links between its servers alike, up and down.
jq -r '. as $plan | [.servers[].name] as $names
	| [.trees[] | . as $tree | .parents | to_entries[] | select(.value != null)
		| [$names[.key], $names[.value]] as $ends
		| [$plan.links[] | select([.a, .b] | map(split(":")[0])
			| . == $ends or . == ($ends | reverse))] as $links
		| if $links == [] then error("a hop without a link") else . end
		| $links[] | (.a, .b) as $port
		| [$port, $tree.share * 48000000 / ($links | length)]]
	| group_by(.[0])[] | "\(.[0][0]) \(map(.[1]) | add)"' "$plan" | sort >"$tmp/planned"
is "every port has its part of the trees" "$(wc -l <"$tmp/planned")" 24
is "all ports sent what the plan says, within 2 %" \
	"$(join "$tmp/planned" "$tmp/before" | join - "$tmp/after" | awk '
		{ part = ($4 - $3) / $2 } part < 0.98 || part > 1.02 { print $1, part }')" ""
is "no more than the bound but 2 %" "$(join "$tmp/before" "$tmp/after" |
	awk -v most="$(jq '.predictions.allreduce_time_bound_s * 100e9 / 8' "$plan")" \
		'$3 - $2 > 1.02 * most { print $1, ($3 - $2) / most }')" ""

done_testing
