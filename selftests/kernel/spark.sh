#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# README's commands on four servers whose NICs are as those of a DGX Spark: two connectors,
# each a function on either of two PCIe links. What toctl discover says of right cables and of
# what people get wrong. ssh leads into the servers' network namespaces.

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/nic.sh"

must modprobe topoopt_fwd
nic_load
servers=(spark1 spark2 spark3 spark4)
domain=16
for server in "${servers[@]}"; do
	must ip netns add "$server"
	at_exit "ip netns del $server"
	nic_card "$server" "domains=$domain,$((domain + 2))" speed=200000 generation=5 width=4
	for port in 0 1; do
		nic_move "$server" "enP${domain}p1s0f${port}np$port" "enp1s0f${port}np$port"
		nic_move "$server" "enP$((domain + 2))p1s0f${port}np$port" "enP2p1s0f${port}np$port"
	done
	must ip -n "$server" link set lo up
	must ip -n "$server" address add "192.0.2.${server#spark}/32" dev lo
	domain=$((domain + 4))
done
next() { # SERVER
	echo "spark$((${1#spark} % 4 + 1))"
}
for server in "${servers[@]}"; do
	nic_cable "$server:0" "$(next "$server"):1"
done

ssh_to_namespaces
export TOPOOPT_STATE=$tmp/state
cd "$tmp" || exit
job() { # SERVERS
	jq -n --argjson n "$1" '{name: "allreduce", servers: $n, mp: [],
		allreduce: [{group: "0-\($n - 1)", bytes: 1073741824}]}'
}
job 4 >job.json

# --- from bare NICs to a fabric ---

check "discover" toctl discover "${servers[@]}" --up -o cluster.json
is "each function is a port, of two cables a server" \
	"$(jq -c '[.servers[] | [(.ports | length), ([.ports[].cable] | unique | length)]] | unique' cluster.json)" \
	"[[4,2]]"
is "each has its PCIe link" \
	"$(jq -c '[.servers[].ports[] | .name[:3] + " " + .pcie[:4]] | group_by(.[:3]) | map(unique | length)' cluster.json)" \
	"[4,4]"
is "at the rate of its lanes" "$(jq -c '[.servers[].pcie[].rate] | unique' cluster.json)" "[126030769230]"
is "a card joins the ports" "$(jq -c '[.servers[].ports[].card] | unique' cluster.json)" '["card0"]'
is "functions have their shares of the cable" \
	"$(jq -c '[.servers[].ports[].bandwidth] | unique' cluster.json)" "[100000000000]"
is "links join functions of one PCI domain, and a subnet each" \
	"$(jq '([.servers[] | .name as $s | .ports[] | {key: "\($s):\(.name)", value: (.ipv4 | sub("[0-9]*$"; ""))}] |
		from_entries) as $subnet | [.links[] | (.a | test("enP")) == (.b | test("enP")) and
			$subnet[.a] == $subnet[.b]] | length == 8 and all' cluster.json)" \
	true
must toctl plan --cluster cluster.json --job job.json --fixed -o plan.json >"$tmp/out"
must toctl apply --all plan.json >"$tmp/out"
check "healthy" wait_for 60 toctl status plan.json
is "status ends so" "$(toctl status plan.json | tail -n 1)" "status: healthy"
plan=$tmp/plan.json
lib_read_plan
is "TCP over all 12 pairs, IPv4 and IPv6" "$(tcp_pairs)" 24
check "discover --cluster: all as in the file" toctl discover --cluster cluster.json
for server in "${servers[@]}"; do
	on_sysfs "$server" toctl doctor plan.json --node "$server" >"doctor.$server"
	is "doctor on $server: all cables right" "$(grep -c '^ok .*: cabling: ' "doctor.$server")" 4
	is "and none wrong" "$(grep -c '^FAIL .*: cabling: ' "doctor.$server")" 0
done

is "ports say what they are made of" \
	"$(on_sysfs spark1 toctl show ports --json | jq -r 'sort_by(.pci)[] | "\(.pci) \(.connector)"' | paste -sd ,)" \
	"0010:01:00.0 p0,0010:01:00.1 p1,0012:01:00.0 p0,0012:01:00.1 p1"
is "as text, too" "$(on_sysfs spark1 toctl show ports | grep -c ' 001[02]:01:00.[01] p[01]  *[0-9.]* Gbit/s$')" 4

phy=rx_bytes_phy,rx_packets_phy,tx_bytes_phy,tx_packets_phy,fcs
check_fails "counters that two functions share are not added up" \
	"are functions on one connector, and both count all of its frames as rx_bytes_phy" \
	on_sysfs spark1 toctl tm record plan.json --node spark1 --count 1 --nic-counters "$phy" -o shared.tm

# --- a cut ---

