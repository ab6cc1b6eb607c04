#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbered datagrams, and what became of them; see recovery.sh.

    recovery.py receive
    recovery.py send ADDRESS
    recovery.py sum CUTS SENT RECEIVED

send and receive go on until they are told to terminate, and print what the sum is
made of: the times at which they were sent, the numbers that arrived.
"""

import json
import signal
import socket
import statistics
import struct
import sys
import time

SO_RCVBUFFORCE = 33
PORT = 5001
INTERVAL = 100e-6


class Ended(Exception):
    pass


def end(*_):
    raise Ended


def receive():
    arrived = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
        sock.bind(("", PORT))
        try:
            while True:
                arrived.append(struct.unpack("=I", sock.recv(4))[0])
        except Ended:
            print(json.dumps(arrived))


def send(address):
    sent = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        print()
        try:
            while True:
                sent.append(time.monotonic_ns())
                sock.sendto(struct.pack("=I", len(sent) - 1), (address, PORT))
                time.sleep(INTERVAL)
        except Ended:
            print(json.dumps(sent))


def summary(cuts, sent, received):
    """Each run of lost datagrams is a cut; the other cuts lost none."""
    arrived = set(received)
    lost, outage = [0] * cuts, [0] * cuts
    first = None
    found = 0
    for number in range(max(arrived) + 1):
        if number not in arrived:
            first = number if first is None else first
        elif first is not None:
            if found == cuts:
                sys.exit("recovery.py: more was lost than cuts explain")
            lost[found] = number - first
            outage[found] = sent[number] - sent[first]
            found += 1
            first = None
    return {
        "cuts": cuts,
        "interval_ns": (sent[-1] - sent[0]) / (len(sent) - 1),
        "lost_median": statistics.median(lost), "lost_max": max(lost),
        "outage_ns_median": statistics.median(outage), "outage_ns_max": max(outage),
    }


signal.signal(signal.SIGTERM, end)
if sys.argv[1] == "receive":
    receive()
elif sys.argv[1] == "send":
    send(sys.argv[2])
else:
    with open(sys.argv[3], encoding="utf-8") as log, open(sys.argv[4], encoding="utf-8") as other:
        print(json.dumps(summary(int(sys.argv[2]), json.load(log), json.load(other))))
