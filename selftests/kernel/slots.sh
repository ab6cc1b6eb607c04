#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12 6.12-arm64 7.2
# Another NIC takes the slot of a port that is gone: next hops through the old one
# stay dead in every dump and event, and their group stays on its backup.
#
#	A eth0 == eth0 R eth1 == eth0 T		primary, until "other" takes its slot
#	               R eth2 == eth1 T		backup

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/double.sh"

double_up '[{"port": "eth1"}, {"port": "eth2", "backup": true}]'

client() { # <PYTHON, with family and topo0
	{
		echo "import json, sys; sys.path.insert(0, '$lib_dir'); import genl"
		echo "family = genl.Family(); topo0 = genl.ifindex('topo0')"
		cat
	} >"$tmp/client.py"
	on "$R" python3 "$tmp/client.py"
}
ports() { # in the order of their slots
	client <<-EOF | xargs
	for reply in family.dump("port-get", {"ifindex": topo0}):
	    print(reply["port"]["ifname"])
	EOF
}
state='[."backup-in-use" // false, (.nexthop[] | .live // false)]'
group() { # does it run on its backup, which next hops are live
	client <<-EOF | jq -c "$state"
	print(json.dumps(family.do("route-get", {
	    "ifindex": topo0, "route": {"dst": "$(node "$T")"}})["group"][0]))
	EOF
}
groups() { # the same of a dump of all, of the group with a backup
	client <<-EOF | jq -c "$state"
	for reply in family.dump("group-get", {"ifindex": topo0}):
	    for group in reply["group"]:
	        if len(group["nexthop"]) == 2:
	            print(json.dumps(group))
	EOF
}
events() { # how many of groups, and whether the last says that the backup is in use
	sed -n 's/^group-ntf //p' "$tmp/events" |
		jq -s -c '[length, (last.group[0]."backup-in-use" // false)]'
}
events_are() { # EXPECTED
	[[ $(events) == "$1" ]]
}
# A port joins; events of what was before are there when its own is.
join() { # PORT
	must ip -n "$R" link add "$1" type dummy
	must ip -n "$R" link set "$1" up
	must ip -n "$R" link set "$1" master topo0
	must wait_for 60 grep -q "^port-ntf.*\"ifname\": \"$1\"" "$tmp/events"
}
backup_packets() {
	on "$R" toctl show --json | jq '.counters["backup-packets"]'
}

on "$R" python3 -u - >"$tmp/events" <<-EOF &
	import json, sys
	sys.path.insert(0, "$lib_dir")
	import genl
	family = genl.Family(groups=["events"])
	print("ready")
	while event := family.event(120):
	    print(event[0], json.dumps(event[1]))
EOF
must wait_for 60 grep -q ready "$tmp/events"

# Every slot has had a user, so that the next port gets one that tables know.
for ((i = 3; i < 64; i++)); do
	echo "link add user$i type dummy"
	echo "link set user$i master topo0"
	echo "link delete user$i"
done >"$tmp/batch"
must ip -n "$R" -batch "$tmp/batch"
is "before: the primary" "$(group)" "[false,true,true]"

# A stage that knows eth1, for later.
must client <<-EOF
	port = genl.ifindex
	family.do("stage-new", {"ifindex": topo0})
	family.do("stage-add", {"ifindex": topo0, "group": [{"id": 1, "nexthop": [
	    {"port": port("eth1"), "mac": "$(port_mac "$T" eth0)"},
	    {"port": port("eth2"), "mac": "$(port_mac "$T" eth1)", "backup": True}]}],
	    "route": [{"dst": "$(node "$T")", "group": 1}]})
	family.do("stage-prepare", {"ifindex": topo0})
EOF

must ip -n "$R" link set eth1 nomaster
must wait_for 60 events_are "[1,true]"
join other
join later
is "another NIC has the slot" "$(ports)" "eth0 other eth2 later"
is "the old primary is dead" "$(group)" "[true,false,true]"
is "in a dump of groups, too" "$(groups)" "[true,false,true]"
is "no event says that it is back" "$(events)" "[1,true]"

must client <<-EOF
	base = family.do("dev-get", {"ifindex": topo0})["generation"]
	family.do("commit", {"ifindex": topo0, "base-generation": base})
EOF
join latest
is "a table committed now says that it runs on its backup" "$(events)" "[2,true]"
used=$(backup_packets)
must on "$R" ping -c 3 -i 0.1 -W 30 "$(node "$T")"
is "traffic takes the backup" "$(($(backup_packets) - used))" 3
done_testing
