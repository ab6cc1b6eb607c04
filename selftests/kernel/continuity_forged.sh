#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.1 6.12 7.2
# Continuity checks of neighbours that speak by hand: what counts, what does not, and what
# forgers and taps can do with them (continuity_forged.py).
#
#	R p0 == x0 s2:eth1		R p1 == x1 s3:eth0

. "$(dirname "$(realpath "$0")")/../lib.sh"

R=R-$(od -An -N2 -tx1 /dev/urandom | tr -d ' ')
must ip netns add "$R"
at_exit "ip netns del $R"
must modprobe topoopt_fwd
on "$R" sysctl -q -w net.ipv6.conf.{all,default}.disable_ipv6=1
must ip -n "$R" link add topo0 type topoopt
for i in 0 1; do
	must ip -n "$R" link add "p$i" address "02:54:4f:00:01:0$i" type veth \
		peer "x$i" address "02:54:4f:00:02:0$i"
	must ip -n "$R" link set "x$i" mtu 1500 up
	must ip -n "$R" link set "p$i" mtu 1500 master topo0 up
done
must ip -n "$R" link set topo0 up
on "$R" python3 "$lib_dir/kernel/continuity_forged.py"
