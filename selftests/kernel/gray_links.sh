#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12
# Timeout: 600
# Links that have light and lose packets: what toctl status and toctl doctor --all find, and
# what toctl run does.
#
#	s0 .. s3, a ring: s0:eth0 - s1:eth1, s1:eth0 - s2:eth1, ...

. "$(dirname "$(realpath "$0")")/../lib.sh"

examples=$lib_dir/../examples/ring-4
must toctl plan --cluster "$examples/cluster.json" --job "$examples/job.json" \
	--fixed -o "$tmp/plan.json" >/dev/null
must fabric_up "$tmp/plan.json"
must modprobe -a pktgen sch_netem cls_flower
export TOPOOPT_STATE=$tmp/state
agents='agents.command=in_netns {} toctl agent --stdio'

wire() { # SERVER:PORT: what leads to it
	awk -v port="$1" '$1 == port { print $2 }' /run/topoopt-fabric/ports
}

# Frames as fast as the kernel makes them, to the other end of a cable.
send() { # SERVER PORT PEER PEER-PORT COUNT [UDP-PORT]
	on "$1" bash -c 'echo "add_device $1" >/proc/net/pktgen/kpktgend_0
		printf "%s\n" "count $2" "pkt_size 100" "delay 0" "dst_mac $3" "dst $4" \
			"udp_dst_min $5" "udp_dst_max $5" | while read -r line; do
			echo "$line" >"/proc/net/pktgen/$1"
		done
		echo start >/proc/net/pktgen/pgctrl
		echo rem_device_all >/proc/net/pktgen/kpktgend_0' send \
		"$2" "$5" "$(port_mac "$3" "$4")" "$(port_ip "$3" "$4")" "${6:-9}"
}

# A look, and the last one put further into the past: an emulated machine takes long to
# look, and sends little meanwhile.
look() {
	toctl status "$plan" --set "$agents" --set agents.timeout=60s --json >"$tmp/status"
	look=$?
}
age() {
	jq '.end_ns -= 100000000000' "$TOPOOPT_STATE"/*/look.json >"$tmp/look"
	cp "$tmp/look" "$TOPOOPT_STATE"/*/look.json
}
verdict() { # FROM TO
	jq -r --arg from "$1" --arg to "$2" '.links[] | select(.from == $from and .to == $to)
		| .loss.verdict' "$tmp/status"
}

# --- links that lose packets ---

lossy=(s1:eth0/s2:eth1 s2:eth0/s3:eth1 s3:eth0/s0:eth1)
losses=(30 5 1)
for i in 0 1 2; do
	must tc -n ocs qdisc replace dev "$(wire "${lossy[i]#*/}")" root netem loss "${losses[i]}%" limit 100000
done
must tc -n ocs filter add dev "$(wire s1:eth1)" egress protocol ip flower ip_proto udp dst_port 4791 \
	action drop

look
is "a first look proves nothing" "$(jq -c '[.links[] | .loss.verdict // "unproven"] | unique' "$tmp/status")" \
	'["unproven"]'
age
send s1 eth0 s2 eth1 60000
send s2 eth0 s3 eth1 60000
send s3 eth0 s0 eth1 60000
send s0 eth0 s1 eth1 57000
send s0 eth0 s1 eth1 3000 4791
send s0 eth1 s3 eth0 60000
send s1 eth1 s0 eth0 10
look
for i in 0 1 2; do
	is "${losses[i]} % lost" "$(verdict "${lossy[i]%/*}" "${lossy[i]#*/}")" lossy
done
is "UDP port 4791 alone lost, 5 % of all" "$(verdict s0:eth0 s1:eth1)" lossy
isnt_lossy() { [[ $(verdict "$@") != lossy ]]; }
check "a direction that loses nothing is not lossy" isnt_lossy s0:eth1 s3:eth0
check "nor is one of ten packets" isnt_lossy s1:eth1 s0:eth0
is "the fabric is degraded" $look 4
jq -r '.checks[].text' "$tmp/status" | sed 's/^/# /'

# --- all doctors ---

doctor() { # ARGUMENT...
	toctl doctor --all "$plan" --set "$agents" --set agents.timeout=60s "$@"
}
for i in 0 1 2; do
	must tc -n ocs qdisc del dev "$(wire "${lossy[i]#*/}")" root
done
doctor --json >"$tmp/doctor"
is "all servers' doctors find nothing" $? 0
is "each says so" "$(jq -c '[.servers[] | [.server, (.checks | length > 20)]]' "$tmp/doctor")" \
	'[["s0",true],["s1",true],["s2",true],["s3",true]]'
must on s2 ip link set topo0 down
must on s3 ip neigh del "$(port_ip s2 eth0)" dev eth1
doctor >"$tmp/doctor"
is "two servers fail" $? 1
check "one is named" grep -q '^FAIL s2: topo0: device: down: nothing is relayed' "$tmp/doctor"
check "and the other" grep -q '^FAIL s3: topo0: entries: .* 1 missing' "$tmp/doctor"
must on s2 ip link set topo0 up
must apply s2 "$plan" >/dev/null
must apply s3 "$plan" >/dev/null
is "a server that does not answer is a failure" \
	"$(agents='agents.command=sh -c "[ \$0 != s1 ] || exit; exec in_netns \$0 toctl agent --stdio" {}' \
	doctor --json | jq -c '[.servers[] | select(.error != "") | .server]')" '["s1"]'

# --- cables under load ---

# How much they pass is the emulated processor's, not theirs: selftests/unit/test_doctor_all
# looks at verdicts.
doctor --load --rate 1M --json >"$tmp/load"
is "all cables were loaded both ways" "$(jq ".cables | length" "$tmp/load")" 8

# --- toctl run plans without a link that loses ---

must toctl apply --all "$plan" --set "$agents" --set agents.timeout=60s >/dev/null
cp "$plan" "$tmp/run.json"
toctl run "$tmp/run.json" --interval 1s --lossy-hold 3s -o "$tmp/run.log" --set "$agents" \
	--set agents.timeout=60s >"$tmp/run.out" 2>&1 &
run=$!
events() { # EVENT CONDITION
	[[ -n $(jq -c "select(.event == \"$1\") | select($2)" "$tmp/run.log" 2>/dev/null) ]]
}
# Long enough for a window of checks that lost none.
heard() { [[ $(on s2 toctl show --json | jq '[.peers[] | select(.port == "eth1") | .received] | add') -gt 40 ]]; }
check "the neighbours hear each other" wait_for 120 heard
must wait_for 300 events restored .ok
is "no link is lossy" "$(jq -c 'select(.event == "lossy")' "$tmp/run.log")" ""
must tc -n ocs qdisc replace dev "$(wire s2:eth1)" root netem loss 20% limit 100000
check "a link that loses checks is held down" wait_for 120 events lossy \
	'.held and .from == "s1:eth0" and .to == "s2:eth1"'
check "the fabric does without it" wait_for 60 events changed '.action == "repair"'
is "the repaired plan names its ends" "$(jq -c .down "$tmp/run.json.repair")" '["s1:eth0","s2:eth1"]'
must tc -n ocs qdisc del dev "$(wire s2:eth1)" root
check "it is used again when it has lost nothing" wait_for 120 events lossy '.held == false'
check "the fabric returns to its plan" wait_for 60 events changed '.action == "return"'
kill -TERM "$run"
wait "$run"
is "the loop ends with the fabric as planned" $? 0
grep -h 'held down\|used again\|done:' "$tmp/run.out" | sed 's/^/# /'

done_testing
