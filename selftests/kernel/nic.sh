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
# shellcheck source=selftests/nic.sh
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

nic_peers a b

declare -A server_of=([near0]=a [near1]=a [other]=a [v0]=a [far0]=b [far1]=b [spare]=b [v1]=b)
counter() { # DEVICE NAME
	nic_ask value "$1:$2"
	echo "$nic_ask"
}
carrier() { # NAME EXPECTED DEVICE...
	answer_is "$1" "$2" links "${@:3}"
}

# --- cables and carrier -----------------------------------------------------

for device in "${!server_of[@]}"; do
	must ip -n "${server_of[$device]}" link set "$device" up
done
carrier "no carrier without a cable" "0 0 0 0" near0 near1 far0 far1
nic_cable left:0 right:1
nic_cable right:0 left:1
carrier "carrier with one" "1 1 1 1 1 1" near0 near1 far0 far1 other spare
check_fails "a port takes one cable" . nic_command cable left:0 left:1
nic_cut right:1
carrier "a cut darkens all functions at both ends" "0 0 0 0 1 1" near0 near1 far0 far1 other spare
nic_cable left:0 right:1
must ip -n b link set far0 down
carrier "a port shines while one of its functions is up" "1 1 1" near0 near1 far1
must ip -n b link set far1 down
carrier "and no longer" "0 0" near0 near1
must ip -n b link set far0 up
must ip -n b link set far1 up
carrier "a port shines again" "1 1 1 1" near0 near1 far0 far1

# --- PCI, names, speed ------------------------------------------------------

pci=/sys/bus/pci/devices/0010:01:00.0
is "PCI address" "$(readlink -f $pci)" /sys/devices/pci0010:00/0010:00:00.0/0010:01:00.0
is "its link" "$(cat $pci/current_link_{speed,width} | paste -sd ' ')" "32.0 GT/s PCIe 4"
is "that of the root port" "$(cat $pci/../current_link_{speed,width} | paste -sd ' ')" "32.0 GT/s PCIe 4"
is "ethtool -i" "$(on a ethtool -i near0 | sed -n 's/^\(driver\|bus-info\): //p' | paste -sd ' ')" \
	"topoopt_nic 0010:01:00.0"
attributes() { # DEVICE FILE...: of one that discovery reads
	local files=("${@:2}")

	on_sysfs "${server_of[$1]}" cat "${files[@]/#//sys/class/net/$1/}" | paste -sd ' '
}
read -r card _ < <(attributes near0 phys_switch_id)
check "a card's switch id" test -n "$card"
is "what sysfs has of a function" "$(attributes near0 phys_switch_id phys_port_name address speed)" \
	"$card p0 $near0 200000"
is "of its sibling" "$(attributes near1 phys_switch_id phys_port_name address speed)" \
	"$card p0 $near1 200000"
is "of the other port's" "$(attributes other phys_switch_id phys_port_name)" "$card p1"
check "another card has another switch id" test "$(attributes far0 phys_switch_id)" != "$card"
is "the network device is its PCI function's" \
	"$(on_sysfs a readlink -f /sys/class/net/near0/device)" "$(readlink -f $pci)"
check "devlink has the function" devlink dev show pci/0010:01:00.0
check "and its port" grep -q "flavour physical port 1" <(devlink port show pci/0010:01:00.1/1)
must on a ethtool -s near0 speed 100000 autoneg off
is "speed is the port's" "$(attributes near1 speed)" 100000
is "hw-tc-offload is off" "$(on a ethtool -k near0 | sed -n 's/^hw-tc-offload: //p')" off
must on a ethtool -K near0 hw-tc-offload on
is "and can be switched on" "$(on a ethtool -k near0 | sed -n 's/^hw-tc-offload: //p')" on
must on a dcb pfc set dev near0 prio-pfc 3:on
check "PFC is the port's" grep -q "3:on" <(on a dcb pfc show dev near1 prio-pfc)
must on a dcb pfc set dev near0 prio-pfc all:off
check_fails "and can be switched off" "" grep -q ":on" <(on a dcb pfc show dev near1 prio-pfc)

# --- what it shares with veth -----------------------------------------------

nic_basics veth a v0 b v1 10.2.0
nic_basics nic a near0 b far0 10.1.0
nic_chooses nic a near0 b far0
nic_chooses_vlans nic a near0 b far0
nic_runs_xdp veth a v0 b v1 10.2.0.2
nic_runs_xdp nic a near0 b far0 10.1.0.2
must ip -n a link set near0 mtu 4200
must ip -n b link set far0 mtu 4200
nic_trait 20 1 linear 0
nic_trait 16 0 linear 0
nic_tcp "headers alone in the linear part" a b 10.1.0.2
answer_is "of datagrams, too" ok datagrams a b 10.1.0.2 4200 5
must on a ethtool -K near0 tso off tx off >/dev/null
nic_tcp "nothing offloaded to the sender" a b 10.1.0.2
must on a ethtool -K near0 tso on tx on >/dev/null
must on b ethtool -K far0 rx off
nic_tcp "nor to the receiver" a b 10.1.0.2
must on b ethtool -K far0 rx on

