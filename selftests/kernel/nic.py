#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Send frames for nic.sh: one for each line, and a line when it is sent.

    DEVICE DST-MAC LENGTH PROCESSOR [WORD...]

A frame consists of its words, which are bytes in hexadecimal, or udp/ADDRESS/PORT: EtherType,
IPv4 or IPv6 header, UDP header, without checksums; without words it has EtherType 0x88b5.
"""
import ipaddress
import os
import socket
import struct
import sys


def word(text):
    if not text.startswith('udp/'):
        return bytes.fromhex(text)
    address, port = text.split('/')[1:]
    to = ipaddress.ip_address(address)
    header = ('0800450000200000000040110000' + '0a010001' if to.version == 4 else
              '86dd60000000000c1140' + 'fd010000000000000000000000000001')
    return bytes.fromhex(header) + to.packed + struct.pack('!HHHH', 49152, int(port), 12, 0)


for line in sys.stdin:
    device, mac, length, processor, *words = line.split()
    os.sched_setaffinity(0, [int(processor)])
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
        sock.bind((device, 0))
        frame = (bytes.fromhex(mac.replace(':', '')) + sock.getsockname()[4] +
                 b''.join(map(word, words or ['88b5'])))
        sock.send(frame.ljust(int(length), b'\0'))
    print(flush=True)
