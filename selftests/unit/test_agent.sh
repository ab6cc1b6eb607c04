#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What an agent and those who start agents refuse, and that it is one line.

. selftests/unit/cli.sh

plan=examples/chain-3/plan.json

# Replies of an agent to the lines.
ask() { # LINE...
	printf '%s\n' "$@" | "$toctl" agent --stdio >"$tmp/out" 2>"$tmp/err"
}
refused() { # REGEX: by the last reply
	tail -n 1 "$tmp/out" | jq -e --arg regex "$1" \
		'.ok == false and (.error | test($regex))' >/dev/null
}
one_line() { # REGEX: on standard error, and nothing else
	grep -qE -- "$1" "$tmp/err" && (($(wc -l <"$tmp/err") == 1))
}

ask '{"op": "hello", "id": 7}'
jq -e '. == {id: 7, ok: true, protocol: 2, generation: 0, staged: false, live: [], light: [], plan: false}' "$tmp/out" >/dev/null
result $? "hello: no device, no table"
echo '{"op": "hello"}' | "$toctl" agent --stdio --set etcd.endpoints=http://127.0.0.1:1 \
	>"$tmp/out" 2>"$tmp/err" && jq -e .ok "$tmp/out" >/dev/null
result $? "--stdio counts where fabric.conf names etcd"
ask '{"op": "jump"}' && refused 'no request is called "jump"'
result $? "an unknown request"
ask '{}' && refused 'a request has an op'
result $? "a request without op"
ask '{"op": "stage", "generation": 1}' && refused 'stage: expected generation, job, cluster and table'
result $? "a stage without parts"
ask '{"op": "stage", "generation": 0, "job": "", "cluster": "", "table": ""}' && refused 'stage: expected' "$tmp/err"
result $? "a stage without generation"
ask "$(jq -nc '{op: "stage", generation: 1, job: "x", cluster: "{", table: "{}"}')" &&
	refused '^cluster:1: '
result $? "a cluster that is no JSON"
cluster=$(jq -c '{format: "topoopt-cluster", version: 1, servers}' "$plan")
ask "$(jq -nc --arg c "$cluster" '{op: "stage", generation: 1, job: "x", cluster: $c,
	table: "{\"server\": \"s9\", \"groups\": [], \"routes\": []}"}')" &&
	refused '^table:1: server: no server is called "s9"'
result $? "a table of a server that is not in the plan"
ask '{"op": "commit", "generation": 3}' && refused 'nothing is staged as generation 3'
result $? "a commit without stage"
ask '{"op": "confirm", "generation": 3}' && refused 'generation 3 was not committed here'
result $? "a confirm without commit"
ask '{"op": "revert"}' && refused 'revert: expected from and generation'
result $? "a revert from nothing"
coproc agent { "$toctl" agent --stdio --dev "topo$$" 2>"$tmp/err"; }
echo '{"op": "revert", "from": 0, "generation": 1}' >&"${agent[1]}"
read -r reply <&"${agent[0]}"
jq -e '.ok == false' <<<"$reply" >"$tmp/out" &&
	flock -n "/run/topoopt/controller-topo$$.$(stat -L -c %i /proc/self/ns/net)" true
result $? "one that failed keeps no other controller out"
requests=${agent[1]}
exec {requests}>&-
wait
ask '{"op": "sample", "interval_ns": 50000000, "until_ns": 1}' && refused 'no plan was applied'
result $? "a sample without plan"
! ask 'hello' && one_line '^toctl agent: a request is a JSON object on a line'
result $? "a line that is no JSON"
# ASan needs an address space without bounds.
([[ $toctl == */sanitize/* ]] || ulimit -v 1000000; ! tr '\0' x </dev/zero | "$toctl" agent --stdio >"$tmp/out" 2>"$tmp/err") &&
	one_line '^toctl agent: a request is larger than 67108864 bytes'
result $? "a line without end"
ask '{"op": "jump"}' '{"op": "hello"}' && tail -n 1 "$tmp/out" | jq -e .ok >/dev/null
result $? "an agent goes on after what it refused"

run 2 agent
grep -q '^toctl agent: --stdio, or etcd.endpoints in fabric.conf expected' "$tmp/err"
result $? "an agent without controller"
run 2 agent --stdio --nic-counters rx_bytes,rx_packets
grep -qxF 'toctl agent: --nic-counters: expected four names of statistics joined by commas, and perhaps fcs, not "rx_bytes,rx_packets"' "$tmp/err"
result $? "two statistics of the NICs"
run 2 agent --stdio --nic-counters a,b,c,d,crc
grep -q -- '--nic-counters: expected four names .* not "a,b,c,d,crc"$' "$tmp/err"
result $? "a fifth statistic, which is not fcs"
run 0 agent --stdio --nic-counters a,b,c,d,fcs
result $? "statistics that include the FCS"
run 1 agent --set etcd.endpoints=localhost:2379
one_line '^toctl agent: "localhost:2379" is no URL of etcd'
result $? "etcd that is no URL"
run 1 agent --set etcd.endpoints=https://127.0.0.1:1,http://127.0.0.1:2
one_line 'endpoints of etcd are all https or all http, not https://127.0.0.1:1 and http://127.0.0.1:2$'
result $? "etcd with TLS and without"
run 1 agent --set etcd.endpoints=http://127.0.0.1:1,http://127.0.0.1:2
one_line '^toctl agent: etcd http://127.0.0.1:[12]: '
result $? "etcd that is not there"
run 2 apply --all --node s0 "$plan"
grep -q -- '--all cannot be combined with --node' "$tmp/err"
result $? "all servers, and one"
run 1 apply --all --set agents.command=true "$plan"
one_line 'the command "true" has no \{\} for the server'
result $? "a command for every server alike"
run 1 apply --all --set "agents.command=sh -c 'exit 3' {}" "$plan"
one_line 'stage failed on 3 of 3 servers: s0: the agent ended with status 3; s1: '
result $? "agents that end"
run 1 apply --all --set "agents.command=sh -c 'echo no route to \$0 >&2; exit 1' {}" "$plan"
one_line 's0: the agent ended: no route to s0; s1: '
result $? "agents that say why"
run 1 apply --all --set "agents.command=sh -c 'printf \"\\303\\251t\\351 \\033[2J\\n\" >&2; exit 1' {}" "$plan"
one_line 's0: the agent ended: ét\\xe9 \\x1b\[2J; s1: '
result $? "agents that say it in no UTF-8"
run 1 apply --all --set "agents.command=sh -c 'kill -9 \$\$' {}" "$plan"
one_line 's0: the agent was killed by signal 9'
result $? "agents that are killed"
run 1 apply --all --set agents.timeout=1s --set "agents.command=sh -c 'exec cat >/dev/null' {}" "$plan"
one_line 's0: the agent does not answer; s1: '
result $? "agents that say nothing"
run 1 apply --all --set agents.timeout=1s \
	--set "agents.command=sh -c 'while echo \$0; do sleep .2; done' {}" "$plan"
one_line 's0: the agent does not answer; s1: '
result $? "agents that talk nonsense"
run 1 apply --all --set agents.timeout=60s --set 'agents.command=yes {}' "$plan"
one_line 's0: faulty agent: it sent [0-9]* bytes that are no reply; s1: '
result $? "agents that talk nonsense without end"

echo "1..$count"
((!failed))
