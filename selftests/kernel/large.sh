#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A large table takes several requests, so that none of them keeps other families of
# generic netlink waiting for long: what may be done between them, and what ends it.

. "$(dirname "$(realpath "$0")")/../lib.sh"

server=large-$(od -An -N2 -tx1 /dev/urandom | tr -d ' ')
must modprobe topoopt_fwd
must ip netns add "$server"
at_exit "ip netns del $server"
must ip -n "$server" link add topo0 type topoopt
must ip -n "$server" link add eth0 type dummy
must ip -n "$server" link set eth0 master topo0
at_exit "modprobe -qr psample"
on "$server" python3 "$lib_dir/kernel/large.py"
