#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.1 6.12 7.2
# Processors: 2
# The test NIC does what veth does, where that is all there is to it, and beyond that what
# drivers of real cards do.
#
#	namespace a                        namespace b
#	near0 near1     port 0 ==== port 1     far0 far1	functions of one PCIe link each
#	      other     port 1 ==== port 0     spare
#	      v0        ------veth------       v1

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/nic.sh"
objects=$lib_dir/../build/kernel

nic_load
nic_card left domains=16,18 speed=200000 generation=5 width=4
nic_card right domains=20,22
for server in a b; do
	must ip netns add $server
	at_exit "ip netns del $server"
	# nothing is sent but by the tests
	must on $server sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1
	must ip -n $server link set lo up
done
nic_move a enP16p1s0f0np0 near0
nic_move a enP18p1s0f0np0 near1
nic_move a enP16p1s0f1np1 other
nic_move b enP20p1s0f1np1 far0
nic_move b enP22p1s0f1np1 far1
nic_move b enP20p1s0f0np0 spare
must ip -n a link add v0 type veth peer name v1 netns b
near0=$(nic_mac 16 0) near1=$(nic_mac 18 0) far0=$(nic_mac 20 1)

declare -A server_of=([near0]=a [near1]=a [other]=a [v0]=a [far0]=b [far1]=b [spare]=b [v1]=b)
counter() { # DEVICE NAME
	ethtool_counter "${server_of[$1]}" "$1" "$2"
}
carrier() { # DEVICE...
	local device

	for device; do
		on_sysfs "${server_of[$device]}" cat "/sys/class/net/$device/carrier"
	done | paste -sd ' '
}
carrier_is() { # VALUES DEVICE...
	[[ $(carrier "${@:2}") == "$1" ]]
}

# --- cables and carrier -----------------------------------------------------

for device in "${!server_of[@]}"; do
	must ip -n "${server_of[$device]}" link set "$device" up
done
is "no carrier without a cable" "$(carrier near0 near1 far0 far1)" "0 0 0 0"
nic_cable left:0 right:1
nic_cable right:0 left:1
check "carrier with one" wait_for 60 carrier_is "1 1 1 1 1 1" near0 near1 far0 far1 other spare
check_fails "a port takes one cable" . nic_command cable left:0 left:1
nic_cut right:1
check "a cut darkens all functions at both ends" wait_for 60 carrier_is "0 0 0 0 1 1" near0 near1 far0 far1 other spare
nic_cable left:0 right:1
must ip -n b link set far0 down
check "a port shines while one of its functions is up" wait_for 60 carrier_is "1 1 1" near0 near1 far1
must ip -n b link set far1 down
check "and no longer" wait_for 60 carrier_is "0 0" near0 near1
must ip -n b link set far0 up
must ip -n b link set far1 up
must wait_for 60 carrier_is "1 1 1 1" near0 near1 far0 far1

# --- PCI, names, speed ------------------------------------------------------

pci=/sys/bus/pci/devices/0010:01:00.0
is "PCI address" "$(readlink -f $pci)" /sys/devices/pci0010:00/0010:00:00.0/0010:01:00.0
is "its link" "$(cat $pci/current_link_{speed,width} | paste -sd ' ')" "32.0 GT/s PCIe 4"
is "that of the root port" "$(cat $pci/../current_link_{speed,width} | paste -sd ' ')" "32.0 GT/s PCIe 4"
is "ethtool -i" "$(on a ethtool -i near0 | sed -n 's/^\(driver\|bus-info\): //p' | paste -sd ' ')" \
	"topoopt_nic 0010:01:00.0"
attribute() { # FILE DEVICE...
	local device

	for device in "${@:2}"; do
		on_sysfs "${server_of[$device]}" cat "/sys/class/net/$device/$1"
	done | paste -sd ' '
}
is "port names" "$(attribute phys_port_name near0 near1 other far0 spare)" "p0 p0 p1 p1 p0"
read -ra ids < <(attribute phys_switch_id near0 near1 other far0)
is "all functions of a card have its switch id" "${ids[1]} ${ids[2]}" "${ids[0]} ${ids[0]}"
check "other cards have another one" test "${ids[3]}" != "${ids[0]}"
check "devlink has the function" devlink dev show pci/0010:01:00.0
check "and its port" grep -q "flavour physical port 1" <(devlink port show pci/0010:01:00.1/1)
is "speed" "$(attribute speed near0 near1 far0)" "200000 200000 200000"
must on a ethtool -s near0 speed 100000 autoneg off
is "is the port's" "$(attribute speed near0 near1 far0)" "100000 100000 200000"
is "hw-tc-offload is off" "$(on a ethtool -k near0 | sed -n 's/^hw-tc-offload: //p')" off
must on a ethtool -K near0 hw-tc-offload on
is "and can be switched on" "$(on a ethtool -k near0 | sed -n 's/^hw-tc-offload: //p')" on

