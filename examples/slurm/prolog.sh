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

# shellcheck source=examples/slurm/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

failed() {
	[[ -d $dir ]] || return 0
	hold
	find_shards "" "$SLURM_JOB_ID"
	for shard in "${names[@]}"; do
		remove "$shard"
	done
	rm -rf "$dir"
}

job=$TOPOOPT_JOB
if [[ ${SLURM_JOB_COMMENT:-} == topoopt=* ]]; then
	path=${SLURM_JOB_COMMENT#topoopt=} job=$tmp/job.json
	[[ -n $path ]] || exit 0
	if [[ $path != /* || $path == *[[:cntrl:]]* ]]; then
		reason="--comment=topoopt=FILE: expected a path from / without control characters"
		exit 1
	fi
	# with the rights of the job's user, and before anything that others wait for
	run_for "$READ_TIMEOUT" toctl job read --user "$SLURM_JOB_UID" "$path" >"$job"
fi
[[ -n $job ]] || exit 0

run scontrol show hostnames "$SLURM_JOB_NODELIST" >"$tmp/servers"
servers=$(paste -sd , "$tmp/servers")
hold
# Servers come here from another job whose epilog may not have run yet, or never will.
find_shards "$servers" "$SLURM_JOB_ID"
for shard in "${names[@]}"; do
	[[ ! -d $STATE/$shard ]] || remove "$shard"
done
rm -rf "$dir"
mkdir "$dir"
run toctl shard add --job "$job" --on "$servers" "${PLAN_OPTIONS[@]}" --apply "$SLURM_JOB_ID" >/dev/null
release
run toctl shard show "$SLURM_JOB_ID" --output "$dir/plan.json" >/dev/null
run toctl job ranks "$dir/plan.json" --slots "$SLOTS" --format slurm -o "$dir/hosts"
run toctl job ranks "$dir/plan.json" --slots "$SLOTS" --format json -o "$dir/ranks.json"
