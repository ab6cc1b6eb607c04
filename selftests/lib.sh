# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Shared by the kernel selftests (selftests/kernel/NAME.sh), which run in a
# guest, as root, and print TAP. Source it first:
#
#	. "$(dirname "$(realpath "$0")")/../lib.sh"
#
#	chain_up 3			# $A - $B - $C, tables loaded
#	on "$A" ping -c 1 "$(node "$C")"
#	check "A reaches C" on "$A" ping -c 1 "$(node "$C")"
#	done_testing

set -u
lib_dir=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
fabric=$lib_dir/lab/fabric.sh
tmp=$(mktemp -d)
tap_count=0 tap_failed=0
cleanups=()

# --- TAP ----------------------------------------------------------------

ok() { # NAME
	echo "ok $((++tap_count)) - $1"
}

not_ok() { # NAME [REASON]
	echo "not ok $((++tap_count)) - $1"
	[[ -z ${2:-} ]] || printf '%s\n' "$2" | sed 's/^/# /'
	((++tap_failed))
}

skip() { # NAME REASON
	echo "ok $((++tap_count)) - $1 # SKIP $2"
}

skip_all() { # REASON
	echo "1..0 # SKIP $1"
	exit 4
}

# One test: ok when the command succeeds, else its output as the reason.
check() { # NAME COMMAND...
	local name=$1 output status=0

	shift
	output=$("$@" 2>&1) || status=$?
	if ((status)); then
		not_ok "$name" "$* (status $status)${output:+:$'\n'}$output"
	else
		ok "$name"
	fi
	return "$status"
}

# One test: ok when the command fails and says what matches the expression.
check_fails() { # NAME REGEX COMMAND...
	local name=$1 regex=$2 output

	shift 2
	if output=$("$@" 2>&1); then
		not_ok "$name" "$* succeeded${output:+:$'\n'}$output"
	elif ! grep -qE -- "$regex" <<<"$output"; then
		not_ok "$name" "$* failed, but not with '$regex':"$'\n'"$output"
	else
		ok "$name"
		return 0
	fi
	return 1
}

# One test: ok when both are equal.
is() { # NAME GOT EXPECTED
	if [[ $2 == "$3" ]]; then
		ok "$1"
	else
		not_ok "$1" "got:      $2"$'\n'"expected: $3"
		return 1
	fi
}

done_testing() {
	echo "1..$tap_count"
	((tap_failed == 0))
	exit
}

# A set-up step that must work; ends the test otherwise.
must() { # COMMAND...
	"$@" || {
		not_ok "set-up" "$*: status $?"
		echo "1..$tap_count"
		exit 1
	}
}

# --- cleaning up --------------------------------------------------------

# Run a command when the test ends, last registered first.
at_exit() { # COMMAND
	cleanups=("$1" "${cleanups[@]}")
}

lib_cleanup() {
	local status=$? command

	trap - EXIT
	for command in "${cleanups[@]}"; do
		eval "$command"
	done >/dev/null 2>&1
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null
	rm -rf "$tmp"
	exit "$status"
}
trap lib_cleanup EXIT
trap 'exit 143' INT TERM

# --- waiting ------------------------------------------------------------

# Until the command succeeds, at most so many seconds. Looks less often the longer it
# takes, as a look costs an emulated machine more than the wait.
wait_for() { # SECONDS COMMAND...
	local deadline=$((SECONDS + $1)) pauses=(.05 .1 .2) looks=0

	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < deadline)) || return 1
		pause "${pauses[looks++]:-.4}"
	done
}

# As sleep, without a process: nobody ever writes to the pipe.
exec {lib_silence}<> <(:)
pause() { # SECONDS
	read -rt "$1" -u "$lib_silence" || :
}

# An RDMA device on every port; ends the test where none works in namespaces.
rdma_up() { # NAME, of what the test would go on with
	case $(uname -r) in
	6.*)
		skip "$1" "rdma_rxe works in namespaces from 7.2 on"
		done_testing
		;;
	esac
	must "$fabric" rxe
}

# Until a TCP or UDP server listens on the port in the namespace.
wait_listen() { # SERVER PORT
	wait_for 60 lib_listens "$1" "$2"
}

lib_listens() {
	[[ -n $(on "$1" ss -Hltun "sport = :$2") ]]
}

# --- servers ------------------------------------------------------------

on() { # SERVER COMMAND...
	in_netns "$@"
}

on_sysfs() { # SERVER COMMAND...: one that looks at the server's own /sys
	ip netns exec "$@"
}

