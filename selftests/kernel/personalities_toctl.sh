#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12 6.12-arm64
# Timeout: 600
# toctl, where transit goes to a second interface of each NIC (personalities.sh): what
# doctor finds, what apply refuses, a bare server, and a second device on one server.
#
#	s0 eth0 == eth1 s1 eth0 == eth1 s2 eth0 == eth1 s3 eth0 == eth1 s0
#	  eth0t    eth1t  eth0t    eth1t  eth0t    eth1t  eth0t    eth1t

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/engines.sh"

generation() { on "$1" toctl show --json | jq .generation; } # SERVER

two_up
listen

# --- doctor ---

doctor() { on_sysfs s0 toctl doctor "$plan" --node s0; }
complaints() { grep -E '^(warn|FAIL)' | grep -v '^warn eth[01]: gid: no RDMA device'; }

doctor >"$tmp/doctor"
is "doctor finds nothing to complain of" "$(complaints <"$tmp/doctor")" ""
check "doctor: where the cable leads" \
	grep -qx 'ok   eth0t: cabling: leads to s1:eth1t as planned' "$tmp/doctor"
for nic in eth1 eth1t; do
	check "doctor: MTU of s1's $nic" \
		grep -qx "ok   eth0t: mtu: 4200 bytes reach s1:$nic and return" "$tmp/doctor"
done
is "doctor without a plan" "$(on_sysfs s0 toctl doctor | complaints)" ""

must ip -n s1 link set eth1t down
check "doctor finds that the peer's relay interface is deaf" \
	grep -q '^warn eth0t: mtu: s1:eth1t does not answer' <(doctor)
must ip -n s1 link set eth1t up
must on s0 sysctl -q -w net.ipv4.conf.eth0.rp_filter=1
check "doctor finds strict rp_filter where the address is" \
	grep -q '^warn eth0: rp_filter: strict' <(doctor)
must on s0 sysctl -q -w net.ipv4.conf.eth0.rp_filter=0

# --- what apply refuses; s1 relays on by what it has ---

old=$(generation s1)
edit() { plan_edit "(.servers[1].ports[0]) |= ($1)"; } # JQ-PROGRAM
check_fails "apply refuses a relay_mac that the port does not have" \
	"server s1: port eth0t: interface eth0t has MAC 06:54:4f:00:00:02, the plan's relay_mac is 06:00:00:00:00:99" \
	apply s1 "$(edit '.relay_mac = "06:00:00:00:00:99"')"
check_fails "apply refuses a mac that the RDMA interface does not have" \
	"server s1: port eth0t: interface eth0 has MAC 02:54:4f:00:00:02, the plan's mac is 02:00:00:00:00:99" \
	apply s1 "$(edit '.mac = "02:00:00:00:00:99"')"
check_fails "apply refuses the two interfaces swapped" "interface eth0 has MAC .* the plan's relay_mac" \
	apply s1 "$(plan_edit '(.. | strings | select(. == "eth0t")) = "eth0"
		| (.. | strings | select(endswith(":eth0t"))) |= rtrimstr("t")
		| .servers[].ports[0].transmit = "eth0t"')"
check_fails "apply refuses a relay_mac and no second interface" \
	'server s1: port eth0t: .*no "transmit"' apply s1 "$(edit 'del(.transmit)')"
is "the old table is there" "$(generation s1)" "$old"
forget
send s0 s2
gets 8
is "and relays" "$(got | wc -l)" 8

# --- from nothing, as on a new machine ---

on s1 toctl clear >/dev/null
must ip -n s1 link del topo0
for nic in eth0t eth1t eth0 eth1; do
	must ip -n s1 address flush dev "$nic"
	must ip -n s1 link set "$nic" down
done
check "apply on a bare server" apply s1 "$plan"
must wait_for 60 port_live s1 eth0t true
must wait_for 60 port_live s1 eth1t true
forget
send s0 s2
gets 8
is "it relays" "$(got | wc -l)" 8
is "and it answers where its addresses are" "$(on_sysfs s1 toctl doctor "$plan" --node s1 | complaints)" ""

# --- a second device: what it does not know is not its own ---

must ip -n s1 link add x0 address 02:54:4f:02:00:02 type dummy
must ip -n s1 link add link x0 name x0t address 06:54:4f:02:00:02 type macvlan mode private
chain_plan 2 | jq '.servers[0] |= (.name = "s1" | .ports = [.ports[1] + {
		name: "x0t", mac: "02:54:4f:02:00:02", transmit: "x0", relay_mac: "06:54:4f:02:00:02"}])
	| .links[0].a = "s1:x0t"
	| .tables[0].server = "s1" | .tables[0].groups[0][0].port = "x0t"
	| .tables[1].routes[0].ports = ["0", ""]
	| (.. | strings) |= (sub("^10.20"; "10.21") | sub("^fd00:746f"; "fd00:7470"))' >"$tmp/second.json"

made() { # what there is for both devices
	local family

	ip -n s1 -br address show scope global
	for family in -4 -6; do
		ip -n s1 "$family" route show table all proto 116
		ip -n s1 "$family" rule
		ip -n s1 "$family" neigh show nud permanent
	done
}
second='x0|topo1|10\.21[01]\.|fd00:7470:'
first() { made | grep -vE "$second" | sort; }	# the kernel has neighbours in any order

# whether it is up is said after it is made
is_up() {
	ip -n s1 -br link show dev topo0 | grep -q '^topo0 *UP '
}
must wait_for 60 is_up
first >"$tmp/made"
on s1 toctl clear --dev topo9 >/dev/null
is "clear of a device that is not there leaves another's entries" "$(first)" "$(cat "$tmp/made")"
must apply s1 "$plan" >/dev/null
check "a plan for a second device" apply s1 "$tmp/second.json" --dev topo1
is "leaves the entries of the first" "$(first)" "$(cat "$tmp/made")"
must apply s1 "$plan" >/dev/null
check "nor does the first take the second's" \
	grep -qx 'topo1: nothing to do' <(apply s1 "$tmp/second.json" --dev topo1 --dry-run)
must ip -n s1 link add link eth0 name eth0u address 06:54:4f:03:00:02 type macvlan mode private
jq '.servers[0].ports[0] |= (. + {name: "eth0u", mac: "02:54:4f:00:00:02", transmit: "eth0",
		relay_mac: "06:54:4f:03:00:02"})
	| .links[0].a = "s1:eth0u" | .tables[0].groups[0][0].port = "eth0u"' \
	"$tmp/second.json" >"$tmp/third.json"
check_fails "a NIC that the first transmits through is refused" \
	'server s1: port eth0u: topo0 transmits through eth0 already' \
	apply s1 "$tmp/third.json" --dev topo1
must ip -n s1 link del eth0u
check "clear of the second" on s1 toctl clear --dev topo1
is "leaves the entries of the first" "$(first)" "$(cat "$tmp/made")"
is "and none of its own" "$(made | grep -E "$second" | grep -v '^x0')" ""
must ip -n s1 link del x0

is "no engine had any RoCEv2" "$(swallowed)" 0
kill "${listeners[@]}"

done_testing
