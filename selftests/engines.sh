# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced, after lib.sh, by tests of NICs whose RDMA engine takes RoCEv2 for itself: a tc
# filter on every ethN drops what comes to its MAC and not to its address, before the
# module sees it.

: "${lib_dir:?}" "${tmp:?}" "${servers=}"
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
		in_netns "$server" socat -u "UDP6-RECV:$roce,ipv6only=0" \
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

port_live() { # SERVER PORT true|false
	[[ $(on "$1" toctl show --json |
		jq --arg port "$2" '.ports[] | select(.port == $port).live') == "$3" ]]
}

# The plan in which transit goes to the second interfaces; s0 .. s3.
two_up() {
	ports=(eth0t eth1t)
	jq '.servers[].ports[] |= . + {name: (.name + "t"), transmit: .name, relay_mac: (.mac | sub("^02"; "06"))}
		| .links[] |= map_values(. + "t")' "$example/cluster.json" >"$tmp/cluster.json"
	plan_of "$tmp/cluster.json" "$tmp/two.json"
	fabric_up "$tmp/two.json" >/dev/null
	engines
}
