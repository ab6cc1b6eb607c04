#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Processors: 2
# The traffic counters: every byte that a sender sent is in the matrix, under
# the right pair and class, once.
#
#	A eth1 ==== eth0 B eth1 ==== eth0 C		one recording on each
#
# Timeout: 600

. "$(dirname "$(realpath "$0")")/../lib.sh"

send=$(dirname "$(realpath "$0")")/send.py

# --- recordings ---------------------------------------------------------

recorders=()

# Start recording on all servers; returns when the first sample has started.
record() { # [ARGUMENT...]
	local server

	recorders=()
	for server in "${servers[@]}"; do
		# not by on(): the process to signal is toctl, not a shell
		in_netns "$server" toctl tm record "$plan" --node "$server" \
			--count 0 -o "$tmp/$server.tm" "$@" 2>"$tmp/$server.log" &
		recorders+=($!)
	done
	for server in "${servers[@]}"; do
		wait_for 60 grep -q recording "$tmp/$server.log" || {
			not_ok "recording on $server starts" "$(cat "$tmp/$server.log")"
			return 1
		}
	done
}

# For wait_for: no processor handles a packet, nor has one to handle. Looks follow each other
# at once, so that they fit in between two continuity checks.
settled() {
	local fields handled waiting before=''

	for _ in {1..5}; do
		handled=0 waiting=0
		while read -ra fields; do
			((handled += 16#${fields[0]}, waiting += 16#${fields[11]}))
		done </proc/net/softnet_stat
		[[ $waiting == 0 && $handled == "${before:-$handled}" ]] || return 1
		before=$handled
	done
}

# End it and merge.
recorded() {
	local pid status=0

	# what was sent last may still be on its way
	wait_for 60 settled || not_ok "nothing is on its way any more"
	kill -INT "${recorders[@]}"
	for pid in "${recorders[@]}"; do
		wait "$pid" || status=1
	done
	((!status)) || not_ok "recordings end well" "$(cat "$tmp"/*.log)"
	toctl tm merge --json -o "$tmp/fabric.tm" "$tmp/$A.tm" "$tmp/$B.tm" "$tmp/$C.tm" \
		>"$tmp/merge.json" 2>"$tmp/merge.log" || not_ok "merge" "$(cat "$tmp/merge.log")"
}

# Sums of what was merged or recorded, as matrix["SRC DST CLASS"] and
# packets[...], by index: A is 0, B 1, C 2; roce is 0, tcp 1, other 2. For a
# recording "VIEW SRC DST CLASS", where VIEW is sent, got or relayed. One jq for
# all, as processes are slow in an emulated machine.
declare -A matrix packets

load_matrix() { # FILE
	local key bytes count

	matrix=() packets=()
	while IFS=, read -r key bytes count; do
		matrix[$key]=$bytes packets[$key]=$count
	done < <(jq -r '[.samples[] | (.pairs // [])[], ((.flows // [])[] |
			[if .[0] < 0 then "sent" elif .[1] < 0 then "got" else "relayed" end]
			+ .[2:])]
		| group_by(.[:-2])[] | "\(.[0][:-2] | map(tostring) | join(" ")),\(
			map(.[-1]) | add),\(map(.[-2]) | add)"' "$1")
}

total() {
	toctl tm show "$tmp/fabric.tm" --json | jq .total
}

# --- what the counters are held against ---------------------------------

# Count TCP from an address at ingress of a port, independently of us. Wires
# to that port carry frames as they would be on a fibre, not GSO packets.
watch_tcp() { # SERVER PORT FROM WIRE
	must on ocs ethtool -K "$4" tso off gso off
	must on "$1" nft -f - <<-END
		table netdev watch {
			counter seen { }
			chain in {
				type filter hook ingress device "$2" priority -10;
				ip saddr $3 ip protocol tcp counter name seen
			}
		}
	END
}

