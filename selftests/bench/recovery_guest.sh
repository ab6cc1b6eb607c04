#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The part of recovery.sh inside the guest: prints a line of JSON for each path.
#
#	recovery_guest.sh PLAN [ROUNDS]

. "$(dirname "$(realpath "$0")")/../lib.sh"

rounds=${2:-1}
fabric_up "$1" >&2
links=$(jq -r '.links[] | "\(.a) \(.b)"' "$plan")
declare -A wires
while read -r port wire _; do
	wires[$port]=$wire
done </run/topoopt-fabric/ports

# On a fibre, frames have their tags and checksums; NICs take what XDP sends.
all_xdp() {
	local server port wire

	for port in "${!wires[@]}"; do
		server=${port%:*}
		must on "$server" ethtool -K "${port#*:}" tx off rxvlan off \
			rx-vlan-stag-hw-parse off >/dev/null
	done
	for wire in "${wires[@]}"; do
		must on ocs ethtool -K "$wire" txvlan off gro on >/dev/null
	done
	for server in "${servers[@]}"; do
		must apply "$server" "$plan" --xdp auto >/dev/null
	done
}

# Both ends at once, as when a cable is cut or plugged in: nobody sends between the two.
set_link() { # up|down PORT PORT
	printf 'link set %s %s\n' "${wires[$2]}" "$1" "${wires[$3]}" "$1" |
		chrt --fifo 1 ip -n ocs -b -
}

live() { # PORT...
	local port

	for port; do
		on "${port%:*}" toctl show --json | jq -e --arg port "${port#*:}" \
			'.ports[] | select(.port == $port).live' >/dev/null || return
	done
}

# Frames that all have relayed at XDP.
redirected() {
	local port

	for port in "${!wires[@]}"; do
		on "${port%:*}" ethtool -S "${port#*:}"
	done | awk '/rx_queue.*xdp_redirect/ { n += $2 } END { print n + 0 }'
}

# Cut each link and mend it, under traffic of all. What is read from here blocks: while
# a guest that counts instructions waits for the host, the time of a sleep flies.
cut_all() { # PATH
	local word a b before said marks

	before=$(redirected)
	coproc { exec python3 -u "$lib_dir/bench/recovery.py" "$plan"; }
	exec {said}<&"${COPROC[0]}" {marks}>&"${COPROC[1]}"
	must read -r word <&"$said"
	sleep 0.2
	for ((i = 0; i < rounds; i++)); do
		while read -r a b; do
			echo "cut $a" >&"$marks"
			must set_link down "$a" "$b"
			sleep 0.3
			echo light >&"$marks"
			must set_link up "$a" "$b"
			must wait_for 60 live "$a" "$b"
		done <<<"$links"
	done
	echo end >&"$marks"
	must read -r word <&"$said"
	jq -c --arg path "$1" --argjson xdp $(($(redirected) - before)) \
		'{path: $path, xdp_redirected: $xdp} + .' <<<"$word"
	exec {said}<&- {marks}>&-
}

cut_all skb
all_xdp >&2
cut_all xdp
