#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# For how long a cut link loses packets, where the group has a backup next hop: the
# wire of the primary goes dark again and again under numbered datagrams. Prints
# cuts, packets lost and guest time, and writes build/bench/recovery.json.
#
#	recovery.sh [-k KERNEL] [-r CUTS]
#
#	-k  guest kernel (6.12)
#	-r  how often to cut (20)
#
# A guest nanosecond is an instruction, so the busy host does not count.

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
. selftests/lab/common.sh
kernel=6.12 cuts=20 out=build/bench/recovery.json
while getopts k:r:h option; do
	case $option in
	k) kernel=$OPTARG; lab_check_kernel "$kernel" ;;
	r) cuts=$OPTARG ;;
	*) sed -n '3,/^$/s/^#[[:space:]]\?//p' "$0" >&2; exit 2 ;;
	esac
done

mkdir -p build/bench
selftests/lab/guest -i -k "$kernel" -t 1800 -- \
	/src/selftests/bench/recovery_guest.sh "$cuts" >"$out"
jq -r '"\(.cuts) cuts, a datagram every \(.interval_ns / 1e3 | round) us",
	"lost after a cut: \(.lost_median) (median), \(.lost_max) (most)",
	"for: \(.outage_ns_median / 1e3 | round) us (median), \(.outage_ns_max / 1e3 | round) us (longest)"' "$out"
