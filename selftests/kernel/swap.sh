#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 300
# Processors: 2
# B's table is replaced every few milliseconds while A sends numbered UDP
# datagrams to C: none is lost, none overtakes another.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 3
must wait_for 10 on "$A" ping -c 1 -W 1 "$(node "$C")"
datagrams=20000

# C: arrivals in order? Ends with the last datagram, or 20 s after another.
ip netns exec "$C" python3 -u - "$datagrams" >"$tmp/received" <<-'EOF' &
import socket, sys
count, expected, lost, late = int(sys.argv[1]), 0, 0, 0
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)	# SO_RCVBUFFORCE
s.bind(("", 5001))
s.settimeout(20)
print("ready")
try:
    while expected < count:
        number = int(s.recv(64))
        if number < expected:
            late += 1
            continue
        lost += number - expected
        expected = number + 1
except TimeoutError:
    lost += count - expected
print(f"lost {lost} late {late}")
EOF
receiver=$!
must wait_for 10 grep -q ready "$tmp/received"

# B: the same routes in one new table after another, with a group more or less
# so that tables differ in what they hold.
ip netns exec "$B" python3 -u - "$lib_dir" >"$tmp/swaps" <<-'EOF' &
import signal, sys, time
sys.path.insert(0, sys.argv[1])
import genl
family = genl.Family()
on = {"ifindex": genl.ifindex("topo0")}
generation = family.do("dev-get", on)["generation"]
groups = [g for m in family.dump("group-get", on) for g in m["group"]]
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
must wait_for 10 grep -q ready "$tmp/swaps"

before=$(on "$B" toctl show --json | jq .generation)
on "$A" python3 - "$(node "$C")" "$datagrams" <<-'EOF'
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(int(sys.argv[2])):
    s.sendto(str(number).encode(), (sys.argv[1], 5001))
    if number % 8 == 0:
        time.sleep(0.002)
EOF
after=$(on "$B" toctl show --json | jq .generation)
wait "$receiver"
kill "$swapper"
wait "$swapper"
read -r swaps milliseconds < <(tail -n 1 "$tmp/swaps")

check "tables were replaced meanwhile: $((after - before)) times, every $((milliseconds / swaps)) ms" \
	test $((after - before)) -ge 100
is "$datagrams datagrams" "$(tail -n 1 "$tmp/received")" "lost 0 late 0"
is "none dropped by B" "$(on "$B" toctl show --json |
	jq '[.counters | to_entries[] | select(.key | startswith("drop")).value] | add')" 0
check "all of them relayed by B" test "$(on "$B" toctl show --json | jq '.counters["relay-rx-packets"]')" -ge "$datagrams"
done_testing
