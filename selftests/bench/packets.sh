#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One iteration of examples/prototype-12 in the lab, links at 1 Mbit/s, beside tosim simulate
# --level packet: how long it takes, and what each link carries. Over TCP where flows are
# hashed, by the kernel with seeds of its own; then where each group of the tables has one
# next hop, over TCP, and all of it at once over UDP, each flow paced at a link's rate. A
# nanosecond of the guest is an instruction, however busy the machine is. Figures to read
# and build/bench/packets.json.
#
#	packets.sh [-k KERNEL]
#
#	-k  guest kernel (7.2)

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
. selftests/lab/common.sh
kernel=7.2 out=build/bench/packets.json
while getopts k:h option; do
	case $option in
	k) kernel=$OPTARG; lab_check_kernel "$kernel" ;;
	*) sed -n '3,/^$/s/^#[[:space:]]\?//p' "$0" >&2; exit 2 ;;
	esac
done

mkdir -p build/bench
selftests/lab/guest -k "$kernel" -i -m 2048 -t 1800 -- \
	/src/selftests/bench/packets_guest.sh >"$out.new"
mv "$out.new" "$out"
echo "== an iteration of prototype-12 on links of 1 Mbit/s, kernel $kernel"
jq -r 'def round(n): . * pow(10; n) | floor / pow(10; n);
	{hashed: "TCP, hashed", tcp: "TCP, one path a pair", udp: "paced UDP, one path a pair"} as $names
	| to_entries[] | $names[.key], (.value |
	"  measured   \(.measured_s | map(round(3)) | join(", ")) s",
	"  simulated  \(.simulated_s | round(3)) s, \(100 * (.simulated_s / (.measured_s | add / length) - 1) | round(1)) %",
	"  links      \(.links) carry \(.bytes) bytes, \(100 * .largest_deviation | round(2)) % off at most; \(.dropped) packets lost")' "$out"
