#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The measurements of packets.sh, in a guest: a JSON object.

# Standard output is for measurements.
exec 3>&1 1>&2
. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/lab/workers.sh"
repeat=2
headers=66	# of Ethernet, IPv4, TCP and its timestamps

jq '.allreduce[].bytes = 1210176 | .mp[].bytes |= . / 64' "$lib_dir/../examples/prototype-12/job.json" >"$tmp/job.json"
must toctl plan --job "$tmp/job.json" --degree 4 --rings --bandwidth 1M -o "$tmp/plan.json" >/dev/null
must fabric_up "$tmp/plan.json"
for server in "${servers[@]}"; do
	printf 'qdisc replace dev %s root handle 1: tbf rate 1mbit burst 9000 limit 10000000\n' eth0 eth1 eth2 eth3 |
		tc -n "$server" -b -
done

# What each port has sent: its server, itself, payload, and packets lost.
counters() {
	local server

	for server in "${servers[@]}"; do
		tc -n "$server" -s -j qdisc show | jq -c --arg server "$server" --argjson headers $headers '
			.[] | select(.handle == "1:")
			| {from: $server, port: .dev, bytes: (.bytes - $headers * .packets), drops}'
	done
}

counters >"$tmp/before"
must workers "$plan" tcp --repeat $repeat --timeout 600
counters >"$tmp/after"
must toctl simulate "$plan" --level packet --transport tcp --mtu $((4200 - headers + 14)) \
	--headers $headers --queue-pairs 1 --latency 50us --relay-latency 300us --json >"$tmp/simulated.json"
jq -n --argjson repeat $repeat --slurpfile plan "$plan" --slurpfile simulated "$tmp/simulated.json" \
	--slurpfile before "$tmp/before" --slurpfile after "$tmp/after" --slurpfile workers <(cat "$tmp"/tcp.s*) '
	($plan[0].servers | map({key: .name, value: .ports | map(.name)}) | from_entries) as $ports
	| ($simulated[0].links | map({key: "\(.from):\($ports[.from][.port])", value: .bytes})
		| from_entries) as $expected
	| [range($before | length) | $before[.] as $from | $after[.]
		| {key: "\(.from):\(.port)", drops: (.drops - $from.drops),
		   bytes: ((.bytes - $from.bytes) / $repeat)}] as $links
	| {measured_s: ($workers | map(.times) | transpose | map(max)),
	   simulated_s: $simulated[0].iteration_time_s.mean,
	   links: ($links | length), bytes: ($links | map(.bytes) | add | round),
	   dropped: ($links | map(.drops) | add),
	   largest_deviation: ($links | map(.bytes / $expected[.key] - 1 | fabs) | max)}' >&3
