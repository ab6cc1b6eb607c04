#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The measurements of relay.sh, in a guest: one JSON object per line.
#
#	relay_guest.sh DRIVER PACKETS PATH...	packets per run
#
#	 namespace A        B                       C
#	+-----------+     +-----------------+     +-----------+
#	| generator |     | what is measured|     | sink      |
#	|        a0 |=====| b0           b1 |=====| c0        |
#	+-----------+     |              b2 |=====| c1        |
#	                  +-----------------+     +-----------+
#
# DRIVER veth makes its links. Of another driver, relay.sh has plugged in four NICs, eth0 to
# eth3, which become a0, b0, b1 and c0.
#
# shellcheck disable=SC2086 # what is not quoted are numbers
# shellcheck disable=SC2034 # read takes all figures of a result
# shellcheck disable=SC2154 # coproc sets counter_PID

set -uo pipefail
bench=/src/build/bench
driver=$1 packets=$2
shift 2
runs=3
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

plug() { # DEVICE NAMESPACE NAME
	ip link set "$1" down
	ip link set "$1" netns "$2" name "$3" address "${mac[$3]}" mtu $mtu
	ip -n "$2" link set "$3" up
	# a fixed rate of interrupts, where the driver has a say
	on "$2" ethtool -C "$3" rx-usecs 50 2>/dev/null
}

shines() { # NAMESPACE DEVICE
	ip -n "$1" link show "$2" | grep -q LOWER_UP
}

# Drivers take their time, and begin anew with an XDP program.
wait_for_light() {
	local i

	for ((i = 0; i < 600; i++)); do
		shines A a0 && shines B b0 && shines B b1 && shines C c0 && return
		sleep 0.1
	done
	die "no carrier"
}

up() {
	printf 'netns add %s\n' A B C | ip -b -
	if [[ $driver == veth ]]; then
		{
			pair b0 21 A a0
			pair b1 22 C c0
			pair b2 23 C c1
		} | ip -b -
		printf 'link set %s up\n' a0 | ip -n A -b -
		printf 'link set %s up\n' b0 b1 b2 | ip -n B -b -
		printf 'link set %s up\n' c0 c1 | ip -n C -b -
		bench sink c1
	else
		plug eth0 A a0
		plug eth1 B b0
		plug eth2 B b1
		plug eth3 C c0
	fi
	wait_for_light
	bench sink c0
}

down() {
	local device

	bench detach c0
	if [[ $driver == veth ]]; then
		bench detach c1
	else
		for device in A/a0/eth0 B/b0/eth1 B/b1/eth2 C/c0/eth3; do
			IFS=/ read -r ns from to <<<"$device"
			ip -n "$ns" link set "$from" xdp off 2>/dev/null
			ip -n "$ns" link set "$from" down
			ip -n "$ns" link set "$from" netns 1 name "$to"
		done
	fi
	printf 'netns del %s\n' A B C | ip -b -
}

# --- measuring ------------------------------------------------------------

tables=0 family=4 next_hops=1 counting=false verb=send device=a0

# One line; "routes" of it are set up.
measure() { # PATH BYTES VLAN
	local path=$1 vlan=$3 i bytes sent received reordered ns flows
	local -a values=() tagged=(false true)

	flows=$((tables < 1024 ? tables : 1024))
	# every flow is seen thrice before: conntrack, caches
	bench $verb $device "${mac[b0]}" $family "$2" "$vlan" $tables $((window * (1 + 3 * flows / window)))
	for ((i = 0; i < runs; i++)); do
		bench $verb $device "${mac[b0]}" $family "$2" "$vlan" $tables "$packets"
		read -r bytes sent received reordered ns <$parameters/result
		if [[ $verb == send ]] && ((received != packets)); then
			die "$path: $packets sent, $received received"
		fi
		((!reordered)) || die "$path: $reordered packets out of order"
		values+=("$((ns / burst)).$((ns % burst * 10 / burst))")
	done
	printf '{"kernel":"%s","driver":"%s","path":"%s","packet_bytes":%d,"vlan":%s,"routes":%d,' \
		"$release" "$driver" "$path" "$bytes" "${tagged[vlan > 0]}" $tables
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
		((bytes > mtu)) || measure "$1" $bytes 0
	done
}

# What others are measured with: over NICs, which take longer, at 64 bytes alone.
few_sizes() { # PATH
	if [[ $driver == veth ]]; then
		sizes "$1"
	else
		measure "$1" 64 0
	fi
}

one_route() { # PATH
	[[ $driver != veth ]] || measure "$1" 64 0
}

# What veth alone is measured with: tags and IPv6.
frames() { # PATH
	[[ $driver == veth ]] || return 0
	measure "$1" 64 5
	family=6 measure "$1" 64 0
}

# --- the paths ------------------------------------------------------------