# --- what it shares with veth -----------------------------------------------

in_netns b iperf3 -s >/dev/null 2>&1 &
must wait_listen b 5201
as_veth() { # NAME DEVICE PEER NETWORK
	local before

	must ip -n a address add "$4.1/24" dev "$2"
	must ip -n b address add "$4.2/24" dev "$3"
	must on a ping -q -c 1 -W 30 "$4.2" >/dev/null
	for mtu in 1500 4200; do
		must ip -n a link set "$2" mtu $mtu
		must ip -n b link set "$3" mtu $mtu
		check "$1: ping at MTU $mtu" on a ping -q -c 2 -i .01 -W 30 -M "do" -s $((mtu - 28)) "$4.2"
		check_fails "$1: no more than that" "message too long|100% packet loss" \
			on a ping -q -c 1 -W 1 -M "do" -s $((mtu - 27)) "$4.2"
		check "$1: iperf3 at MTU $mtu" on a iperf3 -c "$4.2" -n 1M
		check "$1: and back" on a iperf3 -c "$4.2" -n 1M -R
	done
	before=$(on b ip -s -j link show "$3" | jq '.[0].stats64.rx.packets')
	must on a ping -q -c 5 -i .01 -W 30 "$4.2" >/dev/null
	is "$1: counters" $(($(on b ip -s -j link show "$3" | jq '.[0].stats64.rx.packets') - before)) 5
}
as_veth veth v0 v1 10.2.0
as_veth nic near0 far0 10.1.0
nic_trait 20 1 linear 0
nic_trait 16 0 linear 0
check "nic: headers alone in the linear part: iperf3" on a iperf3 -c 10.1.0.2 -n 1M
check "ping" on a ping -q -c 2 -i .01 -W 30 -M "do" -s 4172 10.1.0.2
must on a ethtool -K near0 tso off tx off >/dev/null
check "nothing offloaded to the sender" on a iperf3 -c 10.1.0.2 -n 1M
must on a ethtool -K near0 tso on tx on >/dev/null
must on b ethtool -K far0 rx off
check "nor to the receiver" on a iperf3 -c 10.1.0.2 -n 1M
must on b ethtool -K far0 rx on

# --- several functions a port -------------------------------------------------

coproc sender { exec in_netns a python3 "$lib_dir/kernel/nic.py"; }
raw() { # DEVICE DESTINATION LENGTH PROCESSOR [WORD...], see nic.py
	echo "$@" >&"${sender[1]}" && read -rt 60 -u "${sender[0]}"
}
# What the functions have received, then the ports.
received() {
	local device

	for device in near0 near1 far0 far1; do
		on "${server_of[$device]}" ethtool -S "$device"
	done | awk '$1 == "rx_packets:" { n[i++] = $2 } $1 == "rx_packets_phy:" { phy[i] = $2 }
		END { print n[0], n[1], n[2], n[3], phy[1], phy[4] }'
}
less() { # NUMBERS NUMBERS: the difference of each pair
	local a b i text=''

	read -ra a <<<"$1"
	read -ra b <<<"$2"
	for i in "${!a[@]}"; do
		text+=" $((a[i] - b[i]))"
	done
	echo "${text# }"
}
# One frame makes these numbers: near0, near1, far0, far1, port of near, port of far. It has
# arrived when it is sent, unless there is more to do for the processor.
one() { # NAME DEVICE DESTINATION EXPECTED [WORD...]
	local before

	before=$(received)
	must raw "$2" "$3" 60 0 "${@:5}"
	wait_for 5 one_is "$4"
	is "$1" "$(less "$(received)" "$before")" "$4"
}
one_is() { # EXPECTED
	[[ $(less "$(received)" "$before") == "$1" ]]
}
one "unicast goes to the function with the address" near0 "$far0" "0 0 1 0 0 1"
one "broadcast to both functions of the far port and to the sibling" near0 ff:ff:ff:ff:ff:ff "0 1 1 1 0 1"
one "to the sibling's address inside the card" near0 "$near1" "0 1 0 0 0 0"
one "multicast that nobody joined to none" near0 01:80:c2:00:00:0e "0 0 0 0 0 1"
must ip -n b maddress add 01:80:c2:00:00:0e dev far1
one "else to those that did" near0 01:80:c2:00:00:0e "0 0 0 1 0 1"
one "unicast to a stranger to none" near0 02:00:00:00:00:99 "0 0 0 0 0 1"
must ip -n b link set far1 promisc on
one "but those in promiscuous mode" near0 02:00:00:00:00:99 "0 0 0 1 0 1"
one "which see the sibling's, too" near0 "$far0" "0 0 1 1 0 1"
must ip -n b link set far1 promisc off
must ip -n b link set far1 address 02:00:00:00:00:99
one "another address of one's own" near0 02:00:00:00:00:99 "0 0 0 1 0 1"
is "both functions show the port's sums" "$(counter far0 rx_packets_phy) $(counter near0 tx_packets_phy)" \
	"$(counter far1 rx_packets_phy) $(counter near1 tx_packets_phy)"
