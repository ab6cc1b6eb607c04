#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# PrologSlurmctld: plan the fabric of a job's servers, set their optical switches, and make
# the plan active on all of them, before the job starts. A job says what it sends:
#
#	sbatch --comment=topoopt=/home/me/job.json ...
#
# What its script needs is in $STATE/$SLURM_JOB_ID then: plan.json, hosts (for
# SLURM_HOSTFILE) and ranks.json. When anything fails, nothing has changed, $STATE/log and
# the job's AdminComment say why, and Slurm requeues the job.

set -euo pipefail
# shellcheck source=examples/slurm/topoopt.conf
. "$(dirname "$(realpath "$0")")/topoopt.conf"

demand=$TOPOOPT_JOB
[[ ${SLURM_JOB_COMMENT:-} != topoopt=* ]] || demand=${SLURM_JOB_COMMENT#topoopt=}
[[ -n $demand ]] || exit 0

dir=$STATE/$SLURM_JOB_ID new=$STATE/.$SLURM_JOB_ID
log=$(mktemp)
exec {lock}>>"$STATE/lock" >"$log" 2>&1
finish() {
	local status=$?

	if ((status)); then
		rm -rf "$dir" "$new"
		scontrol update "JobId=$SLURM_JOB_ID" \
			"AdminComment=topoopt: $(grep . "$log" | tail -n 1)"
	fi
	sed "s/^/$(date +%FT%T) job $SLURM_JOB_ID: /" "$log" >>"$STATE/log"
	rm "$log"
	exit "$status"
}
trap finish EXIT

fail() { # MESSAGE
	echo "$1"
	exit 1
}

# A cluster of the allocation: its servers, and the cables between them.
rm -rf "$new"
mkdir "$new"
scontrol show hostnames "$SLURM_JOB_NODELIST" >"$new/servers"
jq --rawfile names "$new/servers" '($names | split("\n") - [""]) as $ours
	| .servers |= map(select(.name | IN($ours[])))
	| if .links then .links |= map(select([.a, .b | sub(":[^:]*$"; "")] - $ours == [])) else . end
	' "$CLUSTER" >"$new/cluster.json"
unknown=$(jq -r '.servers[].name' "$new/cluster.json" | grep -vxFf - "$new/servers" || :)
[[ -z $unknown ]] || fail "$CLUSTER: no server ${unknown//$'\n'/, }"
has=$(jq .servers "$demand")
n=$(wc -l <"$new/servers")
[[ $has == "$n" ]] || fail "$demand: the job has $has servers, the allocation $n"
toctl plan --cluster "$new/cluster.json" --job "$demand" "${PLAN_OPTIONS[@]}" -o "$new/plan.json" >/dev/null
toctl verify "$new/plan.json" >/dev/null
toctl job ranks "$new/plan.json" --slots "$SLOTS" --format slurm -o "$new/hosts"
toctl job ranks "$new/plan.json" --slots "$SLOTS" --format json -o "$new/ranks.json"

# Servers come here from another job whose epilog may not have run yet, or never will.
flock "$lock"
for before in "$STATE"/*/; do
	if grep -qsFxf "$new/servers" "$before/servers"; then
		toctl clear --all "${FABRIC_OPTIONS[@]}" "$before/plan.json" || :
		rm -r "$before"
	fi
done
mv "$new" "$dir"
if jq -e 'any(.optical_switches[]?; .control)' "$dir/plan.json" >/dev/null; then
	toctl switch apply "$dir/plan.json"
fi
toctl apply --all "${FABRIC_OPTIONS[@]}" "$dir/plan.json"
