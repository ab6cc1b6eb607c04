#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Traffic between network namespaces, and what NICs count of it, for nic.sh: in one process,
as processes are slow in an emulated machine.

    nic.py NAMESPACE...

Reads commands, one a line, and answers each with a line:

    send DEVICE MAC LENGTH [n=N] [cpu=N] [priority=N] [WORD...]
                            send frames
    mark DEVICE:COUNTER...  look at counters of ethtool -S
    delta N...              wait until they have grown by that; by how much they have
    value DEVICE:COUNTER    one counter
    links DEVICE...         1 for each that has a carrier, else 0
    hears DEVICE PEER MAC [WORD...]
                            1 if the peer hears a frame to that address, else 0
    datagrams FROM TO ADDRESS LENGTH N [PORT]
                            send IP packets from one namespace into another: ok when all
                            have arrived, else an error
    tcp FROM TO BYTES ADDRESS...
                            send bytes to each address, and from it, all at a time: ok and how
                            many milliseconds each way took

A frame consists of its words, which are bytes in hexadecimal, or udp/ADDRESS/PORT: EtherType,
IPv4 or IPv6 header, UDP header, without checksums; without words it has EtherType 0x88b5.
roce/SOURCE/ADDRESS/DSCP is a whole IPv4 packet of RoCEv2, of the frame's length.
"""
import array
import errno
import fcntl
import functools
import ipaddress
import os
import socket
import struct
import sys
import threading
import time

PATIENCE = 30   # seconds until what should come is given up
PORT = 5201
SIOCETHTOOL, SIOCGIFINDEX = 0x8946, 0x8933
ETHTOOL_GLINK, ETHTOOL_GSTRINGS, ETHTOOL_GSTATS, ETHTOOL_GSSET_INFO = 0x0a, 0x1b, 0x1d, 0x37
ETH_P_ALL, MARK = 3, 0x88b6

home = {}       # an open namespace of each name
control = {}    # and a socket there
mouths = {}     # packet socket of each device that has sent
marked = []


def enter(namespace):
    os.setns(home[namespace], os.CLONE_NEWNET)


@functools.cache
def where(device):
    """Namespace of a device."""
    for name, sock in control.items():
        try:
            fcntl.ioctl(sock, SIOCGIFINDEX, struct.pack('16s16x', device.encode()))
            return name
        except OSError:
            pass
    raise OSError(errno.ENODEV, device)


def ethtool(device, data):
    buffer = array.array('B', data)
    request = struct.pack('16sP8x', device.encode(), buffer.buffer_info()[0])
    fcntl.ioctl(control[where(device)], SIOCETHTOOL, request)
    return buffer.tobytes()


@functools.cache
def counter_names(device):
    info = ethtool(device, struct.pack('IIQI', ETHTOOL_GSSET_INFO, 0, 1 << 1, 0))
    n = struct.unpack_from('I', info, 16)[0]
    text = ethtool(device, struct.pack('III', ETHTOOL_GSTRINGS, 1, n) + bytes(32 * n))
    return [text[12 + 32 * i:][:32].split(b'\0')[0].decode() for i in range(n)]


def values(which):
    """Some counters of ethtool -S."""
    words = [w.split(':') for w in which]
    stats = {}
    for device in {device for device, _ in words}:
        n = len(counter_names(device))
        stats[device] = ethtool(device, struct.pack('II', ETHTOOL_GSTATS, n) + bytes(8 * n))
    return [struct.unpack_from('Q', stats[device], 8 + 8 * counter_names(device).index(name))[0]
            for device, name in words]


def packet_socket(device, protocol):
    enter(where(device))
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(protocol))
    sock.bind((device, protocol))
    sock.settimeout(PATIENCE)
    return sock


def mouth(device):
    """To close a packet socket takes long, so that it is kept."""
    if device not in mouths:
        mouths[device] = packet_socket(device, 0)
    return mouths[device]


def roce(source, address, dscp, length):
    header = struct.pack('!BBHHHBBH', 0x45, int(dscp) << 2, length, 0, 0x4000, 64, 17, 0)
    header += ipaddress.ip_address(source).packed + ipaddress.ip_address(address).packed
    total = sum(struct.unpack('!10H', header))
    total = (total & 0xffff) + (total >> 16)
    check = ~(total + (total >> 16)) & 0xffff
    return (b'\x08\x00' + header[:10] + struct.pack('!H', check) + header[12:] +
            struct.pack('!HHHH', 49152, 4791, length - 20, 0))


def word(text, length=0):
    if text.startswith('roce/'):
        return roce(*text.split('/')[1:], length - 14)
    if not text.startswith('udp/'):
        return bytes.fromhex(text)
    address, port = text.split('/')[1:]
    to = ipaddress.ip_address(address)
    header = ('0800450000200000000040110000' + '0a010001' if to.version == 4 else
              '86dd60000000000c1140' + 'fd010000000000000000000000000001')
    return bytes.fromhex(header) + to.packed + struct.pack('!HHHH', 49152, int(port), 12, 0)


def frame(sock, mac, words, length=0):
    return (bytes.fromhex(mac.replace(':', '')) + sock.getsockname()[4] +
            b''.join(word(text, length) for text in words or ['88b5']))


def send(device, mac, length, *words):
    options = dict(w.split('=') for w in words if '=' in w)
    if 'cpu' in options:
        os.sched_setaffinity(0, [int(options['cpu'])])
    sock = mouth(device)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, int(options.get('priority', 0)))
    length = int(length)
    data = frame(sock, mac, [w for w in words if '=' not in w], length).ljust(length, b'\0')
    for _ in range(int(options.get('n', 1))):
        sock.send(data)
    return 'ok'


def mark(*which):
    marked[:] = [which, values(which)]
    return 'ok'


def delta(*expected):
    end = time.monotonic() + PATIENCE
    while True:
        now = [str(b - a) for a, b in zip(marked[1], values(marked[0]))]
        if now == list(expected) or time.monotonic() > end:
            return ' '.join(now)
        time.sleep(.1)


def value(which):
    return str(values([which])[0])


def links(*devices):
    states = (ethtool(device, struct.pack('II', ETHTOOL_GLINK, 0)) for device in devices)
    return ' '.join(str(struct.unpack_from('I', state, 4)[0]) for state in states)


def hears(device, peer, mac, *words):
    """What comes in front of a frame to the peer's own address, which it certainly hears."""
    tag, heard = os.urandom(8), 0
    sock, mark_type = mouth(device), struct.pack('!H', MARK)
    with packet_socket(peer, ETH_P_ALL) as ear:
        own = ear.getsockname()[4]
        sock.send(frame(sock, mac, words).ljust(80, b'\0') + tag)
        sock.send(own + sock.getsockname()[4] + mark_type.ljust(80, b'\0') + tag)
        while True:
            data = ear.recv(2048)
            if not data.endswith(tag):
                continue
            if data[12:14] == mark_type:
                return str(heard)
            heard = 1