is "at both ends of the cable" "$(counter far0 rx_packets_phy) $(counter far0 rx_bytes_phy)" \
	"$(counter near0 tx_packets_phy) $(counter near0 tx_bytes_phy)"

# --- VLANs ----------------------------------------------------------------------

vlan7=81000007
one "a VLAN that was not added is dropped" near0 "$far0" "0 0 0 0 0 1" $vlan7 88b5
is "and counted" "$(counter far0 rx_steer_missed_packets)" 1
must on b ethtool -K far0 rx-vlan-filter off
one "without the filter it arrives" near0 "$far0" "0 0 1 0 0 1" $vlan7 88b5
must on b ethtool -K far0 rx-vlan-filter on
must ip -n a link add link near0 name near0.7 type vlan id 7
must ip -n b link add link far0 name far0.7 type vlan id 7
must ip -n a address add 10.7.0.1/24 dev near0.7
must ip -n b address add 10.7.0.2/24 dev far0.7
must ip -n a link set near0.7 up
must ip -n b link set far0.7 up
one "one that was added arrives" near0 "$far0" "0 0 1 0 0 1" $vlan7 88b5
check "ping in a VLAN" on a ping -q -c 2 -i .01 -W 30 -s 4000 10.7.0.2
check "iperf3" on a iperf3 -c 10.7.0.2 -n 1M
must on a ethtool -K near0 txvlan off rxvlan off
must on b ethtool -K far0 txvlan off rxvlan off
check "with tags in software" on a iperf3 -c 10.7.0.2 -n 1M

# --- RoCEv2 -------------------------------------------------------------------

must on b tc qdisc add dev far0 clsact
must on b tc filter add dev far0 egress protocol ipv6 matchall action drop
must on b sysctl -qw net.ipv6.conf.far0.disable_ipv6=0
must ip -n b address add fd01::2/64 dev far0 nodad
taken() { counter far0 rx_vport_rdma_unicast_packets; }
one "RoCEv2 to a stranger goes up the stack" near0 "$far0" "0 0 1 0 0 1" udp/10.9.9.9/4791
nic_trait 20 1 rdma 1
one "an RDMA function takes it" near0 "$far0" "0 0 0 0 0 1" udp/10.9.9.9/4791
one "IPv6, too" near0 "$far0" "0 0 0 0 0 1" udp/fd09::9/4791
one "in a VLAN, too" near0 "$far0" "0 0 0 0 0 1" $vlan7 udp/10.9.9.9/4791
is "and counts it" "$(taken)" 3
one "not other datagrams" near0 "$far0" "0 0 1 0 0 1" udp/10.9.9.9/4790
one "nor what is for its own address" near0 "$far0" "0 0 1 0 0 1" udp/10.1.0.2/4791
one "its own IPv6 address" near0 "$far0" "0 0 1 0 0 1" udp/fd01::2/4791
one "the address of its VLAN device" near0 "$far0" "0 0 1 0 0 1" $vlan7 udp/10.7.0.2/4791
one "nor broadcast" near0 ff:ff:ff:ff:ff:ff "0 1 1 1 0 1" udp/10.9.9.9/4791
nic_trait 20 1 rdma 0
must on b sysctl -qw net.ipv6.conf.far0.disable_ipv6=1
must on b tc qdisc del dev far0 clsact

