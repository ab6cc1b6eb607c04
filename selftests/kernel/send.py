#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Send a known number of known bytes, for tests that count them.

	send.py udp SRC DST PORT SIZE COUNT	datagrams of SIZE bytes of payload
	send.py raw DEV MAC SRC DST PORT SIZE COUNT
						the same as frames on DEV to MAC, past
						the IP stack, as an RDMA NIC would

Prints the bytes that this makes on the wire, without FCS. Bursts of 8 are
4 ms apart, so that no queue overflows.
"""

import ipaddress
import socket
import struct
import sys
import time

ETHERNET, UDP = 14, 8


def main():
    kind, *rest = sys.argv[1:]
    dev, mac = (rest.pop(0), rest.pop(0)) if kind == "raw" else (None, None)
    src, dst = (ipaddress.ip_address(text) for text in rest[:2])
    port, size, count = (int(text) for text in rest[2:])
    payload = b"\xa5" * size
    header = 20 if dst.version == 4 else 40

    if kind == "udp":
        family = socket.AF_INET if dst.version == 4 else socket.AF_INET6
        sock = socket.socket(family, socket.SOCK_DGRAM)
        sock.bind((str(src), 0))
        sock.connect((str(dst), port))
    else:
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        sock.bind((dev, 0))
        own = sock.getsockname()[4]
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + UDP + size, 0, 0, 64, 17, 0,
                         src.packed, dst.packed)
        total = sum(struct.unpack("!10H", ip))
        total = (total & 0xffff) + (total >> 16)
        ip = ip[:10] + struct.pack("!H", ~total & 0xffff) + ip[12:]
        payload = (bytes.fromhex(mac.replace(":", "")) + own + b"\x08\x00" + ip +
                   struct.pack("!HHHH", 49152, port, UDP + size, 0) + payload)
    for i in range(count):
        try:
            sock.send(payload)
        except ConnectionRefusedError:  # nobody listens; it is sent all the same
            sock.send(payload)
        if i % 8 == 7:
            time.sleep(0.004)
    print(count * (ETHERNET + header + UDP + size))


main()
