#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12 6.12-arm64 7.2
# Timeout: 900
# An alternate takes the packets that arrive at its ingress port, whatever they are,
# and no others: what R gets from A for T leaves by eth2, all else by eth1.
#
#	A eth0 == eth0 R eth1 == eth0 T		primary, backup of nothing
#	               R eth2 == eth1 T		alternate for eth0

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/double.sh"
. "$lib_dir/frames.sh"

double_up '[{"port": "eth1"}, {"port": "eth2", "ingress": "eth0"}]'
without=$(plan_edit '(.tables[] | select(.server == $r).groups[1]) = [{"port": "eth1"}]' --arg r "$R")
trace=/sys/kernel/tracing
mount -t tracefs tracefs $trace 2>/dev/null
frames_watch "$T" eth0
frames_watch "$T" eth1
hush 9,4791

alternates() {
	ethtool_counter "$R" topo0 alternate_packets
}
counter() { # SERVER PORT NAME
	on "$1" toctl show counters --json | jq --arg port "$2" --arg name "$3" '.[$port][$name]'
}
port_of() { # MARK: ports of T that it arrived at
	grep -lE "^$1 " "$tmp/frames-$T-"* | sed 's/.*-//' | xargs
}

# --- what is loaded, and shown --------------------------------------------------

is "apply: nothing differs" "$(apply "$R" "$plan" --dry-run --json | jq .differs)" false
mac=$(port_mac "$T" eth1)
via="via eth1 $(port_mac "$T" eth0), eth2 $mac ingress eth0"
check "toctl show routes" grep -qx "$(node "$T")/32 $via" <(on "$R" toctl show routes)
check "toctl route" grep -q "^$(node "$T")/32 $via generation" \
	<(on "$R" toctl route "$(node "$T")")
hop() { # FILTER, of the alternate's JSON
	on "$R" toctl route "$(node "$T")" --json | jq -c "[.. | .nexthops? // empty][0][1] | $1"
}
is "as JSON" "$(hop '[.port, .mac, .ingress, .live]')" "[\"eth2\",\"$mac\",\"eth0\",true]"
must apply "$R" "$without" >/dev/null
check "without it, that is the difference" grep -q "eth2 $mac ingress eth0" \
	<(apply "$R" "$plan" --dry-run)
must apply "$R" "$plan" >/dev/null

# --- frames of all kinds --------------------------------------------------------

kinds=("udp" "roce --ports 7:4791" "tcp --ports 7:80 --proto 6" "gre --proto 47"
	"tag --tag 8100:0:3" "roce-tag --ports 7:4791 --tag 8100:0:3")
four=("first --fragment 0x2000" "last --fragment 0x0010" "options --options 01010101")
six=("fragment --proto 44" "destination-options --proto 60")

send_all() { # WAY
	local way=$1 mac kind count=0

	mac=$(port_mac "$R" eth0)
	for kind in "${kinds[@]}" "${four[@]}"; do
		# shellcheck disable=SC2086 # a name and options
		frame "$A" eth0 "$mac" "$(node "$A")" "$(node "$T")" "mark-$way-4-"$kind
		((++count))
	done
	for kind in "${kinds[@]}" "${six[@]}"; do
		# shellcheck disable=SC2086 # a name and options
		frame "$A" eth0 "$mac" "$(node6 "$A")" "$(node6 "$T")" "mark-$way-6-"$kind
		((++count))
	done
	frames=$count
	wait_for 60 all_arrived "$way"
}
arrived_at() { # WAY PORT
	grep -c "^mark-$1-" "$tmp/frames-$T-$2"
}
all_arrived() { # WAY
	(($(arrived_at "$1" eth0) + $(arrived_at "$1" eth1) == frames))
}
all_by() { # NAME WAY PORT COUNTED
	local before

	before=$(alternates)
	send_all "$2"
	is "$1: all by $3" "$(arrived_at "$2" "$3")" "$frames"
	is "$1: $4 counted as alternate" $(($(alternates) - before)) "$4"
}
paths() { # WAY
	must apply "$R" "$without" >/dev/null
	all_by "$1, no alternate" "$1-without" eth0 0
	must apply "$R" "$plan" >/dev/null
	all_by "$1, alternate" "$1-with" eth1 17
}