# --- XDP ------------------------------------------------------------------------

attach() { # DEVICE PROGRAM|off
	if [[ $2 == off ]]; then
		ip -n "${server_of[$1]}" link set dev "$1" xdpdrv off
	else
		ip -n "${server_of[$1]}" -force link set dev "$1" xdpdrv obj "$objects/nic.bpf.o" program "$2"
	fi
}
values() { # DEVICE: id of the map of its program
	local id

	id=$(ip -n "${server_of[$1]}" -j link show "$1" | jq '.[0].xdp.prog.id')
	bpftool -j prog show id "$id" | jq '.map_ids[0]'
}
value() { # DEVICE KEY
	bpftool -j map lookup id "$(values "$1")" key "$2" 0 0 0 | jq '.formatted.value // .value'
}
check_fails "a program without frags needs a small MTU" . attach far0 nic_plain
must ip -n b link set far0 mtu 1500
check "which it has now" attach far0 nic_plain
check_fails "and keeps" . ip -n b link set far0 mtu 4200
must attach far0 off
must ip -n b link set far0 mtu 4200
for linear in 0 64 128 4096; do
	nic_trait 20 1 linear $linear
	must attach far0 nic_look
	check "XDP with $linear bytes in the linear part: ping" \
		on a ping -q -c 2 -i .01 -W 30 -M "do" -s 4172 10.1.0.2
	is "the program sees that, and the rest in frags" "$(value far0 0) $(value far0 1)" \
		"$((linear < 3520 ? linear : 3520)) 4214"
	check "iperf3" on a iperf3 -c 10.1.0.2 -n 1M
	must attach far0 off
done
must attach far0 nic_return
one "XDP_TX" near0 "$far0" "1 0 1 0 1 1"
is "is counted" "$(counter far0 rx_xdp_tx_xmit)" 1

# Frames that arrive at far0 leave by spare.
must attach far0 nic_redirect
must ip -n b link set spare mtu 4200
spare=$(ip -n b -j link show spare | jq '.[0].ifindex')
must bpftool map update id "$(values far0)" key 2 0 0 0 \
	value $((spare & 255)) $((spare >> 8)) 0 0
passed() {
	on b ethtool -S spare | awk '{ n[$1] = $2 } END {
		print n["tx_xdp_xmit:"], n["tx_xdp_err:"], n["tx_packets_phy:"], n["tx_prio0_packets:"] }'
}
redirected() { # NAME PROCESSOR EXPECTED: sent, refused, on the wire, in traffic class 0
	local before

	before=$(passed)
	must raw near0 "$far0" 2000 "$2"
	wait_for 5 redirected_is "$3"
	is "$1" "$(less "$(passed)" "$before")" "$3"
}
redirected_is() { # EXPECTED
	[[ $(less "$(passed)" "$before") == "$1" ]]
}
# Whether the kernel shows that XDP may redirect to a device; before 6.3 none does.
target() {
	on b xdp-loader features spare | grep NETDEV_XDP_ACT_NDO_XMIT: | grep -o "yes\|no"
}
[[ $(uname -r) == 6.1.* ]] && features='' || features=0
[[ -z $features ]] || is "a device without a program is no target" "$(target)" no
# which then does not ask the driver
redirected "nothing is redirected to it" 0 "0 ${features:-1} 0 0"
must attach spare nic_look
[[ -z $features ]] || is "with one it is" "$(target)" yes
redirected "and XDP sends" 0 "1 0 1 1"
must on b tc qdisc replace dev spare root mqprio num_tc 2 map 0 1 1 1 1 1 1 1 0 0 0 0 0 0 0 0 hw 1
must ip -n b address add 10.3.0.2/24 dev spare
must ip -n b neigh add 10.3.0.1 lladdr "$near1" dev spare
before=$(counter spare tx_prio1_packets)
on b ping -q -c 1 -W 1 -Q 0x10 10.3.0.1 >/dev/null
is "mqprio: a packet with priority is of class 1" $(($(counter spare tx_prio1_packets) - before)) 1
redirected "XDP is of class 0" 0 "1 0 1 1"
must on b tc qdisc del dev spare root
if (($(nproc) > 1)); then
	must on b ethtool -L spare combined 1
	redirected "a processor without a channel cannot send" 1 "0 1 0 0"
	redirected "one with can" 0 "1 0 1 1"
