#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Processors: 2
# B survives thousands of netlink messages, made from the spec and mutated, and
# relays afterwards as before:
#
#	A eth1 == eth0 B eth1 == eth0 C
#
# TEST_FUZZ=N sends so many, TEST_SEED=N others.

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 3
messages=${TEST_FUZZ:-20000} seed=${TEST_SEED:-1}
reaches() { on "$A" ping -q -c 20 -i 0.02 -W 30 "$(node "$C")" | grep ' 0% packet loss'; }
must wait_for 60 reaches

for i in 0 1 2 3; do
	must ip -n "$B" link add "d$i" type dummy
done
# traffic meets whatever table is active
on "$A" ping -q -i 0.02 "$(node "$C")" >/dev/null 2>&1 &

on "$B" "$lib_dir"/../build/selftests/fuzz_netlink "$seed" "$messages" 2 \
	topo0 eth0 eth1 d0 d1 d2 d3 >"$tmp/fuzz" 2>&1
is "status of the fuzzer, whose seed is $seed" "$?" 0
sed 's/^/# /' "$tmp/fuzz"
check "some tables were committed" grep -q ' committed [1-9]' "$tmp/fuzz"

must ip -n "$B" link del topo0
must ip -n "$B" link add topo0 type topoopt
for port in eth0 eth1; do
	must ip -n "$B" link set "$port" master topo0 up
done
must ip -n "$B" addr add "$(node "$B")/32" dev topo0
must ip -n "$B" link set topo0 up
must apply "$B" "$plan" >/dev/null
check "B relays as before" wait_for 60 reaches

done_testing