# ssh leads into the servers' network namespaces, each with a host name of its own.
ssh_to_namespaces() {
	mkdir "$tmp/bin"
	cat >"$tmp/bin/ssh" <<-'END'
		#!/bin/bash
		exec ip netns exec "$1" unshare --uts sh -c "hostname $1; ${*:2}"
	END
	chmod +x "$tmp/bin/ssh"
	PATH=$tmp/bin:$PATH
}

# Node address of a server, address and MAC of a port, in the fabric's plan: read at
# once, as processes are slow in an emulated machine. Sets servers.
declare -A lib_facts	# by "SERVER FIELD" or "SERVER PORT FIELD"
lib_read_plan() {
	local key value

	lib_facts=() servers=()
	while IFS=$'\t' read -r key value; do
		case $key in
		server) servers+=("$value") ;;
		*) lib_facts[$key]=$value ;;
		esac
	done < <(jq -r '.servers[] | "server\t\(.name)",
		"\(.name) \(to_entries[] | select(.value | scalars) | "\(.key)\t\(.value)")",
		"\(.name) \(.ports[] | "\(.name) \(to_entries[] | "\(.key)\t\(.value)")")"' "$plan")
}
lib_fact() { # KEY
	[[ -n ${lib_facts[$1]:-} ]] && echo "${lib_facts[$1]}"
}
node() { lib_fact "$1 ipv4"; }			# SERVER
node6() { lib_fact "$1 ipv6"; }			# SERVER
port_ip() { lib_fact "$1 $2 ipv4"; }		# SERVER PORT
port_ip6() { lib_fact "$1 $2 ipv6"; }		# SERVER PORT
port_mac() { lib_fact "$1 $2 mac"; }		# SERVER PORT
port_nic() { lib_fact "$1 $2 transmit" || echo "$2"; }	# SERVER PORT: has its address

# Plan of N servers in a row on standard output, one port per side:
#
#	A eth1 == eth0 B eth1 == eth0 C ...
#
# The names end in a random suffix; $A, $B, $C ... are set by chain_up.
chain_plan() { # N [SUFFIX]
	jq -n --argjson n "$1" --arg suffix "${2:-}" -f "$lib_dir/lab/chain.jq"
}

# Fabric of N servers in a row with tables loaded; sets plan, servers and the
# variables A, B, C ... to the names of the servers.
chain_up() { # N [--no-apply]
	local suffix i letters=ABCDEFGHIJKLMNOP

	printf -v suffix %04x "$RANDOM"
	plan=$tmp/plan.json
	chain_plan "$1" "-$suffix" >"$plan"
	fabric_up "$plan" "${@:2}"
	for ((i = 0; i < $1; i++)); do
		printf -v "${letters:i:1}" %s "${servers[i]}"
	done
}

# Have B relay at XDP what comes from A. On a fibre, frames have their tags and
# checksums; NICs take what XDP sends.
chain_xdp() {
	local port wire

	must on "$A" ethtool -K eth1 tx off >/dev/null
	for port in eth0 eth1; do
		must on "$B" ethtool -K $port rxvlan off rx-vlan-stag-hw-parse off >/dev/null
	done
	for wire in $(ip -n ocs -br link | sed -n 's/^\(w[^@ ]*\).*/\1/p'); do
		must on ocs ethtool -K "$wire" gro on >/dev/null
	done
	must apply "$B" "$plan" --xdp auto >/dev/null
}

# Packets that B's eth0 gave to another port at XDP.
chain_xdp_packets() {
	on "$B" ethtool -S eth0 | awk '/rx_queue.*xdp_redirect/ { n += $2 } END { print n + 0 }'
}

# Fabric of a plan; sets plan and servers.
fabric_up() { # PLAN [--no-apply]
	plan=$1
	lib_read_plan
	at_exit "$fabric down"
	must "$fabric" up "$@"
}

# The plan, changed by a jq program, in a new file whose name is printed.
plan_edit() { # JQ-PROGRAM [JQ-ARGUMENT...]
	local file

	file=$(mktemp "$tmp/plan-XXXX.json")
	jq "${@:2}" "$1" "$plan" >"$file" || return 1
	echo "$file"
}

# Load a plan's table on one server.
apply() { # SERVER PLAN [ARGUMENT...]
	on "$1" toctl apply "$2" --node "$1" "${@:3}"
}

# A counter of the topoopt device or of a port, by its name in ethtool -S.
ethtool_counter() { # SERVER INTERFACE NAME
	on "$1" ethtool -S "$2" | awk -v name="$3:" '$1 == name { print $2 }'
}

# The generations that servers have, each once; 0 for a server without a device.
generations() {
	local server

	for server in "${servers[@]}"; do
		on "$server" toctl show --json 2>/dev/null || echo '{"generation": 0}'
	done | jq -rs 'map(.generation // 0) | unique | join(" ")'
}

