#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12
# Timeout: 900
# Agents that follow etcd, with a kernel: one plan on all servers or on none, when an
# agent dies, when etcd goes away; a server that boots gets the plan of the others.
# Deaths at each step are in unit/test_fabric.py, without kernels.
#
#	s0 .. s3, a ring; every server reaches etcd over a macvlan, as over a
#	management network

. "$(dirname "$(realpath "$0")")/../lib.sh"

command -v etcd >/dev/null || skip_all "no etcd here"
example=$lib_dir/../examples/ring-4
must toctl plan --cluster "$example/cluster.json" --job "$example/job.json" --fixed \
	-o "$tmp/one.json" >/dev/null
must fabric_up "$tmp/one.json" --no-apply
two=$(plan_edit '.tables[].groups[][0].weight = 3')

must ip link add lan type dummy
at_exit 'ip link del lan'
must ip link set lan up
must ip link add management link lan type macvlan mode bridge
must ip address add 192.0.2.1/24 dev management
must ip link set management up
for i in "${!servers[@]}"; do
	must ip link add mgmt link lan netns "${servers[i]}" type macvlan mode bridge
	must ip -n "${servers[i]}" address add "192.0.2.1$i/24" dev mgmt
	must ip -n "${servers[i]}" link set dev mgmt up
done

url=http://192.0.2.1:2379
export TOPOOPT_FABRIC=$tmp/fabric.conf
cat >"$TOPOOPT_FABRIC" <<END
[etcd]
endpoints = $url
[agents]
timeout = 60s
END
# How many agents etcd knows, by its JSON interface: in an emulated machine, etcdctl
# takes seconds to start.
request=$(jq -nc '{keys_only: true, key: ("/topoopt/agents/" | @base64),
	range_end: ("/topoopt/agents0" | @base64)}')
etcd_agents() {
	{
		printf 'POST /v3/kv/range HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s' \
			"${#request}" "$request" >&3
		sed '1,/^\r$/d' <&3 |
			jq -e '[.kvs[]?.key | @base64d | select(endswith("/state"))] | length'
	} 3<>/dev/tcp/192.0.2.1/2379
}
agents_there() {
	[[ $(etcd_agents) == "$1" ]]
}
start_etcd() {
	etcd --data-dir "$tmp/etcd" --listen-client-urls "$url" --advertise-client-urls "$url" \
		--unsafe-no-fsync --log-level error &
	etcd=$!
	wait_for 60 etcd_agents
}
declare -A agents
start_agent() { # SERVER; with a /sys of its own, where toctl discover finds its interfaces
	ip netns exec "$1" toctl agent --node "$1" --lease 10s 2>>"$tmp/$1.log" &
	agents[$1]=$!
}
stop() { # PID
	kill -9 "$1"
	wait "$1" 2>/dev/null
}
must start_etcd
for server in "${servers[@]}"; do
	start_agent "$server"
done
must wait_for 60 agents_there 4

apply_all() { # PLAN [ARGUMENT...]
	toctl apply --all "$@"
}
routes() { # SERVER...
	for server; do
		on "$server" toctl show routes 2>/dev/null | sort
		on "$server" toctl show --json | jq -c .stage
	done
}

# The agents find the cables, before there is a plan; ports are down at first.
for server in "${servers[@]}"; do
	must ip -n "$server" link set eth0 down
	must ip -n "$server" link set eth1 down
done
check "toctl discover through agents" toctl discover "${servers[@]}" --up \
	--ports 'eth?' -o "$tmp/found.json"
is "the links are the cables" \
	"$(jq -c '[.links[] | [.a, .b] | sort] | sort' "$tmp/found.json")" \
	"$(jq -c '[.links[] | [.a, .b] | sort] | sort' "$example/cluster.json")"
check "they are as in that file" toctl discover --cluster "$tmp/found.json"
check_fails "a server without an agent is named" '^toctl discover: s9: no agent of it is there$' \
	toctl discover s0 s9 -o "$tmp/none.json"

