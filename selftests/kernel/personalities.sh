#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 600
# NICs whose RDMA engine takes RoCEv2 for itself: a tc filter on every ethN drops
# what comes to its MAC and not to its address, before the module sees it. So
# nothing reaches a server behind another one, until transit goes to a second
# interface: a macvlan device ethNt, whose MAC the engine does not know.
#
#	s0 eth0 == eth1 s1 eth0 == eth1 s2 eth0 == eth1 s3 eth0 == eth1 s0
#	  eth0t    eth1t  eth0t    eth1t  eth0t    eth1t  eth0t    eth1t

. "$(dirname "$(realpath "$0")")/../lib.sh"

example=$lib_dir/../examples/ring-4
roce=4791

plan_of() { # CLUSTER PLAN
	must toctl plan --cluster "$1" --job "$example/job.json" --fixed -o "$2" >/dev/null
	check "toctl verify finds no fault in $(basename "$2")" toctl verify "$2"
}

engines() {
	local server port nic match

	for server in "${servers[@]}"; do
		for port in "${ports[@]}"; do
			nic=$(port_nic "$server" "$port")
			match="flower dst_mac $(port_mac "$server" "$port") ip_proto udp dst_port $roce"
			must tc -n "$server" -b - <<-END
				qdisc add dev $nic clsact
				filter add dev $nic ingress pref 1 protocol ip $match dst_ip $(port_ip "$server" "$port") action pass
				filter add dev $nic ingress pref 2 protocol ip $match action drop
				filter add dev $nic ingress pref 3 protocol ipv6 $match dst_ip $(port_ip6 "$server" "$port") action pass
				filter add dev $nic ingress pref 4 protocol ipv6 $match action drop
			END
		done
	done
}

swallowed() { # packets that the engines of a ring of four dropped
	local server dev

	for server in "${servers[@]}"; do
		for dev in eth0 eth1; do
			tc -n "$server" -s -j filter show dev "$dev" ingress
		done
	done | jq -s '[.[][].options.actions[]?.stats.drops] | add'
}

# What comes to the RoCEv2 port of a server goes to $tmp/got-SERVER.
listen() {
	local server

	listeners=()
	for server in "${servers[@]}"; do
		ip netns exec "$server" socat -u "UDP6-RECV:$roce,ipv6only=0" \
			"OPEN:$tmp/got-$server,creat,append" 2>/dev/null &
		listeners+=($!)
		must wait_listen "$server" "$roce"
	done
}

got() { sort "$tmp"/got-*; }

forget() { # what has come so far
	local file

	for file in "$tmp"/got-*; do
		: >"$file"
	done
}

gets() { # PACKETS: until so many have come
	wait_for 60 some_got "$1"
}
some_got() { [[ $(got | wc -l) -ge $1 ]]; }

# One packet from every port of one server to every port of another, each family.
send() { # FROM TO
	local source port

	for source in "${ports[@]}"; do
		for port in "${ports[@]}"; do
			echo "IPv4 $1:$source $2:$port" | on "$1" socat -u - \
				"UDP4-SENDTO:$(port_ip "$2" "$port"):$roce,bind=$(port_ip "$1" "$source")"
			echo "IPv6 $1:$source $2:$port" | on "$1" socat -u - \
				"UDP6-SENDTO:[$(port_ip6 "$2" "$port")]:$roce,bind=[$(port_ip6 "$1" "$source")]"
		done
	done
}

relayed() { # packets, on all servers
	local server sum=0

	for server in "${servers[@]}"; do
		((sum += $(ethtool_counter "$server" topo0 relay_rx_packets)))
	done
	echo "$sum"
}

generation() { on "$1" toctl show --json | jq .generation; } # SERVER

port_live() { # SERVER PORT true|false
	[[ $(on "$1" toctl show --json |
		jq --arg port "$2" '.ports[] | select(.port == $port).live') == "$3" ]]
}

# --- one interface per port ---

