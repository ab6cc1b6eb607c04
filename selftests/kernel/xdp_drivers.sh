#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12 7.2
# Processors: 2
# The relay at XDP on NICs whose drivers are stricter than veth: they send what XDP redirects
# only with a program of their own, from processors that have a channel, and in traffic class 0.
# B has two interfaces a port: frames in transit arrive at in0 and leave by out1.
#
#	A a0 ==== out0, in0 B out1, in1 ==== c0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"
# shellcheck source=selftests/nic.sh
. "$lib_dir/nic.sh"
objects=$lib_dir/../build/kernel

must modprobe topoopt_fwd
nic_load
nic_card a domains=16
nic_card b domains=20,22
nic_card c domains=24
nic_cable a:0 b:0
nic_cable b:1 c:0
for server in A B C; do
	must ip netns add $server
	at_exit "ip netns del $server"
	must on $server sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1
	must ip -n $server link set lo up
done
nic_move A enP16p1s0f0np0 a0
nic_move B enP20p1s0f0np0 out0
nic_move B enP20p1s0f1np1 out1
nic_move B enP22p1s0f0np0 in0
nic_move B enP22p1s0f1np1 in1
nic_move C enP24p1s0f0np0 c0
for interface in A:a0 B:{in,out}{0,1} C:c0; do
	must ip -n "${interface%:*}" link set "${interface#*:}" mtu 4200 up
	must on "${interface%:*}" ethtool -K "${interface#*:}" rxvlan off >/dev/null
done

jq -n --arg a "$(nic_mac 16 0)" --arg c "$(nic_mac 24 0)" \
	--arg out0 "$(nic_mac 20 0)" --arg out1 "$(nic_mac 20 1)" \
	--arg in0 "$(nic_mac 22 0)" --arg in1 "$(nic_mac 22 1)" '
	def port($i; $p): {ipv4: "10.201.\($i).\($p)", bandwidth: 100000000000};
	def server($name; $i; $ports): {name: $name, ipv4: "10.200.0.\($i)", ports: $ports};
	# The test NIC counts and redirects frames of all kinds.
	{format: "topoopt-cluster", version: 1, checks: {interval: "off"}, servers: [
		server("A"; 1; [port(1; 1) + {name: "a0", mac: $a}]),
		server("B"; 2; [
			port(2; 1) + {name: "in0", transmit: "out0", mac: $out0, relay_mac: $in0},
			port(2; 2) + {name: "in1", transmit: "out1", mac: $out1, relay_mac: $in1}]),
		server("C"; 3; [port(3; 1) + {name: "c0", mac: $c}])],
	links: [{a: "A:a0", b: "B:in0"}, {a: "B:in1", b: "C:c0"}]}' >"$tmp/cluster.json"
jq -n '{name: "line", servers: 3, mp: [], allreduce: [{group: "0-2", bytes: 1048576}]}' >"$tmp/job.json"
plan=$tmp/plan.json
must toctl plan --cluster "$tmp/cluster.json" --job "$tmp/job.json" --fixed -o "$plan" >/dev/null
lib_read_plan
for server in A B C; do
	must apply $server "$plan" >/dev/null
done
nic_peers A B C

xdp() { # off|auto|on
	apply B "$plan" --xdp "$1" 2>"$tmp/err" >/dev/null
}
said() { # PATTERN: what apply warned of
	grep -qE -- "$1" "$tmp/err" || { cat "$tmp/err"; false; }
}
program() { # INTERFACE: name of its XDP program
	local id

	id=$(ip -n B -j link show "$1" | jq -r '.[0].xdp.prog.id // empty')
	[[ -z $id ]] || bpftool -j prog show id "$id" | jq -r .name
}
# Frames make these numbers: arrived at C, redirected, refused.
relayed() { # NAME N CPU EXPECTED [COUNTER...]
	nic_ask mark c0:rx_packets in0:rx_xdp_redirect out1:tx_xdp_err "${@:5}"
	nic_ask send a0 "$(nic_mac 22 0)" 4192 "n=$2" "cpu=$3" "roce/$(node A)/$(node C)/26"
	# shellcheck disable=SC2086 # several words
	answer_is "$1" "$4" delta $4
}
lost() { # what the port to C did not send
	on B toctl show --json | jq '.ports[] | select(.port == "in1").counters["drop-tx"]'
}

# --- two interfaces a port ------------------------------------------------------

relayed "without XDP, frames in transit go through the kernel's queues" 5 0 "5 0 0"
check "apply --xdp auto" xdp auto
check_fails "without complaint" "" grep -v ": ipv6: " "$tmp/err"
is "the relay is where frames arrive" "$(program in0) $(program in1)" "topoopt_relay topoopt_relay"
is "a program is where they leave" "$(program out0) $(program out1)" "topoopt_pass topoopt_pass"
relayed "native XDP relays to another interface" 20 0 "20 20 0"
processors=$(nproc)
last=$((processors - 1))
relayed "from the last processor, too" 20 $last "20 20 0"
check "once more" xdp auto
relayed "as before" 5 0 "5 5 0"
check "apply --xdp off" xdp off
is "takes all programs away" "$(program in0)$(program in1)$(program out0)$(program out1)" ""
relayed "and leaves frames to the kernel's queues" 5 0 "5 0 0"

