# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Cards of the test NIC (selftests/module/nic), for tests in guests: source it after lib.sh.
#
#	nic_load
#	nic_card spark1 domains=16,18		# two ports, two PCIe links: four functions
#	nic_card spark2 domains=20,22
#	nic_cable spark1:0 spark2:1
#	must ip netns add s1
#	nic_move s1 enP16p1s0f0np0 enp1s0f0np0	# as the server calls it
#	nic_trait 16 0 rdma 1			# function of port 0 in PCI domain 16
#	nic_rate 16 from_host 109000000		# of both functions of the domain, bits/s
#	nic_rate spark1 from_host 192000000	# of all
#
# A function of port P in PCI domain D (decimal) is enPDp1s0fPnpP at first, and its MAC address
# is that of nic_mac D P. What traits there are, module/nic/nic.h says.

nic_debugfs=/sys/kernel/debug/topoopt_nic

nic_load() {
	local module

	module=/src/build/kmod-$(uname -r)/test/nic/topoopt_nic.ko
	[[ -e $module ]] || skip_all "no test NIC for this kernel"
	modprobe -q 8021q
	must insmod "$module"
	at_exit "rmmod topoopt_nic"
}

nic_command() { # WORD...
	printf '%s' "$*" >"$nic_debugfs/command"
}

nic_card() { # NAME [KEY=VALUE...]
	must nic_command card "$@"
}

nic_cable() { # CARD:PORT CARD:PORT
	must nic_command cable "$@"
}

nic_cut() { # CARD:PORT
	must nic_command cut "$@"
}

nic_move() { # SERVER INTERFACE [NAME]
	must ip link set "$2" netns "$1" name "${3:-$2}"
}

nic_address() { # DOMAIN PORT: on the PCI bus
	printf '%04x:01:00.%d' "$1" "$2"
}

nic_mac() { # DOMAIN PORT
	printf '02:54:4e:%02x:%02x:%02x' $(($1 >> 8)) $(($1 & 255)) "$2"
}

nic_trait() { # DOMAIN PORT NAME VALUE
	must tee "$nic_debugfs/$(nic_address "$1" "$2")/$3" >/dev/null <<<"$4"
}

nic_rate() { # DOMAIN|CARD to_host|from_host BITS-PER-SECOND
	local what=$1

	[[ $1 == *[!0-9]* ]] || printf -v what %04x "$1"
	must tee "$nic_debugfs/$what/$2" >/dev/null <<<"$3"
}

# Servers of lib.sh's chain whose ports are functions of cards: no veth anywhere. Cards are
# named by their servers, the first in PCI domain 16. Sets plan, servers and $A, $B, $C ...
nic_chain() { # N [CARD-OPTION...]
	local i port letters=ABCDEFGHIJKLMNOP

	plan=$tmp/plan.json
	# The test NIC counts and redirects frames of all kinds.
	chain_plan "$1" | jq '.checks = {interval: "off"}' >"$plan"
	lib_read_plan
	must modprobe topoopt_fwd
	nic_load
	for ((i = 0; i < $1; i++)); do
		printf -v "${letters:i:1}" %s "${servers[i]}"
		must ip netns add "${servers[i]}"
		at_exit "ip netns del ${servers[i]}"
		nic_card "${servers[i]}" "domains=$((16 + i))" "${@:2}"
		must ip -n "${servers[i]}" link set lo up
		for port in 0 1; do
			nic_move "${servers[i]}" "enP$((16 + i))p1s0f${port}np$port" eth$port
			must ip -n "${servers[i]}" link set eth$port mtu 4200 up \
				address "$(port_mac "${servers[i]}" eth$port)"
		done
		((!i)) || nic_cable "${servers[i - 1]}:1" "${servers[i]}:0"
	done
	for ((i = 0; i < $1; i++)); do
		must apply "${servers[i]}" "$plan" >/dev/null
	done
}

# --- traffic and counters, by kernel/nic.py ---------------------------------------

nic_peers() { # NAMESPACE...
	coproc nic_peers { exec python3 "$lib_dir/kernel/nic.py" "$@"; }
}

nic_ask() { # COMMAND...: the answer, in a variable of the same name
	echo "$@" >&"${nic_peers[1]}" && read -rt 120 nic_ask <&"${nic_peers[0]}"
}

