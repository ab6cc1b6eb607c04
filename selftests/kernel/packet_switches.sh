#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# Timeout: 900
# Segments that several ports share, as bridges. BCube(3,2): nine servers with a port on
# each of two of six packet switches. Everybody reaches everybody over TCP, servers relay
# what no switch joins, RoCEv2 too, and go round a switch that dies. Then rails: four
# servers with a port on each of two. The matrix of both is what was sent.
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
		"$(toctl status "$plan" --command 'ip netns exec {} toctl agent --stdio' | tail -n 1)" "status: healthy"
	is "$1: toctl doctor finds nothing wrong on s3" \
		"$(on_sysfs s3 toctl doctor --plan "$plan" --node s3 --json | jq -c '[.[] | select(.verdict == "FAIL")]')" "[]"
}

# Pair (i, j): 1 + j datagrams of 100 + 10 i bytes, every other pair's as RoCE.
matrix() { # NAME
	local server i j n=${#servers[@]} recorders=() recordings=()

	hush 4791,9999
	for server in "${servers[@]}"; do
		in_netns "$server" toctl tm record --plan "$plan" --node "$server" --count 0 \
			-o "$tmp/$server.tm" 2>"$tmp/$server.log" &
		recorders+=($!)
		recordings+=("$tmp/$server.tm")
	done
	for server in "${servers[@]}"; do
		must wait_for 60 grep -q recording "$tmp/$server.log"
	done
	for i in "${!servers[@]}"; do
		for j in "${!servers[@]}"; do
			((i == j)) || printf 'for k in {0..%d}; do printf "%%%ds" "" >/dev/udp/%s/%d; done\n' \
				"$j" "$((100 + 10 * i))" "$(node "${servers[j]}")" \
				"$(((i + j) % 2 ? 4791 : 9999))"
		done | on "${servers[i]}" bash
	done
	kill -INT "${recorders[@]}"
	wait "${recorders[@]}"
	for server in "${servers[@]}"; do
		must on "$server" nft delete table inet hush
	done
	check "$1: the recordings merge" toctl tm merge -o "$tmp/fabric.tm" "${recordings[@]}"
	is "$1: all pairs of the matrix are within 5 % of what was sent" \
		"$(matrix_beyond 0)" "[$((n * (n - 1))),[]]"
	is "$1: and those of RoCE" "$(matrix_beyond 1 --class roce)" "[$((n * n / 2)),[]]"
}

# How many pairs were compared, and which differ; 1: of those where i + j is odd.
matrix_beyond() { # 0|1 [ARGUMENT...]
	toctl tm show "$tmp/fabric.tm" --json "${@:2}" |
		jq -c --argjson odd "$1" '.bytes as $bytes | ($bytes | length) as $n
			| [range($n) as $i | range($n) as $j | select($i != $j and ($i + $j) % 2 >= $odd)
				| [$i, $j, $bytes[$i][$j] / ((1 + $j) * (100 + 10 * $i + 42))]]
			| [length, map(select((.[2] - 1 | fabs) > 0.05))]'
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
