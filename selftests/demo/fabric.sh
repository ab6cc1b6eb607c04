#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The demo's part inside the guest: fabric.sh PLAN. Servers are namespaces,
# ports are veths that end in the namespace of the optical switch.

set -u
plan=$1
here=$(dirname "$(realpath "$0")")
lab=$here/../lab/fabric.sh
tmp=$(mktemp -d)
# shellcheck source=selftests/lab/workers.sh
. "$here/../lab/workers.sh"

# Part of an iteration that is run; software NICs are no 25 Gbit/s.
iterations=0.02

failures=0
mapfile -t servers < <(jq -r '.servers[].name' "$plan")
n=${#servers[@]}

step() { printf '== %s\n' "$*"; }

verdict() # verdict STATUS TEXT
{
	if [ "$1" -eq 0 ]; then
		printf 'ok      %s\n' "$2"
	else
		printf 'FAILED  %s\n' "$2"
		failures=$((failures + 1))
	fi
	return "$1"
}

# Not for what is killed later: in the background it is a child of a subshell.
on() { ip netns exec "$@"; }

# First of the planned ways to an address, as "s0 s1 s2"; all of them: --all.
planned() # planned SRC DST [--all]
{
	toctl --json route "$2" --plan "$plan" --node "$1" |
		jq -r '# a server that was shown before has no "next"
		       ([.path | .. | objects | select(.next)] | INDEX(.server)) as $shown |
		       def ways: .server as $s | (.next // $shown[$s].next) as $next |
				if $next then
					$next[] | select(.backup | not) | .then | ways | "\($s) \(.)"
				else $s end;
		       .path | ways' | if [ "${3:-}" ]; then cat; else head -n 1; fi
}

wait_until() # wait_until SECONDS COMMAND...
{
	local deadline=$((SECONDS + $1))

	shift
	until "$@"; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep 0.1
	done
}

# ---- one iteration of the job, recorded ----

record()
{
	local server

	recorders=()
	for server in "${servers[@]}"; do
		ip netns exec "$server" toctl tm record "$plan" --node "$server" \
			--interval 1s --count 0 -o "$tmp/$server.tm.json" \
			2>"$tmp/$server.log" &
		recorders+=($!)
	done
	for server in "${servers[@]}"; do
		wait_until 60 grep -q recording "$tmp/$server.log" ||
			{ cat "$tmp/$server.log"; return 1; }
	done
}

recorded()
{
	local pid status=0

	kill -INT "${recorders[@]}"
	for pid in "${recorders[@]}"; do
		wait "$pid" || status=1
	done
	return $status
}

sum() { jq -s "map(.$1) | add" "$tmp"/job.*; }

# ---- RoCEv2 ----

# A pair whose way takes $1 relays: "s0 s5 s5:eth1".
rdma_pair()
{
	local src dst port

	for src in "${servers[@]}"; do
		for dst in "${servers[@]}"; do
			[ "$src" != "$dst" ] || continue
			while read -r port; do
				# shellcheck disable=SC2046 # words are counted
				set -- "$1" $(planned "$src" "$dst:$port")
				if [ $# -eq $(($1 + 3)) ]; then
					echo "$src $dst $port"
					return
				fi
			done < <(jq -r --arg s "$dst" '.servers[] | select(.name == $s) |
					.ports[].name' "$plan")
		done
	done
	return 1
}

write_bw() # write_bw RELAYS
{
	local src dst port address device server status relays=relays

	read -r src dst port < <(rdma_pair "$1") ||
		{ verdict 1 "no pair of servers with $1 relays between"; return; }
	address=$(jq -r --arg s "$dst" --arg p "$port" '.servers[] | select(.name == $s) |
		.ports[] | select(.name == $p) | .ipv4' "$plan")
	device=$(on "$src" ip -j route get "$address" | jq -r '.[0].dev')
	ip netns exec "$dst" ib_write_bw -d "$dst-$port" -x 1 -s 65536 -n 100 -p 18600 \
		>"$tmp/bw.server" 2>&1 &
	server=$!
	wait_until 20 on "$dst" sh -c 'ss -Hltn "sport = :18600" | grep -q .'
	timeout 60 ip netns exec "$src" ib_write_bw -d "$src-$device" -x 1 -s 65536 \
		-n 100 -p 18600 "$address" >"$tmp/bw.client" 2>&1
	status=$?
	[ $status -eq 0 ] || kill "$server" 2>/dev/null
	wait "$server" || status=1
	[ "$1" != 1 ] || relays=relay
	if ! verdict $status "ib_write_bw $src:$device -> $dst:$port, $1 $relays ($(planned "$src" "$dst:$port")): $(
			awk '$1 == 65536 { print $4 " MiB/s" }' "$tmp/bw.client")"; then
		cat "$tmp/bw.client" "$tmp/bw.server"
	fi
}

# ---- the demo ----

step "The fabric: $n servers, $(jq '.links | length' "$plan") links through one optical switch"
"$lab" up "$plan" >"$tmp/up.log" 2>&1
verdict $? "tables applied on $n servers" || cat "$tmp/up.log"

printf '\n'
step "One training iteration over TCP (its bytes times $iterations), recorded on every server"
record
verdict $? "every server counts its traffic"
workers "$plan" job --scale "$iterations"
verdict $? "the job ran on every server"
recorded
verdict $? "recordings written"
pairs=$((n * (n - 1)))
printf '        %s/%s pairs reachable over TCP\n' "$(sum reached)" "$pairs"
[ "$(sum reached)" = "$pairs" ]
verdict $? "every server reaches every other"
[ "$(sum mp_transfers)" = "$(sum mp_transfers_ok)" ]
verdict $? "$(sum mp_transfers_ok) of $(sum mp_transfers) MP transfers arrived whole"
[ "$(sum rings)" -gt 0 ] && [ "$(sum rings)" = "$(sum rings_ok)" ]
verdict $? "AllReduce over $(jq '.rings | length' "$plan") rings in both directions: sums checked, $(
	sum rings_ok) of $(sum rings) right"

printf '\n'
step "A path, planned and seen"
src=${servers[0]}
dst=$(for server in "${servers[@]:1}"; do
	printf '%s %s\n' "$(planned "$src" "$server")" "$server"
done | awk 'NF > most { most = NF; farthest = $NF } END { print farthest }')
planned "$src" "$dst" --all >"$tmp/ways"
seen=$src
# One flow, so that every probe takes the same of several equal paths.
while read -r address; do
	seen+=" $(jq -r --arg a "$address" '.servers[] | select(.ipv4 == $a) | .name' "$plan")"
done < <(on "$src" traceroute -n -q 1 -w 2 -U --sport=4791 \
		"$(jq -r --arg s "$dst" '.servers[] | select(.name == $s) | .ipv4' "$plan")" |
	awk 'NR > 1 { print $2 }')
printf '        planned:    %s\n' "$(paste -sd'|' "$tmp/ways" | sed 's/|/, or /g')"
printf '        traceroute: %s\n' "$seen"
grep -qxF "$seen" "$tmp/ways"
verdict $? "traceroute from $src to $dst follows the plan"

printf '\n'
step "RoCEv2 (rdma_rxe) through relays"
"$lab" rxe >"$tmp/rxe.log" 2>&1
verdict $? "an RDMA device on every port" || cat "$tmp/rxe.log"
write_bw 1
write_bw 2

printf '\n'
step "The traffic matrix of the iteration, planned and measured"
toctl tm merge -o "$tmp/fabric.tm.json" "$tmp"/s*.tm.json >"$tmp/merge.log" 2>&1
verdict $? "recordings of $n servers merged" || cat "$tmp/merge.log"
toctl tm compare "$plan" "$tmp/fabric.tm.json" --iterations "$iterations" \
	--tolerance 10 --slack 8192
verdict $? "measured as planned"
cp "$tmp/fabric.tm.json" /out/tm.json

printf '\n'
if [ "$failures" -eq 0 ]; then
	echo "The fabric works. Plan and measured matrix: build/demo/plan.json, build/demo/tm.json"
else
	echo "$failures checks failed"
	exit 1
fi
