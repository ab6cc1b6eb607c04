#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# Timeout: 1200
# Shards on one optical switch: TCP and RoCEv2 of shard a go on over its relays, while
# shard b is added, resized, repaired, prepared, flipped and removed, and toctl is killed
# in the middle of that. Each packet that a sends arrives; no light of it goes out, no
# cross-connect and no generation of it changes. What is refused, and who gets which
# servers, is in unit/test_shard.py.
#
#	s0 .. s7, two ports each, each behind a 1x2 switch (flip) to ocs0 and to ocs1

. "$(dirname "$(realpath "$0")")/../lib.sh"

command -v strace >/dev/null || skip_all "no strace here"

jq -n '{
	format: "topoopt-cluster", version: 1, link_mode: "duplex",
	optical_switches: [
		{name: "ocs0", ports: 16, reconfiguration_ns: 10000000, control: {driver: "netns"}},
		{name: "ocs1", ports: 16, reconfiguration_ns: 10000000, control: {driver: "netns"}},
		{name: "flip", ports: 48, reconfiguration_ns: 1000000, control: {driver: "netns"}}],
	servers: [range(8) | {name: "s\(.)", ipv4: "10.9.0.\(. + 1)", ports: [. as $i | range(2) |
		(2 * $i + . + 1) as $n |
		{name: "eth\(.)", mac: "02:00:00:00:0\(.):0\($i)", ipv4: "10.9.\(. + 1).\($i + 1)",
		 bandwidth: 1000000000, optical_switch: "ocs0", optical_port: $n,
		 look_ahead: {optical_switch: "ocs1", optical_port: $n,
			selector: "flip", common: $n, ends: [$n + 16, $n + 32]}}]}]
}' >"$tmp/cluster.json"
for n in 2 3 4; do
	jq -n --argjson n "$n" '{format: "topoopt-job", version: 1, name: "job", servers: $n,
		allreduce: [{group: "all", bytes: 1073741824}]}' >"$tmp/$n.json"
done
echo "netns ocs" >"$tmp/allow"
export TOPOOPT_FABRIC=$tmp/fabric.conf
cat >"$TOPOOPT_FABRIC" <<END
[agents]
command = in_netns {} toctl agent --stdio
timeout = 60s
[shards]
state = $tmp/state
[switches]
allow = $tmp/allow
END
plan_of() { # SHARD
	toctl shard show "$1" --json | jq -r .plan
}

jq '. + {format: "topoopt-plan", job: "none", demand: {servers: 8}, links: [],
	cross_connects: [], tables: []}' "$tmp/cluster.json" >"$tmp/dark.json"
fabric_up "$tmp/dark.json" --no-apply
must toctl shard init "$tmp/cluster.json" >/dev/null

# --- a, with traffic between those that have no link ---

check "a is added" toctl shard add a --job "$tmp/4.json" --effort 1 --apply
mapfile -t a < <(jq -r '[.servers[].name] as $all | $all[0] as $first
	| ($all - [.links[] | [.a, .b | split(":")[0]] | select(index($first))[]])[0] as $far
	| $first, $far, ($all - [$first, $far])[]' "$(plan_of a)")
a_wires=$(IFS='|'; echo "^[weo](${a[*]#s})-")
check "a is a ring of four" test "${#a[@]}" = 4 -a "${a[1]}" != null

# All there is of a: what the switches join, how often each fibre had or lost its light and
# what it dropped, generations, and packets that relays dropped.
a_state() {
	local server

	"$fabric" links | grep -E "^(${a[0]}|${a[1]}|${a[2]}|${a[3]}):" | sort
	{
		ip -n ocs -j -s -s link show type veth
		for server in "${a[@]}"; do
			in_netns "$server" toctl show --json
		done
	} | jq --arg wires "$a_wires" 'if type == "array" then .[]
		| select(.ifname | test($wires)) | "\(.ifname): \(.stats64
		| "\(.tx.carrier_changes) changes, \(.rx.dropped + .tx.dropped) dropped")"
		else "\(.generation): \([.counters | to_entries[]
		| select(.key | startswith("drop")).value] | add) dropped" end'
}
a_untouched() { # WHAT
	a_state >"$tmp/a.now"
	check "$1: a is untouched" diff "$tmp/a.before" "$tmp/a.now"
}

