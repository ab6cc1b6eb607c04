#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 300
# Processors: 2
# The tables and next hop groups of the module, without a NIC: lookups against
# a linear search, weights, and which flows move. And sends of tasks that preempt each
# other (selftests/module/table_test.c).

. "$(dirname "$(realpath "$0")")/../lib.sh"

module=/src/build/kmod-$(uname -r)/test/topoopt_table_test.ko

dmesg --clear
insmod "$module" || not_ok "the test module loads"
rmmod topoopt_table_test
# TAP as the module wrote it, the final plan included.
dmesg -t | sed -n 's/^topoopt_table: //p' | tee "$tmp/tap"
grep -q '^1\.\.[1-9]' "$tmp/tap" && ! grep -q '^not ok' "$tmp/tap"
