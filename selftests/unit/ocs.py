#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Emulated optical switches, for test_switch.py.

A device is a JSON file, so that whatever front end speaks for it, the test
sets it up and looks at it in one way:

    ports       they count from 1
    sides       inputs and outputs are joined apart
    offset      with sides, the outputs count from this + 1
    joined      pairs of ports, input and output
    faults      for the next changes, one each: "" is none
    read_faults the same for reads
    delay       seconds that a "slow" answer takes, that nothing is heard of a "silent"
                switch, which does nothing, and of a "late" one, which then does it
    meanwhile   what another job does after the next reads, a list of pairs
                each: it joins them, or parts them when they are joined
    tagged      RESTCONF: what it has carries an entity-tag
    backwards   RESTCONF: it tells the output of a pair first
    patience    SCPI: it hangs up when nobody says anything for so many seconds
    log         what it was asked

It keeps the rules of real ones: a port is on one cross-connect, only what is
joined can be removed, ports are in range and on their side. Front ends: two
servers, and the programs of the others:

    ocs.py FILE                         the "command" driver
    ocs.py FILE sonic-db-dump|config    what SONiC has, for its driver
    ocs.py FILE late                    the switch itself: a late change
"""

import base64
import contextlib
import fcntl
import http.server
import json
import re
import socket
import socketserver
import struct
import subprocess
import sys
import threading
import time


class Refused(Exception):
    """What a device says when it does not do something."""


class Device:
    """A device in a file; use it in a with statement."""

    program = False  # that ends with every call

    def __init__(self, path):
        self.path = path

    @classmethod
    def make(cls, path, ports, joined=(), **more):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"ports": ports, "sides": False, "offset": 0, "joined": [list(p) for p in joined],
                       "faults": [], "read_faults": [], "delay": 0, "meanwhile": [],
                       "tagged": False, "backwards": False, "patience": None, "log": []} | more, file)
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

    def log(self):
        with self.state() as state:
            return state["log"]

    def late(self, remove, add):
        with self.state() as state:
            state["log"].append("late")
            with contextlib.suppress(Refused):
                _change(state, remove, add, "")

    def changes(self):
        """How many changes it was asked for."""
        return self.log().count("change")

    def read(self):
        """The pairs, and the fault that the front end has to play."""
        with self.state() as state:
            state["log"].append("read")
            fault = state["read_faults"].pop(0) if state["read_faults"] else ""
            pairs = [tuple(pair) for pair in state["joined"]]
            delay = state["delay"]
            for pair in state["meanwhile"].pop(0) if state["meanwhile"] else ():
                if pair in state["joined"]:
                    state["joined"].remove(pair)
                else:
                    state["joined"].append(pair)
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
            if fault not in ("lie", "silent", "late", "reset"):
                _change(state, remove, add, fault)
        if fault == "late" and not self.program:
            time.sleep(delay)
            self.late(remove, add)
        elif fault == "late":  # not ended with who asked for it
            with subprocess.Popen((sys.executable, __file__, self.path, "late"), text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, start_new_session=True) as later:
                json.dump([delay, remove, add], later.stdin)
                later.stdin.close()
        elif fault in ("slow", "silent"):
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
            if not 1 <= port - state["offset"] * side <= state["ports"]:
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


def hang_up(connection):
    """Reset a connection, as a device does that restarts."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Scpi(socketserver.StreamRequestHandler):
    """Polatis, SCPI: commands answer nothing, errors queue up."""

    def ports(self, text):
        match = re.fullmatch(r"\(@([0-9,]*)\),\(@([0-9,]*)\)", text)
        if not match:
            raise Refused("Syntax error")
        sides = [[int(n) for n in side.split(",") if n] for side in match.groups()]
        if len(sides[0]) != len(sides[1]):
            raise Refused("lists of different length")
        return list(zip(*sides))

    def answer(self, line, queue):
        """What it says to a line, None for nothing, False to hang up."""
        device = self.server.device
        verb, _, rest = line.partition(" ")
        if verb == "*cls":
            queue.clear()
        elif verb == "*opc?":
            return "1"
        elif verb == ":syst:err?":
            return queue.pop(0) if queue else '0,"No error"'
        elif verb == ":oxc:swit:size?":
            with device.state() as state:
                half = state["ports"] if state["sides"] else state["ports"] // 2
            return f"{half},{half}"
        elif verb == ":oxc:swit:conn:stat?":
            pairs, fault = device.read()
            if fault in ("garbage", "refuse"):
                return "(@1,2),(@"
            return "(@%s),(@%s)" % tuple(",".join(str(p[side]) for p in pairs) for side in (0, 1))
        elif verb in (":oxc:swit:conn:add", ":oxc:swit:conn:sub"):
            try:
                pairs = self.ports(rest)
                add = verb.endswith("add")
                return device.change([] if add else pairs, pairs if add else []) != "reset" and None
            except Refused as reason:
                queue.append(f'-200,"Execution error;{reason}"')
        else:
            queue.append('-113,"Undefined header"')
        return None

    def lines(self):
        """What it is told, until somebody hangs up."""
        try:
            yield from self.rfile
        except TimeoutError:
            hang_up(self.connection)

    def handle(self):
        queue = []
        with self.server.device.state() as state:
            self.connection.settimeout(state["patience"])
        with contextlib.suppress(ConnectionError):
            for line in self.lines():
                said = self.answer(line.decode().strip(), queue)
                if said is False:
                    return hang_up(self.connection)
                if said is not None:
                    self.wfile.write(said.encode() + b"\n")


