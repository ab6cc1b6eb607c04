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

recorders=()
for server in "${servers[@]}"; do
	in_netns "$server" toctl tm record --plan "$plan" --node "$server" --count 0 \
		-o "$tmp/$server.tm" 2>"$tmp/$server.log" &
	recorders+=($!)
done
for server in "${servers[@]}"; do
	check "recording on $server starts" wait_for 60 grep -q recording "$tmp/$server.log"
done

# Pair (i, j): 1 + j datagrams of 100 + 10 i bytes; half of the pairs as RoCE.
for i in "${!servers[@]}"; do
	for j in "${!servers[@]}"; do
		((i == j)) || printf 'for k in {0..%d}; do printf "%%%ds" "" >/dev/udp/%s/%d; done\n' \
			"$j" "$((100 + 10 * i))" "$(node "${servers[j]}")" \
			"$(((i + j) % 2 ? 4791 : 9999))"
	done | on "${servers[i]}" bash
done
expected=$(jq -nc '[range(6) as $i | [range(6) as $j
	| if $i == $j then 0 else (1 + $j) * (100 + 10 * $i + 42) end]]')
roce=$(jq -nc '[range(6) as $i | [range(6) as $j
	| if ($i + $j) % 2 == 0 then 0 else (1 + $j) * (100 + 10 * $i + 42) end]]')

kill -INT "${recorders[@]}"
for i in "${!servers[@]}"; do
	wait "${recorders[i]}"
	is "recording on ${servers[i]} ends well" "$?" 0
done
check "the recordings merge" toctl tm merge -o "$tmp/fabric.tm" "$tmp"/s[0-5].tm
is "every pair to the byte" "$(toctl tm show "$tmp/fabric.tm" --json | jq -c .bytes)" "$expected"
is "half of them RoCE" \
	"$(toctl tm show "$tmp/fabric.tm" --json --class roce | jq -c .bytes)" "$roce"
is "nothing passed the kernels by" \
	"$(jq '[.samples[].links[][2]] | add' "$tmp/fabric.tm")" 0

# What the matrix says is what the next plan is made for.
check "it is a demand" toctl tm demand "$tmp/fabric.tm" -o "$tmp/measured.json"
check "that plans" toctl plan --job "$tmp/measured.json" --degree 3 -o "$tmp/next.json"
check "and verifies" toctl verify "$tmp/next.json"

done_testing
