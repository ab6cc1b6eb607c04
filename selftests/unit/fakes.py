# SPDX-License-Identifier: GPL-2.0-or-later
"""What fabric.py makes a fabric of: agents that keep tables in files, and an optical
switch that is a file.

	fake SOCKET agent DIR SERVER	one agent, on standard input and output
	fake SOCKET switch DIR		the optical switch, see switch_command.c

They start often, and Python starts slowly: fake (fake.c) has them forked by serve().

DIR/phase says which traffic there is, since when; DIR/harm-SERVER says what happens to the
server's requests with one of "ops", beginning with number "count", so many times: one
"action", or one of a list after the other;
a reply that waits does so as long as there is DIR/waits; DIR/harm-switch the same of the optical switch, which can refuse, lie, stop the
controller and all in its process group, or not answer: a change is lost, or late.
DIR/moves has a line for each change of the switch: who needed a link that was dark,
who had nothing staged, and whether the controller that made it was dead.
"""

import fcntl
import glob
import itertools
import json
import os
import select
import signal
import socket
import struct
import sys
import time

BUFFER = 1_000_000	# of AllReduce
HOT = 200_000_000		# each way between two servers
TIMEOUT = 6		# seconds, of an optical switch that does not answer


def load(path, default=None):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return default


def save(path, document):
    with open(path + f".{os.getpid()}", "w", encoding="utf-8") as file:
        json.dump(document, file)
    os.rename(file.name, path)


def members(ranges):
    """[0, 1, 2, 5] of "0-2,5"."""
    return [i for part in ranges.split(",") if part for first, *last in [part.split("-")]
            for i in range(int(first), int((last or [first])[0]) + 1)]


def phase_at(directory, start):
    """The same for all agents, whenever in an interval each of them looks."""
    return [phase for since, phase in load(f"{directory}/phase") if since <= start][-1]


def transfers(n, rings, phase):
    """Everybody to its neighbours on the rings and, but in phase 0, to who is so far apart,
    or the pairs of servers that a phase consists of to each other."""
    matrix = [[0] * n for _ in range(n)]
    for i in range(n):
        for ring in rings:
            matrix[ring[i]][ring[i - 1]] += BUFFER * (n - 1) // n // len(rings)
            matrix[ring[i - 1]][ring[i]] += BUFFER * (n - 1) // n // len(rings)
        if phase and not isinstance(phase, list):
            matrix[i][(i + phase) % n] += HOT // 2
            matrix[(i + phase) % n][i] += HOT // 2
    for a, b in phase if isinstance(phase, list) else ():
        matrix[a][b] += HOT
        matrix[b][a] += HOT
    return matrix


# ---- the optical switch ----


def needs(table, dark):
    """Does the table lead to any server only by ports that are dark?"""
    by_node = {route["group"] for route in table["routes"] if route.get("nodes")}
    return any(all(hop["port"] in dark for hop in table["groups"][group]) for group in by_node)


def descends(pid, ancestor):
    """Was a process started by another one that still runs, or by what that started?"""
    while pid > 1 and pid != ancestor:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                pid = int(file.read().rsplit(")", 1)[1].split()[1])
        except FileNotFoundError:
            return False
    return pid == ancestor


def switch(client, directory):
    lock = open(f"{directory}/lock-switch", "w", encoding="ascii")
    fcntl.flock(lock, fcntl.LOCK_SH)	# as long as it is at work
    request = json.load(sys.stdin)
    if request["action"] == "read":
        print(json.dumps({"cross_connects": load(f"{directory}/light")}))
        return 0
    harm = harmed(directory, "switch", request["action"])
    if harm == "refuse":
        print("laser interlock is open", file=sys.stderr)
        return 1
    if harm == "stop":
        os.killpg(load(f"{directory}/controller"), signal.SIGTERM)
    if harm == "lost" or harm == "late" and os.fork():
        signal.pause()
    if harm == "late":
        os.setsid()
        time.sleep(3 * TIMEOUT)
        save(f"{directory}/came", True)
    joined = load(f"{directory}/light")
    plan = load(f"{directory}/ports")
    lit = {port for pair in joined if pair not in request["remove"] for port in pair}
    move = {"poor": [], "unstaged": []}
    for path in glob.glob(f"{directory}/kernel-*"):
        server, kernel = path.rsplit("-", 1)[1], load(path)
        table = kernel["active"]["table"]
        ports = {name for name, number in plan[server].items() if number not in lit}
        if table and needs(json.loads(table), ports):
            move["poor"].append(server)
        if not kernel["stage"]:
            move["unstaged"].append(server)
    # whose controller is dead: the next one may be at work already
    move["alone"] = not descends(client, load(f"{directory}/controller"))
    with open(f"{directory}/moves", "a", encoding="utf-8") as file:
        file.write(json.dumps(move) + "\n")
    if harm == "lie":
        return 0
    save(f"{directory}/light", [pair for pair in joined if pair not in request["remove"]] +
         request["add"])
    return 0


# ---- an agent ----


