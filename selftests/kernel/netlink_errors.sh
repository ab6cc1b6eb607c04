#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 300
# Every class of malformed or refused netlink message to B gets its errno, a
# text and the attribute at fault, changes nothing, and costs no packet:
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 3
wait_for 60 on "$A" ping -c 1 -W 1 "$(node "$C")"
ip netns exec "$A" ping -i 0.05 -W 2 "$(node "$C")" >"$tmp/ping" &
ping=$!

on "$B" python3 "$lib_dir/kernel/netlink_errors.py" topo0 eth0 eth1 | tee "$tmp/tap" | grep -v '^1\.\.'
tap_count=$(grep -c '^\(not \)\?ok' "$tmp/tap")
tap_failed=$(grep -c '^not ok' "$tmp/tap")
check "all classes were tried" grep -q '^1\.\.[1-9]' "$tmp/tap"

kill -INT "$ping"
wait "$ping"
is "packets lost meanwhile" "$(sed -n 's/.* \([0-9.]*\)% packet loss.*/\1/p' "$tmp/ping")" 0
done_testing
