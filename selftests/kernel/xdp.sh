#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12 6.12-arm64 7.2
# Timeout: 600
# The relay at XDP: same frames, same result as through the kernel's queues, and
# what XDP must not do is done by the relay behind it.
#
#	A eth0 == eth0 R eth1 == eth0 T		weight 2
#	               R eth2 == eth1 T		weight 1

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/double.sh"
. "$lib_dir/frames.sh"
. "$lib_dir/double_frames.sh"

double_up '[{"port": "eth1", "weight": 2}, {"port": "eth2"}]'
objects=$lib_dir/../build

# On a fibre, a frame has its tag and its checksums; NICs take what XDP sends.
must on "$A" ethtool -K eth0 tx off >/dev/null
for wire in $(ip -n ocs -br link | sed -n 's/^\(w[^@ ]*\).*/\1/p'); do
	must on ocs ethtool -K "$wire" txvlan off gro on >/dev/null
done
strip() { # on|off
	local port

	for port in eth0 eth1 eth2; do
		on "$R" ethtool -K $port rxvlan "$1" rx-vlan-stag-hw-parse "$1" >/dev/null
	done
}
paths() {
	on "$R" toctl show --json | jq -r '[.ports[].xdp.program] | join(" ")'
}
xdp() { # off|auto|on [FILE-FOR-STDERR]
	apply "$R" "$plan" --xdp "$1" 2>"${2:-$tmp/err}" >/dev/null
}
# Frames that R has redirected, of all that arrived at a port.
redirected() {
	on "$R" ethtool -S eth0 | awk '/rx_queue.*xdp_redirect/ { n += $2 } END { print n + 0 }'
}

# --- switching it on and off ------------------------------------------------

is "at first no XDP" "$(paths)" "skb skb skb"
strip on
check "tags that a NIC takes out would be lost" xdp auto "$tmp/strip"
check "which is said, and how to mend it" grep -q "ethtool -K eth0 rxvlan off" "$tmp/strip"
is "and nothing is attached" "$(paths)" "skb skb skb"
strip off
must on "$R" ethtool -K eth1 rx-vlan-stag-hw-parse on
check "those of 802.1ad, too" xdp auto "$tmp/strip"
check "which is said of the port that takes them" \
	grep -q "eth1: .*: ethtool -K eth1 rx-vlan-stag-hw-parse off" "$tmp/strip"
is "and nothing is attached to that" "$(paths)" "xdp skb xdp"
must on "$R" ethtool -K eth1 rx-vlan-stag-hw-parse off
must xdp off
check "apply --xdp auto" xdp auto
is "all ports at XDP" "$(paths)" "xdp xdp xdp"
check "without complaint" test ! -s "$tmp/err"
check "doctor says so" grep -q "eth1: path: native XDP relayed [0-9]* of [0-9]* packets" \
	<(on_sysfs "$R" toctl doctor "$plan" --node "$R")
before=$(on "$R" ip -j link show eth0 | jq '.[0].xdp.prog.id')
check "apply --xdp on replaces the program" xdp on
check "by another one" test "$(on "$R" ip -j link show eth0 | jq '.[0].xdp.prog.id')" != "$before"
check "apply without --xdp" apply "$R" "$plan"
is "leaves it" "$(paths)" "xdp xdp xdp"
check_fails "a program holds the module" "in use" rmmod topoopt_fwd
check "apply --xdp off" xdp off
is "no XDP again" "$(paths)" "skb skb skb"
unit=$lib_dir/../tools/systemd/topoopt@.service
caps=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr '[:upper:]' '[:lower:]' | tr -d ' ')
as_unit() { # COMMAND...
	on "$R" setpriv --no-new-privs --bounding-set "-all${caps//cap_/,+}" "$@"
}
check "apply --xdp auto as topoopt@.service may" as_unit toctl apply "$plan" --node "$R" --xdp auto
is "it is enough for XDP" "$(paths)" "xdp xdp xdp"
without_net_admin() { # COMMAND...
	on "$R" setpriv --bounding-set -net_admin "$@"
}
check_fails "apply --xdp off without CAP_NET_ADMIN fails" "Operation not permitted" \
	without_net_admin toctl apply "$plan" --node "$R" --xdp off
