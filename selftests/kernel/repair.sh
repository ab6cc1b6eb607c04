#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12 6.12-arm64
# Timeout: 900
# toctl run on a ring whose cable is cut: it commits a plan for what is left, and
# returns to the one that was asked for when the light is back. A server of which
# nothing is left is done without. Times, flapping and controllers that die are in
# unit/test_carrier.c.
#
#	s0 eth0 == eth1 s1 eth0 == eth1 s2 eth0 == eth1 s3 eth0 == eth1 s0

. "$(dirname "$(realpath "$0")")/../lib.sh"

example=$lib_dir/../examples/ring-4
must toctl plan --cluster "$example/cluster.json" --job "$example/job.json" \
	--fixed -o "$tmp/ring.json" >/dev/null
cp "$tmp/ring.json" "$tmp/run.json"
fabric_up "$tmp/ring.json" >/dev/null

events() { # EVENT [JQ-CONDITION]
	jq -c "select(.event == \"$1\" and (${2:-true}))" "$tmp/run.log"
}
saw() { # EVENT CONDITION HOW-OFTEN
	(($(events "$1" "$2" 2>/dev/null | wc -l) == $3))
}

# The tables of these servers are those of the plan.
run_plan() { # PLAN SERVER...
	local server

	for server in "${@:2}"; do
		apply "$server" "$1" --dry-run --json >"$tmp/differs" &&
			[[ $(jq .differs "$tmp/differs") == false ]] || return
	done
}

loop_start() {
	toctl run "$tmp/run.json" -o "$tmp/run.log" --set agents.timeout=20s --repair-hold 3s \
		--set "agents.command=sh -c '[ ! -e $tmp/gone.\$0 ] && exec in_netns \$0 toctl agent --stdio' {}" \
		>"$tmp/run.text" 2>&1 &
	run_pid=$!
}

: >"$tmp/run.log"
loop_start
check "the loop starts" wait_for 300 saw start true 1

# --- a cable is cut ---

must "$fabric" darken s0:eth0
check "cut: a repaired plan is committed" wait_for 120 saw changed '.action == "repair"' 1
is "its ports are named" "$(events decision '.action == "repair"' | jq -c '.repair.down | sort')" \
	'["s0:eth0","s1:eth1"]'
is "its price is said" "$(events decision '.action == "repair"' |
	jq '.repair | .after.comm_time_s > .before.comm_time_s')" true
check "the plan that was asked for stays" cmp "$tmp/run.json" "$tmp/ring.json"
is "the repaired one is beside it" "$(jq -c '.dark | length' "$tmp/run.json.repair")" 1
check "toctl verify finds no fault in it" toctl verify "$tmp/run.json.repair"
check "and all run it" run_plan "$tmp/run.json.repair" s0 s1 s2 s3
check "s0 reaches s1 the long way" on s0 ping -c 3 -i 0.2 -W 30 "$(node s1)"

# --- the light is back ---

must "$fabric" light s0:eth0
check "light: the fabric returns" wait_for 120 saw changed '.action == "return"' 1
check "all run the plan that was asked for" run_plan "$tmp/run.json" s0 s1 s2 s3
check "nothing is left of the repair" test ! -e "$tmp/run.json.repair"
check "s0 reaches s1" on s0 ping -c 3 -i 0.2 -W 30 "$(node s1)"

# --- a server dies, and another controller begins meanwhile ---

touch "$tmp/gone.s2"
ip netns pids s2 | xargs kill
must "$fabric" darken s2:eth0
must "$fabric" darken s2:eth1
check "dead: the others go on without it" wait_for 180 saw changed '.action == "repair"' 2
is "it is named" "$(events decision '.action == "repair"' | tail -n 1 | jq -c .repair.cut_off)" '["s2"]'
check "and run the repaired plan" run_plan "$tmp/run.json.repair" s0 s1 s3
check "s1 reaches s3" on s1 ping -c 3 -i 0.2 -W 30 "$(node s3)"
kill -TERM "$run_pid"
wait "$run_pid"

loop_start
check "the next controller goes on from there" wait_for 120 saw start true 2
check "the repaired plan is in force" wait_for 120 saw restored '.why == "start" and .ok' 2
rm "$tmp/gone.s2"
must "$fabric" light s2:eth0
must "$fabric" light s2:eth1
check "back: the fabric returns to the plan" wait_for 180 saw changed '.action == "return"' 2
check "the plan that was asked for still stays" cmp "$tmp/run.json" "$tmp/ring.json"
check "s1 reaches s2" on s1 ping -c 3 -i 0.2 -W 30 "$(node s2)"
check "all run it" run_plan "$tmp/run.json" s0 s1 s2 s3
kill -TERM "$run_pid"
wait "$run_pid"
is "the loop ends with all as planned" $? 0
jq -c 'select(.event != "step" or (.ok | not))' "$tmp/run.log" | cut -c 1-300 | sed 's/^/# /'

done_testing
