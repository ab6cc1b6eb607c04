#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12-kasan
# Timeout: 400
# Each allocation of the module fails once: a plan is applied whole or not at all,
# devices and ports are there or are not, and B goes on relaying by the table that
# it has. Then one in ten fails of those that relaying makes.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 3
must wait_for 60 on "$A" ping -c 1 -W 1 "$(node "$C")"
other=$(plan_edit '.tables[].groups[][0].weight = 3')
injection=/sys/kernel/debug
[[ -d $injection/failslab ]] || must mount -t debugfs debugfs "$injection"

# Of all allocations those that the module is on the stack of.
read -r _ size _ _ _ base _ < <(grep '^topoopt_fwd ' /proc/modules)
for fault in failslab fail_page_alloc; do
	fault=$injection/$fault
	printf '%#x' "$base" >"$fault/require-start"
	printf '%#x' $((base + size)) >"$fault/require-end"
	echo 32 >"$fault/stacktrace-depth"
	echo 0 >"$fault/verbose"
	echo N >"$fault/ignore-gfp-wait"
	echo 1000000000 >"$fault/times"		# that are left
done
echo 0 >"$injection/fail_page_alloc/min-order"
faults() { cat "$injection"/{failslab,fail_page_alloc}/times | awk '{ sum -= $1 } END { print sum }'; }

# Run a command whose n-th allocation of the module fails: what it said, and its
# status. Fails when it makes fewer.
attempt() { # N COMMAND...
	local before

	before=$(faults)
	status=0
	# shellcheck disable=SC2016
	said=$(bash -c 'echo "$0" >/proc/self/fail-nth; exec "$@"' "$@" 2>&1) || status=$?
	(($(faults) > before))
}
reaches() { on "$A" ping -q -c 1 -W 5 "$(node "$C")" >/dev/null; }

# What a command leaves is judged by a function, which prints what is wrong with it.
starve() { # NAME JUDGE COMMAND...
	local name=$1 judge=$2 n refused=0 wrong=''

	shift 2
	for ((n = 1; ; n++)); do
		attempt "$n" "${@//TARGET/${target:-}}" || break
		((status == 0)) || ((++refused))
		"$judge" >"$tmp/judged" 2>&1
		[[ ! -s $tmp/judged ]] || wrong+="allocation $n (status $status, $said): $(<"$tmp/judged")"$'\n'
	done
	is "$name: each of $((n - 1)) allocations failed once, $refused were refused" "$wrong" ""
	is "$name: it works with all of them" "$status" 0
}

# --- a plan, which is applied or not ---

active=$plan target=$other
swap() { read -r target active <<<"$active $target"; }
applied() {
	[[ $said == "toctl apply: "* || $status == 0 ]] || echo "does not say who failed"
	((status)) || swap
	[[ $(apply "$B" "$active" --dry-run 2>&1) == "topo0: nothing to do" ]] || echo "another table"
	reaches || echo "does not relay"
}
starve "apply" applied in_netns "$B" toctl apply TARGET --node "$B"

# --- what is shown ---

shown() {
	((status)) || [[ $said == "$whole" ]] || echo "not the whole table"
	((status == 0)) || [[ $said == "toctl show: "* ]] || echo "does not say who failed"
}
whole=$(on "$B" toctl show routes)
starve "show" shown in_netns "$B" toctl show routes

# --- a device and its ports ---

must ip netns add starved
at_exit 'ip netns del starved'
there() { ip -n starved link show "$1" >/dev/null 2>&1; }
device() {
	if ((status)); then
		! there topo1 || echo "refused, but there"
	else
		ip -n starved link del topo1 || echo "there, but not to be deleted"
	fi
}
starve "a device" device ip -n starved link add topo1 type topoopt
is "a device: it is there" "$(there topo1; echo $?)" 0
must ip -n starved link add port1 type veth peer name port2
joined() {
	if [[ $(ip -n starved -j link show port1 | jq -r '.[0].master') == topo1 ]]; then
		((status == 0)) || echo "refused, but a port"
		ip -n starved link set port1 nomaster || echo "a port for ever"
	else
		((status)) || echo "no port"
	fi
}
starve "a port" joined ip -n starved link set port1 master topo1
left() {
	if [[ $(ip -n starved -j link show port1 | jq -r '.[0].master') == topo1 ]]; then
		((status)) || echo "still a port"
	else
		ip -n starved link set port1 master topo1 || echo "not a port again"
	fi
}
starve "a port that leaves" left ip -n starved link set port1 nomaster
check "B relays" reaches

# --- relaying ---

for fault in failslab fail_page_alloc; do
	fault=$injection/$fault
	echo 10 >"$fault/probability"
done
before=$(faults)
head -c 300000 /dev/urandom >"$tmp/sent"
on "$C" socat -u TCP-LISTEN:7100 "OPEN:$tmp/received,creat" &
must wait_listen "$C" 7100
check "TCP goes on when one in ten allocations fails" \
	on "$A" timeout 300 socat -u "OPEN:$tmp/sent" "TCP:$(node "$C"):7100"
wait $!
for fault in failslab fail_page_alloc; do
	echo 0 >"$injection/$fault/probability"
done
check "and brings every byte" cmp "$tmp/sent" "$tmp/received"
failed=$(($(faults) - before))
check "though $failed failed" test "$failed" -gt 0
check "B relays as before" reaches

done_testing
