#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# Timeout: 900
# B's agent is killed before each system call by which it changes its kernel or
# answers, while toctl apply --all brings all servers from one plan to another. Until
# the next agent starts, all of the old table or all of the new one forwards; that agent
# completes the change or undoes it. TEST_ALL=1: those by which it takes its locks, too.
# Agents that follow etcd are in unit/test_agent_kill.py and fabric_etcd.sh.
#
#	A eth1 == eth0 B eth1 == eth0 C
#
# The plans differ in weights and in the ports' addresses, and one has a port more.

. "$(dirname "$(realpath "$0")")/../lib.sh"

command -v strace >/dev/null || skip_all "no strace here"
chain_up 3
must ip -n "$B" link add eth2 address 02:54:4f:00:01:02 type dummy
declare -A plans=([less]=$plan [more]="$(plan_edit '
	.servers[1].ports += [.servers[1].ports[0] + {name: "eth2", mac: "02:54:4f:00:01:02",
		ipv4: "10.201.2.3", ipv6: "fd00:746f:2::3"}]
	| .servers[].ports[] |= (.ipv4 |= sub("10.201"; "10.202") | .ipv6 |= sub("746f"; "7470"))
	| .tables[].groups[][0].weight = 3')")
declare -A other=([less]=more [more]=less) table calls

# $tmp/strace has the arguments of strace for one agent of B; $tmp/between is then what
# forwards at its end.
cat >"$tmp/agent" <<'END'
#!/bin/bash
server=$1 tmp=${0%/*}
[[ $server == B* && -e $tmp/strace ]] || exec ip netns exec "$server" toctl agent --stdio
mapfile -t arguments <"$tmp/strace"
rm "$tmp/strace"
ip netns exec "$server" strace -o "$tmp/calls" "${arguments[@]}" toctl agent --stdio
ip netns exec "$server" toctl show routes | sort >"$tmp/between"
END
chmod +x "$tmp/agent"

change_to() { # PLAN [ARGUMENT-OF-STRACE...]
	local name=$1

	shift
	rm -f "$tmp/between"
	((!$#)) || printf '%s\n' "$@" >"$tmp/strace"
	toctl apply --all --set agents.timeout=60s --set "agents.command=$tmp/agent {}" "${plans[$name]}"
}

# "CALL N" of those that change anything, as strace counts them.
writes() {
	awk -v all="${TEST_ALL:-}" '
		{ call = $1; sub(/\(.*/, "", call); n[call]++ }
		call == "openat" && !/O_CREAT/ { next }
		call ~ /openat|ftruncate|pwrite64/ && !all { next }
		/NLM_F_DUMP|CTRL_CMD_GETFAMILY|{cmd=0x1,/ { next }
		/^[a-z]/ { print call, n[call] }' "$tmp/calls"
}

# What all servers lack of a plan, or have beyond it.
lacks() { # PLAN
	local server

	for server in "${servers[@]}"; do
		apply "$server" "${plans[$1]}" --dry-run
	done | grep -v 'nothing to do'
}

# B's agent is killed before its Nth CALL; sets at to the plan that is there.
killed() { # PLAN CALL N
	local what="to $1, killed before $2 $3" left

	at=$1
	change_to "$1" -e "trace=$2" -e "inject=$2:signal=KILL:when=$3" >/dev/null 2>&1 ||
		at=${other[$1]}
	grep -q "^$2(.*= ?$" "$tmp/calls" || not_ok "$what: it is" "$(cat "$tmp/calls")"
	[[ $(<"$tmp/between") == "${table[more]}" || $(<"$tmp/between") == "${table[less]}" ]]
	is "$what: a whole table forwards" $? 0
	left=$(lacks "$at")
	# undone, but for this port, which the next change takes out
	[[ $at != less || $1 != more || $left != "- port eth2" ]] || left=
	is "$what: all servers have $at" "$left $(fabric_state)" " [1,0]"
}

must change_to more >/dev/null
for name in less more; do
	check "a change that nobody disturbs, to $name" change_to "$name" \
		-e trace=sendto,write,openat,ftruncate,pwrite64
	table[$name]=$(<"$tmp/between")
	calls[$name]=$(writes)
done
[[ ${table[less]} != "${table[more]}" ]]
is "which have other tables" $? 0
ip netns exec "$A" ping -i 0.1 -q "$(node "$C")" >"$tmp/ping" &
ping=$!

# Undone, a change is tried again, completed, its opposite: so none is only to go back.
at='more'
while [[ ${calls[less]}${calls[more]} ]]; do
	to=${other[$at]}
	if [[ -z ${calls[$to]} ]]; then
		change_to "$to" >/dev/null
		at=$to
		continue
	fi
	read -r call n <<<"${calls[$to]}"
	calls[$to]=$(tail -n +2 <<<"${calls[$to]}")
	killed "$to" "$call" "$n"
done
check "the next change is made" change_to "${other[$at]}"
is "all of it" "$(lacks "${other[$at]}")" ""
kill -INT "$ping"
wait "$ping"
check "no packet was lost" grep -q ' 0% packet loss' "$tmp/ping"
done_testing
