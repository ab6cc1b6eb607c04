#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 300
# A backup next hop takes over when the primary's link goes dark, with no user
# space in the loop, and hands back when it is lit; events tell of both.
#
#	A eth0 == eth0 R eth1 == eth0 T		primary
#	               R eth2 == eth1 T		backup

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/double.sh"

double_up '[{"port": "eth1"}, {"port": "eth2", "backup": true}]'
port_is() { # PORT true|false
	[[ $(on "$R" toctl show --json | jq --arg port "$1" '.ports[] | select(.port == $port).live') == "$2" ]]
}
backup_packets() {
	on "$R" toctl show --json | jq '.counters["backup-packets"]'
}
group() { # JQ-FILTER
	on "$R" python3 - <<-EOF | jq -r "$1"
	import json, sys
	sys.path.insert(0, "$lib_dir")
	import genl
	print(json.dumps(genl.Family().do("route-get", {
	    "ifindex": genl.ifindex("topo0"), "route": {"dst": "$(node "$T")"}})["group"][0]))
	EOF
}

# Events of R, a line each.
on "$R" python3 -u - >"$tmp/events" <<-EOF &
	import json, sys
	sys.path.insert(0, "$lib_dir")
	import genl
	family = genl.Family(groups=["events"])
	print("ready")
	while event := family.event(60):
	    print(event[0], json.dumps(event[1]))
EOF
wait_for 60 grep -q ready "$tmp/events"

is "lit: the backup is idle" "$(group '."backup-in-use"') $(backup_packets)" "null 0"
check "traffic takes the primary" on "$A" ping -c 3 -i 0.1 -W 30 "$(node "$T")"
is "and nothing else" "$(sent eth2) $(backup_packets)" "0 0"

in_netns "$A" ping -i 0.02 -W 2 "$(node "$T")" >"$tmp/ping" &
ping=$!
wait_for 60 grep -q icmp_seq=20 "$tmp/ping"
"$fabric" darken "$R:eth1"
wait_for 60 port_is eth1 false
last=$(grep -c icmp_seq "$tmp/ping")
check "dark: traffic goes on" wait_for 60 eval "((\$(grep -c icmp_seq $tmp/ping) > $last + 20))"
check "by the backup, $(backup_packets) packets" test "$(backup_packets)" -gt 20
is "the group says so" "$(group '."backup-in-use"')" true
is "and which next hop is dead" \
	"$(group '[.nexthop[] | [.backup // false, .live // false]] | tostring')" \
	'[[false,false],[true,true]]'
check "event: port lost its carrier" wait_for 60 \
	eval "grep '^port-ntf.*\"ifname\": \"eth1\"' $tmp/events | grep -vq '\"live\"'"
check "event: group on its backup" wait_for 60 \
	grep -q '^group-ntf.*"backup-in-use": true' "$tmp/events"

"$fabric" light "$R:eth1"
wait_for 60 port_is eth1 true
used=$(backup_packets)
last=$(grep -c icmp_seq "$tmp/ping")
wait_for 60 eval "((\$(grep -c icmp_seq $tmp/ping) > last + 20))"
check "lit again: the backup rests" test "$(($(backup_packets) - used))" -le 2
check "event: group back" wait_for 60 eval "grep '^group-ntf' $tmp/events | tail -n 1 | grep -vq backup-in-use"
kill -INT "$ping"
wait "$ping"
lost=$(sed -n 's/^\([0-9]*\) packets transmitted, \([0-9]*\) received.*/\1 \2/p' "$tmp/ping")
# What was on the dark link itself is gone; at most what fits into carrier detection.
check "few pings lost: ${lost/ / sent, } answered" test $((${lost% *} - ${lost#* })) -le 60

"$fabric" darken "$R:eth1"
"$fabric" darken "$R:eth2"
wait_for 60 port_is eth1 false
wait_for 60 port_is eth2 false
check_fails "no link at all: no answer" "100% packet loss" on "$A" ping -c 2 -i 0.1 -W 1 "$(node "$T")"
check "and counted" test "$(on "$R" toctl show --json | jq '.counters["drop-no-port"]')" -ge 2
is "a group without live ports is on no backup" "$(group '."backup-in-use"')" null
done_testing
