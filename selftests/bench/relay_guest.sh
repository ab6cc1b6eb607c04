#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The measurements of relay.sh, in a guest: one JSON object per line.
#
#	relay_guest.sh PACKETS [PATH...]	packets per run; all paths by default
#
#	 namespace A        B                       C
#	+-----------+     +-----------------+     +-----------+
#	| generator |     | what is measured|     | sink      |
#	|        a0 |=====| b0           b1 |=====| c0        |
#	+-----------+     |              b2 |=====| c1        |
#	                  +-----------------+     +-----------+
#
# shellcheck disable=SC2086 # what is not quoted are numbers
# shellcheck disable=SC2034 # read takes all figures of a result
# shellcheck disable=SC2154 # coproc sets counter_PID

set -uo pipefail
bench=/src/build/bench
packets=$1
shift
runs=3
burst=16	# of relay_bench
mtu=4200
release=$(uname -r)
parameters=/sys/module/relay_bench/parameters

declare -A mac=([a0]=02:00:00:00:00:a0 [b0]=02:00:00:00:00:b0 [b1]=02:00:00:00:00:b1
	[b2]=02:00:00:00:00:b2 [c0]=02:00:00:00:00:c0 [c1]=02:00:00:00:00:c1)

die() {
	echo "relay_guest.sh: $*" >&2
	exit 1
}

# Without the mount namespace that ip netns exec makes, whose /sys is another.
on() { # NAMESPACE COMMAND...
	nsenter --net="/run/netns/$1" "${@:2}"
}

bench() { # COMMAND...
	echo "$*" >$parameters/command || die "relay_bench: $*"
}

# --- the three servers ----------------------------------------------------

pair() { # DEVICE-OF-B IFINDEX NAMESPACE DEVICE
	echo "link add $1 index $2 netns B address ${mac[$1]} mtu $mtu type veth" \
		"peer $4 netns $3 address ${mac[$4]} mtu $mtu"
}

up() {
	printf 'netns add %s\n' A B C | ip -b -
	{
		pair b0 21 A a0
		pair b1 22 C c0
		pair b2 23 C c1
	} | ip -b -
	printf 'link set %s up\n' a0 | ip -n A -b -
	printf 'link set %s up\n' b0 b1 b2 | ip -n B -b -
	printf 'link set %s up\n' c0 c1 | ip -n C -b -
	bench sink c0
	bench sink c1
}

down() {
	bench detach c0
	bench detach c1
	printf 'netns del %s\n' A B C | ip -b -
}

# --- measuring ------------------------------------------------------------

tables=0 family=4 next_hops=1 counting=false

# One line; "routes" of it are set up.
measure() { # PATH BYTES VLAN
	local path=$1 vlan=$3 i bytes sent received reordered ns flows
	local -a values=() tagged=(false true)

	flows=$((tables < 1024 ? tables : 1024))
	# every flow is seen thrice before: conntrack, caches
	bench send a0 "${mac[b0]}" $family "$2" "$vlan" $tables $((3 * flows / burst * burst + burst))
	for ((i = 0; i < runs; i++)); do
		bench send a0 "${mac[b0]}" $family "$2" "$vlan" $tables "$packets"
		read -r bytes sent received reordered ns <$parameters/result
		if [[ $path != base-* ]] && ((received != packets)); then
			die "$path: $packets sent, $received received"
		fi
		((!reordered)) || die "$path: $reordered packets out of order"
		values+=("$((ns / burst)).$((ns % burst * 10 / burst))")
	done
	printf '{"kernel":"%s","path":"%s","packet_bytes":%d,"vlan":%s,"routes":%d,' \
		"$release" "$path" "$bytes" "${tagged[vlan > 0]}" $tables
	printf '"counting":%s,"family":"ipv%d","next_hops":%d,"lost":0,"reordered":0,"runs":[%s]}\n' \
		$counting $family $next_hops "$(IFS=,; echo "${values[*]}")"
}

addresses() { # COUNT: of the destinations
	awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i++)
		printf "10.%d.%d.%d\n", 128 + i / 65536, i / 256 % 256, i % 256 }'
}

sizes() { # PATH: at 64 bytes and larger ones
	local bytes

	for bytes in 64 1500 4096; do
		measure "$1" $bytes 0
	done
}

# --- the paths ------------------------------------------------------------

path_base-skb() {
	tables=1
	bench drop b0
	sizes base-skb
	measure base-skb 64 5
	family=6 measure base-skb 64 0
	bench detach b0
}

path_floor-skb() {
	tables=1
	bench floor b0 b1 "${mac[c0]}"
	sizes floor-skb
	measure floor-skb 64 5
	family=6 measure floor-skb 64 0
	bench detach b0
}

topoopt_table() { # ROUTES NEXT-HOP...
	tables=$1
	on B "$bench/relay_table" topo0 "$@" || die "no table of $1 routes"
}

topoopt() {
	local port

	modprobe topoopt_fwd
	ip -n B link add topo0 type topoopt
	for port in b0 b1 b2; do
		ip -n B link set $port master topo0
	done
	ip -n B link set topo0 up
}

topoopt_counting() { # PATH
	coproc counter { exec nsenter --net=/run/netns/B "$bench/relay_table" topo0 count; }
	read -r <&"${counter[0]}" || die "no counting"
	counting=true measure "$1" 64 0
	kill "$counter_PID"
	wait "$counter_PID" 2>/dev/null
}

