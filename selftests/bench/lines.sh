#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cache lines that the relay touches and writes for a packet, by the layout that the module
# was built with: the table of Documentation/performance.md. Needs "make guest".
#
#	lines.sh [-k KERNEL]	(6.12)

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
. selftests/lab/common.sh
kernel=6.12
while getopts k:h option; do
	case $option in
	k) kernel=$OPTARG; lab_check_kernel "$kernel" ;;
	*) sed -n '3,/^$/s/^#[[:space:]]\?//p' "$0" >&2; exit 2 ;;
	esac
done
lab_use_kernel "$kernel"
lab_in_root "$root" pahole -C "$(selftests/bench/lines.py --structs)" \
	"/src/build/kmod-$(cat "$boot/release")/topoopt_fwd.ko" |
	selftests/bench/lines.py
