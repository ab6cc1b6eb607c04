#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The measurements of packets.sh, in a guest: a JSON object.

# Standard output is for measurements.
exec 3>&1 1>&2
. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/lab/workers.sh"
rate=1000000	# bit/s of a link
mtu=4200
port=7500

jq '.allreduce[].bytes = 1210176 | .mp[].bytes |= . / 64' "$lib_dir/../examples/prototype-12/job.json" >"$tmp/job.json"
must toctl plan --job "$tmp/job.json" --degree 4 --rings --bandwidth 1M -o "$tmp/plan.json" >/dev/null
# the same with one next hop in each group: no hash has a say in which link carries what
jq '.tables[].groups |= map(map(select(.backup | not)) | .[:1]) | del(.predictions)' \
	"$tmp/plan.json" >"$tmp/one.json"
must toctl verify "$tmp/one.json" >/dev/null
# all that servers send each other, as transfers
toctl heatmap --json "$tmp/plan.json" | jq '{
	format: "topoopt-job", version: 1, name: "prototype-12", servers, allreduce: [], mp: .bytes}' >"$tmp/udp.json"
must fabric_up "$tmp/plan.json"
for server in "${servers[@]}"; do
	printf "qdisc replace dev %s root handle 1: tbf rate $rate burst 9000 limit 10000000\n" eth0 eth1 eth2 eth3 |
		tc -n "$server" -b -
	jq -r --arg server "$server" --slurpfile plan "$tmp/plan.json" '
		.mp[.servers | index($server)] | to_entries[] | select(.value > 0)
		| "\($plan[0].servers[.key].ipv4) \(.value)"' "$tmp/udp.json" >"$tmp/flows.$server"
	jq --arg server "$server" '(.servers | index($server)) as $x | [.mp[][$x]] | add' \
		"$tmp/udp.json" >"$tmp/expected.$server"
done

# What each port has sent: its server, itself, payload, and packets lost.
counters() { # HEADERS
	local server

	for server in "${servers[@]}"; do
		tc -n "$server" -s -j qdisc show | jq -c --arg server "$server" --argjson headers "$1" '
			.[] | select(.handle == "1:")
			| {from: $server, port: .dev, bytes: (.bytes - $headers * .packets), drops}'
	done
}

# Seconds of each iteration.
over_tcp() { # PLAN ITERATIONS
	must workers "$1" tcp --repeat "$2" --timeout 600
	jq -cs 'map(.times) | transpose | map(max)' "$tmp"/tcp.s*
}

over_udp() {
	local server pid pids=() start

	start=$(($(date +%s%N) + 3000000000))
	for server in "${servers[@]}"; do
		ip netns exec "$server" /src/build/bench/paced $rate $port "$(<"$tmp/expected.$server")" $start \
			<"$tmp/flows.$server" >"$tmp/udp.$server" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		must wait "$pid"
	done
	jq -cs '[map(.seconds) | max]' "$tmp"/udp.s*
}

# Run an iteration or several, and what is simulated for it.
beside() { # PLAN ITERATIONS HEADERS SIMULATE-OPTIONS -- COMMAND...
	local plan=$1 repeat=$2 headers=$3 options=()

	shift 3
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	counters "$headers" >"$tmp/before"
	"${@:2}" >"$tmp/times"
	counters "$headers" >"$tmp/after"
	must tosim simulate "$plan" --level packet --mtu $((mtu - headers + 14)) --headers "$headers" \
		--queue-pairs 1 --latency 50us --relay-latency 300us \
		--step-latency 0ns --json "${options[@]}" >"$tmp/simulated.json"
	jq -n --argjson repeat "$repeat" --slurpfile plan "$plan" --slurpfile simulated "$tmp/simulated.json" \
		--slurpfile before "$tmp/before" --slurpfile after "$tmp/after" --slurpfile times "$tmp/times" '
		($plan[0].servers | map({key: .name, value: .ports | map(.name)}) | from_entries) as $ports
		| ($simulated[0].links | map({key: "\(.from):\($ports[.from][.port])", value: .bytes})
			| from_entries) as $expected
		| [range($before | length) | $before[.] as $from | $after[.]
			| {key: "\(.from):\(.port)", drops: (.drops - $from.drops),
			   bytes: ((.bytes - $from.bytes) / $repeat)}] as $links
		| {measured_s: $times[0], simulated_s: $simulated[0].iteration_time_s.mean,
		   links: ($links | length), bytes: ($links | map(.bytes) | add | round),
		   dropped: ($links | map(.drops) | add),
		   largest_deviation: ($links | map(.bytes / $expected[.key] - 1 | fabs) | max)}'
}

beside "$tmp/plan.json" 2 66 --transport tcp -- over_tcp "$tmp/plan.json" 2 >"$tmp/hashed"
for server in "${servers[@]}"; do
	must apply "$server" "$tmp/one.json" >/dev/null
done
beside "$tmp/one.json" 1 66 --transport tcp -- over_tcp "$tmp/one.json" 1 >"$tmp/tcp"
beside "$tmp/one.json" 1 42 --transport none --job "$tmp/udp.json" -- over_udp >"$tmp/udp"
jq -n --slurpfile hashed "$tmp/hashed" --slurpfile tcp "$tmp/tcp" --slurpfile udp "$tmp/udp" \
	'{hashed: $hashed[0], tcp: $tcp[0], udp: $udp[0]}' >&3