paths skb
before=$(alternates)
is "counted at the egress port" \
	"$(for port in eth0 eth1 eth2; do counter "$R" $port alternate-packets; done | xargs)" "0 0 $before"
is "in toctl show" "$(on "$R" toctl show --json | jq '.counters["alternate-packets"]')" "$before"
on "$R" toctl export >"$tmp/export"
check "in toctl export" grep -q \
	"^topoopt_port_alternate_packets_total{.*port=\"eth2\".*} $before\$" "$tmp/export"
is "not as a drop" "$(grep -c 'dropped_packets.*alternate' "$tmp/export")" 0

echo 1 >$trace/events/topoopt/topoopt_relay/enable
send_all traced
frame "$T" eth1 "$(port_mac "$R" eth2)" "$(node "$A")" "$(node "$T")" mark-primary
check "from another port" frame_arrives "$T" eth0 mark-primary
echo 0 >$trace/events/topoopt/topoopt_relay/enable
relayed() { # IN OUT NEXTHOP
	grep -c "topoopt_relay: topo0: $1 -> $2 .* nexthop=$3\$" $trace/trace
}
is "traces tell the alternate from the primary" \
	"$(relayed eth0 eth2 alternate) $(relayed eth2 eth1 primary)" "17 1"

# Packets of a real connection and real fragments.
before=$(alternates)
for address in "$(node "$T")" "[$(node6 "$T")]"; do
	in_netns "$T" socat -u TCP6-LISTEN:7000,ipv6only=0 OPEN:/dev/null &
	server=$!
	wait_listen "$T" 7000
	check "TCP to $address" on "$A" bash -c \
		"head -c 100000 /dev/zero | timeout 60 socat -u - TCP:$address:7000" || kill "$server"
	wait "$server"
done
check "TCP took the alternate" test $(($(alternates) - before)) -ge 50
for address in "$(node "$T")" "$(node6 "$T")"; do
	before=$(alternates)
	check "fragments to $address" on "$A" ping -c 2 -i 0.1 -W 30 -s 9000 "$address"
	is "three each by the alternate" $(($(alternates) - before)) 6
done

# --- other packets --------------------------------------------------------------

before=$(alternates)
one=$(sent eth1)
check "what R sends" on "$R" ping -c 3 -i 0.1 -W 30 "$(node "$T")"
is "takes the primary" "$(($(sent eth1) - one)) $(($(alternates) - before))" "3 0"
frame "$T" eth1 "$(port_mac "$R" eth2)" "$(node "$A")" "$(node "$T")" mark-other --ports 7:4791
check "what arrives at another port" frame_arrives "$T" eth0 mark-other
is "does, too" "$(port_of mark-other) $(($(alternates) - before))" "eth0 0"

# --- RoCEv2 that enters T by the wrong port -------------------------------------

back=$(plan_edit '(.tables[] | select(.server == $r)) |= (.groups[2] =
	[{"port": "eth1"}, {"port": "eth2", "ingress": "eth0"}, {"port": "eth1", "ingress": "eth1"}])' \
	--arg r "$R")
must apply "$R" "$back" >/dev/null
before=$(alternates)
wrong() { # MARK [OPTION...]
	frame "$A" eth0 "$(port_mac "$R" eth0)" "$(port_ip "$A" eth0)" "$(port_ip "$T" eth0)" "$@"
}
wrong mark-wrong --ports 7:4791
check "RoCEv2 for eth0 by eth1 arrives at eth0" frame_arrives "$T" eth0 mark-wrong
is "by R once more, which sends it back by the alternate of its ingress" \
	"$(frame_field ttl) $(($(alternates) - before))" "61 2"
wrong mark-wrong-udp
check "what is not RoCEv2 is delivered where it arrived" frame_arrives "$T" eth1 mark-wrong-udp

