#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How long BML, parameter servers, one ring and the plan's rings take on the nine servers of
# examples/bcube-3-2, all links at 1 Mbit/s, beside the bytes of their busiest link. Figures
# to read and build/bench/collective.json.
#
#	collective.sh [-k KERNEL]
#
#	-k  guest kernel (7.2)

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
. selftests/lab/common.sh
kernel=7.2 out=build/bench/collective.json
while getopts k:h option; do
	case $option in
	k) kernel=$OPTARG; lab_check_kernel "$kernel" ;;
	*) sed -n '3,/^$/s/^#[[:space:]]\?//p' "$0" >&2; exit 2 ;;
	esac
done

lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
selftests/lab/guest -k "$kernel" -m 2048 -t 1800 -- \
	/src/selftests/bench/collective_guest.sh >"$lines"
mkdir -p build/bench
jq -s . "$lines" >"$out"
echo "== AllReduce of 1.8 MB on BCube(3,2) of cables, kernel $kernel: mean of three"
jq -r 'def round(n): . * pow(10; n) | floor / pow(10; n);
	(map(select(.algorithm == "bml"))[0]) as $bml
	| ["", "time (s)", "beside bml", "bytes beside bml", "links off (%)"],
	  (.[] | [.algorithm, (.time_s | round(2)), (.time_s / $bml.time_s | round(3)),
		(.busiest_link_bytes / $bml.busiest_link_bytes | round(3)),
		(100 * .largest_deviation | round(2))])
	| @tsv' "$out" | column -t -s $'\t'
