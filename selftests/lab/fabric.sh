#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A whole fabric in one kernel: every server of a plan is a network namespace,
# every port a veth whose other end (the wire) is in the namespace "ocs", which
# plays the optical switch and the fibres:
#
#	 namespace s0                ocs                 namespace s1
#	+------------+      +-------------------+      +------------+
#	| topo0 eth0 |======| w0-0  -->  w1-1   |======| eth1 topo0 |
#	|       eth1 |======| w0-1 (dark)       |      |            |
#	+------------+      +-------------------+      +------------+
#
# A port with a relay interface ("transmit") is a macvlan device on its NIC. A packet
# switch is a bridge in the namespace "ocs", with the wires of its ports.
#
#	fabric.sh up PLAN [--no-apply]		build it, load the tables
#	fabric.sh down				remove it
#	fabric.sh darken SERVER:PORT		cut the port's links: both ends lose carrier, or
#						the port alone on a packet switch
#	fabric.sh darken SWITCH			the same of all ports on a packet switch
#	fabric.sh light SERVER:PORT|SWITCH	mend them
#	fabric.sh reconfigure PLAN [--latency TIME]
#						switch the light over to another plan; what
#						changes is dark for TIME (10ms; default: the
#						plan's own). Tables stay as they are
#	fabric.sh rxe [SERVER:PORT...]		an RDMA device SERVER-NIC for these ports,
#						or for all
#	fabric.sh exec SERVER COMMAND...	run a command on a server
#	fabric.sh links				SERVER:PORT SERVER:PORT for each lit direction
#
# toctl switch sets it too, when the plan's optical switches say
# "control": {"driver": "netns"}: the wires have their ports as aliases.
#
# Needs root, in a guest or on a machine with the module installed.

set -euo pipefail
state=/run/topoopt-fabric
mtu=4200	# RoCEv2 with its largest payload, 4096 bytes

die() {
	printf 'fabric.sh: %s\n' "$*" >&2
	exit 1
}

usage() {
	sed -n '/^#	fabric.sh up/,/^#$/s/^#[[:space:]]\?//p' "$0" >&2
	exit 2
}

# In a guest there is a faster one.
if command -v in_netns >/dev/null; then
	exec_on=(in_netns)
else
	exec_on=(ip netns exec)
fi

ocs_ip() { ip -n ocs "$@"; }

compile() { # PLAN DIRECTORY: one file per kind of line that fabric.jq makes
	[[ -r $1 ]] || die "$1: no such plan"
	mkdir -p "$2"
	jq -r --argjson mtu "$mtu" -f "$(dirname "$(realpath "$0")")/fabric.jq" "$1" |
		awk -F '\t' -v dir="$2" '{ print $2 >(dir "/" $1) }' || die "$1: not a usable plan"
	touch "$2/light" "$2/shared"
}

need_fabric() { [[ -d $state ]] || die "no fabric here: fabric.sh up PLAN makes one"; }

# For every server, two at a time; fails when one does.
each_server() { # COMMAND with {} for the server
	xargs -P 2 -I '{}' "$@" <"$state/servers"
}

wires() { # file of pairs of wires: each wire once
	tr ' ' '\n' <"$1" | sort -u
}

set_wires() { # up|down; wires on stdin
	sed "s/.*/link set & $1/" | ocs_ip -b -
}

wait_carrier() { # wires on stdin
	local deadline=$((SECONDS + 60)) missing

	sort >"$state/expected"
	until missing=$(ocs_ip -br link show up | awk '$2 == "UP" { sub(/@.*/, "", $1); print $1 }' |
		sort | comm -13 - "$state/expected") && [[ -z $missing ]]; do
		((SECONDS < deadline)) || die "no carrier on ${missing//$'\n'/ }"
		sleep 0.1
	done
}

switch_on() { # file of pairs
	awk '{ print "filter replace dev", $1, "ingress pref 1 handle 1 matchall action mirred egress redirect dev", $2 }' \
		"$1" | tc -n ocs -b -
	wires "$1" | set_wires up
}

# What is redirected now, which toctl switch may have changed.
look() {
	need_fabric
	awk '{ print "filter show dev", $2, "ingress" }' "$state/ports" | tc -n ocs -j -b - |
		jq -rn --rawfile ports "$state/ports" '
			[$ports | scan(" (\\S+).*\n") | .[0]] as $wires
			| [inputs] | to_entries[] | $wires[.key] as $wire
			| .value[].options.actions[]? | "\($wire) \(.to_dev)"' >"$state/light"
}

