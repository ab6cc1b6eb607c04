#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12
# Timeout: 900
# toctl apply --all: a plan becomes active on all servers under one generation,
# or on none, whoever fails or dies on the way.
#
#	s0 .. s3, a ring; every agent is reached through a proxy that can do
#	harm just before it hands on a request

. "$(dirname "$(realpath "$0")")/../lib.sh"

examples=$lib_dir/../examples/ring-4
must toctl plan --cluster "$examples/cluster.json" --job "$examples/job.json" \
	--fixed -o "$tmp/one.json" >/dev/null
must fabric_up "$tmp/one.json" --no-apply
two=$(plan_edit '.tables[].groups[][0].weight = 3')

# $tmp/harm-SERVER-OP holds a command; it runs once, before the request is
# handed on, and may use $agent and $controller.
cat >"$tmp/proxy" <<'END'
#!/bin/bash
server=$1 tmp=${0%/*}
requests=$tmp/$$.in
mkfifo "$requests"
in_netns "$server" toctl agent --stdio <"$requests" &
agent=$!
exec 3>"$requests"
rm "$requests"
while IFS= read -r line; do
	for harm in "$tmp/harm-$server-"*; do
		op=${harm##*-}
		[[ $line == *"\"op\":\"$op\""* ]] || continue
		controller=$(cat "$tmp/controller")
		command=$(cat "$harm")
		[[ $command == always* ]] || rm "$harm"
		eval "${command#always }"
	done
	printf '%s\n' "$line" >&3 2>/dev/null || break
done
exec 3>&-
wait "$agent"
END
chmod +x "$tmp/proxy"

harm() { # SERVER OP COMMAND
	echo "$3" >"$tmp/harm-$1-$2"
}

# The last plan that all servers got; apply it on all again after a failure.
apply_all() { # PLAN [ARGUMENT...]
	bash -c 'echo $$ >"$0/controller"; exec "$@"' "$tmp" \
		toctl apply --all --set agents.timeout=60s --set "agents.command=$tmp/proxy {}" "$@"
}

routes() { # of all servers
	for server in "${servers[@]}"; do
		on "$server" toctl show routes 2>/dev/null | sort
		ip -n "$server" -o route show proto 116
		on "$server" toctl show --json | jq -c .stage
	done
}

# Agents end after their controller.
settled() {
	wait_for 60 no_agents
}
no_agents() {
	for server in "${servers[@]}"; do
		[[ -z $(ip netns pids "$server") ]] || return 1
	done
}

# --- all goes well ---

check "a plan on all servers" apply_all "$tmp/one.json"
is "they have one generation" "$(generations)" 1
check "s0 reaches s2" on s0 ping -c 1 -W 30 "$(node s2)"
routes >"$tmp/one"
check "once more" apply_all "$tmp/one.json"
check "there is nothing to do" grep -q 'nothing to do, generation 1' <(apply_all "$tmp/one.json")
is "nothing changed" "$(generations)" 1

in_netns s0 ping -i 0.1 -q "$(node s2)" >"$tmp/ping" &
ping=$!
check "another plan" apply_all "$two"
is "they have one generation" "$(generations)" 2
check "back to the first" apply_all "$tmp/one.json" --json
kill -INT "$ping"
wait "$ping"
check "no packet was lost" grep -q ' 0% packet loss' "$tmp/ping"
is "all is as it was" "$(routes)" "$(cat "$tmp/one")"

# Generations that were made on one server alone.
must apply s1 "$two" >/dev/null
must apply s1 "$tmp/one.json" >/dev/null
is "a server went its own way" "$(generations)" "3 5"
check "the same plan" apply_all "$tmp/one.json"
is "makes one generation of them" "$(generations)" 6

# --- bad input ---

check_fails "a command without {}" '^toctl apply: the command "true" has no \{\}' \
	toctl apply --all --set agents.command=true "$two"
check_fails "a server that is not there" '^toctl apply: .*s9.*the agent ended: in_netns: .*s9: No such file' \
	toctl apply --all --set 'agents.command=in_netns {} toctl agent --stdio' \
	"$(plan_edit '(.. | select(type == "string")) |= (if . == "s3" then "s9" elif startswith("s3:") then "s9:" + .[3:] else . end)')"
is "nothing changed" "$(generations)" 6
check_fails "an agent that does not answer" 's2: the agent does not answer' \
	apply_all "$two" --set agents.timeout=3s --set "agents.command=sh -c '[ \$0 != s2 ] || exec sleep 1000; exec $tmp/proxy \$0' {}"
is "nothing changed, and nothing is staged" "$(routes)" "$(cat "$tmp/one")"

# --- harm that is mended ---

for op in stage commit confirm; do
	harm s1 "$op" 'in_netns $server toctl apply --abort'
	[[ $op == commit ]] || continue
	check "a stage that somebody dropped is staged again" apply_all "$two"
	is "they have one generation" "$(generations)" 7
done
rm -f "$tmp"/harm-*
harm s2 commit 'kill -9 $agent; wait $agent'
check "an agent that dies before its commit is started again" apply_all "$tmp/one.json"
is "they have one generation" "$(generations)" 8
harm s2 confirm 'kill -9 $agent; wait $agent'
check "an agent that dies before it is confirmed has nothing to confirm" apply_all "$two"
is "they have one generation" "$(generations)" 9
must apply_all "$tmp/one.json"

# --- harm that is not ---

harm s2 stage 'kill -9 $agent; wait $agent'
check_fails "an agent that dies before its stage" 's2: the agent' apply_all "$two"
check "nothing changed" test "$(generations)" = 10
is "nothing is staged" "$(routes)" "$(cat "$tmp/one")"

# A commit that fails again when it is tried again.
harm s2 commit 'always in_netns $server toctl apply --abort; kill -9 $agent; wait $agent'
check_fails "a server that cannot commit" 's2: .*all servers went back to the old plan' \
	apply_all "$two"
rm -f "$tmp"/harm-*
is "the tables are the old ones" "$(routes)" "$(cat "$tmp/one")"
is "under one generation" "$(generations)" 12
check "s0 reaches s2" on s0 ping -c 1 -W 30 "$(node s2)"

# A port that the new plan does not have.
must ip -n s1 link add x0 address 02:54:4f:02:00:02 type dummy
must ip -n s1 link add link x0 name x0t address 06:54:4f:02:00:02 type macvlan
more=$(plan_edit '.servers[1].ports += [.servers[1].ports[0] + {
		name: "x0t", mac: "02:54:4f:02:00:02", ipv4: "10.201.9.1", ipv6: "fd00:746f:0:9::1",
		transmit: "x0", relay_mac: "06:54:4f:02:00:02"}]
	| del(.port_shares)')
must apply s1 "$more" --xdp on >/dev/null 2>&1
extra_port() {
	on s1 toctl show --json |
		jq -c '.ports[] | select(.port == "x0t") | [.xdp.program, .transmit]'
}
before='["xdp-generic","x0"]'
is "a port that transmits through another NIC, with XDP" "$(extra_port)" "$before"
harm s2 commit 'always in_netns $server toctl apply --abort; kill -9 $agent; wait $agent'
check_fails "a server that cannot commit, with a port to release on another" \
	's2: .*all servers went back to the old plan' apply_all "$two"
rm -f "$tmp"/harm-*
is "the port is as it was" "$(extra_port)" "$before"
must apply_all "$tmp/one.json" >/dev/null
is "until a plan without it is active" "$(extra_port)" ""
must ip -n s1 link del x0

# test_fabric.py has more steps, without a kernel.
for op in stage commit confirm; do
	harm s2 "$op" 'kill -9 $controller; sleep 0.2'
	apply_all "$two" >/dev/null 2>&1
	check "the controller dies before the $op of s2: agents end" settled
	rm -f "$tmp"/harm-*
	[[ $op == confirm ]] ||
		is "all servers have the old tables" "$(routes)" "$(cat "$tmp/one")"
	check "the next controller goes on" apply_all "$tmp/one.json"
	is "with the tables" "$(routes)" "$(cat "$tmp/one")"
	is "under one generation" "$(generations | wc -w)" 1
done

# Two controllers.
harm s3 stage 'until [ -e $tmp/told ]; do sleep 0.1; done'
apply_all "$two" >"$tmp/first" 2>&1 &
first=$!
must wait_for 60 test ! -e "$tmp/harm-s3-stage"
check_fails "a second controller is told" 'another controller is changing topo0' \
	toctl apply --all --set agents.timeout=60s --set 'agents.command=in_netns {} toctl agent --stdio' \
	"$tmp/one.json"
touch "$tmp/told"
wait "$first"
is "the first one goes on" $? 0
is "they have one generation" "$(generations | wc -w)" 1

# --- a controller that does not say what becomes of a commit ---

must apply_all "$tmp/one.json"
settled
stage() { # GENERATION [ACTIVE [PLAN]]: of the other plan, on s0
	jq -c --argjson g "$1" --argjson active "${2:-0}" \
		'{op: "stage", generation: $g, active: $active, job: "x",
		cluster: ({format: "topoopt-cluster", version: 1, servers,
			links: [.links[] | {a, b}]} | tojson),
		table: (.tables[] | select(.server == "s0") | tojson)}' "${3:-$two}"
}
request() { # OP GENERATION
	jq -nc --arg op "$1" --argjson g "$2" '{op: $op, generation: $g}'
}
g=$(generations)
agent() { # REQUEST...: the replies, generations counted from $g
	printf '%s\n' "$@" | on s0 toctl agent --stdio |
		jq -r --argjson g "$g" '"\(.ok) \(.generation - $g) \(.staged)"' | paste -sd ,
}
is "an agent gives a commit up for a later stage" \
	"$(agent "$(stage $((g + 1)))" "$(request commit $((g + 1)))" "$(stage $((g + 2)))" \
		"$(stage $((g + 3)))" "$(request abort $((g + 3)))")" \
	"true 0 true,true 1 false,false 2 false,true 2 true,true 2 false"
is "its table is the old one" "$(routes)" "$(cat "$tmp/one")"
is "or for an abort" \
	"$(agent "$(stage $((g + 3)))" "$(request commit $((g + 3)))" "$(request abort $((g + 4)))")" \
	"true 2 true,true 3 false,true 4 false"
is "its table is the old one" "$(routes)" "$(cat "$tmp/one")"
is "but not when that was confirmed" \
	"$(agent "$(stage $((g + 5)))" "$(request commit $((g + 5)))" \
		"$(stage $((g + 6)) $((g + 5)))" "$(request abort $((g + 6)))")" \
	"true 4 true,true 5 false,true 5 true,true 5 false"
is "which stays" "$(on s0 toctl show --json | jq .generation)" $((g + 5))
is "a commit under the generation that is active is refused" \
	"$(agent "$(stage $((g + 5)) 0 "$tmp/one.json")" "$(request commit $((g + 5)))" \
		"$(request abort $((g + 5)))")" \
	"true 5 true,false 5 false,true 5 false"
is "but for the table that is active: an agent that died had made it" \
	"$(agent "$(stage $((g + 5)))" "$(request commit $((g + 5)))")" "true 5 true,true 5 false"

done_testing
