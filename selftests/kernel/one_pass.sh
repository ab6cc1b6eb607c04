#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Plain packets are relayed in one pass, which the topoopt_relay tracepoint turns
# off. Both ways do the same to a packet, send it by the same next hop and count
# it alike.
#
#	A eth0 == eth0 R eth1 == eth0 T		weight 2
#	               R eth2 == eth1 T		weight 1

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/double.sh"
. "$lib_dir/frames.sh"
. "$lib_dir/double_frames.sh"

double_up '[{"port": "eth1", "weight": 2}, {"port": "eth2"}]'
trace=/sys/kernel/tracing
mount -t tracefs tracefs $trace 2>/dev/null

frames_watch "$T" eth0
frames_watch "$T" eth1
hush 9,4791

zero=$(counters)
send_all pass
one=$(counters)
echo >$trace/trace
echo 1 >$trace/events/topoopt/topoopt_relay/enable
send_all full
two=$(counters)
echo 0 >$trace/events/topoopt/topoopt_relay/enable

is "all frames arrive" "$(arrived pass | wc -l)" 172
check "by both next hops" grep -q "^$T-eth1" <(arrived pass)
is "the same as through all of the relay, by the same next hops" \
	"$(arrived pass)" "$(arrived full)"
is "and counted the same" "$(difference "$zero" "$one")" "$(difference "$one" "$two")"
is "one hop less" "$(arrived pass | sed -n 's/.*mark-4ttl ttl=\([0-9]*\).*/\1/p')" 1
is "the tracepoint saw the second half" \
	"$(grep -c 'topoopt_relay: .* eth0 -> ' $trace/trace)" 172
done_testing
