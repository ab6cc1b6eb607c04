#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The measurements of throughput.sh, in a guest: one JSON object per line.
#
#	throughput_guest.sh ROUNDS
#
# Everything is from A of a chain of five (chain.sh).

# Standard output is for measurements.
exec 3>&1 1>&2
. "$(dirname "$(realpath "$0")")/../lib.sh"

rounds=$1
release=$(uname -r)

die() {
	echo "throughput: $*" >&2
	exit 1
}

. "$lib_dir/bench/chain.sh"

# On a fibre, frames have their tags and checksums.
xdp_up() {
	on A ethtool -K eth1 tx off >/dev/null
	on B ethtool -K eth0 rxvlan off rx-vlan-stag-hw-parse off
	on B ethtool -K eth1 rxvlan off rx-vlan-stag-hw-parse off
	on B toctl apply "$plan" --node B --xdp auto || die "XDP"
	[[ $(on B toctl show --json | jq -r '[.ports[].xdp.program] | unique[]') == xdp ]] || die "no XDP"
}

xdp_down() {
	on B toctl apply "$plan" --node B --xdp off || die "XDP"
	on A ethtool -K eth1 tx on >/dev/null
}

rxe_up() {
	modprobe -a rdma_rxe rdma_ucm || die "no rdma_rxe"
	ulimit -l unlimited
	on A rdma link add rxe-A type rxe netdev eth1 || die "rxe"
	on B rdma link add rxe-B type rxe netdev eth0 || die "rxe"
	on C rdma link add rxe-C type rxe netdev eth0 || die "rxe"
}

# --- tables ---------------------------------------------------------------

commits=false

generation() {
	on B toctl show --json | jq .generation
}

now() { # in hundredths of a second
	tr -d . </proc/uptime | cut -d ' ' -f 1
}

commits_start() {
	commits=true
	first=$(generation)
	since=$(now)
	ip netns exec B /src/build/bench/relay_table topo0 swap 10 &
	swapper=$!
}

commits_stop() { # PATH
	local last until spent

	last=$(generation)
	until=$(now)
	read -r spent _ </proc/$swapper/schedstat
	kill $swapper 2>/dev/null || die "commits ended before they should"
	wait $swapper
	report commit-interval "$1" 1 "$(((until - since) * 10000 / (last - first)))e-3" ms
	report commit-time "$1" 1 "$((spent / (last - first)))e-3" us
	commits=false
}

# --- measuring ------------------------------------------------------------

report() { # MEASURE PATH RELAYS VALUE UNIT [LOST REORDERED]
	[[ $4 =~ ^[0-9.]+(e[-+]?[0-9]+)?$ ]] || die "$1 over $3 relays, $2: no figure: '$4'"
	printf '{"kernel":"%s","measure":"%s","path":"%s","relays":%d,"commits":%s,"value":%s,"unit":"%s","lost":%d,"reordered":%d}\n' \
		"$release" "$1" "$2" "$3" "$commits" "$4" "$5" "${6:-0}" "${7:-0}" >&3
}

# TCP beside numbered datagrams to a UDP port.
load() { # MEASURE PATH RELAYS PORT
	local to=${servers[$3 + 1]} receiver again rate lost late

	on "$to" "$lib_dir/bench/load.py" receive "$4" >"$tmp/received" &
	receiver=$!
	wait_for 60 grep -q ready "$tmp/received" || die "nobody receives on $to"
	again=$(on A "$lib_dir/bench/load.py" send "${address[$to]}" "$4")
	wait $receiver
	read -r rate lost late < <(tail -n 1 "$tmp/received")
	report "$1" "$2" "$3" "$rate" Mbit/s $((lost + again)) "$late"
}