# The generator alone.
path_generator() {
	tables=1
	ip -n A link add d0 up mtu $mtu type dummy
	device=d0 verb=queue sizes generator
	device=d0 verb=queue frames generator
}

# From one server to the next.
path_direct() {
	tables=1
	bench sink b0
	sizes direct
	frames direct
	bench detach b0
}

# The same for veth when its receiver is made for XDP.
path_direct-xdp() {
	on B ethtool -K b0 gro on
	tables=1
	bench sink b0
	sizes direct-xdp
	frames direct-xdp
	bench detach b0
}

path_floor-skb() {
	tables=1
	bench floor b0 b1 "${mac[c0]}"
	sizes floor-skb
	frames floor-skb
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
	for port in $ports; do
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
	if [[ $driver == veth ]]; then
		topoopt_table 1 "b1=${mac[c0]}"
		measure "$1" 64 0
	fi
	topoopt_table 1000 "b1=${mac[c0]}"
	sizes "$1"
	[[ $driver == veth ]] || return 0
	frames "$1"
	topoopt_counting "$1"
	topoopt_table 100000 "b1=${mac[c0]}"
	measure "$1" 64 0
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
	if [[ $driver == veth ]]; then
		on C ethtool -K c0 gro on
		on C ethtool -K c1 gro on
	fi
	for port in $ports; do
		on B ethtool -K $port rxvlan off rx-vlan-stag-hw-parse off >/dev/null 2>&1
	done
	on B "$bench/relay_table" topo0 xdp || die "no XDP relay"
	wait_for_light
	topoopt_all topoopt-xdp
	for port in $ports; do
		ip -n B link set $port xdp off
	done
	ip -n B link del topo0
}

# B as a router with a route of its own for every destination.
router() { # ROUTES [NEXT-HOP]
	tables=$1
	on B sysctl -qw net.ipv4.ip_forward=1
	ip -n B -b - <<-END
		address replace 10.0.0.2/24 dev b0
		address replace 10.1.0.1/24 dev b1
		neighbour replace 10.0.0.1 lladdr ${mac[a0]} nud permanent dev b0
		neighbour replace 10.1.0.2 lladdr ${mac[c0]} nud permanent dev b1
	END
	addresses "$1" | sed "s|.*|route replace &/32 ${2:-via 10.1.0.2 dev b1}|" | ip -n B -b -
}

path_ip-forward() {
	router 1
	one_route ip-forward
	router 1000
	few_sizes ip-forward
}

path_ip-forward-conntrack() {
	router 1000
	on B nft 'table ip filter {
		chain forward { type filter hook forward priority 0; ct state invalid drop; }; }'
	measure ip-forward-conntrack 64 0
}

path_nexthop() {
	on B sysctl -qw net.ipv4.fib_multipath_hash_policy=1
	router 1
	ip -n B -b - <<-END
		address add 10.2.0.1/24 dev b2
		neighbour add 10.2.0.2 lladdr ${mac[c1]} nud permanent dev b2
		nexthop add id 1 via 10.1.0.2 dev b1
		nexthop add id 2 via 10.2.0.2 dev b2
		nexthop add id 10 group 1,3/2,1
	END
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
		[[ $count != 1 ]] || one_route tc-flower
	done
	few_sizes tc-flower
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
		[[ $count != 1 ]] || one_route ovs
	done
	few_sizes ovs
	on B ovs-dpctl del-dp dp0
}

xdp() { # PROGRAM
	local port

	# what XDP redirects into a veth needs NAPI at its other end
	[[ $driver != veth ]] || on C ethtool -K c0 gro on
	# into other NICs, a program at b1
	for port in b0 b1; do
		ip -n B link set $port xdpdrv obj "$bench/relay_xdp.bpf.o" program "$1" ||
			die "XDP program $1"
	done
	wait_for_light
}

path_floor-xdp() {
	tables=1
	xdp bare
	sizes floor-xdp
	frames floor-xdp
}

path_xdp-fib() {
	router 1
	xdp fib
	one_route xdp-fib
	router 1000
	few_sizes xdp-fib
}

# ---------------------------------------------------------------------------

# Servers that keep quiet.
sysctl -qw net.core.devconf_inherit_init_net=1 net.ipv6.conf.{all,default}.disable_ipv6=1
# NICs interrupt once for as many packets as NAPI takes at once.
ports="b0 b1" burst=64
[[ $driver != veth ]] || ports+=" b2" burst=16
window=$((4 * burst))	# of relay_bench
insmod "/src/build/kmod-$release/test/relay_bench.ko" burst=$burst || die "no relay_bench"
[[ $driver == veth ]] || modprobe "${driver/virtio-net-pci/virtio_net}"
for path; do
	# igb runs XDP programs on frames of one buffer
	mtu=4200
	[[ $driver/$path != igb/*xdp* ]] || mtu=1500
	up
	"path_$path"
	down || exit
done
