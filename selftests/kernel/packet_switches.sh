#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# Timeout: 900
# Segments that several ports share, as bridges: BCube(3,2), nine servers with a port on
# each of two of six packet switches. Everybody reaches everybody over TCP, servers relay
# what no switch joins, RoCEv2 too, and go round a switch that dies.
#
#	s0 s1 s2 share sw0.0, s0 s3 s6 share sw1.0; s0 reaches s4 by s1 or s3

. "$(dirname "$(realpath "$0")")/../lib.sh"

jq -n '{name: "all-to-all", servers: 9, allreduce: [{group: "all", bytes: 9000000}],
	mp: [{from: "0-8", to: "0-8", bytes: 1000000}]}' >"$tmp/job.json"
must toctl plan --job "$tmp/job.json" --topology bcube:3,2 -o "$tmp/bcube.json" >/dev/null
check "toctl verify finds no fault in the plan" toctl verify "$tmp/bcube.json"
fabric_up "$tmp/bcube.json"
is "TCP over all 72 pairs, IPv4 and IPv6" "$(tcp_pairs)" 144
relay=$(on s0 traceroute -n -q 1 -w 2 "$(node s4)" | awk 'NR > 1 { print $2 }' | xargs)
is "traceroute from s0 to s4 shows s1 or s3" \
	"$([[ $relay == "$(node s1) $(node s4)" || $relay == "$(node s3) $(node s4)" ]] && echo yes)" yes
is "of another plan there is nothing to apply" \
	"$(apply s0 "$plan" --dry-run --json | jq .differs)" false

# A switch that dies: its servers go round it by their other ports.
lost() { # the pairs that a ping fails of
	local from to

	for from in "${servers[@]}"; do
		for to in "${servers[@]}"; do
			[[ $from == "$to" ]] ||
				echo "ping -c 1 -W 5 -q $(node "$to") >/dev/null || echo $from-$to"
		done | on "$from" bash &
	done
	wait
}
must "$fabric" darken sw0.0
is "without sw0.0 all pairs reach each other" "$(lost | xargs)" ""
is "s0 reaches s1, which shared it, by three servers" \
	"$(on s0 traceroute -n -q 1 -w 2 "$(node s1)" | awk 'NR > 1' | wc -l)" 3
must "$fabric" light sw0.0

rdma_up "RoCEv2 behind packet switches"
check "s0 writes into s1, which shares sw0.0" rdma_write s0 eth0 s1 eth0
check "s0 writes into s4 by s3" rdma_write s0 eth1 s4 eth0
check "s4 writes into s0 by s1" rdma_write s4 eth1 s0 eth0
check "s0 writes into s1's other port, on a switch of three others" rdma_write s0 eth0 s1 eth1
check "s0 writes into s4's other port by its other port" rdma_write s0 eth0 s4 eth1

done_testing
