#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The measurements of change.sh, in a guest: one JSON object per line.
#
#	s0 .. s11, four ports each, on one optical switch
#
# One plan has links between servers that are six apart, the other one three.

# Standard output is for measurements.
exec 3>&1 1>&2
. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/lab/phases.sh"

must phase_plan across >"$tmp/across.json"
must phase_plan near >"$tmp/near.json"
must fabric_up "$tmp/across.json" --no-apply
mkdir "$tmp/agents"
/src/build/bench/change "$tmp/across.json" "$tmp/near.json" "$tmp/allow" "$tmp/agents" >&3
