#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12
# Timeout: 600
# Faults under light: toctl status names what is wrong, judges whether servers still reach
# each other, and does so within 2 s; show, doctor and export say so at the server.
#
#	s0 eth0 == eth1 s1 eth0 == eth1 s2 eth0 == eth1 s3 eth0 == eth1 s0

. "$(dirname "$(realpath "$0")")/../lib.sh"

export TOPOOPT_STATE=$tmp/state
example=$lib_dir/../examples/ring-4
must toctl plan --cluster "$example/cluster.json" --job "$example/job.json" \
	--fixed -o "$tmp/ring.json" >/dev/null
fabric_up "$tmp/ring.json" >/dev/null

export TOPOOPT_FABRIC=$tmp/fabric.conf
cat >"$TOPOOPT_FABRIC" <<END
[agents]
command = ip netns exec {} toctl agent --stdio
timeout = 60s
END
status() { # FILE [PLAN]
	toctl status "${2:-$tmp/ring.json}" --json >"$1"
}
# Waits until a look says what is expected, and prints how long it took.
says() { # NAME EXIT "CHECK SUBJECT TEXT"... in jq's order
	local begin=$EPOCHREALTIME limit=60 expected

	expected=$(printf '%s\n' "${@:3}")
	lib_says() {
		status "$tmp/look"
		(($? == $1)) && [[ $(jq -r '.checks[] | select(.check != "backups" and .check != "misses" and .check != "drops") |
			"\(.check) \(.subject) \(.text)"' "$tmp/look" | sort) == "$2" ]]
	}
	if wait_for "$limit" lib_says "$2" "$(sort <<<"$expected")"; then
		ok "$1"
		echo "# $1: after $(awk "BEGIN { print $EPOCHREALTIME - $begin }") s"
	else
		not_ok "$1" "$(jq -c '[.health, .checks]' "$tmp/look")"
	fi
}
well() { says "$1" 0 ""; }
lose() { # WIRE
	must tc -n ocs qdisc replace dev "$1" root netem loss 100%
}
pass() { # WIRE
	must tc -n ocs qdisc del dev "$1" root
}
light() { # WIRE TO
	tc -n ocs filter del dev "$1" ingress
	must tc -n ocs filter add dev "$1" ingress pref 1 handle 1 matchall \
		action mirred egress redirect dev "$2"
}

well "all neighbours hear each other"
is "all of them" "$(jq -c '[.health, .heard, .neighbours, .pairs, .apart]' "$tmp/look")" \
	'["healthy",8,8,12,0]'
is "toctl show peers" "$(on s0 toctl show peers | awk '{ print $1, $2, $3, $4 }')" \
	"$(printf '%s\n' "PORT NEIGHBOUR STATE TAKES" "eth0 s1:eth1 heard all" "eth1 s3:eth0 heard all")"
is "its JSON" "$(on s0 toctl show --json | jq -c '[.peers[] | [.port, .server, .server_port, .reason, .transit, .local]]')" \
	'[["eth0","s1","eth1","heard",true,true],["eth1","s3","eth0","heard",true,true]]'

# --- light that carries nothing ---

lose w0-0
lose w1-1
says "a cable that passes nothing, either way" 4 \
	"link s0:eth0 has light, but nothing passes to or from s1:eth1"
check "backups reach all" on s0 ping -c 1 -W 10 "$(node s1)"
check "toctl doctor names it" grep -q '^FAIL eth0: peer: s0:eth0 has light, but does not hear s1:eth1' \
	<(on s0 toctl doctor "$tmp/ring.json" --node s0)
is "toctl export, too" "$(on s0 toctl export |
	sed -n 's/^topoopt_peer_\(transit\|reason\){device="topo0",port="eth0",server="s1",server_port="eth1",*\(reason="silent"\)*} /\1 /p')" \
	"$(printf '%s\n' 'transit 0' 'reason 1')"
pass w0-0
pass w1-1
well "it passes again"

lose w1-1
says "one way is dead" 4 "link s0:eth0 has light, but nothing passes from here to s1:eth1: one way is dead"
pass w1-1
well "both ways"

# --- a server that relays nothing ---

must ip -n s2 link set topo0 down
says "a device that is down" 1 "device s2 the topoopt device is down: the server relays nothing"
is "no port of it is live" "$(on s2 toctl export | grep -c '^topoopt_port_live{.*} 0$')" 2
check "the others reach each other" on s1 ping -c 1 -W 10 "$(node s3)"
must ip -n s2 link set topo0 up
names() { # TEXT
	toctl status "$tmp/ring.json" >"$tmp/text"
	grep -q "$1" "$tmp/text"
}
check "it is up: what the kernel removed with it is named" \
	wait_for 30 names 's2: lost: somebody removed: .*topo0'
must apply s2 "$tmp/ring.json" >/dev/null
well "they are there again"

must ip -n s2 link del topo0
says "a server without a table" 1 "plan s2 no plan is active"
must apply s2 "$tmp/ring.json" >/dev/null
# the others' generations went on less
must toctl apply --all "$tmp/ring.json" >/dev/null
well "it has one"

# --- cables that lead elsewhere ---

light w0-0 w3-1
light w3-1 w0-0
light w2-0 w1-1
light w1-1 w2-0
says "two cables are swapped" 1 \
	"cabling s0:eth0 s0:eth0 hears s3:eth1; the plan says s1:eth1" \
	"cabling s1:eth1 s1:eth1 hears s2:eth0; the plan says s0:eth0" \
	"cabling s2:eth0 s2:eth0 hears s1:eth1; the plan says s3:eth1" \
	"cabling s3:eth1 s3:eth1 hears s0:eth0; the plan says s2:eth0"
light w0-0 w1-1
light w1-1 w0-0
light w2-0 w3-1
light w3-1 w2-0
well "they are back"

# --- routes of others ---

must ip -n s1 link add other type dummy
must ip -n s1 link set other up
must ip -n s1 route add default dev other table 77
must ip -n s1 rule add to "$(node s3)" lookup 77 pref 100
says "a rule that wins over the plan's route" 4 \
	"conflict s1 $(node s3): route 0.0.0.0/0 dev other of table 77, by rule 100 wins over the plan's to topo0"
fix=$(jq -r '.checks[] | select(.check == "conflict") | .fix' "$tmp/look")
check "with the command that mends it" grep -qF "fix: $fix" <(toctl status "$tmp/ring.json")
must in_netns s1 sh -c "$fix"
well "which does"

# --- frames that do not fit ---

mtu=$(on_sysfs s1 cat /sys/class/net/eth1/mtu)
must ip -n s1 link set eth1 mtu 1400
says "a smaller MTU at one end" 4 "mtu s1:eth1 1400, while s0:eth0 has $mtu"
must ip -n s1 link set eth1 mtu "$mtu"
well "one MTU"
done_testing