# How many generations and stages all servers have.
fabric_state() {
	local server

	for server in "${servers[@]}"; do
		on "$server" toctl show --json
	done | jq -sc '[(map(.generation) | unique | length), (map(.stage // empty) | length)]'
}

# Tables and light are the plan's.
as_planned() { # PLAN WHAT
	local server differ=''

	for server in "${servers[@]}"; do
		apply "$server" "$1" --dry-run --json >"$tmp/differs" &&
			[[ $(jq .differs "$tmp/differs") == false ]] || differ+=" $server"
	done
	is "$2: all tables are the plan's" "$differ" ""
	is "$2: one generation, no stage" "$(fabric_state)" "[1,0]"
	is "$2: the light is the plan's" "$("$fabric" links | sort)" \
		"$(jq -r '.links[] | "\(.a) \(.b)", "\(.b) \(.a)"' "$1" | sort)"
}

# --- three guests (selftests/three) --------------------------------------

# Be server A, B or C of a chain plan, in a guest of lab/guests3, whose own
# interfaces are the ports: no namespaces; "on" runs commands right here.
three_up() { # A|B|C
	plan=/tmp/plan.json
	chain_plan 3 >"$plan"
	lib_read_plan
	server=$1
	on() {
		shift
		"$@"
	}
	on_sysfs() { on "$@"; }
	must modprobe topoopt_fwd
	must ip link add topo0 type topoopt
	for port in eth0 eth1; do
		must ip link set "$port" address "$(port_mac "$server" "$port")" mtu 4200
		must ip address add "$(port_ip "$server" "$port")/32" dev "$port"
		must ip link set "$port" master topo0
		must ip link set "$port" up
	done
	must ip address add "$(node "$server")/32" dev topo0
	must ip link set topo0 up
	must toctl apply "$plan" --node "$server"
	touch "/out/$server.up"
	must wait_for 60 test -e /out/A.up -a -e /out/B.up -a -e /out/C.up
}

# On B and C: until A has ended.
three_wait() {
	wait_for 3600 test -e /out/done
}

# --- traffic between all, and RoCEv2 --------------------------------------

# How many of all pairs of servers say over TCP who they are, IPv4 and IPv6 apart;
# the others are told on standard error.
tcp_pairs() {
	local server from to address answer listeners=() reached=0

	for server in "${servers[@]}"; do
		in_netns "$server" socat -U "TCP6-LISTEN:7000,ipv6only=0,fork,reuseaddr" \
			"SYSTEM:echo $server" 2>/dev/null &
		listeners+=($!)
	done
	for server in "${servers[@]}"; do
		must wait_listen "$server" 7000
	done
	for from in "${servers[@]}"; do
		for to in "${servers[@]}"; do
			[[ $from != "$to" ]] || continue
			for address in "$(node "$to")" "[$(node6 "$to")]"; do
				answer=$(on "$from" socat -u -T 60 "TCP:$address:7000,connect-timeout=60" -)
				if [[ $answer == "$to" ]]; then
					((++reached))
				else
					echo "# $from to $to at $address: '$answer'" >&2
				fi
			done
		done
	done
	kill "${listeners[@]}"
	echo "$reached"
}

# Each server counts what it sends, until record_end.
record_begin() {
	local server

	lib_recorders=()
	for server in "${servers[@]}"; do
		in_netns "$server" toctl tm record "$plan" --node "$server" --count 0 \
			-o "$tmp/$server.tm" 2>"$tmp/$server.tm.log" &
		lib_recorders+=($!)
	done
	for server in "${servers[@]}"; do
		must wait_for 300 grep -q recording "$tmp/$server.tm.log"
	done
}

# The matrix of all is in $tmp/fabric.tm then.
record_end() {
	local recorder recordings=("${servers[@]/#/$tmp/}")

	kill -INT "${lib_recorders[@]}"
	for recorder in "${lib_recorders[@]}"; do
		must wait "$recorder"
	done
	must toctl tm merge -o "$tmp/fabric.tm" "${recordings[@]/%/.tm}"
}

# Another number of bytes for each pair (i, j): 1 + j datagrams of 100 + 10 i bytes, as
# RoCEv2 where i + j is odd. hush 4791,9999 comes before.
send_pairs() {
	local i j

	for i in "${!servers[@]}"; do
		for j in "${!servers[@]}"; do
			((i == j)) || printf 'for k in {0..%d}; do printf "%%%ds" "" >/dev/udp/%s/%d; done\n' \
				"$j" "$((100 + 10 * i))" "$(node "${servers[j]}")" \
				"$(((i + j) % 2 ? 4791 : 9999))"
		done | on "${servers[i]}" bash
	done
}