check "a plan on all servers" apply_all "$tmp/one.json"
is "they have one generation" "$(generations)" 1
check "s0 reaches s2" on s0 ping -c 1 -W 30 "$(node s2)"
one=$(routes "${servers[@]}")
check "another plan" apply_all "$two"
is "they have one generation" "$(generations)" 2
[[ $(routes "${servers[@]}") != "$one" ]]
is "and another table" $? 0

# An agent away; etcd still takes it for alive, or not any more.
stop "${agents[s2]}"
check_fails "an agent is dead: it is named" 's2: ' apply_all "$tmp/one.json" --set agents.timeout=5s
start_agent s2
is "the others stay" "$(generations)" 2
must wait_for 60 agents_there 4
check "when it is back, the plan is applied" apply_all "$tmp/one.json"
is "the tables are the first plan's" "$(routes "${servers[@]}")" "$one"
is "under one generation" "$(generations | wc -w)" 1
check "a job is recorded by looks" toctl job run "$tmp/one.json" --interval 1s -- sleep 3
check_fails "not with another plan" 'which is active, is not ' toctl job run "$two" -- true

# etcd away for a while.
stop "$etcd"
check_fails "without etcd nothing is decided" '^toctl apply: etcd http://192.0.2.1:2379: ' \
	apply_all "$two"
check "traffic goes on" on s0 ping -c 1 -W 30 "$(node s2)"
must start_etcd
must wait_for 60 agents_there 4
check "etcd is back" apply_all "$two"
is "with one generation" "$(generations | wc -w)" 1

# The closed loop, with agents that etcd knows.
run_saw() { # EVENT [JQ-CONDITION]
	jq -e "select(.event == \"$1\" and (${2:-true}))" "$tmp/run.log"
}
cp "$tmp/one.json" "$tmp/run.json"
toctl run "$tmp/run.json" --interval 2s --change-cost 10ms \
	-o "$tmp/run.log" >"$tmp/run.text" 2>&1 &
run=$!
check "toctl run brings the fabric to its plan" wait_for 300 run_saw restored
is "its tables" "$(routes "${servers[@]}")" "$one"
check "and measures all servers" wait_for 120 run_saw missing '.servers == []'
on s1 ping -q -i 0.01 -s 4000 "$(node s2)" >/dev/null &
flood=$!
check "it sees other traffic than the plan's" wait_for 120 run_saw shift ||
	sed 's/^/# /' "$tmp/run.text"
check "and decides" wait_for 60 run_saw decision
TOPOOPT_STATE=$tmp/state toctl status "$tmp/run.json" --log "$tmp/run.log" --json \
	>"$tmp/status"
is "toctl status sees it at work, and all servers" \
	"$(jq -c '[.reached, .generation > 0, .loop.running, .loop.decision.event != null,
		(.loop.controller | startswith("process '"$run"' on "))]' "$tmp/status")" \
	'[4,true,true,true,true]'
check_fails "no job is recorded beside a controller" 'a controller is at work: process ' \
	toctl job run "$tmp/one.json" -- true
seen=$(jq -s 'map(select(.event == "refused")) | length' "$tmp/run.log")
is "and disturbs nothing" "$seen" 0
kill "$flood" "$run"
wait "$run"
is "it ends with the fabric as planned" "$?" 0
[[ -e $tmp/run.log ]] && jq -r 'select(.event == "end" or .event == "decision") |
	"# \(.intervals // .reason)"' "$tmp/run.log"

# A server boots.
stop "${agents[s1]}"
must on s1 toctl clear >/dev/null
on s1 ip link del topo0 2>/dev/null	# clear leaves a device that it did not make
start_agent s1
boots() { [[ $(generations | wc -w) == 1 ]]; }
check "a server that boots gets the plan" wait_for 60 boots
check "and relays" on s0 ping -c 1 -W 30 "$(node s2)"

# Its lease ends.
stop "${agents[s3]}"
must wait_for 60 agents_there 3
check_fails "a server without an agent" 's3: no agent' apply_all "$two" --set agents.timeout=5s

done_testing
