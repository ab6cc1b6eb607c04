#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12 6.12-arm64
# Timeout: 300
# toctl apply makes everything that is missing and nothing twice; dry-run,
# stage, commit, abort; all or nothing; clear takes back what apply made.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

export TOPOOPT_STATE=$tmp/state
chain_up 3 --no-apply

bare() { # SERVER: interfaces as a new machine has them
	on "$1" ip link del topo0
	for port in eth0 eth1; do
		on "$1" ip address flush dev "$port"
		on "$1" ip link set "$port" down
	done
}

# Everything that apply may touch, without what changes by itself.
# Without those of link-local addresses, which come when no duplicate was found for a second.
entries() { on "$1" ip -o route show table all | grep -vE '^(local )?fe80:'; } # SERVER
state() { # SERVER
	on "$1" ip -br link
	on "$1" ip -br address | sed 's| fe80:[^ ]*||'
	entries "$1"
	on "$1" ip -6 route show table all proto 116
	on "$1" ip rule
	on "$1" ip -6 rule
	on "$1" ip neigh show nud permanent
	on "$1" ip -6 neigh show nud permanent
	on "$1" toctl show --json 2>/dev/null | jq '{generation, routes, groups, stage}'
	on "$1" toctl show routes 2>/dev/null | sort
}

json() { # SERVER FIELD ARGUMENT...: a field of apply's JSON
	on "$1" toctl apply "$plan" --node "$1" --json "${@:3}" | jq -r ".$2"
}

generation() { on "$1" toctl show --json | jq .generation; } # SERVER

# --- from nothing ---

for server in "${servers[@]}"; do
	must bare "$server"
done
state "$B" >"$tmp/bare"
on "$B" toctl apply "$plan" --node "$B" --dry-run >"$tmp/dry"
check "dry-run says that the device comes" grep -qx '+ device topo0' "$tmp/dry"
check "and the routes it relays by" \
	grep -q "^+ relay $(node "$C")/32 via eth1 $(port_mac "$C" eth0)" "$tmp/dry"
is "dry-run changes nothing" "$(state "$B")" "$(cat "$tmp/bare")"

is "apply without a device makes one" "$(json "$B" changed)" true
must apply "$A" "$plan"
must apply "$C" "$plan"
check "A reaches C" on "$A" ping -c 1 -W 30 "$(node "$C")"
check "A reaches C over IPv6" on "$A" ping -c 1 -W 30 "$(node6 "$C")"
check "A reaches C's port, as RDMA would" on "$A" ping -c 1 -W 30 "$(port_ip "$C" eth0)"
check "A reaches C's port over IPv6" on "$A" ping -c 1 -W 30 "$(port_ip6 "$C" eth0)"
check "from its own port" on "$A" ping -c 1 -W 30 -I "$(port_ip "$A" eth1)" "$(port_ip "$C" eth0)"

# --- relays that RDMA has not ---

jq '.servers |= map(.ports |= map(.transit = "none"))' "$plan" >"$tmp/none.json"
on "$A" toctl apply "$tmp/none.json" --node "$A" --dry-run 2>"$tmp/warned" >/dev/null
is "a server is warned once of pairs that only TCP reaches" "$(grep -c 'RDMA to' "$tmp/warned")" 1
check "and of how many" \
	grep -q 'RDMA to 1 of 2 pairs of a server and a port has no relay' "$tmp/warned"
on "$B" toctl apply "$tmp/none.json" --node "$B" --dry-run 2>"$tmp/warned" >/dev/null
is "a server that only has neighbours is not" "$(grep -c 'RDMA to' "$tmp/warned")" 0

# --- a second time ---


entries "$B" >"$tmp/before"
is "the second apply finds nothing to do" "$(json "$B" changed)" false
check "and says so" grep -q 'nothing to do, generation 1 is this plan' <(apply "$B" "$plan")
check "dry-run too" grep -qx 'topo0: nothing to do' <(apply "$B" "$plan" --dry-run)
is "nothing changed" "$(entries "$B")" "$(cat "$tmp/before")"
check_fails "a stale generation is one even then" 'stale generation: the active one is 1, not 5' \
	apply "$B" "$plan" --base-generation 5
check_fails "for dry-run too" 'stale generation: the active one is 1, not 5' \
	apply "$B" "$plan" --base-generation 5 --dry-run