# Bytes on the wire and packets since the last call; nft counts from the IP
# header on.
watched() { # SERVER
	on "$1" nft -j reset counter netdev watch seen | jq -r '.nftables[] |
		.counter? // empty | "\(.bytes + 14 * .packets) \(.packets)"'
}

# COUNT datagrams of SIZE bytes; prints what they are on the wire.
udp() { # FROM ADDRESS PORT SIZE COUNT
	on "$1" bash -c "exec 3>/dev/udp/$2/$3
		for ((i = 0; i < $5; i++)); do printf '%$4s' '' >&3; done"
	[[ $2 != *:* ]] || set -- "$1" "$2" "$3" "$(($4 + 20))" "$5"
	echo "$((($4 + 42) * $5))"
}

tcp_transfer() { # FROM TO ADDRESS BYTES
	local server

	on "$2" socat -u TCP-LISTEN:5001,reuseaddr OPEN:/dev/null &
	server=$!
	wait_listen "$2" 5001
	head -c "$4" /dev/zero | on "$1" socat -u - "TCP:$3:5001"
	wait "$server"
}

# --- tests --------------------------------------------------------------

must chain_up 3
a=$(node "$A") b=$(node "$B") c=$(node "$C") a6=$(node6 "$A")
hush 4791,9999
watch_tcp "$C" eth0 "$a" w2-0

# Same figures wherever the programs hang.
count_at() { # SOURCE EXPECTED
	local udp roce v6 near tcp

	record --attach "$1" --interval 100ms || return
	check "$1: counts at $2" grep -q "ms ($2)" "$tmp/$A.log"
	udp=$(udp "$A" "$c" 9999 1000 200)
	roce=$(udp "$A" "$c" 4791 1024 300)
	v6=$(udp "$C" "$a6" 9999 333 100)
	near=$(udp "$B" "$c" 9999 50 77)
	watched "$C" >"$tmp/before"
	tcp_transfer "$A" "$C" "$c" 4000000
	recorded

	load_matrix "$tmp/fabric.tm"
	is "$1: UDP to the byte" "${matrix["0 2 2"]}" "$udp"
	is "$1: RoCE is a class of its own" "${matrix["0 2 0"]}" "$roce"
	is "$1: IPv6, the other way" "${matrix["2 0 2"]}" "$v6"
	is "$1: neighbours" "${matrix["1 2 2"]}" "$near"
	tcp=${matrix["0 2 1"]}
	is "$1: TCP as counted by nft, GSO as segments" "$tcp ${packets["0 2 1"]}" "$(watched "$C")"
	is "$1: nothing else is in the matrix" "$(total)" \
		"$((udp + roce + v6 + near + tcp + matrix["2 0 1"]))"
	load_matrix "$tmp/$A.tm"
	is "$1: A's kernel counted the same TCP" "${matrix["sent 0 2 1"]}" "$tcp"
	is "$1: A relayed nothing" "$(printf '%s\n' "${!matrix[@]}" | grep -c relayed)" 0
	load_matrix "$tmp/$B.tm"
	is "$1: B's kernel counted the same TCP" "${matrix["relayed 0 2 1"]}" "$tcp"
	is "$1: B originated its own" "$(printf '%s\n' "${!matrix[@]}" | grep sent)" "sent 1 2 2"
	load_matrix "$tmp/$C.tm"
	is "$1: C's kernel counted the same TCP" "${matrix["got 0 2 1"]}" "$tcp"
}

source=module tc=tcx
[[ $(uname -r) != 6.1.* ]] || tc=clsact
count_at module "$source"
count_at tc "$tc"

# What two NICs' RDMA engines exchange: frames past the sender's stack, taken
# away at the receiver before the module sees them.
engine() { # SERVER PORT
	must on "$1" tc qdisc add dev "$2" clsact
	must on "$1" tc filter add dev "$2" ingress protocol ip flower \
		dst_ip "$(port_ip "$1" "$2")" ip_proto udp dst_port 4791 action drop
}

