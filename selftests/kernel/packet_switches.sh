#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# Timeout: 900
# Segments that several ports share, as bridges. BCube(3,2): nine servers with a port on
# each of two of six packet switches. Everybody reaches everybody over TCP, servers relay
# what no switch joins, RoCEv2 too, go round a switch that dies, and toctl run plans around a
# port that does. Then rails: four servers with a port on each of two. The matrix of both is
# what was sent.
#
#	s0 s1 s2 share sw0.0, s0 s3 s6 share sw1.0; s0 reaches s4 by s1 or s3
#	all eth0 are on rail0, all eth1 on rail1

. "$(dirname "$(realpath "$0")")/../lib.sh"

job() { # SERVERS
	jq -n --argjson n "$1" '{name: "all-to-all", servers: $n, allreduce: [{group: "all", bytes: 9000000}],
		mp: [{from: "0-\($n - 1)", to: "0-\($n - 1)", bytes: 1000000}]}' >"$tmp/job.json"
}

# The commands that look at the fabric, by agents that run in the servers' namespaces.
well() { # NAME
	is "$1: toctl status: healthy" \
		"$(toctl status "$plan" --set 'agents.command=ip netns exec {} toctl agent --stdio' | tail -n 1)" "status: healthy"
	is "$1: toctl doctor finds nothing wrong on s3" \
		"$(on_sysfs s3 toctl doctor "$plan" --node s3 --json | jq -c '[.[] | select(.verdict == "FAIL")]')" "[]"
}

matrix() { # NAME
	local server pairs=$((${#servers[@]} * (${#servers[@]} - 1)))

	hush 4791,9999
	record_begin
	send_pairs
	record_end
	for server in "${servers[@]}"; do
		must on "$server" nft delete table inet hush
	done
	is "$1: all pairs of the matrix are within 5 % of what was sent" \
		"$(compare "$(sent_pairs)")" "[$pairs,[]]"
	is "$1: and those of RoCE" "$(compare "$(sent_pairs roce)" --class roce)" "[$pairs,[]]"
}

# How many pairs there are, and those that differ.
compare() { # SENT [ARGUMENT...]
	toctl tm show "$tmp/fabric.tm" --json "${@:2}" | jq -c --argjson sent "$1" '
		[.bytes as $bytes | range($bytes | length) as $i | range($bytes | length) as $j
			| select($i != $j) | [$i, $j, $bytes[$i][$j], $sent[$i][$j]]]
		| [length, map(select((.[2] - .[3] | fabs) > 0.05 * .[3]))]'
}

job 9
must toctl plan --job "$tmp/job.json" --topology bcube:3,2 -o "$tmp/bcube.json" >/dev/null
check "toctl verify finds no fault in the plan" toctl verify "$tmp/bcube.json"
fabric_up "$tmp/bcube.json"
is "TCP over all 72 pairs, IPv4 and IPv6" "$(tcp_pairs)" 144
relay=$(on s0 traceroute -n -q 1 -w 30 "$(node s4)" | awk 'NR > 1 { print $2 }' | xargs)
is "traceroute from s0 to s4 shows s1 or s3" \
	"$([[ $relay == "$(node s1) $(node s4)" || $relay == "$(node s3) $(node s4)" ]] && echo yes)" yes
is "of another plan there is nothing to apply" \
	"$(apply s0 "$plan" --dry-run --json | jq .differs)" false

well BCube
matrix BCube

# A switch that dies: its servers go round it by their other ports.
lost() { # the pairs that a ping fails of
	local from to

	for from in "${servers[@]}"; do
		for to in "${servers[@]}"; do
			[[ $from == "$to" ]] ||
				echo "ping -c 1 -W 30 -q $(node "$to") >/dev/null || echo $from-$to"
		done | on "$from" bash &
	done
	wait
}
must "$fabric" darken sw0.0
for server in s{0..2}; do
	must wait_for 60 bash -c "ip -n $server link show eth0 | grep -q NO-CARRIER"
done
is "without sw0.0 all pairs reach each other" "$(lost | xargs)" ""
is "s0 reaches s1, which shared it, by three servers" \
	"$(on s0 traceroute -n -q 1 -w 30 "$(node s1)" | awk 'NR > 1' | wc -l)" 3
must "$fabric" light sw0.0

# A port that dies: its server alone sees that, until the loop plans around it.
loop_saw() { # EVENT ACTION
	jq -e --arg event "$1" --arg action "$2" 'select(.event == $event and .action == $action)' \
		"$tmp/run.log" >/dev/null 2>&1
}
must cp "$plan" "$tmp/run.json"
toctl run "$tmp/run.json" -o "$tmp/run.log" --set agents.timeout=60s --repair-after 200ms --repair-hold 1s \
	--set 'agents.command=ip netns exec {} toctl agent --stdio' >"$tmp/run.text" 2>&1 &
loop=$!
must wait_for 120 grep -q '"restored"' "$tmp/run.log"
must "$fabric" darken s0:eth0
check "toctl run plans around s0:eth0, which is dark" wait_for 120 loop_saw changed repair
is "without it all pairs reach each other" "$(lost | xargs)" ""
must "$fabric" light s0:eth0
check "and returns when the light is back" wait_for 120 loop_saw changed return
kill -TERM "$loop"
wait "$loop"
is "the loop ends well" $? 0

rdma_up "RoCEv2 behind packet switches"
check "s0 writes into s1, which shares sw0.0" rdma_write s0 eth0 s1 eth0
check "s0 writes into s4 by s3" rdma_write s0 eth1 s4 eth0
check "s4 writes into s0 by s1" rdma_write s4 eth1 s0 eth0
check "s0 writes into s1's other port, on a switch of three others" rdma_write s0 eth0 s1 eth1
check "s0 writes into s4's other port by its other port" rdma_write s0 eth0 s4 eth1

# --- rails ---

for server in "${servers[@]}"; do
	must on "$server" rdma link delete "$server-eth0"
	must on "$server" rdma link delete "$server-eth1"
done
must "$fabric" down
job 4
must toctl plan --job "$tmp/job.json" --topology rail:2 -o "$tmp/rail.json" >/dev/null
must fabric_up "$tmp/rail.json"
is "rails: TCP over all 12 pairs, IPv4 and IPv6" "$(tcp_pairs)" 24
well rails
matrix rails
must "$fabric" rxe
check "rails: s0 writes into s3, on the same rail" rdma_write s0 eth0 s3 eth0
check "rails: s0 writes into s3's port on the other rail, by a server" rdma_write s0 eth0 s3 eth1

done_testing
