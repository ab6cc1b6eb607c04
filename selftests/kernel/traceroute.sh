#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# traceroute shows every server on the path, whatever address it starts from.
#
#	A eth1 == eth0 B eth1 == eth0 C eth1 == eth0 D

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 4

# Addresses of the hops, one line; what does not answer shows as *.
hops() { # SERVER TRACEROUTE-ARGUMENT...
	on "$1" traceroute -n -q 1 -w 30 "${@:2}" | awk 'NR > 1 { print $2 }' | paste -sd ' '
}

is "node to node" "$(hops "$A" "$(node "$D")")" \
	"$(node "$B") $(node "$C") $(node "$D")"
is "node to node, backwards" "$(hops "$D" "$(node "$A")")" \
	"$(node "$C") $(node "$B") $(node "$A")"
is "node to node, IPv6" "$(hops "$A" -6 "$(node6 "$D")")" \
	"$(node6 "$B") $(node6 "$C") $(node6 "$D")"
is "node to node, TCP" "$(hops "$A" -T -p 7 "$(node "$D")")" \
	"$(node "$B") $(node "$C") $(node "$D")"

# From a port address to a port address, as RDMA runs: the answers go back to
# a port address, and come from the relay's address on that way.
port_hops() { # HOP...: is every one an address of the server in its place?
	local place=0 hop server servers=("$B" "$C" "$D")

	(($# == 3)) || return 1
	for hop; do
		server=${servers[place++]}
		jq -e --arg server "$server" --arg hop "$hop" '.servers[] | select(.name == $server)
			| [.ipv4, .ipv6, (.ports[] | .ipv4, .ipv6)] | index([$hop])' "$plan" || {
			echo "hop $place is $hop, not of $server"
			return 1
		}
	done
}
# shellcheck disable=SC2046
check "port to port" port_hops \
	$(hops "$A" -s "$(port_ip "$A" eth1)" "$(port_ip "$D" eth0)")
# shellcheck disable=SC2046
check "port to port, IPv6" port_hops \
	$(hops "$A" -6 -s "$(port_ip6 "$A" eth1)" "$(port_ip6 "$D" eth0)")

done_testing
