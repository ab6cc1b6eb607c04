#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Where the module has no BTF, and so no functions for BPF programs, apply --xdp
# says so once and everything is relayed through the kernel's queues.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

without_module_btf
chain_up 3
for mode in auto on; do
	check "apply --xdp $mode" eval 'apply "$B" "$plan" --xdp $mode 2>"$tmp/err"'
	is "one complaint" "$(grep -c "no XDP relay here" "$tmp/err")" 1
	is "and only that one" "$(wc -l <"$tmp/err")" 1
done
is "no port at XDP" "$(on "$B" toctl show --json | jq -r '[.ports[].xdp.program] | unique[]')" skb
check "B relays" wait_for 60 on "$A" ping -c 1 -W 2 "$(node "$C")"
check "apply --xdp off" apply "$B" "$plan" --xdp off
done_testing
