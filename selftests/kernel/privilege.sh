#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every command without CAP_NET_ADMIN where it matters is refused, and nobody
# sees the devices of another namespace:
#
#	P1 p0 ===== p0 P2	a topo0 with a table in each

. "$(dirname "$(realpath "$0")")/../lib.sh"

suffix=$(od -An -N2 -tx1 /dev/urandom | tr -d ' ')
P1=P1-$suffix P2=P2-$suffix
must modprobe topoopt_fwd
for server in "$P1" "$P2"; do
	must ip netns add "$server"
	at_exit "ip netns del $server"
done
must ip -n "$P1" link add p0 type veth peer p0 netns "$P2"
# indices that mean nothing in the other namespace
must ip -n "$P1" link add topo0 index 101 type topoopt
must ip -n "$P2" link add topo0 index 202 type topoopt
for server in "$P1" "$P2"; do
	must ip -n "$server" link set p0 master topo0 up
	must ip -n "$server" link set topo0 up
done

on "$P1" python3 "$lib_dir/kernel/privilege.py" 101 "$P2" 202 p0 | tee "$tmp/tap" | grep -v '^1\.\.'
tap_count=$(grep -c '^\(not \)\?ok' "$tmp/tap")
tap_failed=$(grep -c '^not ok' "$tmp/tap")
check "all was tried" grep -q '^1\.\.[1-9]' "$tmp/tap"
done_testing
