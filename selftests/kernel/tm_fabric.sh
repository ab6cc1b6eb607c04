#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12 6.12-arm64
# The whole matrix of a planned fabric: every server sends to every other, each
# pair another number of bytes, most of them over relays.
#
#	s0 .. s5, three ports each, cabled and routed by toctl plan

. "$(dirname "$(realpath "$0")")/../lib.sh"

cat >"$tmp/job.json" <<-END
	{"name": "ring-6", "servers": 6, "allreduce": [{"group": "all", "bytes": 1000000}]}
END
must toctl plan --job "$tmp/job.json" --degree 3 -o "$tmp/plan.json"
must fabric_up "$tmp/plan.json"

hush 4791,9999

record_begin
send_pairs
record_end
is "every pair to the byte" "$(toctl tm show "$tmp/fabric.tm" --json | jq -c .bytes)" "$(sent_pairs)"
is "half of them RoCE" \
	"$(toctl tm show "$tmp/fabric.tm" --json --class roce | jq -c .bytes)" "$(sent_pairs roce)"
is "nothing passed the kernels by" \
	"$(jq '[.samples[].links[][2]] | add' "$tmp/fabric.tm")" 0

# What the matrix says is what the next plan is made for.
check "it is a demand" toctl tm demand "$tmp/fabric.tm" -o "$tmp/measured.json"
check "that plans" toctl plan --job "$tmp/measured.json" --degree 3 -o "$tmp/next.json"
check "and verifies" toctl verify "$tmp/next.json"

done_testing
