#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12 6.12-arm64
# Timeout: 300
# The kernel's own generic client (tools/net/ynl) drives the module from the
# spec alone: every request, dumps, events.
#
#	eth0 == x0

. "$(dirname "$(realpath "$0")")/../lib.sh"

ynl=/src/build/ynl/tools/net/ynl/cli.py
[[ -e $ynl ]] || skip_all "no ynl: Documentation/netlink/ynl.sh build/ynl"

server=ynl-$(od -An -N2 -tx1 /dev/urandom | tr -d ' ')
must modprobe topoopt_fwd
must ip netns add "$server"
at_exit "ip netns del $server"
must ip -n "$server" link add topo0 type topoopt
must ip -n "$server" link add eth0 type veth peer x0
must ip -n "$server" link set eth0 master topo0
must ip -n "$server" link set eth0 up
must ip -n "$server" link set x0 up
must ip -n "$server" link set topo0 up
topo=$(ip -n "$server" -j link show topo0 | jq '.[0].ifindex')
eth=$(ip -n "$server" -j link show eth0 | jq '.[0].ifindex')

client() { # ARGUMENT...
	on "$server" python3 "$ynl" --no-schema --spec "$lib_dir/../Documentation/netlink/specs/topoopt.yaml" \
		--output-json "$@"
}

must wait_for 60 eval "client --do port-get --json '{\"ifindex\": $topo, \"port\": {\"ifindex\": $eth}}' | jq -e .port.live"
is "dev-get" "$(client --do dev-get --json "{\"ifindex\": $topo}" | jq -c '[.ifname, .generation, .routes, .counters["drop-ttl"]]')" \
	'["topo0",0,0,0]'
is "dev-get dump" "$(client --dump dev-get | jq -c 'map(.ifname)')" '["topo0"]'
is "port-get dump" "$(client --dump port-get --json "{\"ifindex\": $topo}" | jq -c 'map(.port.ifname)')" '["eth0"]'
check "port-set" client --do port-set --json "{\"ifindex\": $topo, \"port\": {\"ifindex\": $eth, \"tx-ifindex\": 0}}"

# One socket for the stage: --multi sends all in one go.
group='{"id": 7, "nexthop": [{"port": '$eth', "mac": "020000000001", "weight": 3},
	{"port": '$eth', "mac": "020000000002", "backup": true}]}'
routes='[{"dst": "0a090001", "group": 7, "server": 5}, {"dst": "0a090200", "dst-len": 24, "type": "local"},
	{"dst": "fd000000000000000000000000000001", "src": "fd000000000000000000000000000002", "group": 7}]'
check "stage-new, stage-add, commit" client --multi stage-new "{\"ifindex\": $topo}" \
	--multi stage-add "{\"ifindex\": $topo, \"group\": [$group], \"route\": $routes}" \
	--multi commit "{\"ifindex\": $topo, \"base-generation\": 0}"
is "it is active" "$(client --do dev-get --json "{\"ifindex\": $topo}" | jq -c '[.generation, .routes, .groups]')" '[1,3,1]'
is "route-get: route, group, next hops" "$(client --do route-get --json "{\"ifindex\": $topo, \"route\": {\"dst\": \"0a090001\"}}" |
	jq -c '[.generation, .route[0].dst, .route[0].type, .route[0].server, .group[0].id, (.group[0].nexthop | map([.mac, .weight, .backup // false]))]')" \
	'[1,"10.9.0.1","unicast",5,7,[["02:00:00:00:00:01",3,false],["02:00:00:00:00:02",1,true]]]'
is "route-get: longest prefix" "$(client --do route-get --json "{\"ifindex\": $topo, \"route\": {\"dst\": \"0a090203\"}}" |
	jq -c '[.route[0].dst, .route[0]["dst-len"], .route[0].type]')" '["10.9.2.0",24,"local"]'
is "route-get dump" "$(client --dump route-get --json "{\"ifindex\": $topo}" |
	jq -c '[.[].route[] | [.dst, .["dst-len"], .src // "", .["src-len"] // 0]] | sort')" \
	'[["10.9.0.1",32,"",0],["10.9.2.0",24,"",0],["fd00::1",128,"fd00::2",128]]'
is "group-get" "$(client --do group-get --json "{\"ifindex\": $topo, \"group\": [{\"id\": 7}]}" | jq '.group[0].id')" 7
is "group-get dump" "$(client --dump group-get --json "{\"ifindex\": $topo}" | jq -c '[.[].group[].id]')" '[7]'
check_fails "errors come as text" "became active" client --multi stage-new "{\"ifindex\": $topo}" \
	--multi commit "{\"ifindex\": $topo, \"base-generation\": 9}"

check "stage-prepare" client --multi stage-new "{\"ifindex\": $topo}" --multi stage-prepare "{\"ifindex\": $topo}"
is "prepared" "$(client --do dev-get --json "{\"ifindex\": $topo}" | jq '."staged-prepared"')" true
check "abort" client --do abort --json "{\"ifindex\": $topo}"
is "aborted" "$(client --do dev-get --json "{\"ifindex\": $topo}" | jq '."staged-routes"')" null
done_testing
