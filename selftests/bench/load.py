#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A TCP stream that takes what it gets, and numbered datagrams beside it.

	load.py receive UDP-PORT	prints "ready", then Mbit/s of TCP, datagrams
					lost, datagrams that others overtook
	load.py send ADDRESS UDP-PORT	prints the segments that TCP sent again

Ends with the last datagram, or two seconds after another one.
"""

import os
import select
import socket
import struct
import sys
import time

DATAGRAMS = 400
BURST = 4
PAUSE = 0.002		# seconds after a burst, more on a busy processor
WARM_UP = 0.1		# seconds that do not count
TCP_PORT = 5201


def receive(port):
    listener = socket.create_server(("", TCP_PORT))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("", port))
    print("ready", flush=True)
    tcp, _ = listener.accept()
    buffer = bytearray(1 << 20)
    begin = last = now = time.monotonic()
    got = expected = lost = late = 0
    warm = False
    while expected < DATAGRAMS and now - last < 2:
        readable = select.select([tcp, udp], [], [], 1)[0]
        now = time.monotonic()
        if udp in readable:
            number, last = int(udp.recv(128)), now
            if number < expected:
                late += 1
            else:
                lost += number - expected
                expected = number + 1
        if tcp in readable:
            got += tcp.recv_into(buffer)
        if not warm and now - begin > WARM_UP:
            warm, begin, got = True, now, 0
    tcp.close()
    print(got * 8e-6 / (now - begin), lost + DATAGRAMS - expected, late)


def number_datagrams(address, port):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for number in range(DATAGRAMS):
        udp.sendto(b"%0100d" % number, (address, port))
        if number % BURST == BURST - 1:
            time.sleep(PAUSE)


def send(address, port):
    tcp = socket.create_connection((address, TCP_PORT))
    if not os.fork():
        number_datagrams(address, port)
        os._exit(0)
    block = bytes(1 << 18)
    again = 0
    try:
        while True:
            tcp.sendall(block)
            # tcpi_total_retrans
            again, = struct.unpack_from("=I", tcp.getsockopt(socket.IPPROTO_TCP,
                                                             socket.TCP_INFO, 104), 100)
    except (BrokenPipeError, ConnectionResetError):
        print(again)


if sys.argv[1] == "receive":
    receive(int(sys.argv[2]))
else:
    send(sys.argv[2], int(sys.argv[3]))
