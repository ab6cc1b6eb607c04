#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12 6.12-arm64
# Where a driver has no native XDP, apply --xdp auto leaves the port to the
# kernel's queues, and says so; --xdp on relays there in generic mode, the same
# frames with the same result.
#
#	A eth1 == eth0 B eth1 == eth0 C
#
# Between A and B there is no optical switch, as generic XDP leaves alone what tc
# has redirected, which is how that works; and B's port has fewer queues than A's
# sends by, for which a veth refuses native XDP.

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/frames.sh"

chain_up 3 --no-apply
must ip -n "$A" link del eth1
must ip -n "$B" link del eth0
must ip link add eth1 netns "$A" address "$(port_mac "$A" eth1)" mtu 4200 numtxqueues 2 \
	type veth peer eth0 netns "$B" address "$(port_mac "$B" eth0)" mtu 4200 numrxqueues 1
must ip -n "$A" link set eth1 up
must ip -n "$B" link set eth0 up
for port in eth0 eth1; do
	must on "$B" ethtool -K $port rxvlan off rx-vlan-stag-hw-parse off >/dev/null
done
for server in "${servers[@]}"; do
	must apply "$server" "$plan" >/dev/null
done
hush 9,4791
frames_watch "$C" eth0
trace=/sys/kernel/tracing
mount -t tracefs tracefs $trace 2>/dev/null
echo 1 >$trace/events/xdp/xdp_redirect/enable
at_exit "echo 0 >$trace/events/xdp/xdp_redirect/enable"

paths() {
	on "$B" toctl show --json | jq -r '[.ports | sort_by(.port)[].xdp.program] | join(" ")'
}
xdp() { # off|auto|on
	apply "$B" "$plan" --xdp "$1" 2>"$tmp/err" >/dev/null
}
redirected() { # of all frames so far
	grep -c "xdp_redirect: " $trace/trace
}
to_C() { # MARK OPTION...
	frame "$A" eth1 "$(port_mac "$B" eth0)" "$(node$v "$A")" "$(node$v "$C")" "$@"
}
send_all() { # WAY
	for v in '' 6; do
		to_C "mark-roce$v-$1" --ports 7:4791
		to_C "mark-tag$v-$1" --ports 7:4791 --tag 8100:7:5
		to_C "mark-other$v-$1" --ports 7:9
		to_C "mark-tcp$v-$1" --ports 7:80 --proto 6
	done
	must wait_for 60 eval "((\$(arrived $1 | wc -l) == 8))"
}
arrived() { # WAY
	sed -n "s/-$1 / /p" "$tmp/frames-$C-eth0" | sort
}
relayed() {
	on "$B" toctl show --json | jq -c '[.ports[].counters | ."relay-rx-bytes", ."relay-tx-bytes"]'
}
# Sets counted to what the relay counts for the frames of a way.
count_all() { # WAY
	local before

	before=$(relayed)
	send_all "$1"
	counted=$(jq -nc --argjson a "$before" --argjson b "$(relayed)" '[range(4) | $b[.] - $a[.]]')
}

count_all queues
by_queues=$counted
check "apply --xdp auto" xdp auto
is "leaves the port without native XDP" "$(paths)" "skb xdp"
check "which is said, in the driver's words" \
	grep -q "eth0: relaying without XDP: no native XDP: .*queues" "$tmp/err"
send_all auto
is "frames go through the queues" "$(redirected) $(arrived auto)" "0 $(arrived queues)"

check "apply --xdp on" xdp on
is "takes generic XDP there" "$(paths)" "xdp-generic xdp"
check "without complaint" test ! -s "$tmp/err"
count_all on
is "the same frames, the same result" "$(arrived on)" "$(arrived queues)"
is "counted the same" "$counted" "$by_queues"
is "by generic XDP" "$(on "$B" toctl show --json |
	jq '.ports[] | select(.port == "eth0").counters["relay-xdp-generic-packets"]')" 6
is "all but TCP at XDP, to a driver that takes none from native XDP" "$(redirected)" 6
check "traceroute" grep -q "$(node "$B")" <(on "$A" traceroute -n -q 1 -w 30 "$(node "$C")")

check "apply --xdp auto" xdp auto
is "has no use for it" "$(paths)" "skb xdp"
must xdp on
check "toctl clear" on "$B" toctl clear
is "takes it along" "$(on "$B" ip -j link show | jq '[.[] | select(.xdp)] | length')" 0
done_testing
