#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12 6.12-arm64
# Timeout: 900
# The bpftrace commands of the documentation show the traffic that passes.
# Tracepoints see all servers of this one kernel: A sends, B relays, C takes.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 3 >/dev/null
mapfile -d '' -t commands < <("$lib_dir/doc_commands.py" bpftrace "$lib_dir"/../Documentation/*.md)
# All programs in one bpftrace, as it takes long to start in an emulated machine.
program=''
for command in "${commands[@]}"; do
	command=${command#*$'\n'}
	command=${command#*bpftrace -e \'}
	program+=${command%\'*}
done
relayed() {
	ethtool_counter "$B" topo0 relay_tx_packets
}
sent() { # BEFORE
	(($(relayed) >= $1 + 5))
}
ifindex() { # PORT
	on_sysfs "$B" cat "/sys/class/net/$1/ifindex"
}

hush 4791
# not by on(), which has no tracefs
bpftrace -e "$program" >"$tmp/trace" 2>&1 &
tracer=$!
wait_for 300 grep -q Attach "$tmp/trace"
# it says so before it does
wait_for 60 sh -c 'bpftool -j perf | jq -e ".[] | select(.tracepoint == \"topoopt_relay\")"'
before=$(relayed)
on "$A" bash -c "exec 3>/dev/udp/$(node "$C")/4791
	for i in {1..5}; do printf '%1000s' '' >&3; done"
wait_for 60 sent "$before"
kill -INT "$tracer"
wait "$tracer"
shows() { # NAME REGEX
	check "$1" grep -E -- "$2" "$tmp/trace" || sed 's/^/# /' "$tmp/trace"
}
shows "bytes by port" "^@bytes\[$(ifindex eth0), $(ifindex eth1)\]: 5210$"
shows "bytes by server" '^@pairs\[0, 2\]: 15630$'
shows "packets by port and TTL" '^@packets\[eth0, eth1, 64\]: 5$'
shows "sizes of RoCEv2 packets" '^\[1K, 2K\) +5 '
is "no command was left out" "${#commands[@]}" 4
done_testing