nic_cut spark1:0
check "a cut is seen" wait_for 60 sh -c "! toctl status plan.json >/dev/null"
is "it takes both functions at both ends" \
	"$(toctl status --json plan.json | jq -r '[.. | objects | select(.check? == "carrier" and .verdict? != "ok") | .subject] | unique | sort | join(" ")')" \
	"spark1:enP2p1s0f0np0 spark1:enp1s0f0np0 spark2:enP2p1s0f1np1 spark2:enp1s0f1np1"
is "TCP goes the other way round" "$(tcp_pairs)" 24
nic_cable spark1:0 spark2:1
check "healthy again" wait_for 60 toctl status plan.json

# --- what people get wrong ---

said() { # SUBJECT CHECK [FIELD]: what the last look said of it
	jq -r --arg subject "$1" --arg check "$2" \
		'.[] | select(.subject == $subject and .check == $check).'"${3:-text}" out
}
look() { # compares with the file
	toctl discover --cluster cluster.json --json >out
}

must ip -n spark2 link set enP2p1s0f1np1 down
look
is "a function is down: it is named" "$(said spark2:enP2p1s0f1np1 cabling)" \
	"down; the file says to spark1:enP2p1s0f0np0"
is "and at the other end" "$(said spark1:enP2p1s0f0np0 cabling)" \
	"spark2:enP2p1s0f1np1 does not answer, and spark2:enp1s0f1np1 on its cable does"
is "its sibling is fine" "$(said spark1:enp1s0f0np0 cabling)" "leads to spark2:enp1s0f1np1"
is "the other end keeps its light" \
	"$(toctl status --json plan.json | jq -r '.checks[] | select(.check == "carrier") | "\(.subject) \(.text)"')" \
	"spark2:enP2p1s0f1np1 down, while enp1s0f1np1 has light on the same cable"
must ip -n spark2 link set enP2p1s0f1np1 up
must toctl apply --all plan.json >/dev/null
wait_for 60 toctl status plan.json >/dev/null

must on spark3 sysctl -qw net.ipv4.conf.all.arp_ignore=1
look
is "arp_ignore is named, not the fibre" "$(said spark2:enp1s0f0np0 arp)" \
	"leads to spark3:enp1s0f1np1, which does not answer ARP, as arp_ignore is 1 there; the cable is good"
is "with what sets it back" "$(said spark2:enp1s0f0np0 arp fix)" \
	"on spark3: sysctl -w net.ipv4.conf.all.arp_ignore=0 net.ipv4.conf.enp1s0f1np1.arp_ignore=0"
must on spark3 sysctl -qw net.ipv4.conf.all.arp_ignore=0

nic_cut spark1:0
nic_cut spark3:0
nic_cable spark1:0 spark4:1
nic_cable spark3:0 spark2:1
must wait_for 60 eval '[[ $(ip -n spark2 -j link show enp1s0f1np1 | jq -r ".[0].operstate") == UP ]]'
look
is "two cables swapped: each end is named" \
	"$(said spark1:enp1s0f0np0 cabling), $(said spark4:enP2p1s0f1np1 cabling)" \
	"leads to spark4:enp1s0f1np1, the file says spark2:enp1s0f1np1, leads to spark1:enp1s0f0np0, the file says spark3:enP2p1s0f0np0"
is "the other cables are right" "$(jq '[.[] | select(.check == "cabling" and .verdict == "ok")] | length' out)" 8
nic_cut spark1:0
nic_cut spark3:0
nic_cable spark1:0 spark2:1
nic_cable spark3:0 spark4:1
check "back: healthy" wait_for 60 toctl status plan.json

# --- NICs that have been set up before ---

for server in "${servers[@]}"; do
	must on "$server" toctl clear >/dev/null
done
must ip -n spark1 link set enp1s0f0np0 mtu 9000
must ip -n spark2 link set enp1s0f1np1 mtu 1500
must ip -n spark3 address add 192.168.177.11/24 dev enP2p1s0f1np1
must modprobe bonding
must ip -n spark4 link add bond0 type bond mode active-backup
must ip -n spark4 link set enP2p1s0f0np0 down
must ip -n spark4 link set enP2p1s0f0np0 master bond0
toctl discover "${servers[@]}" --up --json -o other.json >out
is "an MTU that differs" "$(said spark1:enp1s0f0np0 mtu)" \
	"9000, and 1500 at spark2:enp1s0f1np1"
is "an address" "$(said spark3:enP2p1s0f1np1 'left out')" "has the address 192.168.177.11"
is "what takes it in" "$(said spark3:enP2p1s0f1np1 'left out' fix)" "to take it: --ports enP2p1s0f1np1"
is "a leg of a bond" "$(said spark4:enP2p1s0f0np0 'left out')" "belongs to bond0"
must ip -n spark1 link property add dev enp1s0f0np0 altname cx7p0
toctl discover "${servers[@]}" --ports 'cx7p0,enp1s0f*,ens*' --json -o ports.json >out
is "patterns that match nothing" "$(said spark2 ports)" "no interface is called cx7p0,ens*"
is "an alternative name does" "$(said spark1 ports)" "no interface is called ens*"

done_testing
