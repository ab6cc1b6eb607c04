#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# toctl doctor looks at the queues of ports: short ones, and those that do not mark in
# time, are found, and are well with what doctor says, which is what queues.md says.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 3 >/dev/null

queue() { # VERDICT TEXT: what doctor says of eth1's queue
	on_sysfs "$B" toctl doctor "$plan" --node "$B" >"$tmp/said" || :
	grep -qxE "$1 +eth1: queue: $2" "$tmp/said" && return
	grep -A 1 queue "$tmp/said"
	return 1
}

fixed() { # NAME
	local fix

	fix=$(grep -A 1 'eth1: queue' "$tmp/said" | sed -n 's/^ *fix: //p')
	check "$1" grep -qE '^tc qdisc replace dev eth1 .* red limit 17113088 .* ecn$' <<<"$fix"
	must on "$B" sh -c "$fix"
	check "  and then it is well" queue ok "red marks before it drops"
}

root() { must on "$B" tc qdisc replace dev eth1 root "$@"; }

queue ok '.*' >/dev/null
check_fails "a virtual interface has no queue" "" grep 'eth1: queue' "$tmp/said"
root pfifo limit 1000
check "drop-tail of 1000 packets" queue warn \
	"pfifo holds 1000 packets: RoCEv2 that is relayed gets lost"
fixed "is to be RED with ECN"
root bfifo limit 20mb
check "a long one that does not mark" queue warn \
	"bfifo marks nothing: RoCEv2 does not slow down before it drops"
root fq_codel
check "fq_codel as it comes" queue warn "fq_codel marks after [0-9]+ us: RoCEv2 slows down too late"
root fq_codel ce_threshold 20us
check "fq_codel that marks early" queue ok "fq_codel marks before it drops"
root red limit 17113088 min 100000 max 400000 avpkt 4178 burst 48 bandwidth 34gbit
check "RED that drops" queue warn "red marks nothing: .*"
root red limit 1000000 min 100000 max 400000 avpkt 4178 burst 48 bandwidth 34gbit ecn
check "RED without room" queue warn "red holds 1000000 bytes: .*"
must on "$B" tc qdisc del dev eth1 root
root handle 1: prio
must on "$B" tc qdisc replace dev eth1 parent 1:2 handle 20: red limit 17113088 min 100000 \
	max 400000 avpkt 4178 burst 48 bandwidth 34gbit ecn
must on "$B" tc qdisc replace dev eth1 parent 1:1 handle 10: pfifo limit 500
check "one in a class" queue warn "pfifo holds 500 packets: .*"
check "and where it is" grep -q 'fix: tc qdisc replace dev eth1 parent 1:1 red' "$tmp/said"

done_testing