# Slow wires, and no segments that count as one, so that all packets can be counted. Continuity
# checks wait for none of them.
for server in "${a[@]}"; do
	for port in 0 1; do
		wire=w${server#s}-$port
		echo "qdisc replace dev $wire root handle 1: tbf rate 500kbit burst 9000 limit 100000"
		echo "qdisc add dev $wire parent 1: handle 2: prio"
		echo "filter add dev $wire parent 2: protocol 0x8902 matchall flowid 2:1"
	done
	must ip -n "$server" link set topo0 gso_max_segs 1
done | tc -n ocs -b -

# How many packets each of two servers sent that the other has not received. What is sent again
# is counted apart; a slow machine does so before the answer is there.
tcp_under_way() {
	paste <(on "${a[0]}" cat /proc/net/snmp) <(on "${a[1]}" cat /proc/net/snmp) |
		awk '$1 == "Tcp:" && $12 ~ /^[0-9]/ {
			n = NF / 2
			print $12 + $13 - $(n + 11), $(n + 12) + $(n + 13) - $11
		}'
}
rdma_packets() { # SERVER: sent, received
	ip netns exec "$1" rdma -j statistic show |
		jq -c --arg server "$1-" '[.[] | select(.ifname | startswith($server))]
			| [(map(.sent_pkts) | add), (map(.rcvd_pkts) | add)]'
}
rdma_under_way() {
	jq -nr --argjson x "$(rdma_packets "${a[2]}")" --argjson y "$(rdma_packets "${a[3]}")" \
		'"\($x[0] - $y[1]) \($y[0] - $x[1])"'
}
none() { # COMMAND
	[[ $("$@") == "0 0" ]]
}

check "no packet of a is under way" wait_for 60 none tcp_under_way
must "$fabric" rxe "${a[2]}":eth{0,1} "${a[3]}":eth{0,1}
touch "$tmp/stream"
in_netns "${a[1]}" socat -u TCP-LISTEN:7777 "CREATE:$tmp/got" &
stream=$!
wait_listen "${a[1]}" 7777
line=0
while [[ -e $tmp/stream ]]; do
	echo "line $((line++)) of a stream that must not miss any"
	pause 0.2
done | tee "$tmp/sent" | in_netns "${a[0]}" socat -u - "TCP:$(node "${a[1]}"):7777" &

# Sent again after 4.096 us * 2^20, four seconds: only what is lost is.
rdma_to=$(port_ip "${a[3]}" eth0)
rdma_port=$(ip -n "${a[2]}" -j route get "$rdma_to" | jq -r '.[0].dev')
rdma=(-s 4096 -n 1000000 -N -e -t 4 -r 64 -u 20 -p 18700)
ip netns exec "${a[3]}" ib_send_bw -d "${a[3]}-eth0" -x 1 "${rdma[@]}" >"$tmp/rdma.server" 2>&1 &
rdma_pids=($!)
wait_listen "${a[3]}" 18700
ip netns exec "${a[2]}" ib_send_bw -d "${a[2]}-$rdma_port" -x 1 "${rdma[@]}" "$rdma_to" \
	>"$tmp/rdma.client" 2>&1 &
rdma_pids+=($!)

goes_on() {
	local sent acknowledged

	sent=$(stat -c %s "$tmp/got") acknowledged=$(rdma_packets "${a[2]}")
	wait_for 60 went_on "$sent" "$acknowledged"
}
went_on() { # BYTES PACKETS
	(($(stat -c %s "$tmp/got") > $1)) &&
		jq -en --argjson now "$(rdma_packets "${a[2]}")" --argjson before "$2" \
			'$now[1] > $before[1] + 20'
}
wait_for 60 test -s "$tmp/got"
check "TCP and RoCEv2 run in a" goes_on || cat "$tmp"/rdma.*
a_state >"$tmp/a.before"

# --- b comes, grows and is repaired ---

