#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The measurements of throughput.sh, in a guest: one JSON object per line.
#
#	throughput_guest.sh ROUNDS
#
#	A eth1 ==== eth0 B eth1 ==== eth0 C eth1 ==== eth0 D eth1 ==== eth0 E
#
# The links are veth pairs with NAPI, so that packets go through GRO as those of
# a NIC do. Everything is from A; B to D relay.

# Standard output is for measurements.
exec 3>&1 1>&2
. "$(dirname "$(realpath "$0")")/../lib.sh"

rounds=$1
seconds=4		# of a TCP stream
pings=1000
servers=(A B C D E)
release=$(uname -r)
plan=$tmp/plan.json
chain_plan 5 >"$plan"

die() {
	echo "throughput: $*" >&2
	exit 1
}

# --- the servers ----------------------------------------------------------

wires_up() {
	local i

	printf 'netns add %s\n' "${servers[@]}" | ip -b - || die "netns"
	for ((i = 0; i < 4; i++)); do
		ip link add eth1 netns "${servers[i]}" address "$(port_mac "${servers[i]}" eth1)" \
			mtu 4200 type veth peer eth0 netns "${servers[i + 1]}" mtu 4200 \
			address "$(port_mac "${servers[i + 1]}" eth0)" || die "veth"
	done
	for ((i = 0; i < 5; i++)); do
		ip -n "${servers[i]}" link set lo up
		for port in eth0 eth1; do
			on "${servers[i]}" test -e "/sys/class/net/$port" || continue
			on "${servers[i]}" ethtool -K "$port" gro on
			ip -n "${servers[i]}" link set "$port" up
		done
	done
}

wires_down() {
	printf 'netns del %s\n' "${servers[@]}" | ip -b -
}

topoopt_up() {
	local server port

	wires_up
	for server in "${servers[@]}"; do
		ip -n "$server" link add topo0 type topoopt
		for port in eth0 eth1; do
			# the ends of the chain have one port
			on "$server" test -e /sys/class/net/$port ||
				ip -n "$server" link add $port mtu 4200 \
					address "$(port_mac "$server" $port)" type dummy
			ip -n "$server" address add "$(port_ip "$server" $port)/32" dev $port
			ip -n "$server" link set $port master topo0
			ip -n "$server" link set "$port" up
		done
		ip -n "$server" address add "$(node "$server")/32" dev topo0
		ip -n "$server" link set topo0 up
		on "$server" toctl apply "$plan" --node "$server" || die "apply on $server"
	done
}

forward_up() {
	local i j way

	wires_up
	for ((i = 0; i < 5; i++)); do
		on "${servers[i]}" sysctl -qw net.ipv4.ip_forward=1
		ip -n "${servers[i]}" address add "$(node "${servers[i]}")/32" dev lo
		for ((j = 0; j < 5; j++)); do
			((i != j)) || continue
			if ((j > i)); then
				way="10.9.$i.2 dev eth1"
			else
				way="10.9.$((i - 1)).1 dev eth0"
			fi
			echo "$(node "${servers[j]}") via $way src $(node "${servers[i]}") onlink"
		done | sed 's/^/route add /' >"$tmp/routes"
		((i == 4)) || ip -n "${servers[i]}" address add "10.9.$i.1/30" dev eth1
		((i == 0)) || ip -n "${servers[i]}" address add "10.9.$((i - 1)).2/30" dev eth0
		ip -n "${servers[i]}" -b "$tmp/routes" || die "routes"
	done
}

# --- measuring ------------------------------------------------------------

report() { # MEASURE PATH RELAYS VALUE UNIT [LOST REORDERED]
	# perftest says "inf" where its clock is too coarse
	[[ $4 == [0-9]* ]] || { echo "$1 $2: no figure: $4" >&2; return; }
	printf '{"kernel":"%s","measure":"%s","path":"%s","relays":%d,"commits":%s,"value":%s,"unit":"%s","lost":%d,"reordered":%d}\n' \
		"$release" "$1" "$2" "$3" "$commits" "$4" "$5" "${6:-0}" "${7:-0}" >&3
}

tcp_counter() { # SERVER NAME: of /proc/net/snmp and netstat
	on "$1" nstat -asz "$2" | awk -v name="$2" '$1 == name { print $2 }'
}

tcp() { # PATH RELAYS TO
	local lost reordered rate

	on "$3" iperf3 -s -1 -D
	wait_listen "$3" 5201 || die "no iperf3"
	lost=$(tcp_counter A TcpRetransSegs) reordered=$(tcp_counter "$3" TcpExtTCPOFOQueue)
	rate=$(on A iperf3 -c "$(node "$3")" -t $seconds -O 1 -J | jq '.end.sum_received.bits_per_second / 1e6')
	report tcp-goodput "$1" "$2" "$rate" Mbit/s \
		$(($(tcp_counter A TcpRetransSegs) - lost)) $(($(tcp_counter "$3" TcpExtTCPOFOQueue) - reordered))
}

