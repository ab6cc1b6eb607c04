#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12 6.12-arm64 7.2
# Timeout: 600
# NICs whose RDMA engine takes RoCEv2 for itself: a tc filter on every ethN drops
# what comes to its MAC and not to its address, before the module sees it. So
# nothing reaches a server behind another one, until transit goes to a second
# interface: a macvlan device ethNt, whose MAC the engine does not know.
#
#	s0 eth0 == eth1 s1 eth0 == eth1 s2 eth0 == eth1 s3 eth0 == eth1 s0
#	  eth0t    eth1t  eth0t    eth1t  eth0t    eth1t  eth0t    eth1t
#
# What toctl makes of it is in personalities_toctl.sh.

. "$(dirname "$(realpath "$0")")/../lib.sh"

. "$lib_dir/engines.sh"

# --- one interface per port ---

ports=(eth0 eth1)
plan_of "$example/cluster.json" "$tmp/one.json"
fabric_up "$tmp/one.json" >/dev/null
engines
listen
send s0 s2
check "one interface per port: the engines swallow what s0 sends to s2" \
	wait_for 60 eval '(($(swallowed) >= 8))'
is "one interface per port: nothing of it arrives" "$(got)" ""
check "one interface per port: TCP does" on s0 ping -c 1 -W 30 "$(node s2)"
kill "${listeners[@]}"
must "$fabric" down

# --- two ---

two_up

is "TCP over all 12 pairs, IPv4 and IPv6" "$(tcp_pairs)" 24

listen
before=$(relayed)
for pair in "s0 s2" "s2 s0" "s1 s3" "s3 s1"; do
	# shellcheck disable=SC2086 # two words
	send $pair
done
gets 32
is "RoCEv2 arrives: opposite servers, all ports, IPv4 and IPv6" "$(got)" "$(
	for pair in "s0 s2" "s2 s0" "s1 s3" "s3 s1"; do
		for source in "${ports[@]}"; do
			for port in "${ports[@]}"; do
				printf 'IPv%d %s:%s %s:%s\n' 4 "${pair% *}" "$source" "${pair#* }" "$port" \
					6 "${pair% *}" "$source" "${pair#* }" "$port"
			done
		done
	done | sort)"
is "the relays had it" "$(($(relayed) - before >= 32))" 1
is "and no engine" "$(swallowed)" 0

# --- the path that the plan says ---

path=$(toctl route s2 --plan "$plan" --node s0 --json |
	jq -r '.path.next[] | select(.backup | not) .then.server')
hops() { # SOURCE DESTINATION
	on s0 traceroute -n -q 1 -w 30 -s "$1" "$2" | awk 'NR > 1 { print $2 }' | xargs
}
is "traceroute from s0 to s2 shows the planned relay" \
	"$(hops "$(node s0)" "$(node s2)")" "$(node "$path") $(node s2)"
is "traceroute between ports: s0 by s1" \
	"$(hops "$(port_ip s0 eth0t)" "$(port_ip s2 eth1t)")" "$(port_ip s1 eth1t) $(port_ip s2 eth1t)"
is "traceroute between ports: s0 by s3" \
	"$(hops "$(port_ip s0 eth1t)" "$(port_ip s2 eth0t)")" "$(port_ip s3 eth0t) $(port_ip s2 eth0t)"

# --- carrier, by way of the NIC ---

[[ $path == s1 ]] && port=eth0t || port=eth1t
forget
must "$fabric" darken "s0:$port"
check "a dark NIC takes its port out" wait_for 60 port_live s0 "$port" false
echo "the long way" | on s0 socat -u - "UDP4-SENDTO:$(node s2):$roce,bind=$(node s0)"
gets 1
is "s0 sends to s2 by the other one" "$(got)" "the long way"
must "$fabric" light "s0:$port"
check "light brings it back" wait_for 60 port_live s0 "$port" true

# --- XDP, which a macvlan device does not have in its driver ---

for mode in auto on; do
	forget
	check "apply --xdp $mode" apply s1 "$plan" --xdp "$mode"
	send s0 s2
	gets 8
	is "RoCEv2 arrives with --xdp $mode" "$(got | wc -l)" 8
done
must apply s1 "$plan" --xdp off >/dev/null
is "still no engine had any of it" "$(swallowed)" 0

# --- the traffic matrix, of what the module sees at relays alone ---

hush 9	# nobody looks for a router; the listeners take the rest
forget
record_begin
send s0 s2
gets 8
record_end
# 8 packets of 23 bytes in UDP, IPv4 or IPv6, and Ethernet
bytes=$((4 * (23 + 42) + 4 * (23 + 62)))
is "they have what s0 sent to s2" "$(toctl tm show "$tmp/fabric.tm" --json | jq -c .bytes)" \
	"[[0,0,$bytes,0],[0,0,0,0],[0,0,0,0],[0,0,0,0]]"
# half of it enters s2 by the other port first, and comes back by the right one
is "the NICs of s2 counted it as often as it came" \
	"$(jq -s 'map(.samples[].ports[][1]) | add' "$tmp/s2.tm")" "$((bytes + bytes / 2))"
kill "${listeners[@]}"

# --- RDMA ---

rdma_up "RoCEv2 between opposite servers"
before=$(relayed)
check "s0 writes into s2 through s1" rdma_write s0 eth0t s2 eth1t
check "s2 writes into s0 through s3" rdma_write s2 eth0t s0 eth1t
is "the relays carried it" "$(($(relayed) - before > 400))" 1
check "s0 writes into s1, without a relay" rdma_write s0 eth0t s1 eth1t
check "s0 writes into s2 by the other port, the long way" rdma_write s0 eth1t s2 eth1t
check "doctor finds the GID on the NIC" \
	grep -q "^ok   eth0: gid: s0-eth0 has " \
	<(on_sysfs s0 toctl doctor "$plan" --node s0)
is "no engine had any of it" "$(swallowed)" 0

done_testing
