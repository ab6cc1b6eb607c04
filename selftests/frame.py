#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Send single frames, valid or not, and show those that arrive.

    frame.py send DEVICE
    frame.py watch DEVICE

send sends a frame for every line that it reads, and prints its mark when it did:

    DST-MAC SRC-IP DST-IP MARK [OPTION...]

Frames carry UDP (or what --proto says) with MARK as payload. watch prints one
line per frame whose payload is a mark, until it is killed:

    MARK ttl=63 tos=0x00 len=32 ihl=5 csum=ok tags=8100:100:5 src=.. dst=.. mac=..
"""
import argparse
import ipaddress
import re
import socket
import struct
import sys

ETH_P_ALL = 3
SOL_PACKET = 263
PACKET_AUXDATA = 8
TP_STATUS_VLAN_VALID = 0x10
TP_STATUS_VLAN_TPID_VALID = 0x40
MARK = re.compile(rb'mark-[\w-]+')


def csum(data):
    if len(data) % 2:
        data += b'\0'
    total = sum(struct.unpack(f'!{len(data) // 2}H', data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def number(text):
    return int(text, 0)


def udp(src, dst, arguments, payload):
    sport, dport = map(int, arguments.ports.split(':'))
    length = 8 + len(payload)
    header = struct.pack('!HHHH', sport, dport, length, 0)
    pseudo = src.packed + dst.packed + struct.pack('!HBB', length, 0, 17)
    check = csum(pseudo + header + payload) or 0xffff
    return header[:6] + struct.pack('!H', check) + payload


def ip4(src, dst, arguments, payload):
    options = bytes.fromhex(arguments.options)
    options += b'\0' * (-len(options) % 4)
    ihl = 5 + len(options) // 4
    if arguments.ihl is None:
        arguments.ihl = ihl
    if arguments.length is None:
        arguments.length = 4 * ihl + len(payload)
    header = struct.pack('!BBHHHBBH',
                         (arguments.version or 4) << 4 | arguments.ihl,
                         arguments.tos, arguments.length, 0x1234,
                         arguments.fragment, arguments.ttl,
                         arguments.proto or socket.IPPROTO_UDP, 0)
    header += src.packed + dst.packed + options
    check = csum(header) ^ (0x5555 if arguments.bad_checksum else 0)
    return header[:10] + struct.pack('!H', check) + header[12:] + payload


def ip6(src, dst, arguments, payload):
    nexthdr = arguments.proto or socket.IPPROTO_UDP
    if arguments.options:   # hop-by-hop options
        options = bytes.fromhex(arguments.options)
        options += b'\0' * (-(len(options) + 2) % 8)
        payload = bytes([nexthdr, (len(options) + 2) // 8 - 1]) + options + payload
        nexthdr = 0
    if arguments.length is None:
        arguments.length = len(payload)
    first = (arguments.version or 6) << 28 | arguments.tos << 20
    return struct.pack('!IHBB', first, arguments.length, nexthdr,
                       arguments.ttl) + src.packed + dst.packed + payload


def build(arguments, own_mac):
    src = ipaddress.ip_address(arguments.src)
    dst = ipaddress.ip_address(arguments.dst)
    payload = arguments.mark.encode().ljust(arguments.size, b' ')
    packet = (ip4 if dst.version == 4 else ip6)(
        src, dst, arguments, udp(src, dst, arguments, payload))
    frame = bytes.fromhex(arguments.mac.replace(':', '')) + own_mac
    for tag in arguments.tag:
        proto, vid, pcp = tag.split(':')
        frame += struct.pack('!HH', int(proto, 16), int(pcp) << 13 | int(vid))
    frame += struct.pack('!H', 0x0800 if dst.version == 4 else 0x86dd)
    frame += packet
    return frame[:arguments.cut] + b'X' * arguments.pad


def frame_parser():
    parser = argparse.ArgumentParser(prog='frame')
    for name in ('mac', 'src', 'dst', 'mark'):
        parser.add_argument(name)
    parser.add_argument('--tag', action='append', default=[], help='TPID:VID:PCP')
    parser.add_argument('--ttl', type=number, default=64)
    parser.add_argument('--tos', type=number, default=0)
    parser.add_argument('--proto', type=number)
    parser.add_argument('--ports', default='9:9')
    parser.add_argument('--options', default='', help='hexadecimal')
    parser.add_argument('--version', type=number)
    parser.add_argument('--ihl', type=number)
    parser.add_argument('--length', type=number)
    parser.add_argument('--fragment', type=number, default=0x4000)
    parser.add_argument('--bad-checksum', action='store_true')
    parser.add_argument('--size', type=number, default=64)
    parser.add_argument('--cut', type=number, help='send only so many bytes')
    parser.add_argument('--pad', type=number, default=0, help='bytes behind the packet')
    return parser


def send(device):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind((device, 0))
    parser = frame_parser()
    for line in sys.stdin:
        frame = parser.parse_args(line.split())
        sock.send(build(frame, sock.getsockname()[4]))
        print(frame.mark, flush=True)


def show(frame, tags):
    proto, = struct.unpack('!H', frame[12:14])
    data = frame[14:]
    while proto in (0x8100, 0x88a8):
        tci, = struct.unpack('!H', data[:2])
        tags.append((proto, tci))
        proto, = struct.unpack('!H', data[2:4])
        data = data[4:]
    mark = MARK.search(data)
    if not mark:
        return
    if proto == 0x0800:
        ihl = data[0] & 15
        fields = [f'ttl={data[8]}', f'tos={data[1]:#04x}', f'len={len(data)}', f'ihl={ihl}',
                  'csum=' + ('bad' if csum(data[:4 * ihl]) else 'ok'),
                  'options=' + data[20:4 * ihl].hex()]
        addresses = data[12:16], data[16:20]
    else:
        fields = [f'ttl={data[7]}', f'tos={int.from_bytes(data[:2], "big") >> 4 & 255:#04x}',
                  f'len={len(data)}', f'next={data[6]}']
        addresses = data[8:24], data[24:40]
    fields.append('tags=' + ','.join(f'{tpid:x}:{tci & 0xfff}:{tci >> 13}' for tpid, tci in tags))
    fields += [f'{key}={ipaddress.ip_address(value)}' for key, value in zip(('src', 'dst'), addresses)]
    fields += [f'from={frame[6:12].hex(":")}', f'to={frame[:6].hex(":")}']
    print(mark[0].decode(), *fields, flush=True)


def watch(device):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    sock.bind((device, ETH_P_ALL))
    # nobody answers that the port is closed
    sink = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    sink.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sink.bind(('::', 9))
    print('watching', flush=True)
    while True:
        frame, aux, _, address = sock.recvmsg(70000, 256)
        if address[2] == socket.PACKET_OUTGOING:
            continue
        tags = []
        for level, kind, data in aux:
            if level == SOL_PACKET and kind == PACKET_AUXDATA:
                status, _, _, _, _, tci, tpid = struct.unpack('=IIIHHHH', data[:20])
                if status & TP_STATUS_VLAN_VALID:
                    tags.append((tpid if status & TP_STATUS_VLAN_TPID_VALID else 0x8100, tci))
        show(frame, tags)


def main():
    commands = {'send': send, 'watch': watch}
    if len(sys.argv) != 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    try:
        commands[sys.argv[1]](sys.argv[2])
    except OSError as error:    # at the end of a test, the device goes
        sys.exit(f'frame.py: {error}')


if __name__ == '__main__':
    main()
