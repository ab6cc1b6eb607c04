#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measurements: figures to read, nothing passes or fails on them.
#
#	bench.sh [KERNEL]	6.1, 6.12 (default) or 7.2

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
kernel=${1:-6.12}

echo "== plan.json of 1024 servers of degree 8"
build/bench/plan_format build/bench/plan_format.json

# Guest time counts instructions here, so the figures do not depend on the host.
echo "== Lookups in tables of up to 1,000,000 routes, kernel $kernel: ns = instructions"
selftests/lab/guest -k "$kernel" -i -m 2048 -- bash -c '
	dmesg --clear
	insmod "/src/build/kmod-$(uname -r)/test/topoopt_table_bench.ko" limit=1000000
	dmesg -t | sed -n "s/^table_bench: //p"'

echo "== A million routes from plan.json into the active table, kernel $kernel"
selftests/lab/guest -k "$kernel" -m 2048 -- /src/selftests/kernel/load.sh |
	sed -n 's/^# //p'
