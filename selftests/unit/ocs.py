#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Emulated optical switches, for test_switch.py.

A device is a JSON file, so that whatever front end speaks for it, the test
sets it up and looks at it in one way:

    ports       they count from 1
    sides       inputs and outputs are joined apart
    joined      pairs of ports, input and output
    faults      for the next changes, one each: "" is none
    read_faults the same for reads
    delay       seconds that a "slow" answer takes
    log         what it was asked

It keeps the rules of real ones: a port is on one cross-connect, only what is
joined can be removed, ports are in range. Run as a program it is the front end
of the "command" driver: ocs.py FILE.
"""

import contextlib
import fcntl
import json
import sys
import time


class Refused(Exception):
    """What a device says when it does not do something."""


class Device:
    """A device in a file; use it in a with statement."""

    def __init__(self, path):
        self.path = path

    @classmethod
    def make(cls, path, ports, joined=(), **more):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"ports": ports, "sides": False, "joined": [list(p) for p in joined],
                       "faults": [], "read_faults": [], "delay": 0, "log": []} | more, file)
        return cls(path)

    @contextlib.contextmanager
    def state(self):
        """The state, written back at the end of the with statement."""
        with open(self.path, "r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            state = json.load(file)
            try:
                yield state
            finally:
                file.seek(0)
                file.truncate()
                json.dump(state, file)

    def joined(self):
        with self.state() as state:
            return sorted(tuple(pair) for pair in state["joined"])

    def changes(self):
        """How many changes it was asked for."""
        with self.state() as state:
            return state["log"].count("change")

    def read(self):
        """The pairs, and the fault that the front end has to play."""
        with self.state() as state:
            state["log"].append("read")
            fault = state["read_faults"].pop(0) if state["read_faults"] else ""
            pairs = [tuple(pair) for pair in state["joined"]]
            delay = state["delay"]
        if fault == "slow":
            time.sleep(delay)
        if fault == "lie" and pairs:
            pairs[0], pairs[-1] = (pairs[0][0], pairs[-1][1]), (pairs[-1][0], pairs[0][1])
        return pairs, fault

    def change(self, remove, add):
        """Do it, or what the next fault leaves of it; return that fault."""
        with self.state() as state:
            state["log"].append("change")
            fault = state["faults"].pop(0) if state["faults"] else ""
            delay = state["delay"]
            if fault == "refuse":
                raise Refused("mirror calibration in progress")
            if fault not in ("lie", "silent", "reset"):
                _change(state, remove, add, fault)
        if fault in ("slow", "silent"):
            time.sleep(delay)
        return fault


def _change(state, remove, add, fault):
    joined, steps = state["joined"], [("remove", list(p)) for p in remove]
    steps += [("add", list(p)) for p in add]
    if fault == "partial":
        steps = steps[:len(steps) - 1]
    for step, pair in steps:
        if step == "remove":
            if pair not in joined:
                raise Refused(f"ports {pair[0]} and {pair[1]} are not joined")
            joined.remove(pair)
            continue
        for side, port in enumerate(pair):
            if not 1 <= port <= state["ports"]:
                raise Refused(f"there is no port {port}")
            if any(port in ([p[side]] if state["sides"] else p) for p in joined):
                raise Refused(f"port {port} is in use")
        if pair[0] == pair[1] and not state["sides"]:
            raise Refused(f"port {pair[0]} cannot be joined to itself")
        joined.append(pair)
    if fault == "partial":
        raise Refused("mirror driver failed")
    if fault == "swap":
        joined[-2][1], joined[-1][1] = joined[-1][1], joined[-2][1]


def command(device):
    """The front end of the "command" driver."""
    request = json.load(sys.stdin)
    if request["action"] == "read":
        pairs, fault = device.read()
        if fault == "refuse":
            sys.exit("no read-back")
        print("mirror 7: ok" if fault == "garbage" else json.dumps({"cross_connects": pairs}))
        return
    try:
        device.change(request["remove"], request["add"])
    except Refused as reason:
        sys.exit(f"ocs: {reason}")


if __name__ == "__main__":
    command(Device(sys.argv[1]))
