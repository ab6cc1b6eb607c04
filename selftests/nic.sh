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

# Two devices do for each other what any NIC does. MTUs and addresses of both change.
nic_basics() { # NAME NAMESPACE DEVICE NAMESPACE PEER NETWORK
	local mtu

	must ip -n "$2" address add "$6.1/24" dev "$3"
	must ip -n "$4" address add "$6.2/24" dev "$5"
	for mtu in 1500 4200; do
		must ip -n "$2" link set "$3" mtu $mtu
		must ip -n "$4" link set "$5" mtu $mtu
		answer_is "$1: datagrams of $mtu bytes" ok datagrams "$2" "$4" "$6.2" $mtu 5
		nic_ask datagrams "$2" "$4" "$6.2" $((mtu + 1)) 1
		is "$1: none of more than that" "${nic_ask%% *}" EMSGSIZE
		nic_tcp "$1: TCP at MTU $mtu" "$2" "$4" "$6.2"
	done
	nic_ask links "$3" "$5"
	is "$1: carrier" "$nic_ask" "1 1"
}

nic_tcp() { # NAME FROM TO ADDRESS...: both ways
	nic_ask tcp "$2" "$3" 500000 "${@:4}"
	is "$1" "${nic_ask%% *}" ok
}

# The second device receives what is for it, and nothing else. veth does not choose.
nic_chooses() { # NAME NAMESPACE DEVICE NAMESPACE PEER
	local own stranger=02:00:00:00:00:99 vlan9="81000009 88b5"

	own=$(ip -n "$4" -j link show "$5" | jq -r '.[0].address')
	answer_is "$1: hears what is for it" 1 hears "$3" "$5" "$own"
	answer_is "$1: and broadcast" 1 hears "$3" "$5" ff:ff:ff:ff:ff:ff
	answer_is "$1: no unicast to a stranger" 0 hears "$3" "$5" $stranger
	answer_is "$1: no VLAN that was not added" 0 hears "$3" "$5" "$own" "$vlan9"
	must ip -n "$4" link add link "$5" name "$5.9" type vlan id 9
	must ip -n "$4" link set "$5.9" up
	answer_is "$1: a VLAN that was" 1 hears "$3" "$5" "$own" "$vlan9"
	must ip -n "$4" link del "$5.9"
	must ip -n "$4" link set "$5" promisc on
	answer_is "$1: the stranger in promiscuous mode" 1 hears "$3" "$5" $stranger
	must ip -n "$4" link set "$5" promisc off
	answer_is "$1: and no longer" 0 hears "$3" "$5" $stranger
}