class Kernel:
    """Active table and stage of a server; outlives agents."""

    def __init__(self, directory, server):
        self.directory, self.server = directory, server
        self.path = f"{directory}/kernel-{server}"
        self.number = int(server[1:])
        self.state = load(self.path) or {"active": {"generation": 0, "table": None},
                                         "stage": None}
        self.before = None
        self.knows = False	# a plan to count under

    def write(self):
        save(self.path, self.state)

    def go_back(self, generation):
        self.state["active"] = {"generation": generation, "table": self.before["table"]}
        self.before = None

    def live(self):
        lit = {port for pair in load(f"{self.directory}/light") for port in pair}
        ports = load(f"{self.directory}/ports")[self.server]
        return [name for name, number in ports.items() if number in lit]

    def sample(self, request):
        now = time.time_ns()
        time.sleep(max(0, request["until_ns"] - now) / 1e9)
        until, interval = request["until_ns"], request["interval_ns"]
        n = len(load(f"{self.directory}/ports"))
        row = transfers(n, load(f"{self.directory}/rings"),
                        phase_at(self.directory, until - interval))[self.number]
        flows = [[-1, 0, self.number, j, 0, 100, size] for j, size in enumerate(row) if size]
        return json.dumps({
            "format": "topoopt-tm", "version": 1, "job": "test", "plan": "0" * 16,
            "interval_ns": interval, "classes": ["roce", "tcp", "other"],
            "servers": [f"s{i}" for i in range(n)], "server": self.server, "generation": 1,
            "ports": [{"name": "eth0", "to": None, "from": None}],
            "samples": [{"start_ns": until - interval, "end_ns": until,
                         "elapsed_ns": interval, "lost": [0, 0], "flows": flows,
                         "ports": [[0, 0, 0, 0]]}]})

    def call(self, request):
        op, active = request["op"], self.state["active"]
        reply = {"ok": True}
        if op == "stage":
            self.state["stage"] = {"generation": request["generation"],
                                   "table": request["table"], "on": active["generation"]}
            reply["differs"] = request["table"] != active["table"]
        elif op == "commit":
            stage = self.state["stage"]
            if not stage or stage["generation"] != request["generation"] or \
                    stage["on"] != active["generation"]:
                return {"ok": False, "error": "no such stage"}
            self.before, self.state["stage"] = active, None
            self.state["active"] = {key: stage[key] for key in ("generation", "table")}
        elif op == "confirm":
            self.knows |= bool(self.before)
            self.before = None
        elif op == "revert":
            self.state["stage"] = None
            if active["generation"] == request["from"]:
                if not self.before:
                    return {"ok": False, "error": "nothing to go back to"}
                self.go_back(request["generation"])
            else:
                active["generation"] = request["generation"]
        elif op == "abort":
            stage, self.state["stage"] = self.state["stage"], None
            self.knows |= bool(stage and stage["table"] == active["table"])
        elif op == "clear":
            self.state["active"], self.before = {"generation": 0, "table": None}, None
        elif op == "assume":
            if request["table"] != active["table"]:
                return {"ok": False, "error": "the active table is not that of this plan"}
            self.knows = True
            return reply
        elif op == "sample" and not (self.knows or self.before):
            return {"ok": False, "error": "no plan was applied through this agent yet"}
        elif op == "sample":
            reply["tm"] = self.sample(request)
            return reply
        self.write()
        return reply

    def close(self):
        """The controller is gone."""
        self.state["stage"] = None
        if self.before:
            self.go_back(self.state["active"]["generation"] + 1)
        self.write()


def harm_lock(directory):
    """To be closed: what is to happen is said and counted by one at a time."""
    lock = open(f"{directory}/lock-harm", "w", encoding="ascii")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def harmed(directory, server, op):
    """What to do to this request; each is counted."""
    path = f"{directory}/harm-{server}"
    with harm_lock(directory):
        harm = load(path)
        if not harm or op not in harm["ops"]:
            return None
        harm["count"] -= 1
        save(path, harm)
    if not -harm["times"] < harm["count"] <= 0:
        return None
    actions = harm["action"]
    return actions if isinstance(actions, str) else actions[-harm["count"] % len(actions)]


# What a hostile agent does, and what the controller says of it.
FORGERIES = {
    "the past": "recorded from 0 ns on, most others from",
    "more names": "faulty recording: servers: there are",
    "other names": "faulty recording: servers[0]: it is s",
    "another server": "faulty recording: server: it is s5",
    "another plan": "recorded under generation ffffffffffffffff, most others under",
    "another link": "faulty recording: ports[0]: it is not as in the plan",
    "far apart": "faulty recording: samples: there are 2, not 1",
    "huge counts": "faulty recording: the recording of s3 counts more than 2^56",
    "huge reply": "faulty agent: it sent",
    "no end": "faulty agent: it sent",
}