topoopt_all() { # PATH
	topoopt_table 1 "b1=${mac[c0]}"
	measure "$1" 64 0
	topoopt_table 100000 "b1=${mac[c0]}"
	measure "$1" 64 0
	topoopt_table 1000 "b1=${mac[c0]}"
	sizes "$1"
	measure "$1" 64 5
	family=6 measure "$1" 64 0
	topoopt_counting "$1"
	topoopt_table 1000 "b1=${mac[c0]}" "b2=${mac[c1]}"
	next_hops=2 measure "$1" 64 0
}

path_topoopt-skb() {
	topoopt
	topoopt_all topoopt-skb
	ip -n B link del topo0
}

path_topoopt-xdp() {
	local port

	topoopt
	on C ethtool -K c0 gro on
	on C ethtool -K c1 gro on
	for port in b0 b1 b2; do
		on B ethtool -K $port rxvlan off rx-vlan-stag-hw-parse off
	done
	on B "$bench/relay_table" topo0 xdp || die "no XDP relay"
	topoopt_all topoopt-xdp
	ip -n B link del topo0
}

# B as a router with a route of its own for every destination.
router() { # ROUTES [NEXT-HOP]
	tables=$1
	on B sysctl -qw net.ipv4.ip_forward=1
	ip -n B -b - <<-END
		address replace 10.0.0.2/24 dev b0
		address replace 10.1.0.1/24 dev b1
		address replace 10.2.0.1/24 dev b2
		neighbour replace 10.0.0.1 lladdr ${mac[a0]} nud permanent dev b0
		neighbour replace 10.1.0.2 lladdr ${mac[c0]} nud permanent dev b1
		neighbour replace 10.2.0.2 lladdr ${mac[c1]} nud permanent dev b2
		nexthop replace id 1 via 10.1.0.2 dev b1
		nexthop replace id 2 via 10.2.0.2 dev b2
		nexthop replace id 10 group 1,3/2,1
	END
	addresses "$1" | sed "s|.*|route replace &/32 ${2:-via 10.1.0.2 dev b1}|" | ip -n B -b -
}

path_ip-forward() {
	router 1
	measure ip-forward 64 0
	router 1000
	sizes ip-forward
}

path_ip-forward-conntrack() {
	router 1000
	on B nft 'table ip filter {
		chain forward { type filter hook forward priority 0; ct state invalid drop; }; }'
	measure ip-forward-conntrack 64 0
}

path_nexthop() {
	on B sysctl -qw net.ipv4.fib_multipath_hash_policy=1
	router 1000 "nhid 10"
	next_hops=2 measure nexthop 64 0
}

path_flowtable() {
	router 1000
	on B nft 'table ip filter {
		flowtable fast { hook ingress priority 0; devices = { b0, b1 }; }
		chain forward { type filter hook forward priority 0; ip protocol udp flow add @fast; }; }'
	measure flowtable 64 0
}

path_tc-flower() {
	local count

	tc -n B qdisc add dev b0 clsact
	for count in 1 1000; do
		tables=$count
		addresses $count | sed "s|.*|filter add dev b0 ingress pref 1 protocol ip flower \
			dst_ip & action pedit ex munge eth dst set ${mac[c0]} pipe \
			action mirred egress redirect dev b1|" | tail -n +$((count > 1 ? 2 : 1)) |
			tc -n B -b - || die "tc"
		[[ $count == 1 ]] && measure tc-flower 64 0
	done
	sizes tc-flower
}

path_ovs() {
	local count

	modprobe openvswitch || return
	on B ovs-dpctl add-dp dp0 2>/dev/null
	on B ovs-dpctl add-if dp0 b0
	on B ovs-dpctl add-if dp0 b1
	for count in 1 1000; do
		tables=$count
		addresses $count | sed "s|.*|add in_port(1),eth(),eth_type(0x0800),ipv4(dst=&),udp() \
			set(eth(src=${mac[b1]},dst=${mac[c0]})),2|" | tail -n +$((count > 1 ? 2 : 1)) >/tmp/flows
		on B ovs-dpctl add-flows dp0 /tmp/flows || die "ovs-dpctl"
		[[ $count == 1 ]] && measure ovs 64 0
	done
	sizes ovs
	on B ovs-dpctl del-dp dp0
}

xdp() { # PROGRAM
	# what XDP redirects into a veth needs NAPI at its other end
	on C ethtool -K c0 gro on
	ip -n B link set b0 xdpdrv obj "$bench/relay_xdp.bpf.o" program "$1" ||
		die "XDP program $1"
}

path_base-xdp() {
	tables=1
	xdp drop
	sizes base-xdp
	measure base-xdp 64 5
	family=6 measure base-xdp 64 0
}

path_floor-xdp() {
	tables=1
	xdp bare
	sizes floor-xdp
	measure floor-xdp 64 5
	family=6 measure floor-xdp 64 0
}

path_xdp-fib() {
	router 1
	xdp fib
	measure xdp-fib 64 0
	router 1000
	sizes xdp-fib
}

# ---------------------------------------------------------------------------

# Servers that keep quiet.
sysctl -qw net.core.devconf_inherit_init_net=1 net.ipv6.conf.{all,default}.disable_ipv6=1
insmod "/src/build/kmod-$release/test/relay_bench.ko" || die "no relay_bench"
(($#)) || set -- base-skb floor-skb topoopt-skb ip-forward ip-forward-conntrack nexthop \
	flowtable tc-flower ovs base-xdp floor-xdp topoopt-xdp xdp-fib
for path; do
	up
	"path_$path"
	down || exit
done
