#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The flows of entropy.sh, which made the ports.

	entropy.py R	in namespace T; R is the one that relays
"""

import os
import select
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import genl  # noqa: E402

PATHS = 4
SOURCE, TARGET = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
UDP, TCP, ROCE = 17, 6, 4791


class Relay:
    """Table of R: one route to TARGET, over next hops with weights."""

    def __init__(self, namespace):
        own = os.open("/proc/self/ns/net", os.O_RDONLY)
        with open(f"/run/netns/{namespace}", "rb") as other:
            os.setns(other.fileno())
            self.family = genl.Family()
            self.device = {"ifindex": genl.ifindex("topo0")}
            self.ports = [genl.ifindex(f"p{i}") for i in range(PATHS + 1)]
            os.setns(own)

    def load(self, weights):
        """Path -> weight; 0 for none."""
        hops = [("nexthop", {"port": self.ports[i + 1], "weight": weight,
                             "mac": bytes([2, 0, 0, 0, 2, i + 1])})
                for i, weight in enumerate(weights) if weight]
        generation = self.family.do("dev-get", self.device)["generation"]
        self.family.do("stage-new", self.device)
        self.family.do("stage-add", [
            ("ifindex", self.device["ifindex"]), ("group", [("id", 1)] + hops),
            ("route", {"dst": TARGET, "group": 1})])
        self.family.do("commit", dict(self.device, **{"base-generation": generation}))


def checksum(header):
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


class Wire:
    def __init__(self):
        self.out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.out.bind(("t0", 0))
        self.ins = []
        for i in range(PATHS):
            receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
            receiver.setsockopt(socket.SOL_SOCKET, 33, 16 << 20)    # SO_RCVBUFFORCE
            receiver.bind((f"t{i + 1}", 0))
            self.ins.append(receiver)

    def _frame(self, protocol, sport, dport, number, mark):
        # Base transport header with the queue pair; for others mere payload.
        payload = struct.pack("!IIII", 0x0a000000, number if dport == ROCE else 0, 0, mark)
        if protocol == UDP:
            l4 = struct.pack("!HHHH", sport, dport, 8 + len(payload), 0)
        else:
            l4 = struct.pack("!HHIIBBHHH", sport, dport, 0, 0, 0x50, 0x10, 64, 0, 0)
        header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(l4) + len(payload), 0, 0,
                             64, protocol, 0, SOURCE, TARGET)
        header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
        return (bytes([2, 0, 0, 0, 1, 0]) + bytes([2, 0, 0, 0, 2, 0]) + b"\x08\x00" +
                header + l4 + payload)

    def send(self, flows):
        """A frame of each (protocol, sport, dport, qp); the list of (mark,
        path) as they arrive, where mark is the index in @flows."""
        arrived = []
        for start in range(0, len(flows), 64):
            burst = flows[start:start + 64]
            for i, flow in enumerate(burst):
                self.out.send(self._frame(*flow, start + i))
            end = start + len(burst)
            while len(arrived) < end:
                ready = select.select(self.ins, [], [], 20)[0]
                if not ready:
                    raise SystemExit(f"{end - len(arrived)} frames did not arrive")
                for receiver in ready:
                    data = receiver.recv(256)
                    arrived.append((struct.unpack("!I", data[-4:])[0],
                                    self.ins.index(receiver)))
        return arrived

    def paths(self, flows):
        return [path for _, path in sorted(self.send(flows))]


def queue_pairs(count):
    """Of one pair of servers, which share one UDP source port."""
    return [(UDP, 49152, ROCE, 0x11 + i) for i in range(count)]


def main():
    relay, wire, tap = Relay(sys.argv[1]), Wire(), genl.Tap()
    relay.load([1] * PATHS)

    for count in 1, 16, 256:
        paths = wire.paths(queue_pairs(count))
        spread = [paths.count(i) for i in range(PATHS)]
        print(f"# {count} queue pairs over {PATHS} paths: {spread}")
    # 64 expected, standard deviation 7
    tap.ok(all(29 <= n <= 99 for n in spread), "256 queue pairs spread over all paths",
           str(spread))
    for name, flows in (
            ("UDP source ports", [(UDP, 10000 + i, 9, 0) for i in range(256)]),
            ("TCP destination ports", [(TCP, 1000, 10000 + i, 0) for i in range(256)])):
        paths = wire.paths(flows)
        spread = [paths.count(i) for i in range(PATHS)]
        tap.ok(all(29 <= n <= 99 for n in spread), f"256 {name} spread alike", str(spread))
    paths = wire.paths([(UDP, 10000, 9, i) for i in range(64)])
    tap.ok(len(set(paths)) == 1, "what is no RoCEv2 has no queue pair", str(paths))

    arrived = wire.send([(UDP, 49152, ROCE, 0x77)] * 2000)
    tap.ok(len({path for _, path in arrived}) == 1, "one queue pair stays on one path")
    tap.ok(arrived == sorted(arrived), "in order")

    flows = queue_pairs(2048)
    even = wire.paths(flows)

    def moved(weights):
        relay.load(weights)
        return [(a, b) for a, b in zip(even, wire.paths(flows)) if a != b]

    tap.ok(not moved([1] * PATHS), "the same weights in a new table move nothing")
    # A fifth of the hash space is 410 flows, a quarter 512: standard deviation 19.
    for weights, path, share, name in (
            ([1, 1, 1, 0], 3, 1 / 4, "one next hop less"),
            ([1, 1, 1, 2], 3, 2 / 5, "double weight"),
            ([2, 2, 2, 1], 3, 1 / 4, "half the weight")):
        moves = moved(weights)
        others = [m for m in moves if path not in m]
        print(f"# {name}: {len(moves)} of {len(flows)} flows move, "
              f"{len(others)} of them not from or to that next hop")
        tap.ok(len(moves) <= (share + 0.05) * len(flows),
               f"{name}: no more flows move than its share", str(len(moves)))
        tap.ok(len(others) <= 0.05 * len(flows), f"{name}: others stay", str(len(others)))
    tap.ok(not moved([1] * PATHS), "back to the first weights, every flow is where it was")
    tap.done()


main()
