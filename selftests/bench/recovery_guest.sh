#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The part of recovery.sh inside the guest: prints its JSON.
#
#	A eth0 == eth0 R eth1 == eth0 T		primary, cut
#	               R eth2 == eth1 T		backup

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/double.sh"

double_up '[{"port": "eth1"}, {"port": "eth2", "backup": true}]' >&2
bench=$lib_dir/bench/recovery.py
ip netns exec "$T" python3 -u "$bench" receive >"$tmp/received" &
receiver=$!
must wait_listen "$T" 5001
ip netns exec "$A" python3 -u "$bench" send "$(node "$T")" >"$tmp/sent" &
sender=$!
must wait_for 10 test -s "$tmp/sent"

# Only the primary's own light goes; both directions would be two moments in time.
wire=$(awk -v port="$R:eth1" '$1 == port { print $2 }' /run/topoopt-fabric/ports)
for ((i = 0; i < $1; i++)); do
	sleep 0.05
	must ip -n ocs link set "$wire" down
	sleep 0.05
	must ip -n ocs link set "$wire" up
	must wait_for 10 eval "on $R toctl show --json | jq -e '.ports[] | select(.port == \"eth1\").live'"
done
kill "$sender"
wait "$sender"
sleep 0.1
kill "$receiver"
wait "$receiver"
python3 "$bench" sum "$1" "$tmp/sent" "$tmp/received"