ports=(eth0 eth1)
plan_of "$example/cluster.json" "$tmp/one.json"
fabric_up "$tmp/one.json" >/dev/null
engines
listen
send s0 s2
check "one interface per port: the engines swallow what s0 sends to s2" \
	wait_for 60 eval '(($(swallowed) >= 8))'
is "one interface per port: nothing of it arrives" "$(got)" ""
check "one interface per port: TCP does" on s0 ping -c 1 -W 5 "$(node s2)"
kill "${listeners[@]}"
must "$fabric" down

# --- two ---

ports=(eth0t eth1t)
jq '.servers[].ports[] |= . + {name: (.name + "t"), transmit: .name, relay_mac: (.mac | sub("^02"; "06"))}
	| .links[] |= map_values(. + "t")' "$example/cluster.json" >"$tmp/cluster.json"
plan_of "$tmp/cluster.json" "$tmp/two.json"
fabric_up "$tmp/two.json" >/dev/null
engines

is "TCP over all 12 pairs, IPv4 and IPv6" "$(tcp_pairs)" 24

listen
before=$(relayed)
for pair in "s0 s2" "s2 s0" "s1 s3" "s3 s1"; do
	# shellcheck disable=SC2086 # two words
	send $pair
done
gets 32
is "RoCEv2 arrives: opposite servers, all ports, IPv4 and IPv6" "$(got)" "$(
	for pair in "s0 s2" "s2 s0" "s1 s3" "s3 s1"; do
		for source in "${ports[@]}"; do
			for port in "${ports[@]}"; do
				printf 'IPv%d %s:%s %s:%s\n' 4 "${pair% *}" "$source" "${pair#* }" "$port" \
					6 "${pair% *}" "$source" "${pair#* }" "$port"
			done
		done
	done | sort)"
is "the relays had it" "$(($(relayed) - before >= 32))" 1
is "and no engine" "$(swallowed)" 0

# --- the path that the plan says ---

path=$(toctl route get s2 --plan "$plan" --node s0 --json |
	jq -r '.path.next[] | select(.backup | not) .then.server')
hops() { # SOURCE DESTINATION
	on s0 traceroute -n -q 1 -w 5 -s "$1" "$2" | awk 'NR > 1 { print $2 }' | xargs
}
is "traceroute from s0 to s2 shows the planned relay" \
	"$(hops "$(node s0)" "$(node s2)")" "$(node "$path") $(node s2)"
is "traceroute between ports: s0 by s1" \
	"$(hops "$(port_ip s0 eth0t)" "$(port_ip s2 eth1t)")" "$(port_ip s1 eth1t) $(port_ip s2 eth1t)"
is "traceroute between ports: s0 by s3" \
	"$(hops "$(port_ip s0 eth1t)" "$(port_ip s2 eth0t)")" "$(port_ip s3 eth0t) $(port_ip s2 eth0t)"

# --- doctor ---

doctor() { on s0 toctl doctor --plan "$plan" --node s0; }
complaints() { grep -E '^(warn|FAIL)' | grep -v '^warn eth[01]: gid: no RDMA device'; }

doctor >"$tmp/doctor"
is "doctor finds nothing to complain of" "$(complaints <"$tmp/doctor")" ""
check "doctor: where the cable leads" \
	grep -qx 'ok   eth0t: cabling: leads to s1:eth1t as planned' "$tmp/doctor"
for nic in eth1 eth1t; do
	check "doctor: MTU of s1's $nic" \
		grep -qx "ok   eth0t: mtu: 4200 bytes reach s1:$nic and return" "$tmp/doctor"
done
is "doctor without a plan" "$(on s0 toctl doctor | complaints)" ""

must ip -n s1 link set eth1t down
check "doctor finds that the peer's relay interface is deaf" \
	grep -q '^warn eth0t: mtu: s1:eth1t does not answer' <(doctor)
must ip -n s1 link set eth1t up
must on s0 sysctl -q -w net.ipv4.conf.eth0.rp_filter=1
check "doctor finds strict rp_filter where the address is" \
	grep -q '^warn eth0: rp_filter: strict' <(doctor)
