#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# Timeout: 600
# A hostile agent of eight: toctl run names it, never another one, goes on with the
# seven while it lies and with all while it does not, and takes no more memory. Two
# rounds of its lies (hostile.py); TEST_SECONDS=600 TEST_TIMEOUT=1500 is ten minutes.
# Without kernels it is in unit/test_run_fabric.py.
#
#	s0 .. s7, two ports each, on one optical switch; s3 lies

. "$(dirname "$(realpath "$0")")/../lib.sh"
phases_servers=8 phases_degree=2
. "$lib_dir/lab/phases.sh"

flat=4096	# kB that later rounds may take more than the first
lies=10

cat >"$tmp/agent" <<END
#!/bin/bash
[[ \$1 == s3 ]] || exec in_netns "\$1" toctl agent --stdio
exec in_netns s3 $lib_dir/kernel/hostile.py agent $tmp 2>/dev/null
END
chmod +x "$tmp/agent"

samples() { # of so many s3 lied in half
	[[ -e $tmp/samples ]] && (($(<"$tmp/samples") >= $1))
}
missing_now() { # as a JSON array
	[[ $(run_events missing | tail -n 1 | jq -c .servers) == "$1" ]]
}
memory() { # of toctl run, kB
	awk '/^VmRSS/ { print $2 }' "/proc/$run_pid/status"
}

must phase_plan across >"$tmp/run.json"
must fabric_up "$tmp/run.json" --no-apply
touch "$tmp/honest"
must run_start "$tmp/run.json" --interval 1s --set "agents.command=$tmp/agent {}"
in_netns s1 ping -q -i 0.1 "$(node s2)" >"$tmp/ping" &
ping=$!

rm "$tmp/honest"
check "a round of lies" wait_for 300 samples $((2 * lies))
first=$(memory)
end=$((SECONDS + ${TEST_SECONDS:-0}))
check "another one" wait_for 300 samples $((4 * lies)) || tail -n 40 "$tmp/run.text" | sed 's/^/# /'
((SECONDS >= end)) || pause $((end - SECONDS))
count=$(<"$tmp/samples")
last=$(memory)
touch "$tmp/honest"
check "all count when it is honest" wait_for 120 missing_now '[]'
is "lies are told, or counted" "$("$lib_dir/kernel/hostile.py" told "$tmp")" ""
is "no other server is missing, once all have counted" "$(run_events missing | jq -sc '
	.[(map(.servers) | index([[]])):] | map(.servers[]) | unique')" '["s3"]'
is "nothing else happens" "$(run_events refused)$(run_events changed)" ""
((last - first < flat))
is "memory stays flat" $? 0
echo "# $count samples, every other one a lie: $first kB after the first $((2 * lies)), $last kB at the end"
must run_end
run_events end | jq -r '"# \(.intervals) intervals of all servers"'
as_planned "$tmp/run.json" "at the end"
kill -INT "$ping"
wait "$ping"
# one may be under way
check "no packet was lost" \
	awk '/transmitted/ { lost = $1 - $4; sent = $1 } END { exit !sent || lost > 1 }' "$tmp/ping"
done_testing
