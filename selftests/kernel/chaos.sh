#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs: when named
# Timeout: 900
# Processors: 2
# Twelve servers under faults. One link at a time goes dark and is lit, as the
# backups of the plan cover; tables are committed without end; toctl is killed in
# the middle; ports leave and return; the module is unloaded and loaded again. All
# the time a TCP stream from each server carries data that is checked byte by byte,
# and one queue pair of RoCEv2 (on 7.2, where rdma_rxe works in network namespaces)
# has its requests acknowledged. Then a NIC and a server vanish, and the module, under traffic.
#
#	s0 .. s11, four ports each, as in the paper's prototype
#
# TEST_CHAOS=SECONDS does the first part for longer (30), TEST_SEED=N otherwise.

. "$(dirname "$(realpath "$0")")/../lib.sh"

seconds=${TEST_CHAOS:-30} seed=${TEST_SEED:-1}
RANDOM=$seed
must toctl plan --job "$lib_dir/../examples/prototype-12/job.json" --degree 4 \
	--family totient -o "$tmp/plan.json" >/dev/null
must toctl verify "$tmp/plan.json" >/dev/null
fabric_up "$tmp/plan.json"
other=$(plan_edit '.tables[].groups[][0].weight = 3')
n=${#servers[@]}
mapfile -t addresses < <(jq -r '.servers[].ipv4' "$plan")
# two ports, and the numbers of their servers
mapfile -t links < <(jq -r '[.servers[].name] as $names |
	def number: . / ":" | .[0] as $name | $names | index($name);
	.links[] | "\(.a) \(.b) \(.a | number) \(.b | number)"' "$plan")

dropped() { # NAME: by all servers, through ports that are and that were
	local server

	for server in "${servers[@]}"; do
		on "$server" toctl show --json
	done | jq -s --arg name "drop-$1" 'map(.counters[$name]) | add'
}
# Packets for somebody else that the servers' stacks were given.
stray() {
	local server

	for server in "${servers[@]}"; do
		on "$server" nstat -asz IpInAddrErrors IpForwDatagrams
	done | awk '/^Ip/ { sum += $2 } END { print sum }'
}
reaches() { # FROM TO
	on "${servers[$1]}" ping -q -c 1 -W 5 "${addresses[$2]}"
}
# What the stream to a server has brought.
bytes() { # SERVER
	on "${servers[$1]}" ss -Htin 'sport = :7000' | grep -o 'bytes_received:[0-9]*'
}
brought_more() { # SERVER BYTES
	[[ $(bytes "$1") != "$2" ]]
}

# --- what goes on all the time ---

if [[ $(uname -r) != 6.* ]]; then
	phases_servers=$n phases_rate=8M
	. "$lib_dir/lab/phases.sh"
	must phases_shape sfq limit 64 depth 8
	must "$fabric" rxe s0:eth{0..3} "s$((n / 4)):eth0"
	must rdma_start "$plan"
fi
streams=()
for ((i = 0; i < n; i++)); do
	streams+=("${servers[i]}=${addresses[i]}")
done
python3 "$lib_dir/kernel/chaos_stream.py" 7000 "${streams[@]}" >"$tmp/received" 2>"$tmp/torn" &
streamer=$!
must wait_for 120 brought_more 0 ""

# Three servers get one table after the other, three now one plan, now the other
# from a toctl that dies.
python3 "$lib_dir/kernel/chaos_commit.py" 100 "${servers[@]:0:3}" >"$tmp/committed" 2>&1 &
committer=$!
committing() { [[ $(on "${servers[0]}" toctl show --json | jq .generation) -gt 1 ]]; }
must wait_for 120 committing
touch "$tmp/interrupt"
interrupt() {
	local i plans=("$plan" "$other")

	while [[ -e $tmp/interrupt ]]; do
		i=$((3 + RANDOM % 3))
		(on "${servers[i]}" nice timeout -s KILL "$((RANDOM % 3)).$((RANDOM % 9 + 1))" \
			toctl apply "${plans[RANDOM % 2]}" --node "${servers[i]}" >/dev/null 2>&1)
		echo $? >>"$tmp/killed"
	done
}
interrupt 2>/dev/null &
interrupter=$!

# --- links, one at a time ---

live() { # SERVER:PORT...: do the servers know that these work?
	local port

	for port; do
		on "${port%:*}" toctl show --json | jq -e --arg port "${port#*:}" \
			'.ports[] | select(.port == $port).live' || return 1
	done
}
cuts=0 unanswered=''
# Until the time is over, and at least twice: with a link dark, its ends ask each
# other, some server another one, and all are answered.
cut_links() { # SECONDS
	local end=$((SECONDS + $1)) pair from to count
	local -a link

	for ((count = 0; count < 2 || SECONDS < end; count++)); do
		read -ra link <<<"${links[RANDOM % ${#links[@]}]}"
		must "$fabric" darken "${link[0]}"
		from=$((RANDOM % n))
		for pair in "${link[2]} ${link[3]}" "${link[3]} ${link[2]}" \
			"$from $(((from + 1 + RANDOM % (n - 1)) % n))"; do
			read -r from to <<<"$pair"
			reaches "$from" "$to" >/dev/null ||
				unanswered+="${link[*]:0:2} dark: not from ${servers[from]} to ${servers[to]}"$'\n'
		done
		must "$fabric" light "${link[0]}"
		must wait_for 30 live "${link[@]:0:2}"
		((++cuts))
	done
}
cut_links "$seconds"
is "seed $seed: with any one of $cuts links dark, who asks is answered" "$unanswered" ""

rm "$tmp/interrupt"
kill "$committer"
wait "$committer" "$interrupter"
committed=$(tail -n 1 "$tmp/committed")
check "tables were committed meanwhile: $committed" test "$committed" -gt 50
is "and none was refused" "$(sed '$d' "$tmp/committed")" ""
check "toctl was killed in the middle: $(grep -c 137 "$tmp/killed") times" grep -q 137 "$tmp/killed"
is "no packet went round in circles" "$(dropped ttl)" 0
is "none was malformed on the way" "$(dropped header)" 0
is "none came to another server than it was for" "$(stray)" 0

# --- ports and the module leave and return; nothing covers that, but TCP does ---

for ((i = 0; i < 10; i++)); do
	read -r port _ <<<"${links[RANDOM % ${#links[@]}]}"
	must ip -n "${port%:*}" link set "${port#*:}" nomaster
	must ip -n "${port%:*}" link set "${port#*:}" master topo0
done
check "ports that left and came back are in their places" wait_for 60 reaches 0 6
is "still nothing went round in circles" "$(dropped ttl)" 0
must rmmod topoopt_fwd
must modprobe topoopt_fwd
for server in "${servers[@]}"; do
	must apply "$server" "$plan" >/dev/null
done
check "the module left and came back: servers reach each other" wait_for 60 reaches 0 6

# --- what came of the streams ---

before=$(bytes 6)
check "and streams go on" wait_for 120 brought_more 6 "$before"
kill "$streamer"
wait "$streamer"
is "every byte of every stream arrived: $(cat "$tmp/received")" "$(cat "$tmp/torn")" ""
if [[ -n ${rdma_pids:-} ]]; then
	check "RoCEv2 that was under way goes on" rdma_goes_on || sed "s/^/# /" "$tmp"/rdma.*
	rdma_end
fi

# --- in quiet, what leaves a port arrives at one ---

port_counters() { # the sums over all ports that make nothing of a quiet fabric
	local server

	for server in "${servers[@]}"; do
		on "$server" toctl show --json
	done | jq -s '[.[].ports[].counters | .["relay-tx-packets"] - .["relay-rx-packets"]
		- .["local-packets"] - .["miss-packets"]] | add'
}
before=$(port_counters)
for ((i = 0; i < n; i++)); do
	must on "${servers[i]}" ping -q -c 20 -i 0.01 -W 5 "${addresses[(i + 3) % n]}" >/dev/null
done
is "counters of all ports add up" "$(port_counters)" "$before"

# --- NIC, server and module vanish under traffic ---

floods=()
for ((i = 0; i < n; i++)); do
	in_netns "${servers[i]}" ping -q -i 0.01 "${addresses[(i + 5) % n]}" >/dev/null 2>&1 &
	floods+=($!)
done
victim=$((RANDOM % n))
must ip -n "${servers[victim]}" link del eth0
check "a NIC is gone, the device stays" ip -n "${servers[victim]}" link show topo0
ip netns pids "${servers[victim]}" | xargs -r kill -9
wait "${floods[victim]}" 2>/dev/null
must ip netns del "${servers[victim]}"
check "a server is gone, others talk" \
	wait_for 60 reaches $(((victim + 1) % n)) $(((victim + 2) % n))
must rmmod topoopt_fwd
kill "${floods[@]}" 2>/dev/null
"$fabric" down
chain_up 3
check "a new fabric works" wait_for 60 on "$A" ping -q -c 1 -W 5 "$(node "$C")"

done_testing
