# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads server-sent events, as toctl watch and toctl run --listen send them."""

import http.client
import json
import socket
import time

PATIENCE = 60	# seconds for an event that must come


def free_port():
    """Of TCP, on the loopback address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Stream:
    """The events, one after the other."""

    def __init__(self, port, headers):
        self.client = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self.client.request("GET", "/events", headers=headers)
        self.answer = self.client.getresponse()

    def next(self):
        name, data = None, []
        for line in self.answer:
            line = line.decode().rstrip("\n")
            if not line:
                return name, json.loads("\n".join(data))
            key, value = line.split(": ", 1)
            if key == "event":
                name = value
            else:
                data.append(value)
        raise EOFError

    def find(self, name, wanted=lambda data: True):
        """The next event of the name that is wanted, and how many others of it came before."""
        others, deadline = 0, time.monotonic() + PATIENCE
        while True:
            event, data = self.next()
            if time.monotonic() > deadline:
                raise TimeoutError(f"no such {name}")
            if event != name:
                continue
            if wanted(data):
                return data, others
            others += 1

    def close(self):
        self.answer.close()
        self.client.close()