must without_net_admin toctl apply "$plan" --node "$R" --xdp auto 2>"$tmp/err"
check "apply --xdp auto says what became of it" \
	grep -q "Operation not permitted; some ports still relay by XDP" "$tmp/err"
check "apply --xdp off" as_unit toctl apply "$plan" --node "$R" --xdp off
is "and to end it" "$(paths)" "skb skb skb"
must on "$R" ip link set eth1 xdpdrv obj "$objects/bench/relay_xdp.bpf.o" program fib
xdp on
is "a program of somebody else stays" "$(paths)" "xdp foreign-xdp xdp"
check "which is said" grep -q "eth1: .*another XDP program" "$tmp/err"
must on "$R" ip link set eth1 xdp off

# --- the same frames, the same result -----------------------------------------

accounted() { # frames that the accounting point has seen leave
	grep -c "topoopt_account: .* out=[1-9][0-9]* src=0 dst=2 .* packets=1 " $trace/trace
}

trace=/sys/kernel/tracing
mount -t tracefs tracefs $trace 2>/dev/null
frames_watch "$T" eth0
frames_watch "$T" eth1
hush 9,4791

must xdp off
zero=$(counters)
send_all skb
one=$(counters)
must xdp auto
start=$(redirected)
send_all auto
two=$(counters)
auto=$(($(redirected) - start))
must xdp on
echo 1 >$trace/events/topoopt/topoopt_account/enable
start=$(redirected)
send_all on
three=$(counters)
on=$(($(redirected) - start))
echo 0 >$trace/events/topoopt/topoopt_account/enable

is "all frames arrive" "$(arrived skb | wc -l) $(arrived auto | wc -l) $(arrived on | wc -l)" "172 172 172"
is "RoCEv2 at XDP, the rest not: the same, by the same next hops" "$(arrived auto)" "$(arrived skb)"
is "all but TCP at XDP: likewise" "$(arrived on)" "$(arrived skb)"
is "auto redirects RoCEv2" $auto 80
check "on redirects all but TCP and oddities ($on)" test $on -ge 120 -a $on -le 132
is "both are counted the same as without XDP" \
	"$(difference "$one" "$two") $(difference "$two" "$three")" \
	"$(difference "$zero" "$one") $(difference "$zero" "$one")"
is "and accounted, each frame once" "$(accounted)" 172

# --- what XDP must leave ------------------------------------------------------

hops() { on "$A" traceroute -n -q 1 -w 30 "$@" | awk 'NR > 1 { print $2 }' | paste -sd ' '; }
is "traceroute" "$(hops "$(node "$T")")" "$(node "$R") $(node "$T")"
is "traceroute, IPv6" "$(hops -6 "$(node6 "$T")")" "$(node6 "$R") $(node6 "$T")"
too_big() {
	on "$R" toctl show --json | jq '.counters["drop-mtu"]'
}
five_too_big() { (($(too_big) - big >= 5)); }
must ip -n "$R" link set eth1 mtu 1400
must ip -n "$R" link set eth2 mtu 1400
check "too big: fragmentation needed" grep -q "From $(node "$R").*mtu = 1400" \
	<(on "$A" ping -c 1 -W 30 -M "do" -s 3000 "$(node "$T")")
check "too big, IPv6" grep -q "From $(node6 "$R").*mtu=1400" \
	<(on "$A" ping -c 1 -W 30 -M "do" -s 3000 "$(node6 "$T")")
start=$(redirected)
big=$(too_big)
on "$A" python3 "$lib_dir/kernel/send.py" raw eth0 "$(port_mac "$R" eth0)" \
	"$(node "$A")" "$(node "$T")" 4791 3000 5 >/dev/null