def forge(action, reply):
    """What a hostile agent makes of a sample."""
    tm = json.loads(reply["tm"])
    sample = tm["samples"][0]
    if action == "the past":
        sample["start_ns"] = 0
    elif action == "more names":
        tm["servers"] += [f"x{i}" for i in range(100)]
    elif action == "other names":
        tm["servers"].reverse()
    elif action == "another server":
        tm["server"] = "s5"
    elif action == "another plan":
        tm["plan"] = "f" * 16
    elif action == "another link":
        tm["ports"][0]["to"] = "s5:eth0" if tm["server"] != "s5" else "s3:eth0"
        tm["ports"][0]["from"] = tm["ports"][0]["to"]
    elif action.startswith("link "):	# one that is so
        _, name, end = action.split()
        tm["ports"] = [{"name": name, "to": end, "from": end}]
    elif action == "far apart":
        later = ((1 << 24) - 1) * tm["interval_ns"]
        tm["samples"].append(sample | {"start_ns": sample["start_ns"] + later,
                                       "end_ns": sample["end_ns"] + later})
    elif action == "huge counts":
        sample["flows"] = [[-1, 0, 3, 4, 0, 1 << 53, 1 << 53]] * 1100
    elif action == "generations":
        reply["generation"] = 1 << 62
    elif action == "huge reply":
        tm["comment"] = "x" * 12_000_000
    elif action == "no end":
        while True:
            sys.stdout.write("x" * 65536)
    return reply | {"tm": json.dumps(tm)}


def look(directory, server, requests):
    """An agent that only looks, beside the one that keeps the tables."""
    for line in requests:
        kernel, now = Kernel(directory, server), time.monotonic_ns()
        live = kernel.live()
        print(json.dumps({
            "id": json.loads(line)["id"], "ok": True, "protocol": 2, "live": live,
            "generation": kernel.state["active"]["generation"],
            "staged": bool(kernel.state["stage"]), "time_ns": now, "device": 1, "backups": 0,
            "counters": {}, "ports": [
                {"name": name, "live": name in live, "rx_bytes": now // 1000,
                 "tx_bytes": now // 1000, "counters": {}}
                for name in load(f"{directory}/ports")[server]]}), flush=True)
    return 0


def agent(directory, server):
    if os.path.exists(f"{directory}/dead-{server}"):
        return 1
    first = sys.stdin.readline()
    requests = itertools.chain([first] if first else [], sys.stdin)
    if first and json.loads(first)["op"] == "look":
        return look(directory, server, requests)
    with open(f"{directory}/lock-{server}", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kernel = Kernel(directory, server)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(kernel.close()))
        for line in requests:
            request = json.loads(line)
            action = harmed(directory, server, request["op"])
            if action == "die":
                open(f"{directory}/dead-{server}", "w", encoding="utf-8").close()
                return 1
            if action == "silence":
                continue
            if action == "kill":
                os.kill(load(f"{directory}/controller"), signal.SIGKILL)
                break
            if action == "refuse":
                reply = {"ok": False, "error": "refused by the test"}
            elif action and action.startswith("say "):
                reply = {"ok": False, "error": action.removeprefix("say ")}
            else:
                reply = kernel.call(request)
            reply |= {"id": request.get("id"), "staged": bool(kernel.state["stage"]),
                      "generation": kernel.state["active"]["generation"],
                      "live": kernel.live(), "protocol": 2, "plan": bool(kernel.knows or kernel.before)}
            if action == "wait":
                open(f"{directory}/waits", "w", encoding="ascii").close()
                while os.path.exists(f"{directory}/waits"):
                    time.sleep(0.005)
            elif action and "tm" in reply:
                reply = forge(action, reply)
            print(json.dumps(reply), flush=True)
        kernel.close()
    return 0


def fake(client):
    """The fake that a client asks for, in its place."""
    words, files, *_ = socket.recv_fds(client, 4096, 3)
    for fd, file in enumerate(files):
        os.dup2(file, fd)
        os.close(file)
    # SIGTERM when the client ends
    fcntl.fcntl(client, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(client, fcntl.F_SETSIG, signal.SIGTERM)
    fcntl.fcntl(client, fcntl.F_SETFL, os.O_ASYNC | fcntl.fcntl(client, fcntl.F_GETFL))
    try:
        if client.recv(1, socket.MSG_DONTWAIT) == b"":
            return 1
    except BlockingIOError:
        pass
    kind, *arguments = words.decode().split("\0")
    if kind == "agent":
        return agent(*arguments)
    peer = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return switch(struct.unpack("3i", peer)[0], *arguments)


def reap(*_):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def serve(listener, until):
    """A fake for each client, until the other end of a pipe is closed."""
    signal.signal(signal.SIGCHLD, reap)
    while until not in select.select([listener, until], [], [])[0]:
        client = listener.accept()[0]
        if os.fork():
            client.close()
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        listener.close()
        status = 1
        try:
            try:
                status = fake(client) or 0
            except SystemExit as end:
                status = end.code or 0
            except BaseException:
                sys.excepthook(*sys.exc_info())
            # the client's end is no reason to stop any more
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            sys.stdout.flush()
            client.send(bytes([status]))
        finally:
            os._exit(status)