must on s0 sysctl -q -w net.ipv4.conf.eth0.rp_filter=0

# --- what apply refuses; s1 relays on by what it has ---

old=$(generation s1)
edit() { plan_edit "(.servers[1].ports[0]) |= ($1)"; } # JQ-PROGRAM
check_fails "apply refuses a relay_mac that the port does not have" \
	"server s1: port eth0t: interface eth0t has MAC 06:54:4f:00:00:02, the plan's relay_mac is 06:00:00:00:00:99" \
	apply s1 "$(edit '.relay_mac = "06:00:00:00:00:99"')"
check_fails "apply refuses a mac that the RDMA interface does not have" \
	"server s1: port eth0t: interface eth0 has MAC 02:54:4f:00:00:02, the plan's mac is 02:00:00:00:00:99" \
	apply s1 "$(edit '.mac = "02:00:00:00:00:99"')"
check_fails "apply refuses the two interfaces swapped" "interface eth0 has MAC .* the plan's relay_mac" \
	apply s1 "$(plan_edit '(.. | strings | select(. == "eth0t")) = "eth0"
		| (.. | strings | select(endswith(":eth0t"))) |= rtrimstr("t")
		| .servers[].ports[0].transmit = "eth0t"')"
check_fails "apply refuses a relay_mac and no second interface" \
	'server s1: port eth0t: .*no "transmit"' apply s1 "$(edit 'del(.transmit)')"
is "the old table is there" "$(generation s1)" "$old"
forget
send s0 s2
gets 8
is "and relays" "$(got | wc -l)" 8

# --- from nothing, as on a new machine ---

on s1 toctl clear >/dev/null
must ip -n s1 link del topo0
for nic in eth0t eth1t eth0 eth1; do
	must ip -n s1 address flush dev "$nic"
	must ip -n s1 link set "$nic" down
done
check "apply on a bare server" apply s1 "$plan"
must wait_for 60 port_live s1 eth0t true
must wait_for 60 port_live s1 eth1t true
forget
send s0 s2
gets 8
is "it relays" "$(got | wc -l)" 8
is "and it answers where its addresses are" "$(on s1 toctl doctor --plan "$plan" --node s1 | complaints)" ""

# --- a second device: what it does not know is not its own ---

must ip -n s1 link add x0 address 02:54:4f:02:00:02 type dummy
must ip -n s1 link add link x0 name x0t address 06:54:4f:02:00:02 type macvlan mode private
chain_plan 2 | jq '.servers[0] |= (.name = "s1" | .ports = [.ports[1] + {
		name: "x0t", mac: "02:54:4f:02:00:02", transmit: "x0", relay_mac: "06:54:4f:02:00:02"}])
	| .links[0].a = "s1:x0t"
	| .tables[0].server = "s1" | .tables[0].groups[0][0].port = "x0t"
	| .tables[1].routes[0].ports = ["0", ""]
	| (.. | strings) |= (sub("^10.20"; "10.21") | sub("^fd00:746f"; "fd00:7470"))' >"$tmp/second.json"

made() { # what there is for both devices
	local family

	ip -n s1 -br address show scope global
	for family in -4 -6; do
		ip -n s1 "$family" route show table all proto 116
		ip -n s1 "$family" rule
		ip -n s1 "$family" neigh show nud permanent
	done
}
second='x0|topo1|10\.21[01]\.|fd00:7470:'
first() { made | grep -vE "$second"; }

first >"$tmp/made"
on s1 toctl clear --dev topo9 >/dev/null
is "clear of a device that is not there leaves another's entries" "$(first)" "$(cat "$tmp/made")"
must apply s1 "$plan" >/dev/null
check "a plan for a second device" apply s1 "$tmp/second.json" --dev topo1
is "leaves the entries of the first" "$(first)" "$(cat "$tmp/made")"
must apply s1 "$plan" >/dev/null
check "nor does the first take the second's" \
	grep -qx 'topo1: nothing to do' <(apply s1 "$tmp/second.json" --dev topo1 --dry-run)
