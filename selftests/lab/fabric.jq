# SPDX-License-Identifier: GPL-2.0-or-later
# What fabric.sh needs of a plan, as lines FILE<tab>TEXT:
#
#	servers		SERVER
#	ports		SERVER:PORT WIRE NIC	WIRE is the port's end at the optical switch,
#					NIC the server's; no NIC at 1x2 switches
#	light		WIRE WIRE		what enters the first leaves the second
#	shared		WIRE SWITCH		the wire is on this packet switch, a bridge
#	ocs.ip		batch for ip in the optical switch's namespace
#	ocs.fdb		the same for bridge: packet switches know all ports and need not flood
#	SERVER.ip	batch for ip in the server's
#	reconfiguration	seconds that the slowest optical switch is dark
#
# Cross-connects join ports of an optical switch, links those cabled directly.
# A port with a look-ahead port is joined to its 1x2 switch, whose ends are
# cabled to the two optical ports: wI-K -- 1x2 -- eI-K-0 ==== oI-K-0 -- switch.
#
# A port that transmits through another interface is a macvlan device on that one,
# which is the NIC.

def addresses: [.ipv4 // empty | . + "/32"] + [.ipv6 // empty | . + "/128 nodad"];

. as $plan
| [.servers | to_entries[] | .key as $i | .value.name as $server
   | .value.ports | to_entries[]
   | .value + {server: $server, wire: "w\($i)-\(.key)",
	nic: (.value.transmit // .value.name)}] as $ports
| ($ports | map({key: "\(.server):\(.name)", value: .}) | from_entries) as $by_name
| [$ports[] | select(.look_ahead) | . as $port | range(2) | $port + {end: .,
	inner: "e\($port.wire[1:])-\(.)", outer: "o\($port.wire[1:])-\(.)"}] as $ends
| ($ports | map(select(.optical_switch)
	| {key: "\(.optical_switch) \(.optical_port)",
	   value: (if .look_ahead then "o\(.wire[1:])-0" else .wire end)})
	| from_entries) as $by_number
| ([.links[] | select($by_name[.a] | .optical_switch or .packet_switch | not)
	| [$by_name[.a].wire, $by_name[.b].wire]]
   + [.cross_connects[]? | [$by_number["\(.optical_switch) \(.a)"],
			    $by_number["\(.optical_switch) \(.b)"]]]) as $pairs
| [$ends[] | select(.end == 0) | [.wire, .inner], [.inner, .wire]] as $joined
| (.packet_switches // [] | to_entries | map({key: .value.name, value: "br\(.key)"})
	| from_entries) as $bridges
| (.servers[] | "servers\t\(.name)"),
  (.packet_switches // [] | to_entries[] |
	"ocs.ip\tlink add br\(.key) type bridge",
	"ocs.ip\tlink set br\(.key) alias \(.value.name) up"),
  ($ports[] |
	"ports\t\(.server):\(.name) \(.wire) \(.nic)",
	"ocs.ip\tlink add \(.wire) mtu \(.mtu // $mtu) type veth peer name \(.nic) address \(.mac) mtu \(.mtu // $mtu) netns \(.server)",
	(select(.optical_switch) | "ocs.ip\tlink set \(.wire) alias " +
		(.look_ahead // {selector: .optical_switch, common: .optical_port}
		 | "\(.selector).\(.common)")),
	(select(.packet_switch) | "ocs.ip\tlink set \(.wire) master \($bridges[.packet_switch]) up",
		"shared\t\(.wire) \(.packet_switch)",
		"ocs.fdb\tfdb add \(.mac, .relay_mac // empty) dev \(.wire) master static")),
  ($ends[] |
	"ports\t\(.server):\(.name)/\(.end) \(.inner)",
	"ports\t\(.server):\(.name)/\(.end)/switch \(.outer)",
	"ocs.ip\tlink add \(.inner) mtu \(.mtu // $mtu) type veth peer name \(.outer) mtu \(.mtu // $mtu)",
	"ocs.ip\tlink set \(.inner) alias \(.look_ahead.selector).\(.look_ahead.ends[.end])",
	"ocs.ip\tlink set \(.outer) alias " + (if .end == 0 then "\(.optical_switch).\(.optical_port)"
		else "\(.look_ahead.optical_switch).\(.look_ahead.optical_port)" end),
	"ocs.ip\tlink set \(.inner) up",
	"ocs.ip\tlink set \(.outer) up"),
  ($joined[] | "light\t\(.[0]) \(.[1])"),
  ($pairs[] | if any(. == null) then error("a cross-connect names a port that no server has") else
	"light\t\(.[0]) \(.[1])",
	if $plan.link_mode == "simplex" then empty else "light\t\(.[1]) \(.[0])" end end),
  (.servers[] | .name as $server |
	"\($server).ip\tlink set lo up",
	"\($server).ip\tlink add topo0 type topoopt",
	($ports[] | select(.server == $server) | .nic as $nic |
		(addresses[] | "\($server).ip\taddr add \(.) dev \($nic)"),
		(select(.name != $nic) | "\($server).ip\tlink add \(.name) link \($nic) address \(.relay_mac) type macvlan mode private"),
		"\($server).ip\tlink set \(.name) master topo0",
		"\($server).ip\tlink set \($nic) up",
		"\($server).ip\tlink set \(.name) up"),
	(addresses[] | "\($server).ip\taddr add \(.) dev topo0"),
	"\($server).ip\tlink set topo0 up"),
  "reconfiguration\t\([.optical_switches[]?.reconfiguration_ns] | (max // 0) / 1e9)"