rdma() { # DST PORT SIZE COUNT: frames from A
	on "$A" "$send" raw eth1 "$(port_mac "$B" eth0)" "$(port_ip "$A" eth1)" \
		"$(port_ip "$1" "$2")" 4791 "$3" "$4"
}

engine "$B" eth0
engine "$C" eth0
if record --interval 20ms; then
	near=$(rdma "$B" eth0 4096 500)
	far=$(rdma "$C" eth0 1024 700)
	udp=$(udp "$A" "$b" 9999 1400 100)
	recorded
	load_matrix "$tmp/$A.tm"
	is "bypass: nothing of it at the source" "${matrix["sent 0 1 0"]:-0}" 0
	load_matrix "$tmp/$B.tm"
	is "bypass: nor at the destination" "${matrix["got 0 1 0"]:-0}" 0
	load_matrix "$tmp/fabric.tm"
	is "bypass: the link's counters bring it back" "${matrix["0 1 0"]}" "$near"
	is "bypass: with its packets" "${packets["0 1 0"]}" 500
	is "bypass: over a relay" "${matrix["0 2 0"]}" "$far"
	is "bypass: other traffic of the link stays what it is" "${matrix["0 1 2"]}" "$udp"
	is "bypass: no pair besides" "${#matrix[@]}" 3
	is "bypass: no residual" "$(jq .residual "$tmp/merge.json")" 0
	is "bypass: credited as such" "$(jq .bypass "$tmp/merge.json")" "$near"
fi
on "$B" tc qdisc del dev eth0 clsact
on "$C" tc qdisc del dev eth0 clsact

# A queue pair of B's eth0 for C: by A, which sends it back through B. And one of A for
# B's eth1, which enters B by eth0: B sends it round by C.
round() { # SOURCE
	record --attach "$1" --interval 20ms || return
	back=$(on "$B" "$send" raw eth0 "$(port_mac "$A" eth1)" "$(port_ip "$B" eth0)" \
		"$(port_ip "$C" eth0)" 4791 1024 300)
	wrong=$(rdma "$B" eth1 512 200)
	recorded
	load_matrix "$tmp/fabric.tm"
	is "$1: RDMA back through its source counts once" "${matrix["1 2 0"]}" "$back"
	is "$1: RDMA that entered by a wrong port, too" "${matrix["0 1 0"]}" "$wrong"
	is "$1: no pair besides" "${#matrix[@]}" 2
}

# C has no route to B's eth0: its kernel cannot tell whose the packets are, but the plan can.
round module
round tc
is "tc: no residual" "$(jq .residual "$tmp/merge.json")" 0

# 200 epochs under load: each packet is in exactly one.
if record --interval 10ms; then
	sent=$(on "$A" "$send" udp "$a" "$c" 9999 200 4000 &
		on "$C" "$send" udp "$c" "$a" 9999 300 4000 >"$tmp/back"
		wait)
	recorded
	load_matrix "$tmp/fabric.tm"
	is "epochs: A to C" "${matrix["0 2 2"]}" "$sent"
	is "epochs: C to A" "${matrix["2 0 2"]}" "$(cat "$tmp/back")"
	load_matrix "$tmp/$B.tm"
	is "epochs: the relay has every byte" "${matrix["relayed 0 2 2"]}" "$sent"
	samples=$(jq '.samples | length' "$tmp/$B.tm")
	check "epochs: many of them with traffic ($samples)" \
		test "$(jq '[.samples[] | select(.flows | length > 0)] | length' "$tmp/$B.tm")" -ge 100
fi

# Maps that are full: more keys at B take turns than a sample can hold, which is
# two per CPU and one more. Without continuity checks from here on: they would be lost as
# others are, and no later test is about them.
plan=$(plan_edit '.checks = {interval: "off"}')
for server in "${servers[@]}"; do
	must apply "$server" "$plan"
