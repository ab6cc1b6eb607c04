#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The longest gap in a stream of RoCEv2 from A by R to T, in milliseconds by T's kernel,
when the given ends begin to lose all frames.

    continuity_detect.py A R T ADDRESS-OF-T "SERVER PORT"...
"""
import os
import select
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import genl

SO_TIMESTAMPNS = 35
A, R, T, ADDRESS, *ENDS = sys.argv[1:]


def within(server):
    with open(f"/run/netns/{server}", encoding="utf-8") as namespace:
        os.setns(namespace.fileno(), os.CLONE_NEWNET)


within(T)
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
receiver.bind((ADDRESS, 4791))
within(A)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.connect((ADDRESS, 4791))
within(R)
family = genl.Family()
ON = {"ifindex": genl.ifindex("topo0")}
ETH1 = genl.ifindex("eth1")
stamps = []


def primary():
    """What checks say of T at the primary link."""
    return next(p["reason"] for m in family.dump("peer-get", ON) for p in m["peer"]
                if p["port"] == ETH1)


def stream(until, timeout=60):
    end = time.monotonic() + timeout
    while not until() and time.monotonic() < end:
        sender.send(bytes(64))
        while select.select([receiver], [], [], 0.01)[0]:
            _, more, _, _ = receiver.recvmsg(256, 256)
            seconds, nanoseconds = struct.unpack("=qq", more[0][2])
            stamps.append(seconds + nanoseconds / 1e9)


def lose(command):
    return [subprocess.Popen(["tc", "-n", end.split()[0], "filter", command, "dev", end.split()[1],
                              "ingress", "pref", "1"] +
                             (["matchall", "action", "drop"] if command == "add" else []))
            for end in ENDS]


stream(lambda: primary() == "heard" and len(stamps) > 20)
del stamps[:-1]
running = lose("add")
stream(lambda: primary() != "heard")
done = len(stamps)
stream(lambda: len(stamps) > done + 20)
for process in running + lose("del"):
    process.wait()
if len(stamps) > done + 20:
    print(round(1000 * max(b - a for a, b in zip(stamps, stamps[1:]))))
