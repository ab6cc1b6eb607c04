#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 300
# Processors: 2
# Life of a stage: it goes with the socket that made it, unless prepared; one
# of two commits on the same generation wins; dumps notice a commit; nothing of
# it is left when the device or the namespace goes.
#
#	eth0 == x0	eth1 == x1

. "$(dirname "$(realpath "$0")")/../lib.sh"

server=stage-$(od -An -N2 -tx1 /dev/urandom | tr -d ' ')
must modprobe topoopt_fwd
must ip netns add "$server"
at_exit "ip netns del $server"
must ip -n "$server" link add topo0 type topoopt
for i in 0 1; do
	must ip -n "$server" link add "eth$i" type veth peer "x$i"
	must ip -n "$server" link set "eth$i" master topo0
	must ip -n "$server" link set "eth$i" up
	must ip -n "$server" link set "x$i" up
done
must ip -n "$server" link set topo0 up

show() { # JQ-FILTER
	on "$server" toctl show --json | jq -c "$1"
}

# A program with a family, "on" and helpers.
program() { # BODY
	echo "
import os, sys, time
sys.path.insert(0, '$lib_dir')
import genl
family = genl.Family(groups=['events'] if 'event' in '''$1''' else [])
on = {'ifindex': genl.ifindex('topo0')}
hop = {'port': genl.ifindex('eth0'), 'mac': '02:00:00:00:00:01'}
def stage(routes=10, prefix='10.1'):
    family.do('stage-new', on)
    family.do('stage-add', dict(on, group=[{'id': 0, 'nexthop': [hop]}]))
    for first in range(0, routes, 1000):
        family.do('stage-add', dict(on, route=[
            {'dst': f'{prefix}.{i >> 8}.{i & 255}', 'group': 0}
            for i in range(first, min(first + 1000, routes))]))
def commit(base):
    return family.do('commit', dict(on, **{'base-generation': base}))['generation']
$1"
}
client() { # BODY
	on "$server" python3 -u -c "$(program "$1")"
}

# --- a stage belongs to its socket ---

in_netns "$server" python3 -u -c "$(program 'stage()
print("ready")
time.sleep(100)')" >"$tmp/one" &
holder=$!
must wait_for 60 grep -q ready "$tmp/one"
is "a stage shows" "$(show '.stage | [.routes, .groups, .prepared]')" "[10,1,false]"
check_fails "it is the only one" "Another stage" client 'stage()'
kill -KILL "$holder"
wait "$holder" 2>/dev/null
check "the stage of a killed process is freed" wait_for 60 eval '[[ $(show .stage) == null ]]'

client 'stage()'
is "the stage of a process that ends is freed" "$(show .stage)" null
is "and no table came of it" "$(show '[.generation, .routes]')" "[0,0]"

client 'other = genl.Family()
stage()
other.do("dev-get", on)
other.close()
assert family.do("dev-get", on)["staged-routes"] == 10'
is "another socket's end leaves a stage alone" $? 0

# --- prepared, it outlives the socket ---

client 'stage()
family.do("stage-prepare", on)
assert family.do("route-get", dict(on, staged=True, route={"dst": "10.1.0.7"}))["group"][0]["id"] == 0
try:
    family.do("route-get", dict(on, route={"dst": "10.1.0.7"}))
except genl.Error:
    pass
else:
    raise AssertionError("staged route is active")'
is "a prepared stage can be looked up, and is not active" $? 0
is "it outlives its process" "$(show '.stage | [.routes, .prepared]')" "[10,true]"
is "another process commits it" "$(client 'print(commit(0))')" 1
is "now it is the table" "$(show '[.generation, .routes, .stage]')" '[1,10,null]'
client 'stage(5)
family.do("stage-prepare", on)'
client 'family.do("abort", on)'
is "another process aborts one" "$(show '[.generation, .routes, .stage]')" '[1,10,null]'

# --- commits compare and swap ---

check "explicit generation" client 'stage(3)
assert family.do("commit", dict(on, **{"base-generation": 1, "generation": 40}))["generation"] == 40'
check_fails "the generation must be the active one" "became active" client 'stage(3)
commit(1)'
is "the table stayed" "$(show '[.generation, .routes]')" '[40,3]'
check "a refused commit leaves the stage to try again" client 'stage(4)
try:
    commit(39)
except genl.Error as error:
    assert error.errno == 116, error
assert commit(40) == 41'

# --- events ---

client 'print("ready")
print(family.event(20))' >"$tmp/event" &
must wait_for 60 grep -q ready "$tmp/event"
client 'stage(6); commit(41)'
check "a commit is announced" wait_for 60 grep -q \
	"('commit-ntf', {'ifindex': [0-9]*, 'ifname': 'topo0', 'generation': 42, 'routes': 6, 'groups': 1})" "$tmp/event"
client 'print("ready")
print(family.event(20))' >"$tmp/event" &
must wait_for 60 grep -q ready "$tmp/event"
ip -n "$server" link set eth1 nomaster
check "a port that leaves is announced" wait_for 60 \
	grep -q "('port-ntf'.*'ifname': 'eth1'.*'left': True" "$tmp/event"
ip -n "$server" link set eth1 master topo0

# --- dumps ---

check "a dump is complete, each message of the one generation" client 'stage(30000)
generation = commit(42)
replies = family.dump("route-get", on)
assert len(replies) > 10 and not family.interrupted
assert {r["generation"] for r in replies} == {generation}
routes = [r["dst"] for m in replies for r in m["route"]]
assert len(routes) == len(set(routes)) == 30000, len(routes)'
check "a dump that a commit interrupts says so" client '
other = genl.Family()
import struct
family._send(family.id, genl.DUMP, family.header("route-get") + family.encode(on))
flags, generations, done = 0, set(), False
first = True
while not done:
    data = family.socket.recv(1 << 20)
    if first:
        first = False
        family, dumping = other, family
        stage(30000, "10.9"); commit(43)
        family = dumping
    at = 0
    while at < len(data):
        length, kind, flag = struct.unpack_from("=IHH", data, at)
        flags |= flag
        done |= kind == genl.NLMSG_DONE
        at += (length + 3) & ~3
assert flags & genl.INTERRUPTED, flags'
check "a stage can be dumped while it grows" client 'stage(2500)
routes = [r["dst"] for m in family.dump("route-get", dict(on, staged=True)) for r in m["route"]]
assert len(set(routes)) == 2500
groups = [g["id"] for m in family.dump("group-get", dict(on, staged=True)) for g in m["group"]]
assert groups == [0]'

# --- devices and namespaces that go ---

in_netns "$server" python3 -u -c "$(program 'stage(1000)
print("ready")
time.sleep(100)')" >"$tmp/hold" &
holder=$!
must wait_for 60 grep -q ready "$tmp/hold"
check "a device with a stage and a table is deleted" ip -n "$server" link del topo0
kill -KILL "$holder"
wait "$holder" 2>/dev/null
check "and made again" ip -n "$server" link add topo0 type topoopt
is "it starts empty" "$(show '[.generation, .routes, .stage]')" '[0,0,null]'
must ip -n "$server" link set eth0 master topo0
client 'stage(1000)
family.do("stage-prepare", on)'
is "a prepared stage waits" "$(show .stage.routes)" 1000
check "its namespace goes" ip netns del "$server"
check "so that the module can be unloaded" wait_for 60 rmmod topoopt_fwd
must modprobe topoopt_fwd
must ip netns add "$server"
done_testing