done
if record --entries 1 --interval 1s; then
	on "$A" bash -c "for i in {1..50}; do
		printf '%100s' '' >/dev/udp/$c/9999
		printf '%200s' '' >/dev/udp/$c/4791
	done" &
	sender=$!
	on "$B" bash -c "for i in {1..50}; do
		for to in $a $c; do
			printf '%100s' '' >/dev/udp/\$to/9999
			printf '%200s' '' >/dev/udp/\$to/4791
		done
	done"
	wait "$sender"
	kill -INT "${recorders[@]}"
	wait "${recorders[1]}"
	is "full: the recording fails" "$?" 1
	lost=$(jq '[.samples[].lost] | "\(map(.[0]) | add) packets of \(map(.[1]) | add) bytes"' -r "$tmp/$B.tm")
	check "full: with the figure, $lost" grep -q \
		"$lost were not counted: more than 1 pairs" "$tmp/$B.log"
	is "full: nothing is lost from sight" "$(jq '[.samples[] | .lost[1], .flows[][6]] | add' \
		"$tmp/$B.tm")" "$((150 * 142 + 150 * 242))"
	wait
fi

# The measured matrix is a demand that plans.
check "tm demand makes a job" toctl tm demand "$tmp/fabric.tm" -o "$tmp/job.json"
is "with the bytes measured" "$(jq '[.mp[][]] | add' "$tmp/job.json")" "$(total)"

over() {
	is "no program is left" "$(bpftool -j prog show | jq '[.[] | select(.name // "" | startswith("traffic"))] | length')" 0
	done_testing
}

# What follows is toctl's alone, and the same on all kernels.
[[ $(uname -r) == 6.12.* ]] || over

# Refusals.
other=$(plan_edit '.job = "another"')
on "$A" toctl tm record "$other" --node "$A" --count 1 -o "$tmp/other.tm" 2>/dev/null
check_fails "merge refuses other plans" "recorded under plan" \
	toctl tm merge -o "$tmp/x.tm" "$tmp/other.tm" "$tmp/$B.tm"
check_fails "merge refuses missing servers" "1 of 3 servers missing, first $C" \
	toctl tm merge -o "$tmp/x.tm" "$tmp/$A.tm" "$tmp/$B.tm"
changed=$(plan_edit '(.tables[] | select(.server == $a).groups[0][0].weight) = 2' --arg a "$A")
check_fails "record refuses a plan that the kernel does not run" "is not that of $A in this plan" \
	on "$A" toctl tm record "$changed" --node "$A" --count 1 -o "$tmp/x.tm"
check_fails "record refuses another server's part" "server $B: port eth0: interface eth0 has MAC" \
	on "$A" toctl tm record "$plan" --node "$B" --count 1 -o "$tmp/x.tm"
check_fails "record refuses an unknown server" "no server nobody in this plan" \
	on "$A" toctl tm record "$plan" --node nobody --count 1 -o "$tmp/x.tm"
check_fails "record refuses an unknown NIC statistic" 'no statistic "rx_bytes_phy"' \
	on "$A" toctl tm record "$plan" --node "$A" --count 1 -o "$tmp/x.tm" \
	--nic-counters rx_bytes_phy,rx_packets_phy,tx_bytes_phy,tx_packets_phy

# Agents take what the NIC calls so, too: here for both directions what eth1
# received. A veth counts that once its peer leaves segmenting to others.
phy=rx_queue_0_xdp_bytes,rx_queue_0_xdp_packets
sample='{"op": "sample", "interval_ns": 50000000, "until_ns": 0}'
must on ocs ethtool -K w0-1 tso off >/dev/null
must on "$A" ethtool -K eth1 gro on >/dev/null

ask() { # REQUEST: of the agent; sets reply
	printf '%s\n' "$1" >&"${agent[1]}"
	read -r reply <&"${agent[0]}"
}

agent_up() { # NAMES: an agent that counts from now on
	coproc agent { on "$A" toctl agent --stdio --nic-counters "$1,fcs"; }
	agent_pid=$!
	ask "$(jq -c --arg a "$A" '{op: "stage", generation: 1, job,
		cluster: ({format: "topoopt-cluster", version: 1, servers, checks,
			links: [.links[] | {a, b}]} | tojson),
		table: (.tables[] | select(.server == $a) | tojson)}' "$plan")"
	ask '{"op": "abort"}'
	ask "$sample"
}