check "too big: RoCEv2 is dropped" wait_for 60 five_too_big
is "and not redirected" $(($(redirected) - start)) 0
must ip -n "$R" link set eth1 mtu 4200
must ip -n "$R" link set eth2 mtu 4200
must on "$A" ip route flush cache
must on "$A" ip -6 route flush cache

start=$(redirected)
must on "$R" ethtool -K eth0 rx-vlan-stag-hw-parse on >/dev/null
frame "$A" eth0 "$(port_mac "$R" eth0)" "$(node "$A")" "$(node "$T")" mark-stag --ports 8:4791
check "from a NIC that takes out 802.1ad tags, a frame arrives" \
	wait_for 60 grep -qs '^mark-stag ' "$tmp/frames-$T-eth0" "$tmp/frames-$T-eth1"
is "past XDP" $(($(redirected) - start)) 0
must on "$R" ethtool -K eth0 rx-vlan-stag-hw-parse off >/dev/null
start=$(redirected)
check "frames in many pieces" on "$A" ping -c 3 -i 0.1 -W 30 -M "do" -s 4000 "$(node6 "$T")"
check "are redirected, too" test $(($(redirected) - start)) -eq 3
start=$(redirected)
frame "$A" eth0 "$(port_mac "$R" eth1)" "$(node "$A")" "$(node "$T")" mark-stranger
frame "$A" eth0 "$(port_mac "$R" eth0)" "$(node "$A")" "$(node "$T")" mark-friend
check "a frame to another MAC address is not relayed" eval \
	'frame_lost "$T" eth0 mark-stranger mark-friend || frame_lost "$T" eth1 mark-stranger mark-friend'
in_netns "$T" socat -u TCP-LISTEN:7000 OPEN:/dev/null &
server=$!
wait_listen "$T" 7000
check "TCP passes" on "$A" bash -c "head -c 300000 /dev/zero | timeout 60 socat -u - TCP:$(node "$T"):7000" ||
	kill "$server"
wait "$server"

# --- links that go dark -------------------------------------------------------

"$fabric" darken "$R:eth1"
send_dark() {
	local port

	for port in {10..29}; do
		frame "$A" eth0 "$(port_mac "$R" eth0)" "$(node "$A")" "$(node "$T")" \
			"mark-dark$port" --ports "$port:4791"
	done
	wait_for 60 eval "((\$(grep -c '^mark-dark' $tmp/frames-$T-eth1) == 20))"
}
start=$(redirected)
check "a dead port's flows move at once" send_dark
is "at XDP" "$(($(redirected) - start))" 20
"$fabric" light "$R:eth1"