percentiles() { # MEASURE PATH RELAYS: of numbers on standard input
	local p values

	mapfile -t values < <(sort -g)
	((${#values[@]})) || die "$1: no answers"
	for p in 50 95 99; do
		report "$1-p$p" "$2" "$3" "${values[${#values[@]} * p / 100]}" us
	done
}

latency() { # PATH RELAYS
	on A ping -A -c 300 -s 56 "${address[${servers[$2 + 1]}]}" |
		sed -n 's/.*time=\([0-9.]*\) ms/\1/p' | awk '{ print $1 * 1000 }' >"$tmp/times"
	percentiles ping "$1" "$2" <"$tmp/times"
}

gid() { # SERVER PORT: index of the GID that is its IPv4 address
	local a b c d want i

	IFS=. read -r a b c d <<<"${address[$1:$2]}"
	want=$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' "$a" "$b" "$c" "$d")
	for ((i = 0; i < 16; i++)); do
		[[ $(<"/sys/class/infiniband/rxe-$1/ports/1/gids/$i") != "$want" ]] || break
	done
	echo $i
}

# Both ends share a processor with the work of rdma_rxe, which comes before their
# busy polling.
perftest() { # PROGRAM TO ARGUMENT...: the client's output
	local to=$2 status=0

	on "$to" nice -n 19 "$1" -d "rxe-$to" -x "$(gid "$to" eth0)" "${@:3}" >"$tmp/server.log" 2>&1 &
	wait_for 60 lib_listens "$to" 18515 || return
	timeout 300 ip netns exec A nice -n 19 "$1" -d rxe-A -x "$(gid A eth1)" "${@:3}" \
		"${address[$to:eth0]}" || status=$?
	wait $!
	return $status
}

rxe_counter() { # SERVER NAME
	on "$1" rdma -j statistic show link "rxe-$1" | jq ".[0].$2"
}

roce() { # PATH RELAYS
	local to=${servers[$2 + 1]} out late again

	late=$(rxe_counter "$to" out_of_seq_request) again=$(rxe_counter "$to" duplicate_request)
	out=$(perftest ib_write_bw "$to" -s 65536 -n 100) ||
		die "ib_write_bw to $to: $(tail -n 3 "$tmp/server.log")"
	report ib_write_bw "$1" "$2" \
		"$(awk '$1 == 65536 { print $4 * 8.388608 }' <<<"$out")" Mbit/s \
		$(($(rxe_counter "$to" duplicate_request) - again)) \
		$(($(rxe_counter "$to" out_of_seq_request) - late))
	out=$(perftest ib_send_lat "$to" -e -s 64 -n 300) ||
		die "ib_send_lat to $to: $(tail -n 3 "$tmp/server.log")"
	# typical and 99th percentile
	report ib_send_lat-p50 "$1" "$2" "$(awk '$1 == 64 { print $5 }' <<<"$out")" us
	report ib_send_lat-p99 "$1" "$2" "$(awk '$1 == 64 { print $8 }' <<<"$out")" us
}

# --- all of it --------------------------------------------------------------

again() { # COMMAND...: in every round
	local round

	for ((round = 0; round < rounds; round++)); do
		"$@"
	done
}

kernel_path() { # PATH
	local relays

	for relays in 0 1 2 3; do
		load tcp-goodput "$1" $relays 5001
		latency "$1" $relays
	done
}

one_relay() {
	load tcp-goodput topoopt 1 5001
	latency topoopt 1
	[[ ! $rxe ]] || roce topoopt 1
}

# TCP through the queues, RoCE's port and RoCEv2 at XDP.
at_xdp() {
	load tcp-beside-xdp topoopt-xdp 1 4791
}

modprobe topoopt_fwd || die "no module"
rxe=
[[ $release == 6.* ]] || rxe=y
forward_up
again kernel_path ip-forward
wires_down

topoopt_up
wait_for 60 on A ping -c 1 -W 1 "${address[E]}" || die "A does not reach E"
again kernel_path topoopt
xdp_up
again at_xdp
commits_start
again at_xdp
commits_stop topoopt-xdp
xdp_down
if [[ $rxe ]]; then
	rxe_up
	again roce topoopt 0
	again roce topoopt 1
fi
commits_start
again one_relay
commits_stop topoopt
if [[ $rxe ]]; then
	xdp_up
	again roce topoopt-xdp 1
	commits_start
	again roce topoopt-xdp 1
	commits_stop topoopt-xdp
fi
