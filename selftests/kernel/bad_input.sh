#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12
# Timeout: 300
# Whatever toctl apply is given: bad input is one clear line and a non-zero
# exit status, and B goes on relaying by the table it has, without a ping lost.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 3
wait_for 60 on "$A" ping -c 1 -W 1 "$(node "$C")"
in_netns "$A" ping -i 0.05 -W 2 "$(node "$C")" >"$tmp/ping" &
ping=$!

# Refused in one line that matches, and nothing moved.
refused() { # NAME REGEX PLAN [ARGUMENT...]
	local output status=0

	output=$(on "$B" toctl apply "$3" --node "$B" "${@:4}" 2>&1) || status=$?
	if ((status != 1)); then
		not_ok "$1" "status $status: $output"
	elif [[ $output == *$'\n'* ]] || ! grep -qE "^toctl apply: .*$2" <<<"$output"; then
		not_ok "$1" "expected one line with '$2':"$'\n'"$output"
	else
		is "$1" "$(apply "$B" "$plan" --dry-run)" "topo0: nothing to do"
	fi
}

# --- files ---

size=$(stat -c %s "$plan")
for part in 2 10; do
	head -c $((size - size / part)) "$plan" >"$tmp/truncated.json"
	refused "plan cut off at 1/$part" 'truncated.json:[0-9]+' "$tmp/truncated.json"
done
: >"$tmp/empty.json"
refused "empty file" 'empty.json' "$tmp/empty.json"
head -c 4096 /dev/urandom >"$tmp/noise.json"
refused "noise" 'noise.json' "$tmp/noise.json"
refused "no file" 'missing.json: No such file' "$tmp/missing.json"
refused "another kind of file" 'format' "$(plan_edit '.format = "topoopt-tm"')"
refused "a later version" 'version' "$(plan_edit '.version = 2')"

# --- another server's plan ---

check_fails "a server that is not in the plan: an error that says who is" \
	"no server $(hostname).*it has $A, $B, $C" on "$B" toctl apply "$plan"
refused "another server's part" \
	'port eth1: interface eth1 has MAC 02:54:4f:00:01:01, the plan.s mac is 02:54:4f:00:00:01' \
	"$plan" --node "$A"
refused "a port with another MAC" 'interface eth1 has MAC .* the plan.s mac is 02:00:00:00:00:99' \
	"$(plan_edit '(.servers[1].ports[1].mac) = "02:00:00:00:00:99"')"
refused "a relay_mac that the port does not have" \
	'interface eth1 has MAC 02:54:4f:00:01:01, the plan.s relay_mac is 02:00:00:00:00:99' \
	"$(plan_edit '.servers[1].ports[1] += {relay_mac: "02:00:00:00:00:99", transmit: "eth0"}')"
refused "a relay_mac and no second interface" 'port eth1: .* no "transmit"' \
	"$(plan_edit '.servers[1].ports[1].relay_mac = "02:00:00:00:00:99"')"
other=$(plan_edit '(.servers[1].ports[1].name) = "eth7" | (.links[].a |= sub($b + ":eth1"; $b + ":eth7"))
	| (.tables[1].groups[][] | select(.port == "eth1") .port) = "eth7"' --arg b "$B")
refused "a port that is not here" 'port eth7: no such interface' "$other"

# --- routes that cannot be ---

refused "an unknown port" 'tables\[1\].groups.*eth9' \
	"$(plan_edit '.tables[1].groups[0][0].port = "eth9"')"
refused "an unknown next hop group" 'tables\[1\].routes.*group' \
	"$(plan_edit '.tables[1].routes[0].group = 7')"
refused "an unknown server" 'tables\[1\].routes' \
	"$(plan_edit '.tables[1].routes[0].nodes = "9"')"
refused "a next hop through a dark port" 'has no link' \
	"$(plan_edit 'del(.links[1])')"
refused "a weight too small to be held" "server $B: group 0 gives port eth1 less than 1/256" \
	"$(plan_edit '.tables[1].groups[0] = [{port: "eth0", weight: 65535}, {port: "eth1", weight: 1}]')"
refused "two servers with one address" 'servers\[2\].ipv4: same as' \
	"$(plan_edit '.servers[2].ipv4 = "10.200.0.1"')"

# --- generations, options ---

weights=$(plan_edit '.tables[1].groups[0][0].weight = 1
	| .tables[1].groups[0] += [{port: "eth1", backup: true}]')
refused "a stale generation" 'stale generation: the active one is 1, not 0' \
	"$weights" --base-generation 0

check_fails "options that are mutually exclusive" 'mutually exclusive' \
	on "$B" toctl apply "$plan" --node "$B" --stage --commit
check_fails "a number that is none" 'base-generation.*expected' \
	on "$B" toctl apply "$plan" --node "$B" --base-generation -1

is "generation 1 is active all the time" \
	"$(on "$B" toctl show --json | jq -c '[.generation, .stage]')" '[1,null]'
kill -INT "$ping"
wait "$ping"
check "not one ping was lost" grep -q ' 0% packet loss' "$tmp/ping"

done_testing
