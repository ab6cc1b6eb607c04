#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks by hand, for continuity_forged.sh. R's interval is 1 s, so that 3.5 s without a
check are silence, and neighbours say one every 50 ms, so that nothing here is a race."""
import os
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import ccm
import genl

KEY = bytes(range(16))
MAC = {name: bytes.fromhex("02544f00" + rest) for name, rest in
       {"p0": "0100", "p1": "0101", "x0": "0200", "x1": "0201"}.items()}
tap = genl.Tap()
family = genl.Family()
ON = {"ifindex": genl.ifindex("topo0")}
PORT = {name: genl.ifindex(name) for name in ("p0", "p1")}
PEERS = [{"port": PORT["p0"], "mac": MAC["x0"], "index": 1, "server": "s2", "server-port": "eth1"},
         {"port": PORT["p1"], "mac": MAC["x1"], "index": 2, "server": "s3", "server-port": "eth0"}]


def commit(interval="1s", peer=PEERS, routes=True):
    state = family.do("dev-get", ON)
    family.do("stage-new", ON)
    if peer:
        family.do("stage-add", dict(ON, peer=peer, check={
            "interval": interval, "fabric": 7, "key": KEY, "server": "s1", "grace": 0}))
    if routes:
        group = {"id": 1, "nexthop": [{"port": PORT["p0"], "mac": MAC["x0"]},
                                      {"port": PORT["p1"], "mac": MAC["x1"], "backup": True}]}
        family.do("stage-add", dict(ON, group=[group], route=[
            {"dst": "10.0.0.9", "dst-len": 32, "type": "unicast", "group": 1}]))
    family.do("commit", dict(ON, **{"base-generation": state["generation"]}))


def peer(port="p0"):
    for reply in family.dump("peer-get", ON):
        for one in reply["peer"]:
            if one["port"] == PORT[port]:
                return one
    return {}


def reason(port="p0"):
    return peer(port).get("reason")


def live(port):
    return {m["port"]["ifindex"]: m["port"].get("live", False)
            for m in family.dump("port-get", ON)}[PORT[port]]


def on_backup():
    return any(g.get("backup-in-use") for m in family.dump("group-get", ON) for g in m["group"])


s2 = ccm.Neighbour("x0", server="s2", port="eth1", mac=MAC["x0"], to=MAC["p0"], key=KEY)
s3 = ccm.Neighbour("x1", server="s3", port="eth0", mac=MAC["x1"], to=MAC["p1"], key=KEY)
# frames that the relay leaves to the stack
stack = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ccm.CFM))
stack.bind(("p0", ccm.CFM))
stack.setblocking(False)


def until(condition, timeout=60, speakers=(s2, s3), **says):
    """Let neighbours speak until the condition is met; they hear meanwhile."""
    end = time.monotonic() + timeout
    while True:
        for one in (s2, s3):
            one.hear()
        if condition():
            return True
        if time.monotonic() > end:
            return False
        for one in speakers:
            one.say(**(says if one is s2 else {}))
        time.sleep(0.05)


def passed():
    """Frames that reached the stack since."""
    frames = []
    while True:
        try:
            data, address = stack.recvfrom(1 << 16)
        except BlockingIOError:
            return frames
        if address[2] != socket.PACKET_OUTGOING:
            frames.append(data)


def counts(frame):
    """Whether a frame is counted as a check of s2. A good one comes behind it."""
    before = peer().get("received", 0)
    s2.socket.send(frame)
    s2.say()
    until(lambda: peer().get("received", 0) > before, speakers=())
    return peer()["received"] - before == 2


def good(name, condition, **more):
    tap.ok(until(condition, **more), name, f"{peer()} {peer('p1')}")


groups = subprocess.run(["ip", "maddr", "show", "dev", "p0"], capture_output=True, text=True).stdout
tap.ok("01:80:c2:00:00:30" in groups, "a port has the group address of checks", groups)

commit()
good("both neighbours are heard", lambda: (reason(), reason("p1")) == ("heard", "heard"))
tap.ok(live("p0") and not on_backup(), "the port is live, the backup rests")
tap.ok(not passed(), "no check reaches the stack")

# --- what does not count ---

s2.sequence += 1
tap.ok(counts(s2.frame()), "a check counts")
s2.sequence += 1
tap.ok(counts(s2.frame(tag=struct.pack("!HH", 0x8100, 7 << 13))), "with a priority tag, too")
s2.sequence += 1
tap.ok(counts(s2.frame(pad=1514)), "padded to the MTU, too")
tap.ok(not counts(s2.sent[-1]), "a second time it does not")
for name, wrong in {
        "in a VLAN": {"tag": struct.pack("!HH", 0x8100, 7 << 13 | 5)},
        "with another key": {"key": bytes(16)},
        "to the group": {"to": ccm.GROUP},
        "of a name with a control character": {"server": b"s2\x1b[2J"},
        "of a name without an end": {"server": b"s" * 64},
        "with an interval of ten seconds": {"interval": 5},
        "of the other cable's neighbour": {"server": b"s3", "port": b"eth0", "mac": MAC["x1"]},
        "with another MAC address": {"mac": MAC["x1"]}}.items():
    s2.sequence += 1
    tap.ok(not counts(s2.frame(**wrong)), f"{name} it does not")
s2.sequence += 1
tap.ok(not counts(s2.frame()[:-1]), "without its last byte it does not")
other = bytearray(s2.frame())
other[14 + 78] ^= 1
tap.ok(not counts(bytes(other)), "of another organisation it does not")
tap.ok({len(f) for f in passed()} == {227, 228},
       "the stack gets the last two and those of a VLAN, and none else")
tap.ok((reason(), reason("p1")) == ("heard", "heard"), "none of them changed anything")
said = until(lambda: s2.heard.get("largest") == 1514, pad=1514)
tap.ok(said, "R says how large a frame arrived", str(s2.heard))

# --- what makes a neighbour worse ---

s2.say(rdi=True)
good("one that does not hear R is unheard", lambda: reason() == "unheard", speakers=())
tap.ok(not live("p0") and live("p1") and reason("p1") == "heard", "its port alone is not live")
tap.ok(on_backup(), "the group is on its backup")
good("it is trusted again after a run", lambda: reason() == "heard")
good("without a table it takes what is for itself",
     lambda: (reason(), peer().get("local"), peer().get("transit")) == ("no-table", True, None),
     table=False)
good("with its device down, nothing", lambda: (reason(), peer().get("local")) == ("down", None),
     up=False)
good("of another fabric, nothing", lambda: reason() == "fabric", fabric=8)
good("it is trusted again", lambda: reason() == "heard", timeout=120)

def forgive():
    """Checks off and on: relapses are forgotten."""
    commit(peer=None)
    commit()


# --- silence, strangers ---

forgive()
good("silence", lambda: reason() == "silent", speakers=(s3,))
silence = peer()["silence"]
tap.ok(3500 <= silence, "which is how long, in milliseconds", str(silence))
stranger = {"server": b"s4", "port": b"eth3", "mac": MAC["x1"], "to": ccm.GROUP, "nonce": 0,
            "echo": 0}
good("somebody else", lambda: (reason(), peer().get("stranger"), peer().get("stranger-port")) ==
     ("stranger", "s4", "eth3"), **stranger)
good("another NIC of s2", lambda: (reason(), peer().get("stranger"), peer().get("stranger-port")) ==
     ("stranger", "s2", "eth1"), mac=MAC["x1"])
s2.frames.clear()
until(lambda: len(s2.frames) > 3, speakers=(s3,))
received = peer()["received"]
for frame in s2.frames:
    s2.socket.send(MAC["p0"] + MAC["x0"] + frame[12:])
good("own frames that come back count for nothing",
     lambda: peer()["received"] == received and reason() == "silent", speakers=(s3,))
tap.ok(reason("p1") == "heard" and live("p1"), "the other cable knows nothing of all this")

# --- replays ---

forgive()
s2.sent.clear()
good("heard again", lambda: reason() == "heard", timeout=120)
first = list(s2.sent)
s2.restart(2)
s2.sent.clear()
# a neighbour that restarts within 3.5 intervals
good("its next session is proven", lambda: s2.heard.get("echo", 0) >> 32 == 2)
good("and heard", lambda: reason() == "heard", timeout=120)
for _ in range(40):
    s2.say()
second = list(s2.sent)
tape = [frame for pair in zip(first, second) for frame in pair]
reasons = set()


def replay():
    for frame in tape:
        s2.socket.send(frame)
    reasons.add(reason())
    return "silent" in reasons


good("replays of both do not keep it alive", replay, speakers=(s3,))
reasons.clear()
for _ in range(5):
    until(replay, timeout=0.3, speakers=(s3,))
tap.ok("heard" not in reasons and "recovering" not in reasons, "nor bring it back", str(reasons))
forgive()
good("the neighbour itself comes back", lambda: reason() == "heard", timeout=240)

# --- tables come and go ---

subprocess.run(["ip", "link", "set", "topo0", "down"], check=True)
tap.ok(until(lambda: not s2.heard["up"], timeout=0.8, speakers=()),
       "topo0 down is told at once, not at the next interval", str(s2.heard))
subprocess.run(["ip", "link", "set", "topo0", "up"], check=True)
good("and up", lambda: s2.heard["up"], speakers=())
commit(peer=None, routes=False)
good("a server whose table is cleared says so", lambda: not s2.heard["table"] and
     not s2.heard["expects"])
s2.hear()
count = len(s2.frames)
good("and goes on for one that expects checks", lambda: len(s2.frames) > count + 3)
tap.ok(live("p0") and live("p1"), "light alone decides there")
tap.ok(not family.dump("peer-get", ON), "and no neighbours are reported")
until(lambda: False, timeout=0.3, expects=False)
count = len(s2.frames)
other = len(s3.frames)
good("one that expects none gets none", lambda: len(s3.frames) > other + 3, expects=False)
tap.ok(len(s2.frames) == count, "none at all", f"{len(s2.frames)} {count}")
commit()
good("checks on again: both are heard", lambda: (reason(), reason("p1")) == ("heard", "heard"))

# --- the longer interval counts ---

s2.says["interval"] = 4
commit(interval="10ms")
good("heard", lambda: reason() == "heard")
s2.sequence += 1
tap.ok(counts(s2.frame()), "and says what its interval is")
reasons.clear()
until(lambda: reasons.add(reason()), timeout=0.8, speakers=())
tap.ok(reasons == {"heard"}, "at 10 ms, one that says 1 s is not silent after 0.8 s", str(reasons))
s2.says["interval"] = 3

# --- floods ---

events = genl.Family(groups=["events"])
count, start = 0, time.monotonic()
while time.monotonic() < start + 3 or count < 3000:
    s2.sequence += 1
    s2.socket.send(s2.frame(up=count % 2 == 0))
    s2.socket.send(s2.frame(server=b"s%d" % (4 + count % 9), mac=MAC["x1"], to=ccm.GROUP))
    count += 1
took = time.monotonic() - start
told, state = 0, None


def listen():
    """Count events of p0's neighbour. Whether the last one is what a look says."""
    global told, state
    while event := events.event(0.01):
        for one in event[1].get("peer", []):
            if one["port"] == PORT["p0"]:
                told += 1
                state = one["reason"]
    return state == "heard" == reason()


good("in the end it is heard, by events as by a look", listen, timeout=240)
tap.ok(told <= time.monotonic() - start + 1, f"{told} events of {2 * count} frames in {took:.1f} s")

subprocess.run(["ip", "link", "set", "p0", "nomaster"], check=True)
groups = subprocess.run(["ip", "maddr", "show", "dev", "p0"], capture_output=True, text=True).stdout
tap.ok("01:80:c2:00:00:30" not in groups, "one that leaves has the group address no longer", groups)
tap.done()