class Restconf(http.server.BaseHTTPRequestHandler):
    """Polatis, RESTCONF: one resource that is replaced as a whole, unless it is
    no longer the one that the client means."""

    protocol_version = "HTTP/1.1"
    path_of_it = "/api/data/optical-switch:cross-connects"

    def log_message(self, *args):
        pass

    def option(self, name):
        with self.server.device.state() as state:
            return state[name]

    def tag(self, pairs):
        return f'"{hash(tuple(sorted(pairs)))}"' if self.option("tagged") else None

    def say(self, status, document=None, tag=None):
        body = json.dumps(document).encode() if document is not None else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/yang-data+json")
        self.send_header("Content-Length", str(len(body)))
        if tag:
            self.send_header("ETag", tag)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, tag, message):
        self.say(status, {"ietf-restconf:errors": {"error": [
            {"error-type": "application", "error-tag": tag, "error-message": message}]}})

    def trusted(self):
        expected = "Basic " + base64.b64encode(b"admin:secret").decode()
        if self.headers.get("Authorization") != expected:
            self.refuse(401, "access-denied", "who are you?")
        elif self.path != self.path_of_it:
            self.refuse(404, "invalid-value", "no such resource")
        else:
            return True
        return False

    def do_GET(self):
        if not self.trusted():
            return
        pairs, fault = self.server.device.read()
        if fault == "refuse":
            self.refuse(503, "resource-denied", "no read-back")
        elif fault == "garbage":
            self.say(200, {"mirror": 7})
        elif not pairs:
            self.say(204, tag=self.tag(pairs))
        else:
            told = [(b, a) for a, b in pairs] if self.option("backwards") else pairs
            self.say(200, {"optical-switch:cross-connects": {
                "pair": [{"ingress": a, "egress": b} for a, b in told]}}, self.tag(pairs))

    def do_PUT(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.trusted():
            return
        device = self.server.device
        wanted = [(p["ingress"], p["egress"])
                  for p in body["optical-switch:cross-connects"]["pair"]]
        has = device.joined()
        if self.headers.get("If-Match") not in (None, self.tag(has)):
            self.refuse(412, "operation-failed", "somebody else was here")
            return
        try:
            fault = device.change([p for p in has if p not in wanted],
                                  [p for p in wanted if p not in has])
        except Refused as reason:
            self.refuse(409, "operation-failed", str(reason))
            return
        if fault == "reset":
            hang_up(self.connection)
            self.close_connection = True
        else:
            with contextlib.suppress(ConnectionError):
                self.say(204)


class Server(socketserver.ThreadingTCPServer):
    """A device behind a port of this machine, in a thread."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, front_end, device):
        super().__init__(("127.0.0.1", 0), front_end)
        self.device = device
        self.address = f"127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


def sonic_db_dump(device):
    """CONFIG_DB, as sonic-db-dump -y prints it."""
    pairs, fault = device.read()
    if fault == "refuse":
        sys.exit("Could not connect to Redis")
    if fault == "garbage":
        print("Usage: sonic-db-dump")
        return
    print(json.dumps({f"OCS_CROSS_CONNECT|{a}A-{b}B": {
        "expireat": 1.0, "ttl": -0.001, "type": "hash",
        "value": {"a_side": f"{a}A", "b_side": f"{b}B"}} for a, b in pairs}))


def sonic_patched(patch, tables):
    """CONFIG_DB after a JSON patch, by the rules of "config apply-patch"."""
    for step in patch:
        *parents, key = step["path"].split("/")[1:]
        at = tables
        for parent in parents:
            if parent not in at:
                raise Refused(f"can't replace a non-existent object '{parent}'")
            at = at[parent]
        if step["op"] == "remove" and key not in at:
            raise Refused(f"can't remove a non-existent object '{key}'")
        if step["op"] == "remove":
            del at[key]
        else:
            at[key] = step["value"]
    if not all(tables.values()):
        raise Refused("Given patch will produce empty tables, which ConfigDb does not allow")
    pairs = []
    for key, value in tables.get("OCS_CROSS_CONNECT", {}).items():
        if key != f"{value['a_side']}-{value['b_side']}":
            raise Refused(f"Data Loading Failed: Value \"{key}\" does not satisfy the model")
        pairs.append((int(value["a_side"].rstrip("A")), int(value["b_side"].rstrip("B"))))
    return pairs


def sonic_config(device, path):
    has = device.joined()
    tables = {"OCS_CROSS_CONNECT": {f"{a}A-{b}B": {"a_side": f"{a}A", "b_side": f"{b}B"}
                                    for a, b in has}} if has else {}
    try:
        with open(path, encoding="utf-8") as file:
            wanted = sonic_patched(json.load(file), tables)
        device.change([p for p in has if p not in wanted], [p for p in wanted if p not in has])
    except Refused as reason:
        sys.exit(f"Failed to apply patch due to: {reason}")
    print("Patch applied successfully.")


if __name__ == "__main__":
    Device.program = True
    if len(sys.argv) == 2:
        command(Device(sys.argv[1]))
    elif sys.argv[2:] == ["late"]:
        later, *what = json.load(sys.stdin)
        time.sleep(later)
        Device(sys.argv[1]).late(*what)
    elif sys.argv[2] == "sonic-db-dump":
        assert sys.argv[3:] == ["-n", "CONFIG_DB", "-y", "-k", "OCS_CROSS_CONNECT|*"], sys.argv
        sonic_db_dump(Device(sys.argv[1]))
    else:
        assert sys.argv[3] == "apply-patch", sys.argv
        sonic_config(Device(sys.argv[1]), sys.argv[4])