# Its state is active, tables and light are its plan's, and who has left has no table.
b_is() { # WHAT SERVER...
	local plan_b server

	toctl shard show b --json >"$tmp/b"
	plan_b=$(jq -r .plan "$tmp/b")
	{
		jq -c '.state, has("next"), (.servers | sort | join(" "))' "$tmp/b"
		toctl switch show "$plan_b" --json
		for server in s{4..7}; do
			if [[ " ${*:2} " == *" $server "* ]]; then
				apply "$server" "$plan_b" --dry-run --json
			else
				on "$server" toctl show --json | jq '{differs: (.routes > 0)}'
			fi
		done
	} >"$tmp/found"
	is "$1: b is as its plan" "$(jq -s '.[:3] + [.[3:][].differs]' -c "$tmp/found")" \
		"[\"active\",false,\"${*:2}\",false,false,false,false,false]"
	a_untouched "$1"
}

check "b is added" toctl shard add b --job "$tmp/2.json" --on s4,s5 --effort 1 --apply
b_is "added" s4 s5
must toctl shard resize b --job "$tmp/3.json" --on s4,s5,s6 --effort 1 >/dev/null
check "a server more" strace -o "$tmp/calls" -s 40 -e trace=sendto \
	toctl shard apply b
b_is "larger" s4 s5 s6
check "another server for one" toctl shard replace s6 --apply
b_is "replaced" s4 s5 s7
must toctl shard drain --end s6 >/dev/null
check "a server fewer" toctl shard resize b --job "$tmp/2.json" --effort 1 --apply
b_is "smaller" s4 s5

# --- toctl is killed in a change, which the next command completes or undoes ---

nth_message() { # OPERATION N: which sendto that is
	awk -v op="$1" -v which="$2" '
		/^sendto/ { calls++ }
		index($0, "\\\"op\\\":\\\"" op "\\\"") && ++n == which { print calls; exit }' "$tmp/calls"
}

killed() { # WHAT CALL N VERB ARGUMENT...
	local threads=()

	# a switch is set by a thread, which sleeps between what it cuts and what it makes
	[[ $2 != clock_nanosleep ]] || threads=(-f)
	{
		strace "${threads[@]}" -o "$tmp/killed" -e "trace=$2" \
			-e "inject=$2:signal=KILL:when=$3" \
			toctl shard "${@:4}" >/dev/null 2>&1
	} 2>/dev/null
	is "$1: it is killed" $? 137
}

while IFS=: read -r what call n ends; do
	must toctl shard resize b --job "$tmp/3.json" --on s4,s5,s6 --effort 1 >/dev/null
	killed "$what" "$call" "$n" apply b
	[[ $ends != undo ]] || check "$what: undone" toctl shard undo b
	check "$what: applied" toctl shard apply b
	if [[ $ends == undo ]]; then
		b_is "$what" s4 s5
	else
		b_is "$what" s4 s5 s6
		must toctl shard resize b --job "$tmp/2.json" --effort 1 --apply >/dev/null
	fi
done <<-END
	links are dark:clock_nanosleep:1:undo
	one has staged:sendto:$(nth_message stage 2):complete
	one has the new table:sendto:$(nth_message commit 2):undo
	all have the new table:rename:2:complete
END

# --- the next job on look-ahead ports ---

prepare=(prepare b --job "$tmp/2.json" --effort 1)
killed "prepared halfway" clock_nanosleep 1 "${prepare[@]}"
check "prepared" toctl shard "${prepare[@]}"
check "flipped" toctl shard flip b
b_is "flipped" s4 s5
must toctl shard "${prepare[@]}" >/dev/null
killed "flipped halfway" clock_nanosleep 1 flip b
check "flipped halfway: completed" toctl shard apply b
b_is "flipped back" s4 s5
killed "removed halfway" sendto 4 remove b
check "removed halfway: completed" toctl shard remove b
is "a is left" "$(toctl shard show --json | jq -r '[.shards[].name] | join(" ")')" a
a_untouched "b is removed"

# --- all that a sent has arrived ---

check "TCP and RoCEv2 of a go on" goes_on
rm "$tmp/stream"
wait "$stream"
check "the stream missed nothing" cmp "$tmp/sent" "$tmp/got"
check "TCP: all packets arrived" wait_for 60 none tcp_under_way || tcp_under_way
kill -STOP "${rdma_pids[1]}"
check "RoCEv2: all packets arrived" wait_for 60 none rdma_under_way || rdma_under_way
echo "# RoCEv2 sent, received: $(rdma_packets "${a[2]}"), $(rdma_packets "${a[3]}")"
{
	kill -9 "${rdma_pids[@]}"
	wait "${rdma_pids[@]}"
} 2>/dev/null

done_testing