# Local routes have alternates, too, but for packets that arrive at the wrong port.
table() { # PYTHON: changes groups and routes of T
	on "$T" python3 - <<-END
	import sys
	sys.path.insert(0, "$lib_dir")
	import genl
	family = genl.Family()
	on = {"ifindex": genl.ifindex("topo0")}
	eth0, eth1 = genl.ifindex("eth0"), genl.ifindex("eth1")
	state = family.do("dev-get", on)
	groups = family.table_groups(on)
	routes = [r for m in family.dump("route-get", on) for r in m["route"]]
	route = next(r for r in routes if r["dst"] == "$(port_ip "$T" eth0)")
	hops = next(g for g in groups if g["id"] == route["group"])["nexthop"]
	$1
	family.do("stage-new", on)
	family.do("stage-add", dict(on, group=groups))
	family.do("stage-add", dict(on, route=routes))
	family.do("commit", dict(on, **{"base-generation": state["generation"]}))
	END
}
table 'hops += [{"port": eth1, "mac": "'"$(port_mac "$R" eth2)"'", "ingress": eth1},
		 {"port": eth1, "mac": "'"$(port_mac "$R" eth2)"'", "ingress": eth0}]'
wrong mark-local --ports 7:4791
check "an alternate of a local route takes RoCEv2 that arrived at the wrong port" \
	wait_for 60 eval '(($(counter "$T" eth1 alternate-packets) > 0))'
check "back to R, which sends it to the right one" frame_arrives "$T" eth0 mark-local
is "and there it is delivered" \
	"$(frame_field ttl) $(counter "$T" eth1 alternate-packets)" "61 1"
must apply "$T" "$plan" >/dev/null

# --- a source that qualifies the route ------------------------------------------

pair=$(plan_edit '(.tables[] | select(.server == $r)) |= (.groups[1] = [{"port": "eth1"}] |
	.groups += [[{"port": "eth1"}, {"port": "eth2", "ingress": "eth0"}]] |
	.pairs = [{"group": 4, "from": "0", "nodes": "2", "ports": ["", "", ""]}])' --arg r "$R")
must apply "$R" "$pair" >/dev/null
to_T() { # SOURCE MARK [OPTION...]
	frame "$A" eth0 "$(port_mac "$R" eth0)" "$1" "$(node "$T")" "${@:2}"
}
to_T "$(node "$A")" mark-pair --ports 7:4791
to_T "$(port_ip "$A" eth0)" mark-nopair --ports 7:4791
check "a route of the source: arrives" frame_arrives "$T" eth1 mark-pair
check "of another source: arrives" frame_arrives "$T" eth0 mark-nopair
is "the source's alternate is its own" "$(port_of mark-pair) $(port_of mark-nopair)" "eth1 eth0"

# --- weights, a dead alternate, backups -----------------------------------------

many=$(plan_edit '(.tables[] | select(.server == $r).groups[1]) = [{"port": "eth1", "weight": 2},
	{"port": "eth2"}, {"port": "eth2", "ingress": "eth0"}]' --arg r "$R")
must apply "$R" "$many" >/dev/null
all_by "with several primaries" many eth1 17

backup=$(plan_edit '(.tables[] | select(.server == $r).groups[1]) = [{"port": "eth1"},
	{"port": "eth2", "backup": true}, {"port": "eth1", "ingress": "eth0"}]' --arg r "$R")
on "$R" python3 -u - >"$tmp/events" <<-END &
	import json, sys
	sys.path.insert(0, "$lib_dir")
	import genl
	family = genl.Family(groups=["events"])
	print("ready")
	while event := family.event(60):
	    print(event[0], json.dumps(event[1]))
END
wait_for 60 grep -q ready "$tmp/events"
must apply "$R" "$plan" >/dev/null
"$fabric" darken "$R:eth2"
wait_for 60 eval '[[ $(hop .live) == false ]]'
before=$(alternates)
all_by "dead alternate" dead eth0 0
"$fabric" light "$R:eth2"
wait_for 60 eval '[[ $(hop .live) == true ]]'
all_by "lit again" lit eth1 17

must apply "$R" "$backup" >/dev/null
all_by "alternate through the port of the primary" same eth0 17
"$fabric" darken "$R:eth1"
check "the event of a group on its backup shows the alternate, dead" wait_for 60 grep -qE \
	"^group-ntf.*\"backup-in-use\": true" "$tmp/events"
is "with its ingress" "$(sed -n 's/^group-ntf \(.*backup-in-use.*\)/\1/p' "$tmp/events" | head -n 1 |
	jq -c '[.group[] | .nexthop[2] // empty][0] | [.live, .ingress, .weight]')" \
	"[null,$(on_sysfs "$R" cat /sys/class/net/eth0/ifindex),null]"
