#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl export --listen beside clients that never end their requests."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, "selftests/unit")
from tap import done, report  # noqa: E402

TOCTL = os.environ.get("TOCTL", "build/toctl")
SLOW = 200
PATIENCE = 5	# seconds, half of what the exporter waits for a byte

with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    address = probe.getsockname()


def connect():
    return socket.create_connection(address, timeout=PATIENCE)


def ask():
    """The answer to a whole request, or what went wrong."""
    try:
        with connect() as client:
            client.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return client.makefile("rb").read()
    except OSError as error:
        return str(error).encode()


def answers(name):
    reply = ask()
    report(reply.startswith(b"HTTP/1.") and b"see /metrics" in reply, name, repr(reply))


with subprocess.Popen((TOCTL, "export", "--listen", f"{address[0]}:{address[1]}"),
                      stderr=subprocess.PIPE, text=True) as exporter:
    if not exporter.stderr.readline().startswith("serving"):
        print("1..0 # SKIP no libmicrohttpd")
        sys.exit()
    answers("a client alone")
    with contextlib.ExitStack() as stack:
        for _ in range(SLOW):
            try:
                client = stack.enter_context(connect())
            except TimeoutError:
                break
            with contextlib.suppress(OSError):	# it has made room
                client.sendall(b"GET /met")
        start = time.monotonic()
        for i in range(10):
            answers(f"beside {SLOW} that never end their requests: {i}")
        report(time.monotonic() - start < PATIENCE, "none of them waited for those")
    answers("when they are gone")
    exporter.send_signal(signal.SIGTERM)
    report(exporter.wait(60) == 0, "SIGTERM ends it")
done()