# Numbered datagrams beside a TCP stream that takes what is left.
stream() { # PATH RELAYS TO
	local load

	on "$3" iperf3 -s -1 -D
	on "$3" iperf3 -s -1 -D -p 5202
	wait_listen "$3" 5201 || die "no iperf3"
	wait_listen "$3" 5202 || die "no iperf3"
	on A iperf3 -c "$(node "$3")" -t $((seconds + 2)) >/dev/null &
	load=$!
	read -r rate lost reordered < <(on A iperf3 -c "$(node "$3")" -p 5202 -u -b 4M -l 1000 -w 2M -t $seconds -J |
		jq -r '.end.streams[0].udp | "\(.bits_per_second / 1e6) \(.lost_packets) \(.out_of_order)"')
	wait $load
	report udp-under-tcp "$1" "$2" "$rate" Mbit/s "$lost" "$reordered"
}

percentiles() { # MEASURE PATH RELAYS: of numbers on standard input
	local p values

	mapfile -t values < <(sort -g)
	((${#values[@]})) || die "$1: no answers"
	for p in 50 99; do
		report "$1-p$p" "$2" "$3" "${values[${#values[@]} * p / 100]}" us
	done
}

latency() { # PATH RELAYS TO
	on A ping -A -c $pings -s 56 "$(node "$3")" |
		sed -n 's/.*time=\([0-9.]*\) ms/\1/p' | awk '{ print $1 * 1000 }' |
		percentiles ping "$1" "$2"
}

gid() { # SERVER PORT: index of the GID that is its IPv4 address
	local want i

	# shellcheck disable=SC2046,SC2183 # four words
	want=$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' \
		$(port_ip "$1" "$2" | tr . ' '))
	for ((i = 0; i < 16; i++)); do
		[[ $(cat "/sys/class/infiniband/rxe-$1-$2/ports/1/gids/$i") != "$want" ]] ||
			{ echo $i; return; }
	done
}

perftest() { # PROGRAM TO ARGUMENT...: the client's output
	local to=$2 status=0

	on "$to" "$1" -d "rxe-$to-eth0" -x "$(gid "$to" eth0)" "${@:3}" >"$tmp/server.log" 2>&1 &
	wait_for 60 lib_listens "$to" 18515 || return
	timeout 120 ip netns exec A "$1" -d rxe-A-eth1 -x "$(gid A eth1)" "${@:3}" \
		"$(port_ip "$to" eth0)" || status=$?
	wait $!
	return $status
}

roce() { # PATH RELAYS TO
	local out

	if ! out=$(perftest ib_write_bw "$3" -s 65536 -n 200); then
		echo "throughput: ib_write_bw to $3 failed: $(tail -n 3 "$tmp/server.log")"
		return
	fi
	report ib_write_bw "$1" "$2" \
		"$(awk '$1 == 65536 { print $4 * 8.388608 }' <<<"$out")" Mbit/s
	if ! out=$(perftest ib_send_lat "$3" -s 64 -n 500); then
		echo "throughput: ib_send_lat to $3 failed: $(tail -n 3 "$tmp/server.log")"
		return
	fi
	# typical and 99th percentile
	report ib_send_lat-p50 "$1" "$2" "$(awk '$1 == 64 { print $5 }' <<<"$out")" us
	report ib_send_lat-p99 "$1" "$2" "$(awk '$1 == 64 { print $8 }' <<<"$out")" us
}

# --- rounds ---------------------------------------------------------------

commits=false

round_forward() {
	local relays

	forward_up
	for relays in 1 2 3; do
		tcp ip-forward $relays "${servers[relays + 1]}"
		latency ip-forward $relays "${servers[relays + 1]}"
	done
	wires_down
}

round_topoopt() {
	local relays server swapper

	topoopt_up
	wait_for 10 on A ping -c 1 -W 1 "$(node E)" || die "A does not reach E"
	tcp direct 0 B
	latency direct 0 B
	for relays in 1 2 3; do
		tcp topoopt $relays "${servers[relays + 1]}"
		latency topoopt $relays "${servers[relays + 1]}"
	done
	stream topoopt 1 C
	if [[ $rxe ]]; then
		ip netns exec A rdma link add rxe-A-eth1 type rxe netdev eth1
		for server in B C; do
			ip netns exec $server rdma link add rxe-$server-eth0 type rxe netdev eth0
		done
		roce direct 0 B
		roce topoopt 1 C
	fi

	commits=true
	ip netns exec B /src/build/bench/relay_table topo0 swap 10 &
	swapper=$!
	tcp topoopt 1 C
	latency topoopt 1 C
	stream topoopt 1 C
	[[ ! $rxe ]] || roce topoopt 1 C
	kill $swapper
	wait $swapper
	commits=false
	[[ ! $rxe ]] || for server in A-eth1 B-eth0 C-eth0; do
		rdma link del "rxe-$server"
	done
	wires_down
}

modprobe topoopt_fwd || die "no module"
rxe=
[[ $release == 6.* ]] || { modprobe -a rdma_rxe rdma_ucm && rxe=y; ulimit -l unlimited; }
for ((r = 0; r < rounds; r++)); do
	round_forward
	round_topoopt
done