answer_is() { # NAME EXPECTED COMMAND...
	nic_ask "${@:3}"
	is "$1" "$nic_ask" "$2"
}

nic_mac_of() { # NAMESPACE DEVICE
	ip -n "$1" -j link show "$2" | jq -r '.[0].address'
}

# Give two devices addresses .1 and .2 of a network. They know each other, so that no ARP
# comes when frames are counted.
nic_addresses() { # NAMESPACE DEVICE NAMESPACE PEER NETWORK
	must ip -n "$1" address add "$5.1/24" dev "$2"
	must ip -n "$3" address add "$5.2/24" dev "$4"
	must ip -n "$1" neigh add "$5.2" lladdr "$(nic_mac_of "$3" "$4")" dev "$2"
	must ip -n "$3" neigh add "$5.1" lladdr "$(nic_mac_of "$1" "$2")" dev "$4"
}

# Two devices do for each other what any NIC does. MTUs and addresses of both change.
nic_basics() { # NAME NAMESPACE DEVICE NAMESPACE PEER NETWORK
	local mtu

	nic_addresses "$2" "$3" "$4" "$5" "$6"
	for mtu in 1500 4200; do
		must ip -n "$2" link set "$3" mtu $mtu
		must ip -n "$4" link set "$5" mtu $mtu
		must wait_for 60 nic_shines "$3" "$5"	# drivers restart
		answer_is "$1: datagrams of $mtu bytes" ok datagrams "$2" "$4" "$6.2" $mtu 5
		nic_ask datagrams "$2" "$4" "$6.2" $((mtu + 1)) 1
		is "$1: none of more than that" "${nic_ask%% *}" EMSGSIZE
		nic_tcp "$1: TCP at MTU $mtu" "$2" "$4" "$6.2"
	done
}

nic_shines() { # DEVICE DEVICE
	nic_ask links "$1" "$2"
	[[ $nic_ask == "1 1" ]]
}

nic_tcp() { # NAME FROM TO ADDRESS...: both ways
	nic_ask tcp "$2" "$3" 500000 "${@:4}"
	is "$1" "${nic_ask%% *}" ok
}

# The second device receives what is for it, and nothing else. veth does not choose.
nic_chooses() { # NAME NAMESPACE DEVICE NAMESPACE PEER
	local own stranger=02:00:00:00:00:99

	own=$(nic_mac_of "$4" "$5")
	answer_is "$1: hears what is for it" 1 hears "$3" "$5" "$own"
	answer_is "$1: and broadcast" 1 hears "$3" "$5" ff:ff:ff:ff:ff:ff
	answer_is "$1: no unicast to a stranger" 0 hears "$3" "$5" $stranger
	must ip -n "$4" link set "$5" promisc on
	answer_is "$1: but in promiscuous mode" 1 hears "$3" "$5" $stranger
	must ip -n "$4" link set "$5" promisc off
	answer_is "$1: and no longer" 0 hears "$3" "$5" $stranger
}

# Nor VLANs that were not added.
nic_chooses_vlans() { # NAME NAMESPACE DEVICE NAMESPACE PEER
	local own vlan9="81000009 88b5"

	own=$(nic_mac_of "$4" "$5")
	answer_is "$1: no VLAN that was not added" 0 hears "$3" "$5" "$own" "$vlan9"
	must ip -n "$4" link add link "$5" name "$5.9" type vlan id 9
	must ip -n "$4" link set "$5.9" up
	answer_is "$1: a VLAN that was" 1 hears "$3" "$5" "$own" "$vlan9"
	must ip -n "$4" link del "$5.9"
}

# Programs for native XDP run on what the second device receives.
nic_runs_xdp() { # NAME NAMESPACE DEVICE NAMESPACE PEER ADDRESS
	must ip -n "$2" link set "$3" mtu 1500
	must ip -n "$4" link set "$5" mtu 1500
	check "$1: native XDP" ip -n "$4" link set dev "$5" xdpdrv \
		obj "$lib_dir/../build/kernel/nic.bpf.o" program nic_plain
	answer_is "$1: which passes" ok datagrams "$2" "$4" "$6" 1500 5
	must ip -n "$4" link set dev "$5" xdpdrv off
	answer_is "$1: and without it" ok datagrams "$2" "$4" "$6" 1500 5
}
