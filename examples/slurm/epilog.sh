#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# EpilogSlurmctld: remove the tables of a job that prolog.sh has started; its servers are
# free.

set -euo pipefail
# shellcheck source=examples/slurm/topoopt.conf
. "$(dirname "$(realpath "$0")")/topoopt.conf"

dir=$STATE/$SLURM_JOB_ID
exec {lock}>>"$STATE/lock"
# The next job of these servers has removed them already, and has its own there.
flock "$lock"
[[ -d $dir ]] || exit 0
toctl shard remove "$SLURM_JOB_ID" 2>&1 >/dev/null |
	sed "s/^/$(date +%FT%T) job $SLURM_JOB_ID: /" >>"$STATE/log"
# When a server did not answer, this stays for the next job of its servers.
rm -r "$dir"