# The matrix of that, with frames' headers; of RoCEv2 alone.
sent_pairs() { # [roce]
	jq -nc --argjson n "${#servers[@]}" --arg class "${1:-}" '[range($n) as $i | [range($n) as $j
		| if $i == $j or ($class == "roce" and ($i + $j) % 2 == 0) then 0
		else (1 + $j) * (100 + 10 * $i + 42) end]]'
}

# Secret of all servers for toctl collective run.
export TOPOOPT_COLLECTIVE_TOKEN=lab-without-strangers

# One server's part of toctl collective run: its result in $tmp/NAME.SERVER, its steps in $tmp/NAME.SERVER.log.
collective_begin() { # NAME SERVER PLAN [OPTION...]
	on "$2" toctl collective run "$3" --node "$2" "${@:4}" --json \
		--output "$tmp/$1.$2.log" >"$tmp/$1.$2" 2>"$tmp/$1.$2.err" &
	lib_collective+=($!)
}

# Fails when one does.
collective_end() { # NAME
	local pid status=0

	for pid in "${lib_collective[@]}"; do
		wait "$pid" || status=1
	done
	lib_collective=()
	((!status)) || cat "$tmp/$1".*.err
	return "$status"
}

collective() { # NAME PLAN [OPTION...]
	local server

	for server in "${servers[@]}"; do
		collective_begin "$1" "$server" "${@:2}"
	done
	collective_end "$1"
}

# Index of the GID that is a port's IPv4 address, which a new device has a moment later.
lib_gid() { # SERVER PORT
	local i

	wait_for 60 eval "i=\$(lib_has_gid '$1' '$2')"
	echo "$i"
}

lib_has_gid() { # SERVER PORT
	local gids want i

	gids=/sys/class/infiniband/$1-$(port_nic "$1" "$2")/ports/1/gids
	# shellcheck disable=SC2046,SC2183 # words of the address
	want=$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' \
		$(port_ip "$1" "$2" | tr . ' '))
	for ((i = 0; i < 16; i++)); do
		[[ $(cat "$gids/$i") != "$want" ]] || { echo "$i"; return; }
	done
	return 1
}

# RDMA writes from a port into another, which have their devices (fabric.sh rxe). Where clocks
# are too uneven to say how fast they were, perftest fails but for -F.
rdma_write() { # FROM PORT TO PORT [ARGUMENT...]
	local from=$1 fport=$2 to=$3 tport=$4 server status=0

	shift 4
	in_netns "$to" ib_write_bw -d "$to-$(port_nic "$to" "$tport")" \
		-x "$(lib_gid "$to" "$tport")" -F -s 4096 -n 200 "$@" >"$tmp/server" 2>&1 &
	server=$!
	wait_listen "$to" 18515 || [[ " $* " == *" -R "* ]] || return 1
	timeout 60 in_netns "$from" ib_write_bw -d "$from-$(port_nic "$from" "$fport")" \
		-x "$(lib_gid "$from" "$fport")" -F -s 4096 -n 200 "$@" "$(port_ip "$to" "$tport")" ||
		status=$?
	wait "$server" || { status=1; sed 's/^/server: /' "$tmp/server"; }
	return "$status"
}

# No traffic but the test's own: UDP to the ports given is dropped behind the
# module, so that no ICMP error answers it, and nobody looks for a router.
hush() { # PORT[,PORT...]
	local server

	for server in "${servers[@]}"; do
		must on "$server" nft -f - <<-END
			table inet hush {
				chain in {
					type filter hook input priority 0;
					udp dport { $1 } drop
				}
			}
		END
		must on "$server" bash -c \
			'for file in /proc/sys/net/ipv6/conf/*/accept_ra; do echo 0 >"$file"; done'
		must wait_for 60 lib_addresses_settled "$server"
	done
}

lib_addresses_settled() {
	[[ -z $(ip -n "$1" -6 address show tentative) ]]
}

# Load the module without its BTF, as built against headers without vmlinux. From
# inside the tree: the initramfs or the distribution may compress it.
without_module_btf() {
	local module

	command -v objcopy >/dev/null || skip_all "no objcopy"
	module=$(modinfo -n topoopt_fwd)
	must objcopy -R .BTF -R .BTF.base "$module" "$tmp/topoopt_fwd.ko"
	modprobe -r topoopt_fwd
	must insmod "$tmp/topoopt_fwd.ko"
	at_exit "modprobe -r topoopt_fwd"
}
