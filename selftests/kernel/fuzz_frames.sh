#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Malformed and adversarial frames into R's ports, from X and from a tap: what
# must pass comes out, byte for byte, and nothing else does.
#
#	X x0 == p0 R p1 == x1 X		R t0: tap, packets in any number of pieces
#	         R p2 == x2 X		R d0: down
#	         R c0 == x3 X		X's continuity checks are expected at c0
#
# TEST_FUZZ=N sends so many, TEST_SEED=N others.

. "$(dirname "$(realpath "$0")")/../lib.sh"

frames=${TEST_FUZZ:-20000} seed=${TEST_SEED:-1}
suffix=$(od -An -N2 -tx1 /dev/urandom | tr -d ' ')
R=R-$suffix X=X-$suffix
for server in "$R" "$X"; do
	must ip netns add "$server"
	at_exit "ip netns del $server"
done
must modprobe -a topoopt_fwd tun
# only the fuzzer speaks
on "$X" sysctl -q -w net.ipv6.conf.{all,default}.disable_ipv6=1
on "$R" sysctl -q -w net.ipv6.conf.default.{accept_dad=0,addr_gen_mode=1} net.ipv4.icmp_ratelimit=0

must ip -n "$R" link add topo0 type topoopt
must ip -n "$R" addr add 10.6.77.177/32 dev topo0
must ip -n "$R" addr add fd00:6::b1b1:7e57/128 dev topo0
for i in 0 1 2; do
	must ip -n "$R" link add "p$i" address "02:54:4f:00:01:0$i" type veth \
		peer "x$i" address "02:54:4f:00:09:0$i" netns "$X"
	must ip -n "$X" link set "x$i" mtu 9500 up
done
must ip -n "$R" link add c0 address 02:54:4f:00:01:05 type veth \
	peer x3 address 02:54:4f:00:09:03 netns "$X"
must ip -n "$X" link set x3 up
must ip -n "$R" tuntap add t0 mode tap vnet_hdr
# holds all pieces of a forged aggregate
must ip -n "$R" link set t0 address 02:54:4f:00:01:03 txqueuelen 16384
must ip -n "$R" link add d0 address 02:54:4f:00:01:04 type dummy
mtu=(9500 4200 1500)
for i in 0 1 2; do
	must ip -n "$R" link set "p$i" mtu "${mtu[i]}" master topo0 up
done
must ip -n "$R" link set c0 master topo0 up
must ip -n "$R" link set t0 master topo0 up
must ip -n "$R" link set d0 master topo0
must ip -n "$R" link set topo0 up
# errors go back to whoever the packet says it is from
must ip -n "$R" route add default dev topo0
must ip -n "$R" -6 route add default dev topo0

cat >"$tmp/table" <<'END'
port p0 02:54:4f:00:01:00 02:00:00:00:00:10 9500 x0
port p1 02:54:4f:00:01:01 02:00:00:00:00:11 4200 x1
port p2 02:54:4f:00:01:02 02:00:00:00:00:12 1500 x2
port t0 02:54:4f:00:01:03 02:00:00:00:00:13 1500 tap
port d0 02:54:4f:00:01:04 02:00:00:00:00:14 1500 down
port c0 02:54:4f:00:01:05 02:54:4f:00:09:03 1500 x3
neighbour c0 relay peer x3
group 0 p0 -
group 1 p1 -
group 2 p2 -
group 3 p2,t0 -
group 4 t0 -
group 5 d0 p1
group 6 d0 -
route 10.1.0.0/16 any 1
route 10.1.2.0/24 any 2
route 10.2.0.0/16 any 2
route 10.1.0.3/32 any 1
route 10.2.0.3/32 any 2
route 10.3.0.3/32 any 3
route 10.5.0.3/32 any 0
route 10.2.0.7/32 10.9.0.0/16 1
route 10.2.0.7/32 10.9.8.0/24 4
route 10.3.0.0/16 any 3
route 10.4.0.0/16 any 4
route 10.5.0.0/16 any 0
route 10.6.77.177/32 any local
route 10.6.0.1/32 any local 0
route 10.6.0.3/32 any local 2
route 10.6.0.4/32 any local 3
route 10.6.0.6/32 any local 5
route 10.7.0.0/16 any 5
route 10.8.0.0/16 any 6
route 10.9.0.0/16 any 1
route 169.254.0.0/16 any 1
route 0.0.0.0/8 any 1
route fd00:1::/32 any 1
route fd00:1:2::/48 any 2
route fd00:2::/32 any 2
route fd00:1::3/128 any 1
route fd00:2::3/128 any 2
route fd00:3::3/128 any 3
route fd00:5::3/128 any 0
route fd00:2::7/128 fd00:9::/32 1
route fd00:3::/32 any 3
route fd00:4::/32 any 4
route fd00:5::/32 any 0
route fd00:6::b1b1:7e57/128 any local
route fd00:6::1/128 any local 0
route fd00:6::3/128 any local 2
route fd00:6::4/128 any local 3
route fd00:7::/32 any 5
route fd00:8::/32 any 6
route fd00:9::/32 any 1
route fe80::/10 any 1
END
must on "$R" python3 "$lib_dir/kernel/fuzz_frames.py" "$tmp/table" topo0

fuzz() { # NAME FRAMES [forge|wild]
	local status

	on "$R" "$lib_dir"/../build/selftests/fuzz_frames "$seed" "$2" "$X" "$tmp/table" "${@:3}" >"$tmp/sent" 2>&1
	status=$?
	sed 's/^/# /' "$tmp/sent"
	is "$1 (seed $seed)" "$status" 0
}
# of the ports: the device has besides what R itself sends
counted() { # NAME
	on "$R" toctl show --json | jq --arg name "$1" '[.ports[].counters[$name]] | add'
}
sent() { sed -n "s/.* $1 \([0-9]*\).*/\1/p" "$tmp/sent"; } # FATE

fuzz "what must pass does, and nothing else" "$frames"
is "counted as relayed" "$(counted relay-rx-packets)" "$(sent relay)"
is "counted as local" "$(counted local-packets)" "$(sent local)"
is "counted as missed" "$(counted miss-packets)" "$(sent miss)"
is "counted as dropped for the header" "$(counted drop-header)" "$(sent header)"
is "counted as dropped for the TTL" "$(counted drop-ttl)" "$(sent ttl)"
is "counted as dropped for the MTU" "$(counted drop-mtu)" "$(sent mtu)"
check "checks were taken" test "$(counted check-received)" -gt 0
check "others were refused" test "$(counted check-refused)" -gt 0
is "counted as dropped without a port" "$(counted drop-no-port)" "$(sent no-port)"

fuzz "with forged offloads, nothing leaves by a wrong port" "$((frames / 4))" forge
fuzz "with checksums forged into headers, good packets go on passing" "$((frames / 4))" wild
fuzz "afterwards all is as before" 1000

done_testing
