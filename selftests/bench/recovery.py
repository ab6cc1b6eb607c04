#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbered messages between all servers of a fabric, and what became of them; see
recovery.sh.

    recovery.py PLAN

Runs until it is told "end" on standard input, then prints JSON. "cut SERVER:PORT"
there says that the link of this port is about to go dark, "light" that it is about to
return. It prints "ready" when all is connected.

One process is all servers: a socket stays in the network namespace where it was made.
"""

import collections
import json
import os
import selectors
import socket
import statistics
import struct
import sys
import time

SO_RCVBUFFORCE, IP_RECVTTL = 33, 12
UDP_PORT = 4791         # that of RoCEv2, which is what XDP relays
TCP_PORT = 5002
PACE = 500e-6           # seconds from a datagram to the next, of all streams
TCP_EVERY = 8           # datagrams to a message by TCP
TTL = 64
MESSAGE = struct.Struct("=HHIQ")    # source, destination, number, ns when it was sent


class Tables:
    """How many relays packets can meet, by what the plan's tables say."""

    def __init__(self, plan):
        self.names = [server["name"] for server in plan["servers"]]
        self.index = {name: i for i, name in enumerate(self.names)}
        self.peer = {}
        for link in plan["links"]:
            a, b = self.port(link["a"]), self.port(link["b"])
            self.peer[a], self.peer[b] = b, a
        self.groups = [{} for _ in self.names]
        for table in plan["tables"]:
            at = self.groups[self.index[table["server"]]]
            for route in table["routes"]:
                for destination in self.numbers(route.get("nodes", "")):
                    at[destination] = table["groups"][route["group"]]
        self.memo = {}

    def port(self, word):
        server, port = word.rsplit(":", 1)
        return self.index[server], port

    @staticmethod
    def numbers(text):
        for part in filter(None, text.split(",")):
            first, _, last = part.partition("-")
            yield from range(int(first), int(last or first) + 1)

    def onward(self, at, ingress, destination, dark):
        group = self.groups[at][destination]
        lit = [hop for hop in group if (at, hop["port"]) not in dark]
        return ([hop for hop in lit if ingress and hop.get("ingress") == ingress] or
                [hop for hop in lit if "ingress" not in hop and not hop.get("backup")] or
                [hop for hop in lit if hop.get("backup")])

    def relays(self, source, destination, cut):
        """All numbers of relays that flow hashes can lead to while a link is cut."""
        key = source, destination, cut
        if key in self.memo:
            return self.memo[key]
        dark = {cut, self.peer[cut]} if cut else set()
        found, todo, seen = set(), [(source, None, 0)], set()
        while todo:
            at, ingress, hops = state = todo.pop()
            if state in seen or hops > TTL:
                continue
            seen.add(state)
            if at == destination:
                found.add(hops - 1)
                continue
            for hop in self.onward(at, ingress, destination, dark):
                todo.append((*self.peer[at, hop["port"]], hops + 1))
        self.memo[key] = found
        return found


