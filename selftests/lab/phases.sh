# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by what shows toctl run in the lab: a fabric whose wires have a rate, so
# that a relay costs what it takes from others, and traffic in phases with other hot
# pairs each. Wants $tmp, and a wait_for. Of twelve servers, if not told otherwise:
#
#	phase across	s0-s6 s1-s7 .. s5-s11
#	phase near	s0-s3 s1-s4 s2-s5 s6-s9 s7-s10 s8-s11

# shellcheck source=selftests/lab/workers.sh
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/workers.sh"
: "${tmp:?}" "${phases_servers:=12}" "${phases_degree:=4}"
: "${phases_rate:=2M}"		# of a wire, bits/s
# In one repetition, each way of a hot pair, and of AllReduce: two seconds of a wire,
# and half a one. Of what a phase sends, two thirds are no other phase's.
: "${phases_bytes:=500000}" "${phases_allreduce:=140000}"

phase_pairs() { # PHASE
	jq -nc --arg phase "$1" --argjson n "$phases_servers" '
		if $phase == "across" then [range($n / 2) | [., . + $n / 2]]
		elif $phase == "near" then [range($n) | select(. % ($n / 2) < $n / 4) | [., . + $n / 4]]
		else [] end'
}

# Demand of a phase: a job on standard output.
phase_job() { # PHASE
	jq -n --argjson pairs "$(phase_pairs "$1")" --argjson bytes "$phases_bytes" \
		--argjson allreduce "$phases_allreduce" --argjson n "$phases_servers" '
		[range($n) | [range($n) | 0]] as $none
		| {name: "phases", servers: $n, allreduce: [{group: "all", bytes: $allreduce}],
		   mp: (reduce $pairs[] as [$a, $b]
				($none; .[$a][$b] = $bytes | .[$b][$a] = $bytes))}'
}

# Plan for the phase, with an optical switch that toctl can set.
phase_plan() { # PHASE
	phase_job "$1" >"$tmp/$1.job" &&
		toctl plan --job "$tmp/$1.job" --degree "$phases_degree" --bandwidth "$phases_rate" \
			--seed 1 -o "$tmp/$1.planned" >&2 &&
		jq '.optical_switches[] += {reconfiguration_ns: 10000000,
					    control: {driver: "netns"}}' "$tmp/$1.planned"
}

# The plan's servers and rings with the transfers of a phase, for job.
phase_of() { # PLAN PHASE
	phase_job "$2" | jq --slurpfile plan "$1" '.mp as $mp | $plan[0] | .demand.mp = $mp'
}