must ip -n B link set dev out1 xdpdrv obj "$objects/nic.bpf.o" program nic_look
check "where somebody else has a program" xdp auto
is "it stays" "$(program out1)" nic_look
relayed "and will do" 5 0 "5 5 0"
must xdp off
is "also with --xdp off" "$(program out1)" nic_look
must ip -n B link set dev out1 xdpdrv off

must xdp auto
one=$(plan_edit '(.servers[1].ports[0]) |= (del(.transmit) | .mac = .relay_mac | del(.relay_mac))')
check "a plan without a second interface" apply B "$one"
is "takes its program away" "$(program out0),$(program out1)" ",topoopt_pass"
must apply B "$plan" >/dev/null 2>&1
must xdp auto
must apply B "$(plan_edit '.tables[1].groups[][0].weight = 3')" --stage >/dev/null 2>&1
check_fails "a change that fails" "stage already" apply B "$(plan_edit '.tables[1].groups[][0].weight = 5
	| .servers[1].ports[0] |= (del(.transmit) | .mac = .relay_mac | del(.relay_mac))')"
is "leaves all as it was" "$(program out0) $(program out1)" "topoopt_pass topoopt_pass"
must on B toctl apply --abort >/dev/null

# --- processors without a channel ---------------------------------------------

if ((processors > 1)); then
	must xdp off
	must on B ethtool -L out1 combined 1
	check "processors beyond the channels" xdp auto
	check "are named, with what mends it" \
		said "to in1: out1 has 1 channel, .*processor $last.*: ethtool -L out1 combined $processors"
	before=$(lost)
	relayed "frames from there take the kernel's queues" 20 $last "20 0 0"
	relayed "as all to that port" 20 0 "20 0 0"
	is "and none is lost" "$(lost)" "$before"
	check "doctor says so" grep -qE "warn +in1: xdp: out1 has 1 channel" \
		<(on_sysfs B toctl doctor "$plan" --node B)
	must on B ethtool -L out1 combined "$processors"
	check "with as many channels" xdp auto
	relayed "XDP relays again" 20 $last "20 20 0"

	must on B ethtool -L out1 combined 1
	relayed "where they become fewer, one frame is lost" 20 $last "19 1 1"
	relayed "and no more" 20 $last "20 0 0"
	must on B ethtool -L out1 combined "$processors"
	lost_a_frame="out1 lost a frame that XDP sent .*: ip link set out1 down && ip link set out1 up"
	check "show says so" grep -q "$lost_a_frame" <(on B toctl show ports)
	check "apply --xdp auto" xdp auto
	check "says so" said "to in1: $lost_a_frame"
	own=$(plan_edit '.servers[1].ports[1] |= (del(.transmit) | .mac = .relay_mac | del(.relay_mac))')
	must apply B "$own" >/dev/null 2>&1
	check_fails "another interface lost nothing" "" grep "lost a frame" <(on B toctl show ports)
	must apply B "$plan" >/dev/null 2>&1
	check "nor has this one since" xdp auto
	relayed "XDP relays" 20 $last "20 20 0"
else
	skip "processors beyond the channels" "one processor"
fi

# --- a lossless class -------------------------------------------------------------

if grep -q " dcb_getapp$" /proc/kallsyms; then
	must on B tc qdisc replace dev out1 root mqprio num_tc 8 map 0 1 2 3 4 5 6 7 0 0 0 0 0 0 0 0 hw 1
	must xdp auto
	relayed "XDP sends in class 0" 5 0 "5 5 0 5 0" out1:tx_prio{0,3}_packets
	must on B dcb pfc set dev out1 prio-pfc all:off 3:on
	check "PFC for class 3" xdp auto
	check "is said" said "to in1: out1 has PFC on"
	relayed "RoCEv2 leaves in the class that it arrived in" 20 0 "20 0 0 0 20" out1:tx_prio{0,3}_packets
	check "doctor says so" grep -qE "ok +in1: xdp: out1 has PFC on" \
		<(on_sysfs B toctl doctor "$plan" --node B)
	check "apply --xdp on" xdp on
	check "sends all the same, and warns" said "to in1: out1 has PFC on, .*may get lost"
	relayed "in class 0" 5 0 "5 5 0 5 0" out1:tx_prio{0,3}_packets
	must on B dcb pfc set dev out1 prio-pfc all:off
	must xdp auto
	relayed "without PFC, by XDP again" 5 0 "5 5 0 5 0" out1:tx_prio{0,3}_packets
else
	skip "a lossless class" "a kernel without DCB"
fi

# --- leaving ------------------------------------------------------------------------

check "clear" on B toctl clear
is "takes all programs away" "$(program in0)$(program in1)$(program out0)$(program out1)" ""
done_testing
