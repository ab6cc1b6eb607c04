#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# Timeout: 900
# RoCEv2 from three servers into one, through a relay whose egress queue is drop-tail, a
# longer fq_codel, and RED with ECN, in the order in which tosim simulate --level packet
# says that packets get lost. rdma_rxe does go-back-N, as --transport none, but no DCQCN:
# marks are seen, and nobody slows down for them, so RED needs room for all there is.
#
#	a, b, c ==== eth1 .. eth3 hub eth0 ==== to

. "$(dirname "$(realpath "$0")")/../lib.sh"
packets=125 bytes=512000	# of each: rdma_rxe sends 128 before it waits for an ACK
senders=(a b c)
rate=40mbit room=17113088

jq -n '{format: "topoopt-cluster", version: 1, links: [["to", "a", "b", "c"] | to_entries[]
		| {a: "hub:eth\(.key)", b: "\(.value):eth0"}],
	servers: [["hub", "to", "a", "b", "c"] | to_entries[] | (.key + 1) as $i
		| {name: .value, ipv4: "10.200.0.\($i)", ports: [range(if $i == 1 then 4 else 1 end)
			| {name: "eth\(.)", mac: "02:54:4f:00:0\($i):0\(.)", ipv4: "10.201.\($i).\(. + 1)",
			   bandwidth: (if . == 0 and $i < 3 then 40000000 else 10000000000 end)}]}]}' >"$tmp/cluster.json"
jq -n --argjson bytes $bytes \
	'{name: "incast", servers: 5, allreduce: [], mp: [{from: "2-4", to: "1", bytes: $bytes}]}' >"$tmp/job.json"
must toctl plan -c "$tmp/cluster.json" -j "$tmp/job.json" --fixed -o "$tmp/plan.json" >/dev/null

# What is lost in the simulator, and sent again.
simulated() { # PACKETS
	tosim simulate "$tmp/plan.json" --level packet --transport none --queue-pairs 1 \
		--retransmission-timeout 4s --relay-queue "$1" --json | jq -r '.packets.counts | "\(.dropped) \(.sent_again)"'
}

sent() { # SERVER
	cat "/sys/class/infiniband/$1-eth0/ports/1/hw_counters/sent_pkts"
}
has_sent_all() { # SERVER
	(($(sent "$1") >= before[$1] + packets))
}

# Queue of the relay for RoCEv2, behind which it hardly moves; TCP goes by itself.
shut() { # QDISC...
	tc -n hub qdisc del dev eth0 root 2>/dev/null
	tc -n hub -b - <<-END
		qdisc add dev eth0 root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
		filter add dev eth0 parent 1: protocol ip u32 match ip protocol 17 0xff flowid 1:2
		qdisc add dev eth0 parent 1:2 handle 10: tbf rate 80kbit burst 9000 limit $room
		qdisc add dev eth0 parent 10: handle 2: $*
	END
}

open() { # QDISC..., whose limit tbf sets when it is a fifo
	local limit=$room

	[[ $1 != pfifo ]] || limit=$3
	tc -n hub qdisc change dev eth0 parent 1:2 handle 10: tbf rate "$rate" burst 9000 limit "$limit"
}

# The same over the queue, in $lost, $again and $marked. It opens when all packets are there
# or lost, so that it is no matter who is fast.
declare -A before
incast() { # NAME QDISC...
	local i server pids=() status=0

	must shut "${@:2}"
	for i in "${!senders[@]}"; do
		on to ib_write_bw "${how[@]}" -p $((18520 + i)) -d to-eth0 -x "$(lib_gid to eth0)" >"$tmp/to.$i" 2>&1 &
		pids+=($!)
		must wait_listen to $((18520 + i))
	done
	for i in "${!senders[@]}"; do
		server=${senders[i]}
		before[$server]=$(sent "$server")
		on "$server" ib_write_bw "${how[@]}" -p $((18520 + i)) -d "$server-eth0" \
			-x "$(lib_gid "$server" eth0)" "$(port_ip to eth0)" >"$tmp/$server.out" 2>&1 &
		pids+=($!)
	done
	for server in "${senders[@]}"; do
		must wait_for 120 has_sent_all "$server"
	done
	must open "${@:2}"
	for i in "${pids[@]}"; do
		wait "$i" || status=$?
	done
	again=0
	for server in "${senders[@]}"; do
		((again += $(sent "$server") - before[$server] - packets))
	done
	read -r lost marked < <(tc -n hub -s -j qdisc show dev eth0 | jq -r '.[] | select(.handle == "2:")
		| "\(.drops) \(.ecn_mark // .marked // 0)"')
	echo "# $1: $lost lost, $again sent again, $marked marked"
	is "$1: everything arrives" "$status" 0 || sed 's/^/# /' "$tmp"/to.? "$tmp"/?.out
}

fabric_up "$tmp/plan.json"
rdma_up "an incast of RoCEv2 through a relay"
# ECT(0) as NICs send it that do DCQCN. A timeout is 4.3 s.
how=(-F -s $((bytes / 5)) -n 5 -t 5 -Q 1 --tclass=2 -u 20)

expected=() got=()
compare() { # NAME PACKETS QDISC...
	local lost again marked

	read -r lost again < <(simulated "$2")
	echo "# $1, simulated: $lost lost, $again sent again"
	expected+=("$lost")
	incast "$1" "${@:3}"
	got+=("$lost")
	[[ $3 == pfifo ]] || check "$1 marks" test "$marked" -gt 0
}

# Does the first queue lose most, and the last nothing?
order() { # LOST LOST LOST
	(($1 > $2 && $2 > $3 && $3 == 0)) && echo yes || echo "$*"
}

compare "drop-tail of 64 packets" 64 pfifo limit 64
compare "fq_codel of 320 packets" 320 fq_codel limit 320
compare "RED with ECN" 4096 red limit $room min 20000 max 80000 avpkt 4178 burst 10 bandwidth $rate ecn
is "simulated: drop-tail loses most, fq_codel less, RED with ECN none" "$(order "${expected[@]}")" yes
is "so it is with RoCEv2" "$(order "${got[@]}")" yes

done_testing
