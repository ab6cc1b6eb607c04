#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 600
# Which of four next hops a flow takes: by its 5-tuple, RoCEv2 by its queue pair
# besides; one and the same as long as it lives; another only when it must.
#
#	T t0 ==== p0 R p1 ==== t1 T
#	             R p2 ==== t2 T
#	             R p3 ==== t3 T
#	             R p4 ==== t4 T

. "$(dirname "$(realpath "$0")")/../lib.sh"

must modprobe topoopt_fwd
suffix=$(od -An -N2 -tx1 /dev/urandom | tr -d ' ')
R=R-$suffix T=T-$suffix
at_exit "ip netns del $R; ip netns del $T"
must ip netns add "$R"
must ip netns add "$T"
# Ends that say nothing by themselves.
for server in "$R" "$T"; do
	must on "$server" sysctl -qw net.ipv6.conf.{all,default}.disable_ipv6=1
done
must ip -n "$R" link add topo0 type topoopt
for i in {0..4}; do
	must ip link add "p$i" netns "$R" type veth peer "t$i" netns "$T"
	must ip -n "$R" link set "p$i" address "02:00:00:00:01:0$i" master topo0 up
	must ip -n "$T" link set "t$i" address "02:00:00:00:02:0$i" up
done
must ip -n "$R" link set topo0 up
in_netns "$T" "$(dirname "$(realpath "$0")")/entropy.py" "$R"
exit
