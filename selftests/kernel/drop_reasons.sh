#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What dropwatch and others see of a relay's drops: reasons that tell the counters
# apart.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/frames.sh"

chain_up 3
hush 9
to_c=("$A" eth1 "$(port_mac "$B" eth0)" "$(node "$A")" "$(node "$C")")
to_c6=("$A" eth1 "$(port_mac "$B" eth0)" "$(node6 "$A")" "$(node6 "$C")")
trace=/sys/kernel/tracing/instances/drops
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
must mkdir "$trace"
at_exit "rmdir $trace"
# The drops of the module: from 6.2 on, the function is named.
case $(uname -r) in
6.1.*) where='' ;;
*) where=' location=topoopt_' ;;
esac
must tee "$trace/events/skb/kfree_skb/enable" <<<1 >/dev/null

counter() { # NAME
	ethtool_counter "$B" topo0 "$1"
}
counted() { # NAME COUNT
	(($(counter "$1") == $2))
}
reasons() { # of drops since the last time, each once
	grep "$where" "$trace/trace" | sed -n 's/.* reason: //p' | sort -u | paste -sd ' '
	echo >"$trace/trace"
}
# One test: sends one frame that is counted, and compares reasons; on 6.1 other drops
# of the machine may be among them.
drop() { # NAME COUNTER REASON FRAME...
	local before got

	before=$(counter "$2")
	reasons >/dev/null
	frame "${@:4}"
	wait_for 60 counted "$2" $((before + 1)) || { not_ok "$1 is counted"; return; }
	got=$(reasons)
	[[ $where ]] || got=$(grep -ow "$3" <<<"$got")
	is "$1: $2 is $3" "$got" "$3"
}

drop "wrong checksum" drop_header IP_CSUM "${to_c[@]}" mark-checksum --bad-checksum
drop "wrong length" drop_header PKT_TOO_SMALL "${to_c[@]}" mark-long --length 500
drop "IPv6, wrong length" drop_header PKT_TOO_SMALL "${to_c6[@]}" mark-long6 --length 500
drop "TTL of 1" drop_ttl IP_INHDR "${to_c[@]}" mark-ttl --ttl 1
drop "IPv6, hop limit of 1" drop_ttl IP_INHDR "${to_c6[@]}" mark-ttl6 --ttl 1
must ip -n "$B" link set eth1 mtu 1400
drop "larger than the MTU" drop_mtu PKT_TOO_BIG "${to_c[@]}" mark-big --size 2000
must ip -n "$B" link set eth1 down
drop "port down" drop_no_port DEV_READY "${to_c[@]}" mark-port
must ip -n "$B" link set eth1 up
# C says nothing any more, and has light
must tc -n "$C" qdisc add dev eth0 clsact
must tc -n "$C" filter add dev eth0 egress matchall action drop
silent() {
	[[ $(on "$B" python3 "$lib_dir/kernel/continuity.py" get eth1 reason) == silent ]]
}
check "C is silent" wait_for 60 silent
drop "silent neighbour" drop_silent NEIGH_FAILED "${to_c[@]}" mark-silent
must ip -n "$B" link set topo0 down
drop "device down" drop_down IP_INNOROUTES "${to_c[@]}" mark-down

done_testing
