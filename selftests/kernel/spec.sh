#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The netlink spec, the uapi header and the policies of the running module say
# the same: numbers of commands and attributes, types, ranges, nests, who may
# send what.

. "$(dirname "$(realpath "$0")")/../lib.sh"

must modprobe topoopt_fwd
python3 "$lib_dir/kernel/spec.py" | tee "$tmp/tap"
((PIPESTATUS[0] == 0)) && grep -q '^1\.\.[1-9]' "$tmp/tap"