agent_down() {
	local requests=${agent[1]}

	exec {requests}>&-
	wait "$agent_pid"
}

phy_counts() { # packets and bytes
	on "$A" ethtool -S eth1 | awk '/rx_queue_0_xdp_(bytes|packets):/ { n[$1] = $2 }
		END { print n["rx_queue_0_xdp_packets:"], n["rx_queue_0_xdp_bytes:"] }'
}

phy_packets() { # N: or more
	phy_counts >"$tmp/phy"
	(($(cut -d' ' -f1 "$tmp/phy") >= $1))
}

agent_up "$phy,$phy"
# 3 classes; 3 ports in and out, 4 sources and destinations, where one is none of the plan's
is "agent: has room for the pairs of its fabric" \
	"$(bpftool -j map show | jq '[.[] | select(.name == "traffic_pairs0").max_entries] | add')" 432
read -r packets_before bytes_before < <(phy_counts)
udp "$C" "$a" 9999 1000 50 >/dev/null
check "agent: the NIC counts" wait_for 60 phy_packets "$((packets_before + 50))"
ask "$sample"
read -r packets_after bytes_after < <(phy_counts)
received=$((packets_after - packets_before))
bytes=$((bytes_after - bytes_before - 4 * received))
is "agent: the NIC's counters are in its sample, without FCS" \
	"$(jq -c '.tm | fromjson | .samples[0].ports[1]' <<<"$reply")" \
	"[$received,$bytes,$received,$bytes]"
agent_down

# Bytes that stand still and lose an FCS with every packet: those go back.
still=peer_ifindex,rx_queue_0_xdp_packets
agent_up "$still,$still"
read -r packets_before _ < <(phy_counts)
udp "$C" "$a" 9999 1000 50 >/dev/null
check "agent: the NIC counts on" wait_for 60 phy_packets "$((packets_before + 50))"
ask "$sample"
is "agent: a statistic that goes back counts nothing" \
	"$(jq -c '.tm | fromjson | .samples[0].ports[1] | [.[0] >= 50, .[1], .[2] >= 50, .[3]]' \
		<<<"$reply")" "[true,0,true,0]"
must date -s '5 seconds ago' >/dev/null
ask "$sample"
must date -s '5 seconds' >/dev/null
check "agent: no sample ends before it starts" grep -q 'the clock was set back' <<<"$reply"
agent_down

agent_up rx_bytes_phy,rx_packets_phy,tx_bytes_phy,tx_packets_phy
is "agent: a NIC statistic that is not there is named" "$(jq -r .error <<<"$reply")" \
	'eth0 has no statistic "rx_bytes_phy" (ethtool -S eth0)'
agent_down

# Another table during the recording, and a hangup that is ignored, as by nohup.
trap '' HUP
if record --interval 20ms; then
	kill -HUP "${recorders[1]}"
	must apply "$A" "$changed"
	wait "${recorders[0]}"
	is "commit: the recording ends" "$?" 1
	check "commit: and says why" grep -q "became active during the recording" "$tmp/$A.log"
	check "commit: what came before is kept" jq -e '.samples' "$tmp/$A.tm"
	check "nohup: a recording goes on" kill -INT "${recorders[1]}"
	kill -INT "${recorders[2]}"
	wait
fi
trap - HUP

# A terminal is closed during the recording.
must apply "$A" "$plan"
if record --interval 20ms; then
	kill -HUP "${recorders[1]}"
	wait "${recorders[1]}"
	is "hangup: the recording ends as planned" "$?" 0
	check "hangup: and is there" jq -e '.samples' "$tmp/$B.tm"
	kill -INT "${recorders[0]}" "${recorders[2]}"
	wait
fi

over