# Every wire of the optical switch gets the rate, and a queue of 100 kB, or another. Continuity
# checks do not wait in it: a cable that is busy loses none of a higher class.
phases_shape() { # [QDISC...]
	tc -n ocs qdisc show | awk '/clsact/ { print $5 }' | while read -r wire; do
		echo "qdisc replace dev $wire root handle 1: prio bands 2" \
			"priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"
		echo "filter replace dev $wire parent 1: pref 1 handle 1 protocol 0x8902 matchall classid 1:1"
		echo "qdisc replace dev $wire parent 1:2 handle 2:" \
			"tbf rate ${phases_rate}bit burst 9000 limit 100000"
		(($# == 0)) || echo "qdisc replace dev $wire parent 2:1 $*"
	done | tc -n ocs -b -
}

# Run the transfers of a phase so many times; results in $tmp/NAME.SERVER.
phase_traffic() { # PLAN NAME REPEAT [ARGUMENT...]
	workers "$1" "$2" --nodes --timeout 600 --repeat "${@:3}"
}

# Such traffic in rounds, all of which must arrive whole, until one has begun after
# toctl run changed the fabric: how long that takes depends on the steps of the
# change, and on the machine.
phase_traffic_until_changed() { # PLAN NAME REPEAT
	local round changed=''

	for round in {1..12}; do
		phase_traffic "$@" &&
			jq -se 'map(.mp_transfers == .mp_transfers_ok) | all' "$tmp/$2".s* >/dev/null || return
		[[ -z $changed ]] || return 0
		! run_saw changed '.action == "rewire"' || changed=$round
	done
}

# Seconds of each repetition, for the server that was last.
phase_times() { # NAME
	jq -sc '[map(.times) | transpose[] | max]' "$tmp/$1".s*
}

# A stream of RoCEv2 from s0 to its partner of phase near, until rdma_end. RDMA does
# not slow down by itself, so few requests are under way. They are sent again after
# 4.096 us * 2^20, four seconds, seven times: the port may be without a path for as
# long as all steps of a change take.
rdma_start() { # PLAN
	local address to=s$((phases_servers / 4))
	local how=(-F -x 1 -s 4096 -D 3600 -t 4 -u 20 -p 18700)

	address=$(jq -r --arg to "$to" '.servers[] | select(.name == $to).ports[0].ipv4' "$1")
	rdma_port=$(ip -n s0 -j route get "$address" | jq -r '.[0].dev')
	ip netns exec "$to" ib_write_bw -d "$to-eth0" "${how[@]}" >"$tmp/rdma.server" 2>&1 &
	rdma_pids=($!)
	# shellcheck disable=SC2016
	wait_for 60 ip netns exec "$to" sh -c 'ss -Hltn "sport = :18700" | grep -q .' || return
	ip netns exec s0 ib_write_bw -d "s0-$rdma_port" "${how[@]}" "$address" \
		>"$tmp/rdma.client" 2>&1 &
	rdma_pids+=($!)
	rdma_goes_on
}

# That requests of the stream are acknowledged; it never connects a second time.
rdma_goes_on() {
	rdma_before=$(rdma_acknowledged)
	wait_for 60 rdma_has_advanced
}
rdma_acknowledged() {
	ip netns exec s0 rdma -j statistic show link "s0-$rdma_port/1" | jq '.[0].rcvd_pkts'
}
rdma_has_advanced() { (($(rdma_acknowledged) > rdma_before + 20)); }

rdma_end() {
	kill "${rdma_pids[@]}"
	wait "${rdma_pids[@]}"
}

# Pairs of servers that reach each other over TCP, beside other traffic.
phases_reach() { # PLAN
	phase_of "$1" none >"$tmp/none.traffic"
	phase_traffic "$tmp/none.traffic" reach 1 --port 7472
	jq -s 'map(.reached) | add' "$tmp"/reach.s*
}

# What plans may do in the lab.
phases_allow() { # LINE...
	printf '%s\n' "$@" >"$tmp/allow"
}
phases_allow "netns ocs"

# toctl run in the background, until it has brought the fabric to the plan and
# measured all servers once; sets run_pid. Patient, as an emulated machine is slow, and
# ready for iterations of 6 s.
run_start() { # PLAN [ARGUMENT...]
	: >"$tmp/run.log"
	run_looked=''
	toctl run "$1" -o "$tmp/run.log" --carrier-timeout 60s --memory 24s --change-cost 250ms \
		--set "switches.allow=$tmp/allow" --set agents.timeout=60s \
		--set 'agents.command=ip netns exec {} toctl agent --stdio' "${@:2}" >"$tmp/run.text" 2>&1 &
	run_pid=$!
	wait_for 300 run_saw missing '.servers == []'
}

run_end() {
	kill -TERM "$run_pid"
	wait "$run_pid"
}

# Lines of the log that are an event, and meet a condition.
run_events() { # EVENT [JQ-CONDITION]
	jq -c "select(.event == \"$1\" and (${2:-true}))" "$tmp/run.log"
}

# For wait_for: jq looks only when the log has grown since the last look in vain.
run_saw() { # EVENT [JQ-CONDITION]
	local text

	IFS= read -rd '' text <"$tmp/run.log" || :
	[[ "$* ${#text}" != "$run_looked" ]] || return 1
	[[ -n $(run_events "$@" 2>/dev/null) ]] || {
		run_looked="$* ${#text}"
		return 1
	}
}

# What changes took, in words.
run_times() {
	run_events step | jq -rs 'map("\(.step) \(.ms | round)") | join(", ") + " ms"'
	run_events changed | jq -r '"\(.shift_ms | round) ms from the shift of the traffic to the commit"'
}
