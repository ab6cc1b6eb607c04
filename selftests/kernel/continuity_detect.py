#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a stream of RoCEv2 from A by R to T is lost when T's eth0 begins to lose all frames
that it gets, sends or both: prints two numbers of milliseconds, at least and at most.

    continuity_detect.py A R T ADDRESS-OF-T ingress|egress...

At least from the first lost packet to the last one, at most from the one before to the one
after. So a sender that has to wait for a processor makes no outage longer. A machine that
stands still does, hence there are three tries for the 350 ms + 50 ms.
"""
import os
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import genl

A, R, T, ADDRESS, *DIRECTIONS = sys.argv[1:]


def within(server):
    with open(f"/run/netns/{server}", encoding="utf-8") as namespace:
        os.setns(namespace.fileno(), os.CLONE_NEWNET)


within(T)
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind((ADDRESS, 4791))
receiver.setblocking(False)
within(A)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.connect((ADDRESS, 4791))
within(R)
family = genl.Family()
ON = {"ifindex": genl.ifindex("topo0")}
ETH1 = genl.ifindex("eth1")
sent = []       # when each packet was
arrived = set()


def heard():
    """Whether checks of T are heard at the primary link."""
    return any(p["port"] == ETH1 and p["reason"] == "heard"
               for m in family.dump("peer-get", ON) for p in m["peer"])


def stream(until):
    end = time.monotonic() + 60
    while not until():
        if time.monotonic() > end:
            sys.exit("nothing changes")
        sent.append(time.monotonic())
        sender.send(struct.pack("=Q", len(sent) - 1))
        time.sleep(0.01)
        try:
            while True:
                arrived.add(struct.unpack("=Q", receiver.recv(256))[0])
        except BlockingIOError:
            pass


def filters(command, what=""):
    """Has all of them changed by one process, so that they change at one time."""
    tc = subprocess.Popen(["tc", "-n", T, "-batch", "-"], stdin=subprocess.PIPE, text=True)
    for direction in DIRECTIONS:
        print("filter", command, "dev eth0", direction, "pref 1", what, file=tc.stdin)
    tc.stdin.close()
    return tc


def outage():
    """The packets that were lost, once others arrive again."""
    def lost():
        return [i for i in range(begin, max(arrived)) if i not in arrived]

    def over():
        missing = lost()
        return missing and missing[-1] + 20 < max(arrived)

    begin = len(sent)
    stream(lambda: len(sent) > begin + 20 and begin in arrived)
    with filters("add", "matchall action drop"):
        stream(over)
    with filters("del"):
        pass
    return lost()


for _ in range(3):
    stream(heard)
    missing = outage()
    least = round(1000 * (sent[missing[-1]] - sent[missing[0]]))
    most = round(1000 * (sent[missing[-1] + 1] - sent[missing[0] - 1]))
    if least <= 400:
        break
print(least, most)