class Traffic:
    def __init__(self, plan):
        self.tables = Tables(plan)
        self.addresses = [server["ipv4"] for server in plan["servers"]]
        n = len(self.addresses)
        self.pairs = [(i, (i + k) % n) for k in range(1, n) for i in range(n)]
        self.sent = []          # datagrams: pair, number, when, cut while it was sent
        self.got = set()
        self.last = collections.Counter()   # arrived, per pair
        self.wrong = collections.Counter()
        self.stall = collections.Counter()  # longest, of messages sent since a cut
        self.cuts, self.cut = [], None
        self.selector = selectors.DefaultSelector()
        self.udp, self.tcp = [], {}
        self.numbers = collections.Counter()
        self.pending = {}

    @staticmethod
    def enter(name):
        with open(f"/run/netns/{name}", "rb") as namespace:
            os.setns(namespace.fileno(), os.CLONE_NEWNET)

    def connect(self):
        listeners = []
        for i, name in enumerate(self.tables.names):
            self.enter(name)
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
            sock.setsockopt(socket.IPPROTO_IP, IP_RECVTTL, 1)
            sock.bind((self.addresses[i], UDP_PORT))
            self.udp.append(sock)
            self.selector.register(sock, selectors.EVENT_READ, (self.datagram, i))
            listeners.append(socket.create_server((self.addresses[i], TCP_PORT), backlog=64))
        for source, destination in self.pairs:
            self.enter(self.tables.names[source])
            sock = socket.create_connection((self.addresses[destination], TCP_PORT), 30,
                                            (self.addresses[source], 0))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setblocking(False)
            self.tcp[source, destination] = sock
            peer, _ = listeners[destination].accept()
            self.pending[peer] = [b"", 0]
            self.selector.register(peer, selectors.EVENT_READ,
                                   (self.stream, (source, destination)))
        self.numbers.clear()

    def mark(self):
        """What standard input has. Return: whether it goes on."""
        for line in os.read(sys.stdin.fileno(), 4096).decode().splitlines():
            word, _, port = line.partition(" ")
            if word == "end":
                return False
            self.cut = self.tables.port(port) if word == "cut" else None
            self.cuts += [self.cut] if self.cut else []
        return True

    def send(self, pair, kind):
        source, destination = pair
        message = MESSAGE.pack(source, destination, self.numbers[kind, pair], time.monotonic_ns())
        self.numbers[kind, pair] += 1
        if kind == "tcp":
            try:
                self.tcp[pair].send(message)
            except BlockingIOError:
                self.wrong["blocked"] += 1
            return
        self.sent.append((*pair, self.numbers[kind, pair] - 1, time.monotonic_ns(),
                          len(self.cuts), self.cut))
        try:
            self.udp[source].sendto(message, (self.addresses[destination], UDP_PORT))
        except OSError:
            self.wrong["refused"] += 1

    def datagram(self, sock, at):
        data, extra, _, (address, _) = sock.recvmsg(64, 64)
        source, destination, number, _ = MESSAGE.unpack(data)
        key = source, destination, number
        if destination != at or address != self.addresses[source] or key in self.got:
            self.wrong["delivered"] += 1
            return
        self.got.add(key)
        self.wrong["order"] += number < self.last[source, destination]
        self.last[source, destination] = number
        ttl = struct.unpack("=i", extra[0][2])[0]
        # which of two moments a packet met is not known
        if all(TTL - ttl not in self.tables.relays(source, destination, cut)
               for cut in {None, self.cut, *self.cuts[-1:]}):
            self.wrong["ttl"] += 1

    def stream(self, sock, pair):
        state = self.pending[sock]
        state[0] += sock.recv(65536)
        while len(state[0]) >= MESSAGE.size:
            source, destination, number, when = MESSAGE.unpack_from(state[0])
            state[0] = state[0][MESSAGE.size:]
            self.wrong["delivered"] += (source, destination) != pair or number != state[1]
            state[1] += 1
            took = time.monotonic_ns() - when
            self.stall[len(self.cuts)] = max(self.stall[len(self.cuts)], took)

    def poll(self, until):
        while True:
            left = until - time.monotonic()
            for key, _ in self.selector.select(max(left, 0)):
                handler, argument = key.data
                if handler is None:
                    if not self.mark():
                        return False
                else:
                    handler(key.fileobj, argument)
            if left <= 0:
                return True

    def run(self):
        self.selector.register(sys.stdin, selectors.EVENT_READ, (None, None))
        turn, due = 0, time.monotonic()
        while self.poll(due):
            pair = self.pairs[turn % len(self.pairs)]
            self.send(pair, "udp")
            if not turn % TCP_EVERY:
                self.send(self.pairs[turn // TCP_EVERY % len(self.pairs)], "tcp")
            turn += 1
            due = max(due + PACE, time.monotonic() - PACE)
        self.selector.unregister(sys.stdin)
        self.poll(time.monotonic() + 1)

    def summary(self):
        dark, lit = collections.Counter(), collections.Counter()
        worst = collections.Counter()   # per cut and pair
        for source, destination, number, _, cut, now in self.sent:
            if (source, destination, number) not in self.got:
                (dark if now else lit)[cut] += 1
                worst[cut, source, destination] += 1
        cuts = range(1, len(self.cuts) + 1)
        pending = sum(self.numbers["tcp", pair] for pair in self.pairs) - \
            sum(state[1] for state in self.pending.values())
        return {
            "servers": len(self.addresses), "streams": 2 * len(self.pairs), "cuts": len(cuts),
            "datagrams": len(self.sent),
            "interval_ns": (self.sent[-1][3] - self.sent[0][3]) / (len(self.sent) - 1),
            "lost_median": statistics.median(dark[cut] for cut in cuts),
            "lost_max": max(dark[cut] for cut in cuts),
            "lost_light_max": max(lit[cut] for cut in [0, *cuts]),
            "lost_stream_max": max(worst.values(), default=0),
            "tcp_messages": sum(self.numbers["tcp", pair] for pair in self.pairs),
            "tcp_missing": pending,
            "tcp_stall_ns_max": max(self.stall.values()),
            **{f"wrong_{what}": self.wrong[what]
               for what in ("delivered", "order", "ttl", "refused", "blocked")},
        }


with open(sys.argv[1], encoding="utf-8") as file:
    traffic = Traffic(json.load(file))
traffic.connect()
print("ready", flush=True)
traffic.run()
print(json.dumps(traffic.summary()))