must ip -n s1 link add link eth0 name eth0u address 06:54:4f:03:00:02 type macvlan mode private
jq '.servers[0].ports[0] |= (. + {name: "eth0u", mac: "02:54:4f:00:00:02", transmit: "eth0",
		relay_mac: "06:54:4f:03:00:02"})
	| .links[0].a = "s1:eth0u" | .tables[0].groups[0][0].port = "eth0u"' \
	"$tmp/second.json" >"$tmp/third.json"
check_fails "a NIC that the first transmits through is refused" \
	'server s1: port eth0u: topo0 transmits through eth0 already' \
	apply s1 "$tmp/third.json" --dev topo1
must ip -n s1 link del eth0u
check "clear of the second" on s1 toctl clear --dev topo1
is "leaves the entries of the first" "$(first)" "$(cat "$tmp/made")"
is "and none of its own" "$(made | grep -E "$second" | grep -v '^x0')" ""
must ip -n s1 link del x0

# --- carrier, by way of the NIC ---

[[ $path == s1 ]] && port=eth0t || port=eth1t
forget
must "$fabric" darken "s0:$port"
check "a dark NIC takes its port out" wait_for 60 port_live s0 "$port" false
echo "the long way" | on s0 socat -u - "UDP4-SENDTO:$(node s2):$roce,bind=$(node s0)"
gets 1
is "s0 sends to s2 by the other one" "$(got)" "the long way"
must "$fabric" light "s0:$port"
check "light brings it back" wait_for 60 port_live s0 "$port" true

# --- XDP, which a macvlan device does not have in its driver ---

for mode in auto on; do
	forget
	check "apply --xdp $mode" apply s1 "$plan" --xdp "$mode"
	send s0 s2
	gets 8
	is "RoCEv2 arrives with --xdp $mode" "$(got | wc -l)" 8
done
must apply s1 "$plan" --xdp off >/dev/null
is "still no engine had any of it" "$(swallowed)" 0

# --- the traffic matrix, of what the module sees at relays alone ---

hush 9	# nobody looks for a router; the listeners take the rest
forget
recorders=()
for server in "${servers[@]}"; do
	ip netns exec "$server" toctl tm record --plan "$plan" --node "$server" --count 0 \
		-o "$tmp/$server.tm" 2>"$tmp/$server.log" &
	recorders+=($!)
	must wait_for 60 grep -q recording "$tmp/$server.log"
done
send s0 s2
gets 8
kill -INT "${recorders[@]}"
wait "${recorders[@]}"
check "recordings merge" toctl tm merge -o "$tmp/fabric.tm" "$tmp"/s[0-3].tm
# 8 packets of 23 bytes in UDP, IPv4 or IPv6, and Ethernet
bytes=$((4 * (23 + 42) + 4 * (23 + 62)))
is "they have what s0 sent to s2" "$(toctl tm show "$tmp/fabric.tm" --json | jq -c .bytes)" \
	"[[0,0,$bytes,0],[0,0,0,0],[0,0,0,0],[0,0,0,0]]"
is "the NICs of s2 counted it once" "$(jq -s 'map(.samples[].ports[][1]) | add' "$tmp/s2.tm")" \
	"$bytes"
kill "${listeners[@]}"

# --- RDMA ---

rdma_up "RoCEv2 between opposite servers"
before=$(relayed)
check "s0 writes into s2 through s1" rdma_write s0 eth0t s2 eth1t
check "s2 writes into s0 through s3" rdma_write s2 eth0t s0 eth1t
is "the relays carried it" "$(($(relayed) - before > 400))" 1
check "s0 writes into s1, without a relay" rdma_write s0 eth0t s1 eth1t
check "s0 writes into s2 by the other port, the long way" rdma_write s0 eth1t s2 eth1t
check "doctor finds the GID on the NIC" \
	grep -q "^ok   eth0: gid: s0-eth0 has " <(doctor)
is "no engine had any of it" "$(swallowed)" 0

done_testing
