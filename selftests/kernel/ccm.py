# SPDX-License-Identifier: GPL-2.0-or-later
"""Continuity checks as kmod/ccm.h describes them, and a neighbour that speaks by hand.

    neighbour = Neighbour("x0", server="s2", port="eth1", mac=..., to=..., key=KEY)
    neighbour.hear()            # what arrived, newest last
    neighbour.say(rdi=True)     # one more check
"""
import socket
import struct

CFM = 0x8902
GROUP = bytes.fromhex("0180c2000030")
MAID = bytes([1, 2, 7]) + b"topoopt" + bytes(38)
ORGANISATION = bytes([31, 0, 136, 0x02, 0x54, 0x4f, 1])
TLV = struct.Struct("!BBQQQQI6s64s16s")
LENGTH = 214
RDI, TABLE, UP, EXPECTS = 0x80, 1, 2, 4
MASK = (1 << 64) - 1


def siphash(data, key):
    """SipHash-2-4, as the kernel's siphash()."""
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
         k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]

    def rotate(x, bits):
        return (x << bits | x >> (64 - bits)) & MASK

    def rounds(count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = rotate(v[1], 13) ^ v[0]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = rotate(v[1], 17) ^ v[2]
            v[2] = rotate(v[2], 32)

    tail = len(data) // 8 * 8
    words = list(struct.unpack(f"<{tail // 8}Q", data[:tail]))
    words.append(int.from_bytes(data[tail:], "little") | (len(data) & 0xff) << 56)
    for word in words:
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xff
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def check(key, *, interval=3, rdi=False, sequence=0, table=True, up=True, expects=True,
          fabric=7, nonce=0, echo=0, generation=1, largest=0, mac=bytes(6), server=b"",
          port=b"", mep=0):
    """The frame behind its MAC header."""
    header = struct.pack("!BBBBIH", 0, 1, interval | rdi * RDI, 70, sequence, mep)
    header += MAID + bytes(16)
    flags = table * TABLE | up * UP | expects * EXPECTS
    body = header + ORGANISATION + TLV.pack(1, flags, fabric, nonce, echo, generation, largest,
                                            mac, server, port)
    return body + struct.pack("!Q", siphash(body, key)) + b"\0"


def read(frame):
    """What a check says, as a dict; None when it is none."""
    if len(frame) < LENGTH or frame[74:81] != ORGANISATION:
        return None
    _, flags, fabric, nonce, echo, generation, largest, mac, server, port = \
        TLV.unpack_from(frame, 81)
    sequence, = struct.unpack_from("!I", frame, 4)
    return {"interval": frame[2] & 7, "rdi": bool(frame[2] & RDI), "sequence": sequence,
            "table": bool(flags & TABLE), "up": bool(flags & UP),
            "expects": bool(flags & EXPECTS), "fabric": fabric, "nonce": nonce, "echo": echo,
            "generation": generation, "largest": largest, "mac": mac,
            "server": server.rstrip(b"\0").decode(), "port": port.rstrip(b"\0").decode()}


class Neighbour:
    """The other end of a cable, in user space."""

    def __init__(self, device, *, server, port, mac, to, key, interval=3):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(CFM))
        self.socket.bind((device, CFM))
        self.socket.setblocking(False)
        self.to, self.mac, self.key = to, mac, key
        self.says = {"server": server.encode(), "port": port.encode(), "mac": mac,
                     "interval": interval}
        self.heard, self.frames, self.sent = {}, [], []
        self.restart(1)

    def restart(self, session):
        self.session, self.sequence, self.heard = session, 0, {}

    def hear(self):
        """Checks that arrived since, to this neighbour or to the group."""
        arrived = []
        while True:
            try:
                data, address = self.socket.recvfrom(1 << 16)
            except BlockingIOError:
                return arrived
            said = address[2] != socket.PACKET_OUTGOING and read(data[14:])
            if not said:
                continue
            self.frames.append(data)
            said["group"] = data[:6] == GROUP
            said["bytes"] = len(data)
            arrived.append(said)
            if not said["group"]:
                self.heard = said

    def frame(self, *, key=None, to=None, tag=b"", pad=0, **other):
        says = {"nonce": self.session << 32 | 1, "echo": self.heard.get("nonce", 0),
                "sequence": self.sequence, **self.says, **other}
        ethernet = (to or self.to) + self.mac + tag + struct.pack("!H", CFM)
        frame = ethernet + check(key or self.key, **says)
        return frame + bytes(max(0, pad - len(frame)))

    def say(self, **other):
        self.sequence += 1
        frame = self.frame(**other)
        self.sent.append(frame)
        self.socket.send(frame)