up() {
	local plan=$1 apply=${2:-}

	[[ ! -d $state ]] || die "a fabric is up already: fabric.sh down removes it"
	[[ -z $apply || $apply == --no-apply ]] || usage
	trap '[[ $? -eq 0 ]] || { down; }' EXIT
	compile "$plan" "$state"
	cp "$plan" "$state/plan.json"
	modprobe topoopt_fwd
	{ echo netns add ocs; sed 's/^/netns add /' "$state/servers"; } | ip -b -
	# the optical switch is glass: it must not speak itself
	"${exec_on[@]}" ocs sysctl -q -w net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
	ocs_ip -b "$state/ocs.ip"
	[[ ! -s $state/ocs.fdb ]] || bridge -n ocs -b "$state/ocs.fdb"
	awk '{ print "qdisc add dev", $2, "clsact" }' "$state/ports" | tc -n ocs -b -
	each_server ip -n '{}' -b "$state/{}.ip"
	switch_on "$state/light"
	wires "$state/light" | wait_carrier
	[[ $apply == --no-apply ]] || apply
}

apply() {
	each_server "${exec_on[@]}" '{}' toctl apply "$state/plan.json" --node '{}' >/dev/null
}

down() {
	local server

	[[ -d $state ]] || return 0
	while read -r server; do
		ip netns pids "$server" 2>/dev/null | xargs -r kill -9 || :
		ip netns del "$server" 2>/dev/null || :
	done < <(echo ocs; cat "$state/servers" 2>/dev/null)
	rm -rf "$state"
}

wire() { # SERVER:PORT
	local found

	found=$(awk -v port="$1" '$1 == port { print $2 }' "$state/ports")
	[[ -n $found ]] || die "no port '$1' in this fabric"
	echo "$found"
}

partners() { # WIRE: itself and what it exchanges light with, itself alone on a packet switch
	{
		awk -v wire="$1" '$1 == wire || $2 == wire { print $1; print $2 }' "$state/light"
		awk -v wire="$1" '$1 == wire { print $1 }' "$state/shared"
	} | sort -u
}

set_links() { # up|down SERVER:PORT|SWITCH
	local wires

	look
	wires=$(awk -v switch="$2" '$2 == switch { print $1 }' "$state/shared")
	[[ -n $wires ]] || wires=$(partners "$(wire "$2")")
	[[ -n $wires ]] || die "$2 has no link in this plan"
	set_wires "$1" <<<"$wires"
	[[ $1 == down ]] || wait_carrier <<<"$wires"
}

reconfigure() {
	local latency='' new=$state/next

	look
	compile "$1" "$new"
	case ${2:-} in
	--latency) latency=${3:?} ;;
	'') latency=$(cat "$new/reconfiguration") ;;
	*) usage ;;
	esac
	case $latency in
	*us) latency=$(awk "BEGIN { print ${latency%us} / 1e6 }") ;;
	*ms) latency=$(awk "BEGIN { print ${latency%ms} / 1e3 }") ;;
	esac
	cmp -s "$state/ports" "$new/ports" || die "$1: not the same servers and ports"
	sort -o "$state/light" "$state/light"
	sort -o "$new/light" "$new/light"
	comm -23 "$state/light" "$new/light" >"$new/off"
	comm -13 "$state/light" "$new/light" >"$new/on"
	wires "$new/off" | set_wires down
	awk '{ print "filter del dev", $1, "ingress" }' "$new/off" | tc -n ocs -b -
	sleep "$latency"
	switch_on "$new/on"
	wires "$new/on" | wait_carrier
	mv "$new/light" "$state/light"
	cp "$1" "$state/plan.json"
	rm -r "$new"
}

rxe() {
	local port server nic

	need_fabric
	modprobe -a rdma_rxe rdma_ucm
	# shellcheck disable=SC2046 # those at 1x2 switches have no NIC
	(($#)) || set -- $(awk 'NF == 3 { print $1 }' "$state/ports")
	for port; do
		wire "$port" >/dev/null
		nic=$(awk -v port="$port" '$1 == port { print $3 }' "$state/ports")
		server=${port%:*}
		echo "link add $server-$nic type rxe netdev $nic" >>"$state/$server.rdma"
	done
	for port in "$state"/*.rdma; do
		"${exec_on[@]}" "$(basename "$port" .rdma)" rdma -b "$port"
		rm "$port"
	done
}

links() {
	look
	awk 'NR == FNR { name[$2] = $1; next } { print name[$1], name[$2] }' \
		"$state/ports" "$state/light"
}

(($#)) || usage
verb=$1
shift
case $verb in
up) (($# >= 1)) || usage; up "$@" ;;
down) down ;;
darken) (($# == 1)) || usage; set_links down "$1" ;;
light) (($# == 1)) || usage; set_links up "$1" ;;
reconfigure) (($# >= 1)) || usage; reconfigure "$@" ;;
rxe) rxe "$@" ;;
exec) (($# >= 2)) || usage; exec "${exec_on[@]}" "$@" ;;
links) links ;;
*) usage ;;
esac