def datagrams(source, target, address, length, n, port=PORT):
    # IP_MTU_DISCOVER and IPV6_MTU_DISCOVER; IP_PMTUDISC_DO is 2 of both
    family, headers, level, discover = (
        (socket.AF_INET6, 48, socket.IPPROTO_IPV6, 23) if ':' in address else
        (socket.AF_INET, 28, socket.IPPROTO_IP, 10))
    enter(target)
    with socket.socket(family, socket.SOCK_DGRAM) as server:
        server.settimeout(PATIENCE)
        server.bind((address, int(port)))
        enter(source)
        with socket.socket(family, socket.SOCK_DGRAM) as client:
            client.setsockopt(level, discover, 2)
            data = os.urandom(int(length) - headers)
            for _ in range(int(n)):
                client.sendto(data, (address, int(port)))
                if server.recv(65536) != data:
                    return 'other data'
    return 'ok'


def receive(sock, data, errors):
    got = bytearray()
    try:
        while len(got) < len(data):
            part = sock.recv(1 << 18)
            if not part:
                break
            got += part
    except OSError as error:
        errors.append(str(error))
    if got != data:
        errors.append(f'{len(got)} bytes of {len(data)}, or other ones')


def transfer(pairs, data):
    """Send data over connections at once; how long that took, in ms."""
    errors = []
    threads = [threading.Thread(target=receive, args=(to, data, errors)) for _, to in pairs]
    threads += [threading.Thread(target=sock.sendall, args=(data,)) for sock, _ in pairs]
    start = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise OSError(errno.EIO, errors[0])
    return str(int((time.monotonic() - start) * 1000))


def tcp(source, target, size, *addresses):
    data, pairs = os.urandom(int(size)), []
    for address in addresses:
        enter(target)
        with socket.create_server((address, PORT)) as server:
            enter(source)
            client = socket.create_connection((address, PORT), PATIENCE)
            pairs.append((client, server.accept()[0]))
            pairs[-1][1].settimeout(PATIENCE)
    there = transfer(pairs, data)
    back = transfer([(b, a) for a, b in pairs], data)
    for client, server in pairs:
        client.shutdown(socket.SHUT_WR)
        server.recv(1)      # nothing: the end
        server.close()
        client.recv(1)
        client.close()
    return f'ok {there} {back}'


COMMANDS = {f.__name__: f for f in (send, mark, delta, value, links, hears, datagrams, tcp)}
for name in sys.argv[1:]:
    home[name] = os.open(f'/run/netns/{name}', os.O_RDONLY)
    enter(name)
    control[name] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for line in sys.stdin:
    verb, *arguments = line.split()
    try:
        print(COMMANDS[verb](*arguments), flush=True)
    except OSError as error:
        print(errno.errorcode.get(error.errno, ''), error, flush=True)
