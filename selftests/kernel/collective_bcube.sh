#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# Timeout: 600
# AllReduce for real on BCube(3,2) itself: nine servers with a port on each of two of six
# packet switches, which are bridges; ports are shaped. BML, parameter servers and a ring are
# those of the plan. Sums are right, also when a switch dies on the way, and each port's bytes
# are those of the closed form. make bench-collective compares times.
#
#	s0 s1 s2 share sw0.0, s0 s3 s6 share sw1.0; s0 reaches s4 by s1 or s3

. "$(dirname "$(realpath "$0")")/../lib.sh"

bytes=1800000	# 18 pieces of whole elements

jq -n --argjson bytes "$bytes" '{name: "all", servers: 9,
	allreduce: [{group: "all", bytes: $bytes}]}' >"$tmp/job.json"
for algorithm in ring ps bml; do
	must toctl plan --job "$tmp/job.json" --topology bcube:3,2 --algorithm "$algorithm" \
		-o "$tmp/plan-$algorithm.json" >/dev/null
done
fabric_up "$tmp/plan-bml.json"

shape() { # RATE BURST: of every port
	local server

	for server in "${servers[@]}"; do
		printf "qdisc replace dev eth%d root tbf rate $1 burst $2 latency 5s\n" 0 1 |
			tc -n "$server" -b -
	done
}

value() { jq -r ".$2" "$tmp/$1.s0"; }	# NAME KEY
planned() { jq ".busiest_link_bytes == $bytes * $2" "$tmp/$1.s0"; }	# NAME PART

# The matrix that BPF counts while BML runs.
record_begin
must shape 200mbit 256k
for algorithm in bml ps ring; do
	check "$algorithm: sums are right, bytes of ports as planned" \
		collective "$algorithm" "$tmp/plan-$algorithm.json" --size "$bytes" --check
	is "$algorithm: all nine servers, by the plan's collective" \
		"$(value "$algorithm" sums_right) $(value "$algorithm" algorithm)" "9 $algorithm"
	[[ $algorithm != bml ]] || record_end
	echo "# $algorithm: $(jq -r '"\(.time_s) s, \(100 * .largest_deviation) % off"' "$tmp/$algorithm.s0")"
done
is "a port sends 2(N-1)/(kN) of the buffer for bml, 2(n-1)/n for ps, 2(N-1)/N for ring" \
	"$(planned bml 8/9) $(planned ps 4/3) $(planned ring 16/9)" "true true true"
sent() { jq '[.links[].sent_bytes] | max' "$tmp/$1.s0"; }	# NAME
is "bml sends less than ps, by the ratio of the closed forms within 10 %" \
	"$(jq -n "$(sent ps) / $(sent bml) / 1.5 | . > 0.9 and . < 1.1")" true
is "each server logs two threads of four steps" \
	"$(cat "$tmp"/bml.*.log | jq -s 'map([.thread, .step]) | group_by(.) | map([.[0][], length])' -c)" \
	"$(jq -nc '[range(2) as $t | range(4) as $s | [$t, $s, 9]]')"

is "the matrix is what BML sends each neighbour, within 5 %, and nothing to others" \
	"$(toctl tm show "$tmp/fabric.tm" --json | jq -c '[
	.bytes | to_entries[] | .key as $i | .value | to_entries[] | .key as $j
	| ([$i, $j] | map([. % 3, (. / 3 | floor)]) | transpose | map(select(.[0] != .[1])) | length) as $hops
	| (.value / ('"$bytes"' * 4 / 9)) as $part
	| select(if $hops == 1 then $part < 0.99 or $part > 1.05 else $part > 0.01 end)
	| [$i, $j, .value]]')" "[]"

# A switch dies while pieces are on their way, on ports too slow to be done before: node
# addresses stay reachable, by other ports of its servers. (Of one cable behind a switch only
# its own server sees that it is cut.)
kill_switch() {
	local server

	for server in "${servers[@]}"; do
		collective_begin dead "$server" "$plan" --size "$((bytes / 2))" --node-addresses --timeout 300s
	done
	wait_for 120 grep -q . "$tmp/dead.s0.log"
	# nobody gets far without s0, however long this takes
	ip netns pids s0 | xargs kill -STOP
	must "$fabric" darken sw0.0
	wc -l <"$tmp/dead.s0.log" >"$tmp/done"
	must shape 200mbit 256k
	ip netns pids s0 | xargs kill -CONT
	collective_end dead
}

must shape 200kbit 16k
check "bml goes on when a switch dies" kill_switch
is "sums are right all the same" "$(value dead sums_right)" 9
is "it died between two of the eight steps" "$(awk '{ print ($1 > 0 && $1 < 8) }' "$tmp/done")" 1

done_testing
