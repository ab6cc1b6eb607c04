#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12-kcsan
# Timeout: 300
# Processors: 2
# One processor relays without pause, and stands still before one access in some tens;
# the other changes all that may be changed beside it. TEST_RACES=N: N seconds each way.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

seconds=${TEST_RACES:-60}
tune() { # ACCESSES MICROSECONDS
	echo "$1" >/sys/module/kcsan/parameters/skip_watch
	echo "$2" | tee /sys/module/kcsan/parameters/udelay_{task,interrupt} >/dev/null
}
watchpoints() {
	sed -n 's/^setup_watchpoints: *//p' /sys/kernel/debug/kcsan
}

# From a server to C, until the time is over; says how often.
flood() { # SERVER
	timeout $((seconds + 60)) in_netns "$1" python3 - "$seconds" "$(node "$C")" "$(node6 "$C")" <<-'EOF'
	import os, socket, sys, time
	os.sched_setaffinity(0, {0})
	v4, v6 = (socket.socket(f, socket.SOCK_DGRAM) for f in (socket.AF_INET, socket.AF_INET6))
	end, sent = time.monotonic() + int(sys.argv[1]), 0
	while time.monotonic() < end:
	    for port in 4791, 5001:
	        for s, to in (v4, sys.argv[2]), (v6, sys.argv[3]):
	            try:
	                s.sendto(bytes(64), (to, port))
	                sent += 1
	            except OSError:     # no way there just now
	                pass
	print(sent)
	EOF
}

change() {
	timeout $((seconds + 60)) in_netns "$B" python3 - "$seconds" "$lib_dir" <<-'EOF'
	import fcntl, os, socket, struct, subprocess, sys, time
	sys.path.insert(0, sys.argv[2])
	import genl
	os.sched_setaffinity(0, {1})
	family = genl.Family()
	on = {"ifindex": genl.ifindex("topo0")}
	groups = family.table_groups(on)
	routes = [r for m in family.dump("route-get", on) for r in m["route"]]
	add = family.header("stage-add") + family.encode(dict(on, group=groups, route=routes))

	def commit(times):
	    generation = family.do("dev-get", on)["generation"]
	    for _ in range(times):
	        family.do("stage-new", on)
	        family.raw(add)
	        generation = family.do("commit", dict(on, **{"base-generation": generation}))["generation"]

	def flap(port, times):
	    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
	        for i in range(2 * times):  # SIOCSIFFLAGS, IFF_UP
	            fcntl.ioctl(s, 0x8914, struct.pack("16sh22x", port.encode(), i & 1))

	def run(*commands):
	    for command in commands:
	        subprocess.run(command.split(), check=True, stdout=subprocess.DEVNULL)

	end, rounds = time.monotonic() + int(sys.argv[1]), 0
	while time.monotonic() < end:
	    run("ip link add d0 type dummy", "ip link set d0 master topo0")
	    commit(200)
	    flap("d0", 100)
	    run("ip -s link show topo0", "ethtool -S topo0", "ethtool -S eth0", "toctl show")
	    run("ip link del d0")
	    flap("eth1", 1)
	    run("ip link set eth1 nomaster", "ip link set eth1 master topo0")
	    run("ip link set topo0 down", "ip link set topo0 up")
	    run("ip link set eth1 mtu 1400", "ip link set eth1 mtu 1500")
	    rounds += 1
	print(rounds)
	EOF
}

beside() { # NAME
	local before rounds packets watched

	before=$(watchpoints)
	tune 50 100
	flood "$A" >"$tmp/A" &
	flood "$B" >"$tmp/B" &
	check "$1: B is changed all the while" eval 'change >"$tmp/rounds"'
	wait
	tune 200 80
	rounds=$(cat "$tmp/rounds") packets=$(($(cat "$tmp/A" "$tmp/B" | paste -sd+)))
	watched=$(($(watchpoints) - before))
	# a module that is not instrumented has one for two packets
	check "$1: $rounds rounds beside $packets packets, $watched accesses watched" \
		test "$watched" -ge $((4 * packets))
	check "$1: B relays" wait_for 60 on "$A" ping -c 1 -W 1 "$(node "$C")"
}

at_exit "tune 200 80"
chain_up 3
must wait_for 60 on "$A" ping -c 1 -W 1 "$(node "$C")"
beside stack
chain_xdp
beside XDP
redirected=$(chain_xdp_packets)
check "$redirected packets relayed at XDP" test "$redirected" -ge 1000

done_testing
