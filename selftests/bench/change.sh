#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a change of the plan takes of a server's own processor, step by step: twelve
# servers are rewired, and back. Figures to read and build/bench/change.json.
#
#	change.sh [-k KERNEL]
#
#	-k  guest kernel (7.2)
#
# Instructions are counted by QEMU (-icount), a nanosecond of the guest each, so that the
# machine does not matter. What counts is the time that a server's agent ran, in the kernel
# on its behalf included; not what the kernel does later, such as to free the old table.
# Milliseconds are for 10^9 instructions a second.

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
. selftests/lab/common.sh
kernel=7.2 out=build/bench/change.json
while getopts k:h option; do
	case $option in
	k) kernel=$OPTARG; lab_check_kernel "$kernel" ;;
	*) sed -n '3,/^$/s/^#[[:space:]]\?//p' "$0" >&2; exit 2 ;;
	esac
done

lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
selftests/lab/guest -k "$kernel" -i -m 2048 -t 3600 -- \
	/src/selftests/bench/change_guest.sh >"$lines"
mkdir -p build/bench
jq -s . "$lines" >"$out"
echo "== A change on twelve servers, kernel $kernel: instructions of one server's agent"
jq -r -f selftests/bench/change.jq "$out" | column -t -s $'\t'
