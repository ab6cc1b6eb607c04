#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP streams whose every byte is known; see chaos.sh.

    chaos_stream.py PORT SERVER=ADDRESS...

Each server sends to the one half way round, until this is told to terminate. Prints
how many bytes arrived, and fails when one is wrong or missing.
"""

import os
import signal
import socket
import struct
import sys
import threading

BLOCK = 8192
ended = threading.Event()
sent, received, complaints = {}, {}, []


def block(number):
    """The bytes at number * BLOCK: no two blocks are equal."""
    return struct.pack("=Q", number * 0x9e3779b97f4a7c15 & (1 << 64) - 1) * (BLOCK // 8)


def enter(server):
    """The sockets that this thread makes from now on are the server's."""
    with open(f"/run/netns/{server}", encoding="ascii") as namespace:
        os.setns(namespace.fileno(), os.CLONE_NEWNET)


def send(connection, server):
    sent[server] = 0
    with connection:
        while not ended.wait(0.2):
            connection.sendall(block(sent[server] // BLOCK))
            sent[server] += BLOCK


def receive(connection, server):
    received[server] = 0
    with connection, connection.makefile("rb") as stream:
        while data := stream.read(BLOCK):
            if data != block(received[server] // BLOCK)[:len(data)]:
                complaints.append(f"{server}: wrong data at {received[server]}")
                return
            received[server] += len(data)


port = int(sys.argv[1])
addresses = dict(word.split("=") for word in sys.argv[2:])
servers = list(addresses)
listeners = {}
for server in servers:
    enter(server)
    listeners[server] = socket.create_server(("", port))
threads = []
for number, server in enumerate(servers):
    peer = servers[(number + len(servers) // 2) % len(servers)]
    enter(server)
    connection = socket.create_connection((addresses[peer], port))
    threads.append(threading.Thread(target=send, args=(connection, server)))
    threads.append(threading.Thread(target=receive, args=(listeners[peer].accept()[0], server)))
signal.signal(signal.SIGTERM, lambda *_: ended.set())
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
complaints += [f"{server}: {sent[server]} bytes sent, {received[server]} received"
               for server in servers if not sent[server] or sent[server] != received[server]]
print(sum(received.values()))
if complaints:
    sys.exit("\n".join(complaints))
