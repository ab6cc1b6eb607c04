# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Five servers in a row, for benchmarks of what a relay costs; sourced in a guest after
# lib.sh, with die().
#
#	A eth1 ==== eth0 B eth1 ==== eth0 C eth1 ==== eth0 D eth1 ==== eth0 E
#
# The links are veth pairs with NAPI, so that packets go through GRO as those of
# a NIC do. B to D relay, by the kernel's forwarding (forward_up) or by topoopt
# (topoopt_up).

servers=(A B C D E)
plan=$tmp/plan.json
chain_plan 5 >"$plan"

# Of the plan, by SERVER, SERVER:PORT and SERVER:PORT:mac; a jq for each would
# take longer than what is measured.
declare -A address
while read -r key value; do
	address[$key]=$value
done < <(jq -r '.servers[] | .name as $s | "\($s) \(.ipv4)",
	(.ports[] | "\($s):\(.name) \(.ipv4)", "\($s):\(.name):mac \(.mac)")' "$plan")

wires_up() {
	local i port

	printf 'netns add %s\n' "${servers[@]}" | ip -b - || die "netns"
	for ((i = 0; i < 4; i++)); do
		ip link add eth1 netns "${servers[i]}" address "${address[${servers[i]}:eth1:mac]}" \
			mtu 4200 type veth peer eth0 netns "${servers[i + 1]}" mtu 4200 \
			address "${address[${servers[i + 1]}:eth0:mac]}" || die "veth"
	done
	for ((i = 0; i < 5; i++)); do
		ip -n "${servers[i]}" link set lo up
		for port in eth0 eth1; do
			on_sysfs "${servers[i]}" test -e "/sys/class/net/$port" || continue
			on "${servers[i]}" ethtool -K "$port" gro on
			ip -n "${servers[i]}" link set "$port" up
		done
	done
}

wires_down() {
	printf 'netns del %s\n' "${servers[@]}" | ip -b -
}

forward_up() {
	local i j way server

	wires_up
	for ((i = 0; i < 5; i++)); do
		server=${servers[i]}
		on "$server" sysctl -qw net.ipv4.ip_forward=1
		# on the port towards A, to which MPI binds its sockets
		ip -n "$server" address add "${address[$server]}/32" dev "eth$((i == 0))"
		for ((j = 0; j < 5; j++)); do
			((i != j)) || continue
			if ((j > i)); then
				way="10.9.$i.2 dev eth1"
			else
				way="10.9.$((i - 1)).1 dev eth0"
			fi
			echo "route add ${address[${servers[j]}]} via $way src ${address[$server]} onlink"
		done >"$tmp/routes"
		((i == 4)) || ip -n "$server" address add "10.9.$i.1/30" dev eth1
		((i == 0)) || ip -n "$server" address add "10.9.$((i - 1)).2/30" dev eth0
		ip -n "$server" -b "$tmp/routes" || die "routes"
	done
}

topoopt_up() {
	local server port

	wires_up
	for server in "${servers[@]}"; do
		ip -n "$server" link add topo0 type topoopt
		for port in eth0 eth1; do
			# the ends of the chain have one port
			on_sysfs "$server" test -e /sys/class/net/$port ||
				ip -n "$server" link add $port mtu 4200 \
					address "${address[$server:$port:mac]}" type dummy
			ip -n "$server" address add "${address[$server:$port]}/32" dev $port
			ip -n "$server" link set $port master topo0
			ip -n "$server" link set $port up
		done
		ip -n "$server" address add "${address[$server]}/32" dev topo0
		ip -n "$server" link set topo0 up
		on "$server" toctl apply "$plan" --node "$server" || die "apply on $server"
	done
}
