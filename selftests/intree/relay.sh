#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A topoopt device relays between two hosts by a table that YNL commits.
#
#	a eth0 == p0 relay p1 == eth0 b
#
# YNL is the command line of tools/net/ynl, SPEC the specification of the family.

here=$(dirname "$(realpath "$0")")
root=$(realpath -m "$here/../../../../../..")
ynl=${YNL:-$root/tools/net/ynl/pyynl/cli.py}
spec=${SPEC:-$root/Documentation/netlink/specs/topoopt.yaml}
count=0 failed=0
suffix=$(mktemp -u XXXXXX)
a=a-$suffix b=b-$suffix relay=relay-$suffix

skip() { # REASON
	echo "1..0 # SKIP $1"
	exit 4
}

result() { # STATUS NAME
	if (($1)); then
		echo "not ok $((++count)) - $2"
		failed=1
	else
		echo "ok $((++count)) - $2"
	fi
}

client() { # ARGUMENT...
	ip netns exec "$relay" python3 "$ynl" --no-schema --spec "$spec" --output-json "$@"
}

cleanup() {
	local name

	for name in "$a" "$b" "$relay"; do
		ip netns del "$name" 2>/dev/null
	done
}

host() { # NAMESPACE PORT MAC ADDRESS PEER-ADDRESS: cabled to a port of the relay
	local mac

	ip netns add "$1"
	ip -n "$relay" link add "$2" type veth peer name eth0 address "$3" netns "$1"
	ip -n "$relay" link set "$2" master topo0 up
	mac=$(ip -n "$relay" -br link show "$2" | awk '{ print $3 }')
	ip -n "$1" addr add "$4/24" dev eth0
	ip -n "$1" link set eth0 up
	ip -n "$1" neigh add "$5" lladdr "$mac" dev eth0
}

index() { # DEVICE
	ip -n "$relay" -o link show "$1" | cut -d : -f 1
}

counter() { # NAME
	client --do dev-get --json "{$device}" | python3 -c '
import json, sys
print(json.load(sys.stdin)["counters"][sys.argv[1]])' "$1"
}

commit() { # BASE
	local groups routes

	groups="{\"id\": 0, \"nexthop\": [{\"port\": $(index p0), \"mac\": \"020000000001\"}]},
		{\"id\": 1, \"nexthop\": [{\"port\": $(index p1), \"mac\": \"020000000002\"}]}"
	routes='{"dst": "0a640001", "group": 0}, {"dst": "0a640002", "group": 1}'
	client --multi stage-new "{$device}" \
		--multi stage-add "{$device, \"group\": [$groups], \"route\": [$routes]}" \
		--multi commit "{$device, \"base-generation\": $1}" >/dev/null 2>&1
}

((!EUID)) || skip "needs root"
[[ -e $ynl ]] || skip "no $ynl"
trap cleanup EXIT
ip netns add "$relay"
ip -n "$relay" link add topo0 type topoopt 2>/dev/null || skip "no topoopt devices"
ip -n "$relay" link set topo0 up
device="\"ifindex\": $(index topo0)"
host "$a" p0 02:00:00:00:00:01 10.100.0.1 10.100.0.2
host "$b" p1 02:00:00:00:00:02 10.100.0.2 10.100.0.1

! ip netns exec "$a" ping -q -c 1 -W 1 10.100.0.2 >/dev/null 2>&1
result $? "without a table nothing is relayed"
commit 0
result $? "a table is committed"
ip netns exec "$a" ping -q -c 3 -i 0.2 -W 5 10.100.0.2 >/dev/null
result $? "it relays"
[[ $(counter relay-rx-packets) == 6 && $(counter relay-tx-packets) == 6 ]]
result $? "packets are counted where they arrive and where they leave"
! ip netns exec "$a" ping -q -c 1 -t 1 -W 1 10.100.0.2 >/dev/null 2>&1 &&
	[[ $(counter drop-ttl) == 1 ]]
result $? "a packet whose TTL is 1 is dropped"
! commit 0
result $? "a commit that names an older table is refused"
ip netns exec "$a" ping -q -c 1 -W 5 10.100.0.2 >/dev/null
result $? "and the active table stays"
echo "1..$count"
exit $failed
