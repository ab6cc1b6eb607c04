# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# What prolog.sh and epilog.sh share: settings, time limits, the lock, and reasons of failures,
# which get into the job's AdminComment and $STATE/log.

set -euo pipefail
umask 022

# Name of the job's file in messages, and the longest time that cleaning up takes, in seconds.
path='' cleanup=30
# What runs, as words and as a process; why it failed.
step='' child='' reason=''
tmp='' locked='' begun=$SECONDS limit=$cleanup

failed() { :; }		# what a script undoes when it fails

# Replace what a terminal or scontrol would not take: jobs and servers wrote these lines.
clean() { # TEXT
	LC_ALL=C tr -c '\n -~' '?' <<<"${1//"$tmp/job.json"/"$path"}" | grep . | cut -c -600
}
finish() {
	local status=$? text=''

	trap '' TERM INT HUP
	if [[ -n $child ]]; then
		kill "$child" || :
		wait "$child" || :
		child=''
	fi
	((!status)) || step=${step:-starting}
	limit=$cleanup begun=$SECONDS
	[[ -z $tmp ]] || text=$(tail -n 50 "$tmp/log")
	if ((status)); then
		text=$(clean "$text${reason:+$'\n'$reason}") || :
		# a full disk keeps no messages
		text=${text:-$step: status $status, and no message in ${tmp:-a temporary file}}
		run_for 10 scontrol update "JobId=$SLURM_JOB_ID" "AdminComment=topoopt: ${text##*$'\n'}" || :
		failed || :
	fi
	[[ -z $text ]] || clean "$text" | sed "s/^/$(date +%FT%T) job $SLURM_JOB_ID: /" >>"$STATE/log" || :
	[[ -z $tmp ]] || rm -rf "$tmp"
	exit "$status"
}
trap finish EXIT
trap 'reason="a signal ended it${step:+ in: $step}"; exit 143' TERM INT HUP

# Run a command for so many seconds at most. It does not get the lock, which its children would
# hold as long as they live, and it ends when a signal ends this script.
run_for() { # SECONDS COMMAND...
	local status=0 start=$SECONDS

	step="${*:2:3}"
	timeout --foreground -k 5 "$1" "${@:2}" 9>&- &
	child=$!
	wait "$child" || status=$?
	child=''
	if ((status == 124 || (status == 137 && SECONDS - start >= $1))); then
		reason="$step took longer than $1 s"
	fi
	return "$status"
}
left() { # seconds
	local seconds=$((limit - (SECONDS - begun)))

	echo $((seconds > 0 ? seconds : 1))
}
run() { # COMMAND...: for as long as this script may take
	run_for "$(left)" "$@"
}

# Wait for the lock. Its file is SlurmUser's alone, as everybody who can open it could hold it.
hold() {
	local seconds holder

	[[ -z $locked ]] || return 0
	seconds=$(left) step="opening $STATE/lock"
	(umask 077 && : >>"$STATE/lock")
	chmod 600 "$STATE/lock"
	exec 9<>"$STATE/lock"
	step="waiting for $STATE/lock"
	flock -w "$seconds" 9 &
	child=$!
	if ! wait "$child"; then
		child='' holder=$(head -c 100 "$STATE/lock")
		reason="waited $seconds s for $STATE/lock, held by ${holder:-another process}"
		return 1
	fi
	child='' locked=1
	# for messages alone, which a full disk may lose
	echo "job $SLURM_JOB_ID (${0##*/}, process $$)" 2>/dev/null >"$STATE/lock" || :
}
release() {
	exec 9>&-
	locked=''
}

# Set the array names to the shards of jobs that have one of the servers, or that name.
find_shards() { # SERVERS NAME
	# status 4: one of them is changing
	run toctl shard show --json >"$tmp/shards" || (($? == 4))
	run jq -r --arg servers "$1" --arg name "$2" '.shards[]
		| select(.name == $name or .servers - ($servers | split(",")) != .servers).name
		| select(test("^[0-9]+$"))' "$tmp/shards" >"$tmp/names"
	mapfile -t names <"$tmp/names"
}
# Free a job's servers, even those that do not answer. The lock is held.
remove() { # JOB
	run toctl shard remove "$1" >/dev/null || run toctl shard remove --forget "$1" >/dev/null
	rm -rf "${STATE:?}/$1"
}

step="making a temporary directory"
tmp=$(mktemp -d)
exec >>"$tmp/log" 2>&1
step="reading topoopt.conf"
# shellcheck source=examples/slurm/topoopt.conf
. "$(dirname "$(realpath "$0")")/topoopt.conf"
limit=$TIMEOUT
dir=$STATE/$SLURM_JOB_ID
