#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# Timeout: 600
# AllReduce for real: BML, parameter servers, a ring and the plan's rings on the nine
# servers of examples/bcube-3-2, whose links are shaped. Sums are right and each link's
# bytes are those of the closed form; also when a cable is cut on the way.

. "$(dirname "$(realpath "$0")")/../lib.sh"
example=$lib_dir/../examples/bcube-3-2

bytes=1800000	# 18 pieces of whole elements

must toctl plan --cluster "$example/cluster.json" --job "$example/job.json" --fixed \
	-o "$tmp/plan.json" >/dev/null
must fabric_up "$tmp/plan.json"

shape() { # RATE BURST: of every port
	local server port

	for server in "${servers[@]}"; do
		for port in eth0 eth1 eth2 eth3; do
			echo "qdisc replace dev $port root tbf rate $1 burst $2 latency 5s"
		done | tc -n "$server" -b -
	done
}

value() { jq -r ".$2" "$tmp/$1.s0"; }	# NAME KEY

must shape 200mbit 256k
for algorithm in bml ps ring plan; do
	check "$algorithm: sums are right, bytes of links as planned" \
		collective "$algorithm" "$plan" --size "$bytes" --algorithm "$algorithm" --check
	is "$algorithm: all nine servers" "$(value "$algorithm" sums_right)" 9
	echo "# $algorithm: $(jq -r '"\(.time_s) s, \(100 * .largest_deviation) % off"' "$tmp/$algorithm.s0")"
done
# a port sends 2(N-1)/(kN) or 2(n-1)/n of the buffer, over two links
is "bml plans the bytes of its closed form" \
	"$(jq ".busiest_link_bytes == $bytes * 8 / 9 / 2" "$tmp/bml.s0")" true
is "ps plans the bytes of its closed form" \
	"$(jq ".busiest_link_bytes == $bytes * 4 / 3 / 2" "$tmp/ps.s0")" true
sent() { jq '[.links[].sent_bytes] | max' "$tmp/$1.s0"; }	# NAME
is "bml sends less than ps, by the ratio of the closed forms within 10 %" \
	"$(jq -n "$(sent ps) / $(sent bml) / 1.5 | . > 0.9 and . < 1.1")" true
is "each server logs two threads of four steps" \
	"$(cat "$tmp"/bml.*.log | jq -s 'map([.thread, .step]) | group_by(.) | map([.[0][], length])' -c)" \
	"$(jq -nc '[range(2) as $t | range(4) as $s | [$t, $s, 9]]')"
check "twice, one after the other" collective twice "$plan" --size "$bytes" --algorithm ps --check --repeat 2
is "twice: all bytes, and the mean of the times" "$(jq '.repeat == 2 and
	([.links[].planned_bytes] | max) == '"$bytes"' * 4 / 3 and
	.algbw_Bps == .bytes / .time_s' "$tmp/twice.s0")" true
is "steps move 6, 2, 2 and 6 pieces" "$(jq -s 'map(select(.thread == 0).sent * 18 / '$bytes')' -c "$tmp/bml.s4.log")" \
	"[6,2,2,6]"

# The matrix that BPF counts: what BML sends each neighbour, and nothing to others.
record_begin
check "bml, recorded" collective recorded "$plan" --size "$bytes" --algorithm bml --check
record_end
is "the matrix agrees within 5 %" "$(toctl tm show "$tmp/fabric.tm" --json | jq -c '[
	.bytes | to_entries[] | .key as $i | .value | to_entries[] | .key as $j
	| ([$i, $j] | map([. % 3, (. / 3 | floor)]) | transpose | map(select(.[0] != .[1])) | length) as $hops
	| (.value / ('"$bytes"' * 4 / 9)) as $part
	| select(if $hops == 1 then $part < 0.99 or $part > 1.05 else $part > 0.01 end)
	| [$i, $j, .value]]')" "[]"

# A cable is cut while pieces are on their way, on links too slow to be done before:
# node addresses stay reachable.
cut() {
	local server

	for server in "${servers[@]}"; do
		collective_begin cut "$server" "$plan" --size "$((bytes / 2))" --algorithm bml --node-addresses \
			--timeout 300s
	done
	wait_for 120 grep -q . "$tmp/cut.s0.log"
	# nobody gets far without s0, however long this takes
	ip netns pids s0 | xargs kill -STOP
	must "$fabric" darken s0:eth0
	wc -l <"$tmp/cut.s0.log" >"$tmp/done"
	must shape 200mbit 256k
	ip netns pids s0 | xargs kill -CONT
	collective_end cut
}

must shape 200kbit 16k
check "bml goes on when a cable is cut" cut
is "sums are right all the same" "$(value cut sums_right)" 9
is "the cut came between two of the eight steps" "$(awk '{ print ($1 > 0 && $1 < 8) }' "$tmp/done")" 1
must "$fabric" light s0:eth0

# One server is told another size: all stop, and say which.
odd() {
	local server

	for server in "${servers[@]}"; do
		collective_begin odd "$server" "$plan" --algorithm bml \
			--size "$([[ $server == s4 ]] && echo 900000 || echo "$bytes")"
	done
	collective_end odd
}
check_fails "a server that was told another size is named" "s4: runs another plan, algorithm or size" odd

# Without the others nothing can be told; steps of an earlier run are gone.
echo old >"$tmp/alone"
on s0 toctl collective run "$plan" --node s0 --size "$bytes" --timeout 200ms -o "$tmp/alone" 2>"$tmp/alone.err"
is "a server alone: status 3" "$?" 3
is "and the file of steps is empty" "$(cat "$tmp/alone")" ""

done_testing
