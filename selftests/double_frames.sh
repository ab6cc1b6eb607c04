# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The same 172 frames from A by R to T as often as wanted, to hold one way through
# the relay against another; source it after double.sh and frames.sh, watch both
# ports of T.
#
#	before=$(counters); send_all fast; fast=$(arrived fast)
#	difference "$before" "$(counters)"

: "${lib_dir:?}" "${tmp:?}"

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
	wait_for 60 all_arrived "$way"
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
