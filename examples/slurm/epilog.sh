#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# EpilogSlurmctld: remove the tables of a job that prolog.sh has started; its servers are
# free.

# shellcheck source=examples/slurm/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

[[ -d $dir ]] || exit 0
hold
# The next job of these servers may have removed them meanwhile, and has its own there.
[[ -d $dir ]] || exit 0
run toctl shard remove "$SLURM_JOB_ID" >/dev/null
# When a server did not answer, this stays for the next job of its servers.
rm -r "$dir"