else
	skip "a processor without a channel cannot send" "one processor"
fi
must attach spare off
must attach far0 off

# --- statistics ---------------------------------------------------------------

pings() { # NUMBER
	must on a ping -q -c "$1" -i .01 -W 30 10.1.0.2 >/dev/null
}
statistics() { # of the device, and of ethtool
	echo "$(on b ip -s -j link show far0 | jq '.[0].stats64.rx.packets')" "$(counter far0 rx_packets)" \
		"$(counter far0 rx_packets_phy)"
}
renewed() { [[ $(statistics) == "$now" ]]; }
nic_trait 20 1 linear 4096
pings 1
now=$(statistics)
nic_trait 20 1 stats_ms 60000
check "statistics of the last renewal" wait_for 60 renewed
pings 3
is "stay" "$(statistics)" "$now"
read -r packets _ phy <<<"$now"
now="$((packets + 3)) $((packets + 3)) $((phy + 3))"
nic_trait 20 1 stats_ms 200
check "until the next one" wait_for 60 renewed
nic_trait 20 1 stats_ms 0
pings 2
check "or are fresh" test "$(counter far0 rx_packets)" = $((packets + 5))
must on b ethtool -G far0 rx 512
is "new queues keep counting" "$(counter far0 rx_packets)" $((packets + 5))
nic_trait 20 1 reset_stats 1
must on b ethtool -G far0 rx 256
is "or begin at 0" "$(counter far0 rx_packets)" 0
check "which the port does not" test "$(counter far0 rx_packets_phy)" -gt 0
pings 2
is "and count" "$(counter far0 rx_packets)" 2

# --- drops --------------------------------------------------------------------

must ip -n b link set far0 mtu 1500
on a ping -q -c 1 -W 1 -s 4000 10.1.0.2 >/dev/null
is "larger than the receiver's MTU: dropped and counted" "$(counter far0 rx_oversize_pkts_sw_drop)" 1
must ip -n b link set far0 mtu 4200

# --- RDMA on top --------------------------------------------------------------

case $(uname -r) in
6.*) skip "perftest over RDMA functions" "rdma_rxe in namespaces needs 7.2" ;;
*)
	must modprobe -a rdma_rxe rdma_ucm
	nic_trait 16 0 rdma 1
	nic_trait 20 1 rdma 1
	nic_trait 20 1 linear 0
	must on a rdma link add nic-a type rxe netdev near0
	must on b rdma link add nic-b type rxe netdev far0
	at_exit "modprobe -r rdma_rxe"
	gid() { # DEVICE ADDRESS: index, once it is there
		grep -l "ffff:$2" "/sys/class/infiniband/$1/ports/1/gids/"[0-9] 2>/dev/null | sed 's|.*/||'
	}
	has_gids() { [[ $(gid nic-a 0a01:0001) && $(gid nic-b 0a01:0002) ]]; }
	must wait_for 60 has_gids
	in_netns b ib_write_bw -d nic-b -x "$(gid nic-b 0a01:0002)" -F -s 4096 -n 100 >"$tmp/server" 2>&1 &
	must wait_listen b 18515
	check "perftest over RDMA functions" timeout 60 in_netns a \
		ib_write_bw -d nic-a -x "$(gid nic-a 0a01:0001)" -F -s 4096 -n 100 10.1.0.2 || sed 's/^/# /' "$tmp/server"
	must on a rdma link del nic-a
	must on b rdma link del nic-b
	;;
esac

# --- the driver goes and comes ------------------------------------------------

must tee /sys/bus/pci/drivers/topoopt_nic/unbind >/dev/null <<<0016:01:00.1
check_fails "unbound: the device is gone" "does not exist" ip -n b link show far1
must tee /sys/bus/pci/drivers/topoopt_nic/bind >/dev/null <<<0016:01:00.1
check "bound: it is back" ip link show enP22p1s0f1np1
check "a card is removed" nic_command remove left
check_fails "with its devices" "does not exist" ip -n a link show near0
check "and carrier" wait_for 60 carrier_is "0 0" far0 spare
done_testing
