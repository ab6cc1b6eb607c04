#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Twelve servers without a packet switch become one fabric: planned, applied,
# carrying TCP and RoCEv2 over several hops, and measured; then toctl run makes
# eight follow their traffic. Run by make demo, which builds what it needs.
# Exit status 0 only if all it claims was seen.

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

out=build/demo
mkdir -p "$out"
rm -f "$out"/*

printf '== The plan: 12 servers, 4 ports each (the TopoOpt prototype)\n'
build/toctl plan --job examples/prototype-12/job.json --degree 4 \
	--bandwidth 25G --seed 1 -o "$out/plan.json" >"$out/plan.log"
build/toctl verify "$out/plan.json"
printf '\n'

selftests/lab/guest -k 7.2 -m 2048 -t 600 -o "$out" -- \
	/src/selftests/demo/fabric.sh /out/plan.json
printf '\n'
exec selftests/lab/guest -k 7.2 -t 900 -l loop.log -o "$out" -- /src/selftests/demo/loop.sh
