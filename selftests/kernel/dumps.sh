#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A dump during which something changes is marked NLM_F_DUMP_INTR, whatever
# generation user space chose for the table; no other dump is.

. "$(dirname "$(realpath "$0")")/../lib.sh"

must modprobe topoopt_fwd
must modprobe dummy numdummies=0
server=dumps-$(od -An -N2 -tx1 /dev/urandom | tr -d ' ')
must ip netns add "$server"
at_exit "ip netns del $server"
on "$server" python3 "$lib_dir/kernel/dumps.py" | tee "$tmp/tap"
((PIPESTATUS[0] == 0)) && grep -q '^1\.\.[1-9]' "$tmp/tap"
