#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 300
# The smallest fabric there is, examples/ring-4: cables as they are, planned
# by toctl plan --fixed. Everybody reaches everybody over TCP, and opposite
# servers, which no cable joins, exchange RoCEv2 through a relay.
#
#	s0 eth0 == eth1 s1 eth0 == eth1 s2 eth0 == eth1 s3 eth0 == eth1 s0

. "$(dirname "$(realpath "$0")")/../lib.sh"

example=$lib_dir/../examples/ring-4
must toctl plan --cluster "$example/cluster.json" --job "$example/job.json" \
	--fixed -o "$tmp/ring.json" >/dev/null
check "toctl verify finds no fault in the plan" toctl verify "$tmp/ring.json"
fabric_up "$tmp/ring.json" >/dev/null

# --- TCP, all 12 pairs, both families ---

for server in "${servers[@]}"; do
	ip netns exec "$server" socat -U "TCP6-LISTEN:7000,ipv6only=0,fork,reuseaddr" \
		"SYSTEM:echo $server" &
done
for server in "${servers[@]}"; do
	must wait_listen "$server" 7000
done
reached=0
for from in "${servers[@]}"; do
	for to in "${servers[@]}"; do
		[[ $from != "$to" ]] || continue
		for address in "$(node "$to")" "[$(node6 "$to")]"; do
			answer=$(on "$from" socat -u -T 60 "TCP:$address:7000,connect-timeout=60" -)
			if [[ $answer == "$to" ]]; then
				((++reached))
			else
				echo "# $from to $to at $address: '$answer'"
			fi
		done
	done
done
is "TCP over all 12 pairs, IPv4 and IPv6" "$reached" 24

# --- the path that the plan says ---

path=$(toctl route get s2 --plan "$plan" --node s0 --json |
	jq -r '.path.next[] | select(.backup | not) .then.server')
is "traceroute from s0 to s2 shows the planned relay" \
	"$(on s0 traceroute -n -q 1 -w 2 "$(node s2)" | awk 'NR > 1 { print $2 }' | xargs)" \
	"$(node "$path") $(node s2)"

# --- RoCEv2 between opposite servers ---

# Index of the GID that is a port's IPv4 address.
gid() { # SERVER PORT
	local gids=/sys/class/infiniband/$1-$2/ports/1/gids want i

	# shellcheck disable=SC2046,SC2183 # words of the address
	want=$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' \
		$(port_ip "$1" "$2" | tr . ' '))
	for ((i = 0; i < 16; i++)); do
		[[ $(cat "$gids/$i") != "$want" ]] || { echo "$i"; return; }
	done
	return 1
}

write_bw() { # FROM PORT TO PORT [ARGUMENT...]
	local from=$1 fport=$2 to=$3 tport=$4 server status=0

	shift 4
	ip netns exec "$to" ib_write_bw -d "$to-$tport" -x "$(gid "$to" "$tport")" \
		-s 4096 -n 200 "$@" >"$tmp/server" 2>&1 &
	server=$!
	wait_listen "$to" 18515 || [[ " $* " == *" -R "* ]] || return 1
	timeout 60 ip netns exec "$from" ib_write_bw -d "$from-$fport" \
		-x "$(gid "$from" "$fport")" -s 4096 -n 200 "$@" "$(port_ip "$to" "$tport")" ||
		status=$?
	wait "$server" || { status=1; sed 's/^/server: /' "$tmp/server"; }
	return "$status"
}

case $(uname -r) in
6.*)
	skip "RoCEv2 between opposite servers" "rdma_rxe works in namespaces from 7.2 on"
	done_testing
	;;
esac
must "$fabric" rxe
relayed=$(ethtool_counter s1 topo0 relay_rx_packets)
check "s0 writes into s2 through s1" write_bw s0 eth0 s2 eth1
check "s2 writes into s0 through s3" write_bw s2 eth0 s0 eth1
check "s1 writes into s3 through s2" write_bw s1 eth0 s3 eth1
is "the relay carried it" \
	"$(($(ethtool_counter s1 topo0 relay_rx_packets) - relayed > 200))" 1
check "s0 writes into s1, without a relay" write_bw s0 eth0 s1 eth1
check "s0 writes into s2 by the other port, the long way" write_bw s0 eth1 s2 eth1
check "s0 writes into s1's other port, which s2 is cabled to" write_bw s0 eth0 s1 eth0
check "RDMA connection manager, s0 to s2" \
	timeout 60 bash -c '
		ip netns exec s2 rping -s -C 5 &
		for i in {1..50}; do
			ip netns exec s0 rping -c -C 5 -a "$1" 2>/dev/null && break
			sleep 0.2
		done
		wait $!' - "$(port_ip s2 eth1)"

done_testing