backup=$(plan_edit '(.tables[] | select(.server == $r).groups[1]) =
	[{"port": "eth1"}, {"port": "eth2", "backup": true}]' --arg r "$R")
must apply "$R" "$backup" >/dev/null
lit() { # after it was dark for long enough that the neighbour has to be trusted again
	must wait_for 60 eval '! heard'
	"$fabric" light "$R:eth1"
	check "the neighbour is heard again" wait_for 60 heard
}
heard() {
	[[ $(on "$R" python3 "$lib_dir/kernel/continuity.py" get eth1 reason) == heard ]]
}
backups() { on "$R" toctl show --json | jq '.counters["backup-packets"]'; }
"$fabric" darken "$R:eth1"
before=$(backups)
start=$(redirected)
frame "$A" eth0 "$(port_mac "$R" eth0)" "$(node "$A")" "$(node "$T")" mark-backup --ports 7:4791
check "a backup takes over" frame_arrives "$T" eth1 mark-backup
is "at XDP, and is counted" "$(($(redirected) - start)) $(($(backups) - before))" "1 1"
lit

# --- a driver that drops --------------------------------------------------------

# Only the driver knows that its other end takes no more than this.
wire=$(awk -v port="$R:eth1" '$1 == port { print $2 }' /run/topoopt-fabric/ports)
dropped() {
	on "$R" toctl show --json | jq '.ports[] | select(.port == "eth1").counters["drop-tx"]'
}
to_T() { # MARK NAME [OPTION...]
	start=$(redirected)
	frame "$A" eth0 "$(port_mac "$R" eth0)" "$(node "$A")" "$(node "$T")" "$1" \
		--ports 8:4791 "${@:3}"
	check "$2" frame_arrives "$T" eth0 "$1"
}
must apply "$R" "$backup" --xdp auto >/dev/null
must ip -n ocs link set "$wire" mtu 1000
to_T mark-small "what fits arrives"
is "at XDP" $(($(redirected) - start)) 1
on "$A" python3 "$lib_dir/kernel/send.py" raw eth0 "$(port_mac "$R" eth0)" \
	"$(node "$A")" "$(node "$T")" 4791 1100 1 >/dev/null
check "a frame that the driver drops is counted" wait_for 60 eval '(($(dropped) == 1))'
to_T mark-lossy "the next one arrives"
is "through the kernel's queues" $(($(redirected) - start)) 0
must ip -n ocs link set "$wire" mtu 4200
"$fabric" darken "$R:eth1"
lit
to_T mark-mended "when the link was down and up, another one"
is "at XDP again" $(($(redirected) - start)) 1

# What is for a VLAN device is left to it.
must ip -n "$R" link add link eth0 name eth0.7 type vlan id 7
must ip -n "$R" link set eth0.7 up
to_T mark-bare "where a port has a VLAN device, a frame without a tag arrives"
is "at XDP" $(($(redirected) - start)) 1
to_T mark-other "and one of another VLAN" --tag 8100:8:3
is "at XDP, too" $(($(redirected) - start)) 1
received() {
	on_sysfs "$R" cat /sys/class/net/eth0.7/statistics/rx_packets
}
seen=$(received)
start=$(redirected)
frame "$A" eth0 "$(port_mac "$R" eth0)" "$(node "$A")" "$(node "$T")" mark-device \
	--ports 8:4791 --tag 8100:7:3
check "the device's own gets there" wait_for 60 eval "((\$(received) > $seen))"
is "past XDP" $(($(redirected) - start)) 0
must ip -n "$R" link del eth0.7
must apply "$R" "$plan" >/dev/null

# --- lookups by programs of others ---------------------------------------------

ttl_of() { # MARK: of the frame that arrived
	sed -n "s/^$1 .*ttl=\([0-9]*\).*/\1/p" "$tmp/frames-$T-eth0" "$tmp/frames-$T-eth1"
}
look_up() { # MARK
	frame "$A" eth0 "$(port_mac "$R" eth0)" "$(node "$A")" "$(node "$T")" "$1" \
		--ttl 33 --ports "11:4791"
	wait_for 60 eval "[[ -n \$(ttl_of $1) ]]"
}
must xdp off
look_up mark-own
is "the relay takes one off the TTL" "$(ttl_of mark-own)" 32
must on "$R" ip link set eth0 xdpdrv obj "$objects/kernel/lookup.bpf.o" program lookup_xdp
look_up mark-xlookup
is "topoopt_xdp_lookup()" "$(ttl_of mark-xlookup)" 33
must on "$R" ip link set eth0 xdp off
must on "$R" tc qdisc add dev eth0 clsact
must on "$R" tc filter add dev eth0 ingress bpf da obj "$objects/kernel/lookup.bpf.o" program lookup_tc
look_up mark-tlookup
is "topoopt_skb_lookup()" "$(ttl_of mark-tlookup)" 33
must on "$R" tc qdisc del dev eth0 clsact

# --- leaving ----------------------------------------------------------------------

must xdp auto
check "clear" on "$R" toctl clear
is "takes the program along" "$(on "$R" ip -j link show | jq '[.[] | select(.xdp)] | length')" 0
must apply "$R" "$plan" --xdp auto >/dev/null
must ip -n "$R" link del topo0
check_fails "a program left on a port holds the module" "in use" rmmod topoopt_fwd
must on "$R" toctl clear >/dev/null
check "until it is cleared" rmmod topoopt_fwd
done_testing