check "the active one is none" apply "$B" "$plan" --base-generation 1

on "$B" ip route del "$(port_ip "$C" eth0)"
on "$B" ip neigh del "$(node "$A")" dev eth0
is "what somebody removed" "$(json "$B" entries_added)" 2
is "is put back" "$(entries "$B")" "$(cat "$tmp/before")"
is "without a new table" "$(generation "$B")" 1

on "$B" ip neigh replace "$(port_ip "$C" eth0)" lladdr 02:00:00:00:00:01 dev eth1 nud permanent
must apply "$B" "$plan" >/dev/null
check "a neighbour that somebody changed is corrected" \
	grep -q "$(port_mac "$C" eth0)" <(on "$B" ip neigh show "$(port_ip "$C" eth0)")

# --- routes that RDMA and TCP need, and no more ---

route() { # SERVER ARGUMENT...
	on "$1" ip -o route get "${@:2}" | sed 's/ uid.*//; s/ *cache.*//; s/\\//g; s/ *$//'
}
is "a peer's port: on the link" "$(route "$B" "$(port_ip "$C" eth0)")" \
	"$(port_ip "$C" eth0) dev eth1 src $(port_ip "$B" eth1)"
is "a port behind a relay: through it" "$(route "$A" "$(port_ip "$C" eth0)")" \
	"$(port_ip "$C" eth0) via $(node "$B") dev eth1 src $(port_ip "$A" eth1)"
is "from a port's address: by that port" \
	"$(route "$B" "$(port_ip "$C" eth0)" from "$(port_ip "$B" eth0)")" \
	"$(port_ip "$C" eth0) from $(port_ip "$B" eth0) via $(node "$A") dev eth0 table $((0x746f0000 + $(on_sysfs "$B" cat /sys/class/net/eth0/ifindex)))"
is "a node: through topo0" "$(route "$A" "$(node "$C")")" \
	"$(node "$C") dev topo0 src $(node "$A")"
check_fails "an address that is no server's has no route" 'unreachable' \
	on "$A" ip route get 10.200.0.4

# --- stage, commit, abort ---

