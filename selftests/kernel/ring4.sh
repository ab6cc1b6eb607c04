#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 300
# The smallest fabric there is, examples/ring-4: cables as they are, planned
# by toctl plan --fixed. Everybody reaches everybody over TCP, and opposite
# servers, which no cable joins, exchange RoCEv2 through a relay.
#
#	s0 eth0 == eth1 s1 eth0 == eth1 s2 eth0 == eth1 s3 eth0 == eth1 s0

. "$(dirname "$(realpath "$0")")/../lib.sh"

example=$lib_dir/../examples/ring-4
must toctl plan --cluster "$example/cluster.json" --job "$example/job.json" \
	--fixed -o "$tmp/ring.json" >/dev/null
check "toctl verify finds no fault in the plan" toctl verify "$tmp/ring.json"
fabric_up "$tmp/ring.json" >/dev/null

# --- TCP, all 12 pairs, both families ---

is "TCP over all 12 pairs, IPv4 and IPv6" "$(tcp_pairs)" 24

# --- the path that the plan says ---

path=$(toctl route s2 --plan "$plan" --node s0 --json |
	jq -r '.path.next[] | select(.backup | not) .then.server')
is "traceroute from s0 to s2 shows the planned relay" \
	"$(on s0 traceroute -n -q 1 -w 30 "$(node s2)" | awk 'NR > 1 { print $2 }' | xargs)" \
	"$(node "$path") $(node s2)"

# --- RoCEv2 between opposite servers ---

rdma_up "RoCEv2 between opposite servers"
relayed=$(ethtool_counter s1 topo0 relay_rx_packets)
check "s0 writes into s2 through s1" rdma_write s0 eth0 s2 eth1
check "s2 writes into s0 through s3" rdma_write s2 eth0 s0 eth1
check "s1 writes into s3 through s2" rdma_write s1 eth0 s3 eth1
is "the relay carried it" \
	"$(($(ethtool_counter s1 topo0 relay_rx_packets) - relayed > 200))" 1
check "s0 writes into s1, without a relay" rdma_write s0 eth0 s1 eth1
check "s0 writes into s2 by the other port, the long way" rdma_write s0 eth1 s2 eth1
check "s0 writes into s1's other port, which s2 is cabled to" rdma_write s0 eth0 s1 eth0
check "RDMA connection manager, s0 to s2" \
	timeout 60 bash -c '
		in_netns s2 rping -s -C 5 &
		for i in {1..50}; do
			in_netns s0 rping -c -C 5 -a "$1" 2>/dev/null && break
			sleep 0.2
		done
		wait $!' - "$(port_ip s2 eth1)"

done_testing
