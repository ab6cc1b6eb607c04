#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12 6.12-arm64
# Timeout: 300
# Routes of one (destination, source) pair beside those of the destination:
# R sends to T by eth1, but from A's port address by eth2.
#
#	A eth0 == eth0 R eth1 == eth0 T
#	               R eth2 == eth1 T

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/double.sh"

double_up '[{"port": "eth1"}]'

# The table of R as it is, plus routes of the form DST SRC/LEN PORT.
add_routes() { # ROUTE...
	on "$R" python3 - "$@" <<-EOF
	import sys
	sys.path.insert(0, "$lib_dir")
	import genl
	family = genl.Family()
	on = {"ifindex": genl.ifindex("topo0")}
	state = family.do("dev-get", on)
	groups = family.table_groups(on)
	routes = [r for m in family.dump("route-get", on) for r in m["route"]]
	by_port = {g["nexthop"][0]["port"]: g["id"] for g in groups}
	for extra in sys.argv[1:]:
	    dst, src, port = extra.split()
	    src, length = src.split("/")
	    routes.append({"dst": dst, "src": src, "src-len": int(length),
	                   "group": by_port[genl.ifindex(port)]})
	family.do("stage-new", on)
	family.do("stage-add", dict(on, group=groups))
	family.do("stage-add", dict(on, route=routes))
	family.do("commit", dict(on, **{"base-generation": state["generation"]}))
	EOF
}

# Whether pings from an address of A leave R by this port, and arrive.
takes() { # NAME SOURCE DESTINATION PORT
	local one two

	one=$(sent eth1) two=$(sent eth2)
	check "$1: $3 answers $2" on "$A" ping -c 3 -i 0.1 -W 30 -I "$2" "$3"
	one=$(($(sent eth1) - one)) two=$(($(sent eth2) - two))
	is "$1: by $4" "$one $two" "$([[ $4 == eth1 ]] && echo 3 0 || echo 0 3)"
}

must on "$A" ip route add "$(node "$T")" dev topo0
t4=$(node "$T") t6=$(node6 "$T")
node4=$(node "$A") node6=$(node6 "$A") port4=$(port_ip "$A" eth0) port6=$(port_ip6 "$A" eth0)
takes "no pair" "$node4" "$t4" eth1
must add_routes "$t4 $port4/32 eth2" "$t6 $port6/128 eth2"
takes "IPv4, pair" "$port4" "$t4" eth2
takes "IPv4, another source" "$node4" "$t4" eth1
takes "IPv6, pair" "$port6" "$t6" eth2
takes "IPv6, another source" "$node6" "$t6" eth1
is "route tells the pair" \
	"$(on "$R" toctl route "$t4" from "$port4" --json | jq -c '[.. | .port? // empty] | unique | tostring' | grep -o 'eth[0-9]' | head -n 1)" eth2

must add_routes "$t4 ${node4%.*}.0/24 eth2"
takes "source prefix" "$node4" "$t4" eth2
takes "longer source wins" "$port4" "$t4" eth2
must add_routes "$t4 $node4/32 eth1"
takes "longest source wins" "$node4" "$t4" eth1
done_testing