before=$(ethtool_counter "$R" topo0 backup_packets)
all_by "neither primary nor alternate" backup eth1 0
is "all by the backup" $(($(ethtool_counter "$R" topo0 backup_packets) - before)) "$frames"
"$fabric" light "$R:eth1"

# --- at XDP ---------------------------------------------------------------------

redirected() {
	on "$R" ethtool -S eth0 | awk '/rx_queue.*xdp_redirect/ { n += $2 } END { print n + 0 }'
}
must on "$A" ethtool -K eth0 tx off >/dev/null
for port in eth0 eth1 eth2; do
	must on "$R" ethtool -K $port rxvlan off rx-vlan-stag-hw-parse off >/dev/null
done
for wire in $(ip -n ocs -br link | sed -n 's/^\(w[^@ ]*\).*/\1/p'); do
	must on ocs ethtool -K "$wire" txvlan off gro on >/dev/null
done
must apply "$R" "$plan" --xdp on >/dev/null
start=$(redirected)
paths XDP
check "at XDP ($(($(redirected) - start)))" test $(($(redirected) - start)) -ge 20
must apply "$R" "$many" >/dev/null
all_by "XDP, several primaries" many-xdp eth1 17
must apply "$R" "$pair" >/dev/null
to_T "$(node "$A")" mark-pair-xdp --ports 7:4791
check "XDP, route of the source" frame_arrives "$T" eth1 mark-pair-xdp
must apply "$R" "$plan" >/dev/null
"$fabric" darken "$R:eth2"
all_by "XDP, dead alternate" dead-xdp eth0 0
"$fabric" light "$R:eth2"
must apply "$R" "$plan" --xdp off >/dev/null
wait_for 60 eval '[[ $(hop .live) == true ]]'

# programs that ask the module and forward themselves
objects=$lib_dir/../build
must on "$R" ip link set eth0 xdpdrv obj "$objects/kernel/lookup.bpf.o" program lookup_xdp
to_T "$(node "$A")" mark-xlookup --ports 7:4791
check "topoopt_xdp_lookup()" frame_arrives "$T" eth1 mark-xlookup
must on "$R" ip link set eth0 xdp off
must on "$R" tc qdisc add dev eth0 clsact
must on "$R" tc filter add dev eth0 ingress bpf da obj "$objects/kernel/lookup.bpf.o" program lookup_tc
to_T "$(node "$A")" mark-tlookup --ports 7:4791
check "topoopt_skb_lookup()" frame_arrives "$T" eth1 mark-tlookup
must on "$R" tc qdisc del dev eth0 clsact

# --- the largest group ----------------------------------------------------------

for i in {3..63}; do
	printf 'link add eth%d type dummy\nlink set eth%d master topo0\n' "$i" "$i"
done >"$tmp/ports"
must ip -n "$R" -batch "$tmp/ports"
check "32 next hops and an alternate for each of 64 ports" on "$R" python3 - <<-END
	import sys
	sys.path.insert(0, "$lib_dir")
	import genl
	family = genl.Family()
	on = {"ifindex": genl.ifindex("topo0")}
	port = [genl.ifindex(f"eth{i}") for i in range(64)]
	mac = [f"02:00:00:00:00:{i:02x}" for i in range(64)]
	hops = [{"port": port[i], "mac": mac[i], "weight": 1} for i in range(16)]
	hops += [{"port": port[i], "mac": mac[i], "weight": 1, "backup": True} for i in range(16, 32)]
	hops += [{"port": port[i], "mac": mac[i], "ingress": port[-i]} for i in range(64)]
	family.do("stage-new", on)
	family.do("stage-add", dict(on, group=[{"id": 7, "nexthop": hops}]))
	family.do("stage-prepare", on)
	staged = dict(on, staged=True)
	for group in (family.dump("group-get", staged)[0]["group"][0],
	              family.do("group-get", dict(staged, group={"id": 7}))["group"][0]):
	    for hop in group["nexthop"]:
	        hop.pop("live", None)
	    assert group["nexthop"] == hops, group
	family.do("abort", on)
END
done_testing