# --- several functions a port -------------------------------------------------

# Frames make these numbers: near0, near1, far0, far1, port of near, port of far.
one() { # NAME DEVICE DESTINATION EXPECTED [WORD...]
	nic_ask mark {near0,near1,far0,far1}:rx_packets {near1,far0}:rx_packets_phy
	nic_ask send "$2" "$3" 60 cpu=0 "${@:5}"
	# shellcheck disable=SC2086 # several words
	answer_is "$1" "$4" delta $4
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
before=$(counter far0 rx_steer_missed_packets)
one "a VLAN that was not added is dropped" near0 "$far0" "0 0 0 0 0 1" $vlan7 88b5
is "and counted" "$(counter far0 rx_steer_missed_packets)" $((before + 1))
must on b ethtool -K far0 rx-vlan-filter off
one "without the filter it arrives" near0 "$far0" "0 0 1 0 0 1" $vlan7 88b5
must on b ethtool -K far0 rx-vlan-filter on
must ip -n a link add link near0 name near0.7 type vlan id 7
must ip -n b link add link far0 name far0.7 type vlan id 7
nic_addresses a near0.7 b far0.7 10.7.0
must ip -n a link set near0.7 up
must ip -n b link set far0.7 up
one "one that was added arrives" near0 "$far0" "0 0 1 0 0 1" $vlan7 88b5
nic_tcp "TCP in a VLAN" a b 10.7.0.2
must on a ethtool -K near0 txvlan off rxvlan off
must on b ethtool -K far0 txvlan off rxvlan off
nic_tcp "with tags in software" a b 10.7.0.2

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
map_of() { # DEVICE: id of the map of its program
	local id

	id=$(ip -n "${server_of[$1]}" -j link show "$1" | jq '.[0].xdp.prog.id')
	bpftool -j prog show id "$id" | jq '.map_ids[0]'
}
check_fails "a program without frags needs a small MTU" . attach far0 nic_plain
must ip -n b link set far0 mtu 1500
check "which it has now" attach far0 nic_plain
check_fails "and keeps" . ip -n b link set far0 mtu 4200
must attach far0 off
must ip -n b link set far0 mtu 4200
must attach far0 nic_look
map=$(map_of far0)
for linear in 0 64 128 4096; do
	nic_trait 20 1 linear $linear
	answer_is "XDP with $linear bytes in the linear part" ok datagrams a b 10.1.0.2 4200 2
	is "the program sees that, and the rest in frags" \
		"$(bpftool -j map dump id "$map" | jq -r '[.[].formatted.value] | "\(.[0]) \(.[1])"')" \
		"$((linear < 3520 ? linear : 3520)) 4214"
	nic_tcp "and TCP" a b 10.1.0.2
done
must attach far0 off
must attach far0 nic_return
one "XDP_TX" near0 "$far0" "1 0 1 0 1 1"
is "is counted" "$(counter far0 rx_xdp_tx_xmit)" 1

# Frames that arrive at far0 leave by spare.
must attach far0 nic_redirect
must ip -n b link set spare mtu 4200
spare=$(ip -n b -j link show spare | jq '.[0].ifindex')
must bpftool map update id "$(map_of far0)" key 2 0 0 0 \
	value $((spare & 255)) $((spare >> 8)) 0 0
redirected() { # NAME PROCESSOR EXPECTED: sent, refused, on the wire, in traffic class 0
	nic_ask mark spare:{tx_xdp_xmit,tx_xdp_err,tx_packets_phy,tx_prio0_packets}
	nic_ask send near0 "$far0" 2000 "cpu=$2"
	# shellcheck disable=SC2086 # several words
	answer_is "$1" "$3" delta $3
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
nic_ask mark spare:tx_prio{0,1}_packets
nic_ask send spare "$near1" 60 priority=4
answer_is "mqprio: a packet with priority is of class 1" "0 1" delta 0 1
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

datagrams() { # NUMBER
	nic_ask datagrams a b 10.1.0.2 100 "$1"
}
statistics() { # of the device, and of ethtool
	echo "$(ip -n b -s -j link show far0 | jq '.[0].stats64.rx.packets')" "$(counter far0 rx_packets)" \
		"$(counter far0 rx_packets_phy)"
}
renewed() { [[ $(statistics) == "$now" ]]; }
nic_trait 20 1 linear 4096
datagrams 1
now=$(statistics)
nic_trait 20 1 stats_ms 3600000
check "statistics of the last renewal" wait_for 60 renewed
datagrams 3
is "stay" "$(statistics)" "$now"
read -r packets _ phy <<<"$now"
now="$((packets + 3)) $((packets + 3)) $((phy + 3))"
nic_trait 20 1 stats_ms 200
check "until the next one" wait_for 60 renewed
nic_trait 20 1 stats_ms 0
datagrams 2
is "or are fresh" "$(counter far0 rx_packets)" $((packets + 5))
must on b ethtool -G far0 rx 512
is "new queues keep counting" "$(counter far0 rx_packets)" $((packets + 5))
nic_trait 20 1 reset_stats 1
must on b ethtool -G far0 rx 256
is "or begin at 0" "$(counter far0 rx_packets)" 0
check "which the port does not" test "$(counter far0 rx_packets_phy)" -gt 0
datagrams 2
is "and count" "$(counter far0 rx_packets)" 2
must on b ethtool -G far0 rx 1024

# --- drops --------------------------------------------------------------------

must ip -n b link set far0 mtu 1500
nic_ask mark far0:rx_oversize_pkts_sw_drop
nic_ask send near0 "$far0" 4000
answer_is "larger than the receiver's MTU: dropped and counted" 1 delta 1
must ip -n b link set far0 mtu 4200

# --- PCIe -----------------------------------------------------------------------

# A link that has a rate of 1 bit/s carries 64 KiB, 16 frames, and no more in our time.
slow() { # DOMAIN|CARD from_host|to_host
	nic_rate "$1" "$2" 1
}
burst() { # DEVICE DESTINATION N
	nic_ask send "$1" "$2" 4096 "n=$3"
	must test "$nic_ask" = ok
}
for device in near1 other far1 spare; do
	must ip -n "${server_of[$device]}" link set "$device" mtu 4200
done
spare=$(nic_mac 20 0) far1=02:00:00:00:00:99
sent="near0:tx_packets other:tx_packets near1:tx_packets"
came="far0:rx_packets spare:rx_packets far1:rx_packets"
nic_ask mark "$sent"
slow 16 from_host
burst near0 "$far0" 10
burst other "$spare" 10
burst near1 "$far1" 20
answer_is "two functions share their link to the card, another has its own" "10 6 20" delta 10 6 20
nic_rate 16 from_host 0
answer_is "what waits goes on with the rate" "10 10 20" delta 10 10 20
nic_ask mark "$sent"
slow left from_host
burst near0 "$far0" 6
burst other "$spare" 6
burst near1 "$far1" 6
answer_is "all functions share what the host gives" "6 6 4" delta 6 6 4
nic_rate left from_host 0
answer_is "and get the rest" "6 6 6" delta 6 6 6
nic_ask mark "$came" far0:rx_discards_phy
slow 20 to_host
burst near0 "$far0" 10
burst other "$spare" 10
burst near1 "$far1" 20
answer_is "two functions share their link to the host, another has its own" "10 6 20 0" delta 10 6 20 0
# 1 MiB waits in the card
burst near0 "$far0" 300
answer_is "what has no room in the card is dropped" "10 6 20 48" delta 10 6 20 48
nic_rate 20 to_host 0
answer_is "the rest arrives" "262 10 20 48" delta 262 10 20 48
nic_ask mark "$came"
slow right to_host
burst near0 "$far0" 6
burst other "$spare" 6
burst near1 "$far1" 6
answer_is "all functions share what the host takes" "6 6 4" delta 6 6 4
nic_rate right to_host 0
answer_is "and get the rest" "6 6 6" delta 6 6 6

# Rates as on a DGX Spark, by a thousand.
nic_addresses a other b spare 10.3.0
nic_addresses a near1 b far1 10.4.0
for domain in 16 18 20 22; do
	nic_rate $domain from_host 109000000
	nic_rate $domain to_host 109000000
done
for card in left right; do
	nic_rate $card from_host 192000000
	nic_rate $card to_host 214400000
done
at_least() { # NAME MILLISECONDS ADDRESS...: 500 kB to each take so long, less a burst
	local answer there back

	nic_ask tcp a b 500000 "${@:3}"
	read -r answer there back <<<"$nic_ask"
	is "$1: TCP" "$answer" ok
	check "$1: not faster ($there and $back ms)" test "$there" -ge "$2" -a "$back" -ge "$2"
}
at_least "one function has the rate of its link" 31 10.1.0.2
at_least "two share it" 68 10.1.0.2 10.3.0.2
at_least "those of another link have another one" 31 10.1.0.2 10.4.0.2
for domain in 16 18 20 22; do
	nic_rate $domain from_host 0
	nic_rate $domain to_host 0
done
at_least "three share what the host gives and takes" 58 10.1.0.2 10.3.0.2 10.4.0.2
for card in left right; do
	nic_rate $card from_host 0
	nic_rate $card to_host 0
done

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
carrier "and carrier" "0 0" far0 spare
done_testing
