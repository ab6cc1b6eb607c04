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

double_up '[{"port": "eth1", "weight": 2}, {"port": "eth2"}]'
trace=/sys/kernel/tracing
mount -t tracefs tracefs $trace 2>/dev/null

# The queue pair of RoCEv2 is where the last three bytes of "mark-xyz" are.
send_all() { # WAY
	local way=$1 mac src dst name port

	mac=$(port_mac "$R" eth0)
	for name in 4 6; do
		[[ $name == 4 ]] && src=$(node "$A") dst=$(node "$T")
		[[ $name == 6 ]] && src=$(node6 "$A") dst=$(node6 "$T")
		to_T() { # NAME OPTION...
			frame "$A" eth0 "$mac" "$src" "$dst" "mark-$name$1-$way" "${@:2}"
		}
		for port in {10..29}; do
			to_T "$port" --ports "$port:4791"	# one UDP port, many queue pairs
			to_T "u$port" --ports "49152:4791"
			to_T "o$port" --ports "$port:9"
			to_T "t$port" --ports "$port:80" --proto 6
		done
		to_T ttl --ttl 2
		to_T tos --tos 0x6b
		to_T tag --tag 8100:7:5
		to_T prio --tag 8100:0:3 --tos 0x20
		to_T raw --proto 47
		to_T min --size 40
	done
	wait_for 30 all_arrived "$way"
}

arrived() { # WAY
	sed "s|^|$T-eth0 |" "$tmp/frames-$T-eth0" | cat - <(sed "s|^|$T-eth1 |" "$tmp/frames-$T-eth1") |
		sed -n "s/-$1 / /p" | sort
}

all_arrived() { # WAY
	(($(arrived "$1" | wc -l) == 172))
}

# What R has relayed from A to T so far, per port.
counters() {
	on "$R" toctl show --json | jq '[.ports[] |
		(if .port == "eth0" then "relay-rx" else "relay-tx" end) as $way |
		.counters | with_entries(select(.key | startswith($way)))]'
}

difference() { # BEFORE AFTER
	jq -c -n --argjson a "$1" --argjson b "$2" '[range($a | length) as $i |
		$a[$i] | with_entries(.value = $b[$i][.key] - .value)]'
}

frames_watch "$T" eth0
frames_watch "$T" eth1
hush 9,4791

zero=$(counters)
send_all pass
one=$(counters)
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
