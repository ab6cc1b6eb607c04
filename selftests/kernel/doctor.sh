#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12 6.12-arm64
# Timeout: 300
# toctl doctor finds nothing on a sound fabric; then each thing that breaks one
# is broken, found, and fixed by what doctor says. GIDs are in doctor_gid.sh.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 3 >/dev/null

doctor() { on_sysfs "$B" toctl doctor "$plan" --node "$B"; }

# FAIL or warn, its check and subject; exit status 1 only with FAIL.
finds() { # NAME VERDICT REGEX
	local output status=0 expected=0

	[[ $2 != FAIL ]] || expected=1
	output=$(doctor 2>&1) || status=$?
	if ((status != expected)) || ! grep -qE "^$2 +$3" <<<"$output"; then
		not_ok "$1" "status $status, expected $expected and '$2 $3' in:"$'\n'"$(
			grep -v '^ok' <<<"$output")"
		return 1
	fi
	fix=$(grep -E -A 1 "^$2 +$3" <<<"$output" | sed -n 's/^ *fix: //p' | head -n 1)
	ok "$1"
}

# Nothing to fix; output is what doctor said.
sound() {
	output=$(doctor 2>&1) && ! grep -E '^(warn|FAIL)' <<<"$output" | grep -qv ': gid: '
}

# The command that doctor proposed makes the finding go away.
fixed() { # NAME [COMMAND...]
	local output

	shift
	if (($#)); then "$@"; else on "$B" sh -c "$fix"; fi >/dev/null || :
	if wait_for 60 sound; then
		ok "fixed: ${fix:-$*}"
	else
		not_ok "fixed: ${fix:-$*}" "$(grep -v '^ok' <<<"$output")"
	fi
}

check "a sound server: no FAIL" doctor
doctor >"$tmp/sound"
check "cabling as planned" grep -qx "ok   eth1: cabling: leads to $C:eth0 as planned" "$tmp/sound"
check "size that gets through" grep -q "^ok   eth1: mtu: 4200 bytes reach $C:eth0" "$tmp/sound"
check "the table is the plan's" grep -q '^ok   topo0: table: generation 1 is this plan' "$tmp/sound"
check "JSON" jq -e 'all(.[]; .verdict != "FAIL") and length > 10' \
	<(on_sysfs "$B" toctl doctor "$plan" --node "$B" --json)
check "without a plan" on_sysfs "$B" toctl doctor

# --- links ---

must on "$B" ip link set topo0 down
finds "device down" FAIL "topo0: device: down"
on "$B" sh -c "$fix"
fixed "device up" apply "$B" "$plan"

must "$fabric" darken "$B:eth1"
wait_for 60 on "$B" sh -c '! ip link show eth1 | grep -q LOWER_UP'
finds "no carrier" FAIL "eth1: carrier: no carrier"
must "$fabric" light "$B:eth1"
fixed "light" true

must on "$C" ip link set eth0 mtu 1500
finds "a peer with a smaller MTU" FAIL "eth1: mtu: 4200 bytes do not get through to $C:eth0"
fixed "the peer's MTU" on "$C" ip link set eth0 mtu 4200

must on "$B" ip link set eth0 mtu 2000
finds "ports of different MTU" warn "eth1: mtu: 4200, another port has 2000"
fixed "equal MTU" on "$B" ip link set eth0 mtu 4200

# B's cables swapped: eth0 leads to C, eth1 to A.
swapped=$(plan_edit '(.links[0].b, .links[1].a) |= if endswith("eth0") then sub("eth0"; "eth1") else sub("eth1"; "eth0") end')
must "$fabric" reconfigure "$swapped" --latency 1ms
finds "cables swapped" FAIL "eth0: cabling: leads to $C:eth0, the plan says $A:eth1"
finds "both of them" FAIL "eth1: cabling: leads to $A:eth1, the plan says $C:eth0"
must "$fabric" reconfigure "$plan" --latency 1ms
fixed "swapped back" true

must on "$C" ip address flush dev eth0
must on "$C" ip address flush dev topo0
finds "a silent peer" FAIL "eth1: cabling: carrier, but no server of the plan answers"
fixed "its plan applied" apply "$C" "$plan"

# --- kernel ---

must on "$B" sysctl -q -w net.ipv4.conf.eth0.rp_filter=1
finds "strict rp_filter" warn "eth0: rp_filter: strict"
fixed "rp_filter"

must on "$B" ethtool -K eth1 rx-udp-gro-forwarding on
finds "UDP receive aggregation" FAIL "eth1: rx-udp-gro-forwarding: on"
fixed "aggregation"

if on "$B" nft add table netdev filter 2>/dev/null; then
	must on "$B" nft add chain netdev filter in \
		'{ type filter hook ingress device eth0 priority 0; policy drop; }'
	finds "a firewall on a port" FAIL "eth0: netfilter: chain in of table netdev filter drops"
	fixed "firewall"
	must on "$B" nft add table inet filter
	must on "$B" nft add chain inet filter in \
		'{ type filter hook input priority 0; policy drop; }'
	must on "$B" nft add rule inet filter in accept
	finds "a firewall on input" warn "in: netfilter: input chain"
	must on "$B" nft flush ruleset
else
	skip "a firewall on a port" "no nftables in this kernel"
fi

# --- what apply made ---

must on "$B" ip route del "$(port_ip "$C" eth0)"
must on "$B" ip neigh del "$(node "$A")" dev eth0
finds "entries removed" FAIL "topo0: entries: .*: 2 missing"
fixed "entries"

other=$(plan_edit '.tables[1].groups[0] += [{port: "eth1", backup: true}]')
must apply "$B" "$other" >/dev/null
finds "another plan's table" FAIL "topo0: table: generation 2 is not this plan: .* different"
fixed "the table"

must on "$B" toctl clear >/dev/null
finds "no table" FAIL "topo0: table: generation [0-9]+ is not this plan"
must on "$B" ip link del topo0
finds "no device" FAIL "topoopt: device: there is no topoopt device"
fixed "apply" apply "$B" "$plan"

done_testing