backup=$(plan_edit '(.tables[] | select(.server == $b) .groups) |=
	[[{port: "eth0", weight: 2}], [{port: "eth1", weight: 3}]]' --arg b "$B")
check "stage" apply "$B" "$backup" --stage
is "leaves the old table active" "$(generation "$B")" 1
is "outlives toctl" "$(on "$B" toctl show --json | jq .stage.prepared)" true
check_fails "a second stage is refused" 'has a stage already' apply "$B" "$plan" --stage
check_fails "so is a plain apply" 'has a stage already' apply "$B" "$backup"
check_fails "commit of another plan is refused" 'another plan' apply "$B" "$plan" --commit
check "traffic goes on" on "$A" ping -c 1 -W 30 "$(node "$C")"
check "commit" apply "$B" "$backup" --commit
is "makes it active" "$(generation "$B")" 2
check "with the new weights" grep -q 'eth1 .* weight 3' <(on "$B" toctl show routes)
check_fails "there is nothing left to commit" 'no prepared stage' apply "$B" "$backup" --commit
must apply "$B" "$plan" --stage >/dev/null
check "abort" on "$B" toctl apply --abort
is "leaves the active table" "$(generation "$B")" 2
check_fails "there is nothing left to abort" 'no stage' on "$B" toctl apply --abort
check "apply back to the first plan" apply "$B" "$plan"
is "is the next generation" "$(generation "$B")" 3
check "A still reaches C" on "$A" ping -c 1 -W 30 "$(node "$C")"

# --- one at a time ---

lock=/run/topoopt/toctl-topo0.$(on "$B" stat -L -c %i /proc/self/ns/net)
held() { ! flock -n "$lock" true; }
# As a toctl that is changing the device, for ever.
flock --no-fork "$lock" sleep infinity &
holder=$!
must wait_for 60 held
on "$B" ip route del "$(port_ip "$C" eth0)"
state "$B" >"$tmp/before"
check_fails "apply beside another one is refused" 'another toctl is changing topo0' \
	apply "$B" "$backup"
is "and changes nothing" "$(state "$B")" "$(cat "$tmp/before")"
check_fails "so is clear" 'another toctl is changing topo0' on "$B" toctl clear
is "which changes nothing" "$(state "$B")" "$(cat "$tmp/before")"
check "dry-run goes on" apply "$B" "$backup" --dry-run
apply "$B" "$plan" >"$tmp/late" 2>&1 &
late=$!
sleep 1	# it is waiting now
kill "$holder"
wait "$late"
is "when the other one ends in time, apply goes on" $? 0
check_fails "and lets go" '' held

on "$B" toctl clear >/dev/null
apply "$B" "$plan" >"$tmp/first" 2>&1 &
first=$!
check "two at once: one does it" apply "$B" "$plan"
wait "$first"
is "and so does the other" $? 0
check "the plan is there" grep -qx 'topo0: nothing to do' <(apply "$B" "$plan" --dry-run)

# --- all or nothing ---

on "$B" toctl clear >/dev/null
must on "$B" ip link add other type dummy
must on "$B" ip link set other up
must on "$B" ip route add "$(port_ip "$C" eth0)/32" dev other
for port in eth0 eth1; do
	on "$B" ip link set "$port" down
done
state "$B" >"$tmp/before"
check_fails "somebody else's route in the way is an error" \
	"route $(port_ip "$C" eth0)/32 .*File exists" apply "$B" "$plan"
is "that leaves everything as it was" "$(state "$B")" "$(cat "$tmp/before")"
must on "$B" ip route del "$(port_ip "$C" eth0)/32" dev other
must on "$B" ip address add 192.0.2.1/24 dev eth0
check "without it the plan goes in" apply "$B" "$plan"
check "A reaches C again" wait_for 30 on "$A" ping -c 1 -W 1 "$(node "$C")"

# --- another plan's addresses ---

addresses() { # of B's eth0, that plans give it
	on "$B" ip -4 -br address show dev eth0 | grep -o '10\.[0-9./]*'
}
moved=$(plan_edit '(.servers[] | select(.name == $b).ports[] | select(.name == "eth0")).ipv4 = "10.201.99.1"' \
	--arg b "$B")
must apply "$B" "$moved" >/dev/null
is "apply takes the address of the plan before away" "$(addresses)" 10.201.99.1/32
must apply "$B" "$plan" >/dev/null
is "and back" "$(addresses)" "$(port_ip "$B" eth0)/32"

# --- confirmed, or back ---

routes() { on "$B" toctl show routes | sort; }
two=$(plan_edit '.tables[].groups[][0].weight = 3')
one=$(routes)
check_fails "nobody confirms" 'not confirmed: went back, as generation' \
	on "$B" toctl apply "$two" --node "$B" --confirm-within 100ms
is "the table is the old one" "$(routes)" "$one"
on "$B" toctl apply "$two" --node "$B" --confirm-within 600s >/dev/null 2>&1 &
check "it is confirmed from elsewhere" wait_for 60 on "$B" toctl apply --confirm
wait $!
is "and stays" $? 0
[[ $(routes) != "$one" ]]
is "with its table" $? 0
check "the plan before" on "$B" toctl apply --previous --node "$B"
is "has its table" "$(routes)" "$one"

# --- clear ---

check "clear" on "$B" toctl clear
check_fails "the device is gone" 'does not exist' on "$B" ip link show topo0
is "so is everything with protocol 116" "$(
	on "$B" ip route show table all proto 116
	on "$B" ip -6 route show table all proto 116
	on "$B" ip rule show | grep -v 'lookup \(local\|main\|default\)'
	on "$B" ip neigh show nud permanent
	on "$B" ip -br address show dev eth1 | grep -o '10\.[0-9./]*'
)" ""
check "other addresses stay" grep -q 192.0.2.1 <(on "$B" ip address show dev eth0)
check "a second clear has nothing to do" grep -q ' 0 routes and 0 entries' <(on "$B" toctl clear)
check_fails "nothing is relayed now" '' on "$A" ping -c 1 -W 1 "$(node "$C")"

must on "$B" ip link add topo0 type topoopt
must apply "$B" "$plan" >/dev/null
on "$B" toctl clear >/dev/null
check "a device that apply did not make stays" on "$B" ip link show topo0
is "with an empty table" "$(on "$B" toctl show --json | jq .routes)" 0

# --- names ---

check_fails "a server that the plan does not have" "it has $A, $B, $C" \
	on "$B" toctl apply "$plan" --node nobody
check_fails "apply without a plan" 'PLAN expected' on "$B" toctl apply

done_testing
