#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# PrologSlurmctld: make the job's servers a shard of the cluster (toctl shard): plan their
# fabric, set their optical switches, and make the plan active on all of them, before the
# job starts. A job says what it sends:
#
#	sbatch --comment=topoopt=/home/me/job.json ...
#
# What its script needs is in $STATE/$SLURM_JOB_ID then: plan.json, hosts (for
# SLURM_HOSTFILE) and ranks.json. When anything fails, its servers are free again and have
# no tables, $STATE/log and the job's AdminComment say why, and Slurm requeues the job.

set -euo pipefail
# shellcheck source=examples/slurm/topoopt.conf
. "$(dirname "$(realpath "$0")")/topoopt.conf"

demand=$TOPOOPT_JOB
[[ ${SLURM_JOB_COMMENT:-} != topoopt=* ]] || demand=${SLURM_JOB_COMMENT#topoopt=}
[[ -n $demand ]] || exit 0

dir=$STATE/$SLURM_JOB_ID
log=$(mktemp)
exec {lock}>>"$STATE/lock" >"$log" 2>&1

remove() { # SHARD
	toctl shard remove "$1" || toctl shard remove --forget "$1"
	rm -rf "${STATE:?}/$1"
}
shards() { # of these servers, or of that name: SERVERS NAME
	toctl shard show --json | jq -r --arg servers "$1" --arg name "$2" \
		'.shards[] | select(.name == $name or .servers - ($servers | split(",")) != .servers).name'
}
finish() {
	local status=$? reason

	if ((status)); then
		reason=$(grep . "$log" | tail -n 1)
		for shard in $(shards "" "$SLURM_JOB_ID"); do
			remove "$shard" || :
		done
		rm -rf "$dir"
		scontrol update "JobId=$SLURM_JOB_ID" "AdminComment=topoopt: $reason"
	fi
	sed "s/^/$(date +%FT%T) job $SLURM_JOB_ID: /" "$log" >>"$STATE/log"
	rm "$log"
	exit "$status"
}
trap finish EXIT

servers=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | paste -sd ,)
flock "$lock"
# Servers come here from another job whose epilog may not have run yet, or never will.
for shard in $(shards "$servers" "$SLURM_JOB_ID"); do
	[[ ! -d $STATE/$shard ]] || remove "$shard" >/dev/null
done
mkdir "$dir"
toctl shard add --job "$demand" --on "$servers" "${PLAN_OPTIONS[@]}" --apply "$SLURM_JOB_ID" >/dev/null
toctl shard show "$SLURM_JOB_ID" --output "$dir/plan.json" >/dev/null
toctl job ranks "$dir/plan.json" --slots "$SLOTS" --format slurm -o "$dir/hosts"
toctl job ranks "$dir/plan.json" --slots "$SLOTS" --format json -o "$dir/ranks.json"
