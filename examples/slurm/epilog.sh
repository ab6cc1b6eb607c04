#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# EpilogSlurmctld: remove the tables of a job that prolog.sh has started.

set -euo pipefail
# shellcheck source=examples/slurm/topoopt.conf
. "$(dirname "$(realpath "$0")")/topoopt.conf"

dir=$STATE/$SLURM_JOB_ID
exec {lock}>>"$STATE/lock"
# The next job of these servers has removed them already, and has its own there.
flock "$lock"
[[ -d $dir ]] || exit 0
status=0
toctl clear --all "${FABRIC_OPTIONS[@]}" "$dir/plan.json" 2>&1 |
	sed "s/^/$(date +%FT%T) job $SLURM_JOB_ID: /" >>"$STATE/log" || status=$?
rm -r "$dir"
exit "$status"
