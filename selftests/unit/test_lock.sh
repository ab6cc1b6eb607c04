#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One toctl at a time: on a device, by files in /run/topoopt, and on a plan, by PLAN.lock.

# A network namespace of its own, and where its locks are: who is not root has them apart.
alone=(unshare -n)
((!EUID)) || alone=(unshare -rn)
if [[ ${1-} != alone ]]; then
	"${alone[@]}" true 2>/dev/null && exec "${alone[@]}" "$0" alone
	echo "1..0 # SKIP no right to make a network namespace"
	exit
fi

. selftests/unit/cli.sh
export XDG_RUNTIME_DIR=$tmp
locks=/run/topoopt
[[ -w $locks || -w /run ]] || locks=$tmp/topoopt

waits() { # COMMAND...: until it succeeds
	local i

	for ((i = 0; i < 600; i++)); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	return 1
}
held() { # FILE
	! flock -n "$1" true
}
hold() { # FILE: as a toctl that is killed after a minute
	exec python3 -c 'import fcntl, os, sys, time
file = open(sys.argv[1], "w"); fcntl.flock(file, fcntl.LOCK_EX); print(os.getpid(), file=file, flush=True)
time.sleep(60)' "$1"
}
bound() { # NAME: of an abstract socket
	exec python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind("\0" + sys.argv[1]); time.sleep(60)' "$1"
}

# --- a device ---

devices() {
	local file dev=topo$$ holder

	file=$locks/toctl-$dev.$(stat -L -c %i /proc/self/ns/net)
	run 0 clear --dev "$dev"
	result $? "a device that nobody changes"
	[[ $(stat -c '%a %u' "$locks" "$file" | paste -sd ' ') == "755 $EUID 600 $EUID" ]]
	result $? "who is not root cannot open the lock"
	bound "topoopt-toctl-$dev" &
	holder=$!
	waits grep "@topoopt-toctl-$dev" /proc/net/unix
	run 0 clear --dev "$dev"
	result $? "an abstract socket, which anybody can make, keeps nobody out"
	kill "$holder"
	hold "$file" &
	holder=$!
	waits grep "^$holder$" "$file"
	run 1 clear --dev "$dev" && grep -qxF \
		"toctl clear: another toctl is changing $dev (process $holder)" "$tmp/err"
	result $? "clear beside another one is refused, with who it is"
	unshare -n "$toctl" clear --dev "$dev" >"$tmp/out" 2>"$tmp/err"
	result $? "the same name in another namespace is another device"
	echo '{"op": "clear"}' | "$toctl" agent --stdio --dev "$dev" >"$tmp/out" 2>"$tmp/err"
	grep -q "\"ok\":false.*another toctl is changing $dev" "$tmp/out"
	result $? "so is what an agent is told to do"
	kill -9 "$holder"
	wait "$holder" 2>/dev/null
	run 0 clear --dev "$dev"
	result $? "who is killed leaves no lock"
	run 1 clear --dev ../../evil && grep -q 'not the name of an interface' "$tmp/err"
	result $? "a name that leads elsewhere"
	rm -f "$file"
}

# --- a plan ---

plans() {
	local plan=$tmp/plan.json holder

	cp examples/panel-6/cluster.json examples/panel-6/job.json "$tmp"
	run 0 plan --cluster "$tmp/cluster.json" --job "$tmp/job.json" -o "$plan"
	ln -s plan.json "$tmp/link.json"
	# agents that say nothing
	"$toctl" run "$plan" --set "agents.command=sh -c 'exec sleep 60' {}" --set agents.timeout=60s >"$tmp/first" 2>&1 &
	holder=$!
	waits held "$plan.lock"
	run 1 run "$plan" --set 'agents.command=false {}' && grep -qxF \
		"toctl run: $plan: another toctl (process $holder) is at work with this plan" "$tmp/err"
	result $? "a second run of a plan is refused, with who has it"
	run 1 run "$tmp/link.json" --set 'agents.command=false {}' && grep -q 'is at work with this plan' "$tmp/err"
	result $? "by whatever name"
	for command in apply flip; do
		run 1 switch "$command" "$plan" && grep -q 'is at work with this plan' "$tmp/err"
		result $? "switch $command of it is refused"
	done
	run 1 plan --cluster "$tmp/cluster.json" --job "$tmp/job.json" -o "$tmp/link.json" &&
		grep -q 'is at work with this plan' "$tmp/err"
	result $? "it is not written over"
	run 0 plan --cluster "$tmp/cluster.json" --job "$tmp/job.json" -o "$tmp/other.json"
	result $? "another one is"
	kill -9 "$holder"
	wait "$holder" 2>/dev/null
	run 0 plan --cluster "$tmp/cluster.json" --job "$tmp/job.json" -o "$plan"
	result $? "who is killed leaves it to others"
	run 1 switch apply "$plan" && grep -q 'set by hand' "$tmp/err"
	result $? "and its switches"
}

devices
plans
echo "1..$count"
((!failed))
