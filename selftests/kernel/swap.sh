#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 900
# Processors: 2
# B's table is replaced every few milliseconds while A sends numbered UDP
# datagrams to C: none is lost, none overtakes another. Those to RoCE's port are
# relayed at XDP, except on 6.1, the others through the kernel's queues.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 3
must wait_for 60 on "$A" ping -c 1 -W 1 "$(node "$C")"
datagrams=5000
xdp=y
[[ $(uname -r) != 6.1.* ]] || xdp=
[[ ! $xdp ]] || chain_xdp

# C: arrivals of each kind in order? Ends with the last datagrams, or 20 s after
# others; the first may be late.
in_netns "$C" python3 -u - "$datagrams" >"$tmp/received" <<-'EOF' &
import select, socket, sys
count = int(sys.argv[1])
expected, lost, late = {}, 0, 0
for port in 5001, 4791:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)	# SO_RCVBUFFORCE
    s.bind(("", port))
    expected[s] = 0
print("ready")
while min(expected.values()) < count:
    readable = select.select(list(expected), [], [], 20 if any(expected.values()) else 120)[0]
    for s in readable:
        number = int(s.recv(128))
        if number < expected[s]:
            late += 1
            continue
        lost += number - expected[s]
        expected[s] = number + 1
    if not readable:
        break
print(f"lost {lost + sum(count - n for n in expected.values())} late {late}")
EOF
receiver=$!
must wait_for 60 grep -q ready "$tmp/received"

# B: the same routes in one new table after another, with a group more or less
# so that tables differ in what they hold.
in_netns "$B" python3 -u - "$lib_dir" >"$tmp/swaps" <<-'EOF' &
import signal, sys, time
sys.path.insert(0, sys.argv[1])
import genl
family = genl.Family()
on = {"ifindex": genl.ifindex("topo0")}
generation = family.do("dev-get", on)["generation"]
groups = family.table_groups(on)
routes = [r for m in family.dump("route-get", on) for r in m["route"]]
spare = [dict(groups[0], id=1000 + i) for i in range(40)]
add = [family.header("stage-add") + family.encode(dict(on, group=groups + more, route=routes))
       for more in ([], spare)]
running, swaps = True, 0
def stop(*_):
    global running
    running = False
signal.signal(signal.SIGTERM, stop)
print("ready")
started = time.monotonic()
while running:
    family.do("stage-new", on)
    family.raw(add[swaps & 1])
    generation = family.do("commit", dict(on, **{"base-generation": generation}))["generation"]
    swaps += 1
    time.sleep(0.002)
print(swaps, int((time.monotonic() - started) * 1000))
EOF
swapper=$!
must wait_for 60 grep -q ready "$tmp/swaps"

before=$(on "$B" toctl show --json | jq .generation)
on "$A" python3 - "$(node "$C")" "$datagrams" <<-'EOF'
import os, socket, sys, time
os.sched_setaffinity(0, {0})	# what one processor has still to send, another would overtake
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(int(sys.argv[2])):
    for port in 5001, 4791:
        s.sendto(b"%064d" % number, (sys.argv[1], port))
    if number % 4 == 0:
        time.sleep(0.002)
EOF
after=$(on "$B" toctl show --json | jq .generation)
wait "$receiver"
kill "$swapper"
wait "$swapper"
read -r swaps milliseconds < <(tail -n 1 "$tmp/swaps")

check "tables were replaced meanwhile: $((after - before)) times, every $((milliseconds / swaps)) ms" \
	test $((after - before)) -ge 100
is "$datagrams datagrams of each kind" "$(tail -n 1 "$tmp/received")" "lost 0 late 0"
is "none dropped by B" "$(on "$B" toctl show --json |
	jq '[.counters | to_entries[] | select(.key | startswith("drop")).value] | add')" 0
check "all of them relayed by B" test "$(on "$B" toctl show --json | jq '.counters["relay-rx-packets"]')" -ge $((2 * datagrams))
[[ ! $xdp ]] || is "those to RoCE's port at XDP" "$(chain_xdp_packets)" "$datagrams"
done_testing
