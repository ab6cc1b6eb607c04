#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A server says what acts on terminals and journals, again and again: agents at pipes
(fakes.py), and the user of a server's agent in three real members of etcd."""

import base64
import contextlib
import http.client
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, "selftests/unit")
from cluster import TOCTL  # noqa: E402
from fabric import FAKES, Fabric, make_plan  # noqa: E402
from fakes import load  # noqa: E402
from tap import done, report, wait_for  # noqa: E402
from test_etcd_users import Fabric as Cluster, Users  # noqa: E402

FORGED = "generation 9 is active on all 4 servers"
# clears the screen, forges lines and a priority for the journal, turns the text around
HOSTILE = f"\x1b[2J\x1b[H\r\n<0>{FORGED}\n\u202e\u009b2J\x7f\u2028\u200b\u061c\u2066\U000e0001"
HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e"
                    "\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")
LINES = 10	# of a server in a minute
SAID = 60	# texts that are said, each of them new
LEFT_OUT = re.compile(r"\b(s\d): (\d+) further messages were not printed$", re.M)


def word(number):
    """A word for each number; numbers make no new reason."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def check(what, text, lines, begins):
    """@text has so many lines at most, which begin like that, and nothing that is hidden."""
    text = text.decode()
    report(not HIDDEN.search(text), f"{what}: nothing is hidden", repr(text[:2000]))
    report(text.count("\n") <= lines and len(text.encode()) <= lines * 600,
           f"{what}: no more than {lines} lines", f"{text.count(chr(10))} lines, {len(text)} bytes")
    wrong = [line for line in text.splitlines() if not re.match(begins, line)]
    report(not wrong, f"{what}: each line begins with what we say", wrong)
    print(f"# {what}: {text.count(chr(10))} lines, {len(text.encode())} bytes")
    return text


def left_out(what, text, server, least):
    found = [int(n) for name, n in LEFT_OUT.findall(text) if name == server]
    report(found and sum(found) >= least, f"{what}: the rest is counted", text[-2000:])


# ---- agents at pipes ----


def pipes_apply(fabric):
    fabric.harm("s3", f"say {HOSTILE}{5000 * 'x'}", "stage", 1, 100)
    agents = ("--set", f"agents.command={FAKES} agent {fabric.dir} {{}}")
    run = subprocess.run([TOCTL, "apply", "--all", fabric.plan, *agents], capture_output=True,
                         check=False, timeout=120)
    text = check("apply --all at pipes", run.stdout + run.stderr, 1, "toctl apply: ")
    report(run.returncode == 1 and "s3: \\x1b[2J\\x1b[H\\x0d\\x0a<0>" in text,
           "apply --all at pipes: the error is there", text)
    fabric.harm("s3", "say ", "stage", 1, 100)
    run = subprocess.run([TOCTL, "apply", "--all", fabric.plan, *agents], capture_output=True,
                         check=False, timeout=120)
    report(run.returncode == 1 and b"s3: no reason given" in run.stderr,
           "an error without a text is one", run)
    fabric.mend()


def pipes_run(fabric):
    fabric.harm("s3", [f"say {word(i)}{HOSTILE}" for i in range(SAID)], "sample", 1, SAID)
    wait_for(lambda: load(f"{fabric.dir}/harm-s3")["count"] <= -SAID, 120)
    _, out = fabric.end()
    text = check("run at pipes", out.encode(), LINES + 15, r"\d\d:\d\d:\d\d\.\d{3} \S")
    left_out("run at pipes", text, "s3", SAID - LINES)
    said = fabric.lines("missing", lambda line: line["servers"] == ["s3"])
    report(1 < len(said) <= LINES and "\\x1b[2J" in said[0]["error"],
           "run at pipes: the log says no more", fabric.story())
    lines = fabric.lines("left-out")
    report(lines and lines[0]["server"] == "s3", "run at pipes: the log counts the rest", lines)
    with open(fabric.log, encoding="utf-8") as file:
        report(not HIDDEN.search(file.read()), "run at pipes: the log hides nothing")


def at_pipes():
    fabric = Fabric(make_plan(6, 2, 2, True))
    pipes_run(fabric)
    pipes_apply(fabric)


# ---- etcd ----


class Server:
    """The user of an agent, in place of the agent."""

    def __init__(self, cluster, name):
        self.url = cluster.etcd.clients[0].removeprefix("http://")
        self.name, self.ends, self.written, self.thread = name, False, 0, None
        self.refused = []	# what the requests were
        answer = self.ask(self.connect(), "/v3/auth/authenticate", name=f"topoopt/agents/{name}",
                          password=cluster.passwords.of(f"agents/{name}"))
        self.token = answer["token"]

    def connect(self):
        return http.client.HTTPConnection(self.url, timeout=30)

    def ask(self, connection, path, **fields):
        token = {"Authorization": self.token} if hasattr(self, "token") else {}
        connection.request("POST", path, json.dumps(fields), token)
        return json.load(connection.getresponse())

    def put(self, connection, key, value):
        encode = (base64.b64encode(text.encode()).decode()
                  for text in (f"/topoopt/agents/{self.name}/{key}", json.dumps(value)))
        answer = self.ask(connection, "/v3/kv/put", **dict(zip(("key", "value"), encode)))
        self.written += "header" in answer

    def requests(self, connection):
        keys = (base64.b64encode(key).decode() for key in (b"/topoopt/request/", b"/topoopt/request0"))
        answer = self.ask(connection, "/v3/kv/range", **dict(zip(("key", "range_end"), keys)))
        return [(kv["mod_revision"], json.loads(base64.b64decode(kv["value"])))
                for kv in answer.get("kvs", [])]

    def flood(self):
        """Rivals without end."""
        connection = self.connect()
        for i in itertools.count(1):
            if self.ends:
                return
            host = HOSTILE if i % 2 else "host.example"
            self.put(connection, "rival", {"pid": i, "host": host, "place": HOSTILE})

    def refuse(self):
        """Each request, with another reason."""
        connection, seen = self.connect(), set()
        while not self.ends:
            for revision, request in self.requests(connection):
                if revision not in seen:
                    seen.add(revision)
                    self.refused.append(request.get("op"))
                    self.put(connection, "state", {"id": request.get("id"), "ok": False,
                                                   "error": word(self.written) + HOSTILE})

    def __call__(self, what):
        self.ends, self.written, self.refused = False, 0, []
        self.thread = threading.Thread(target=what, daemon=True)
        self.thread.start()
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ends = True
        self.thread.join()


def toctl(cluster, *command):
    return subprocess.Popen([TOCTL, *command, "--set", f"etcd.endpoints={cluster.urls}",
                             *cluster.passwords.login("controller")],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def rivals(cluster, s1):
    """One apply, which lasts until many rivals have come."""
    go = f"{cluster.directory}/go"
    cluster.agents.harm("s2", "stage", f"until [ -e {go} ]; do sleep 0.05; done")
    with s1(s1.flood):
        run = toctl(cluster, "apply", "--all", cluster.two, "--set", "agents.timeout=60s")
        wait_for(lambda: not os.path.exists(f"{cluster.directory}/harm-s2-stage"))
        start = s1.written
        report(wait_for(lambda: s1.written > start + 300), "rivals come while a plan is applied")
        open(go, "w", encoding="ascii").close()
        out, err = run.communicate(timeout=120)
    text = check("apply --all beside rivals", err, LINES + 1, "toctl apply: warning: s1: ")
    report(run.returncode == 0 and "a second agent was refused: process " in text and
           " on host.example\n" in text and FORGED not in text,
           "apply --all beside rivals: they are named, without the forgery", text)
    report(out.decode().count("\n") < 3 and FORGED.encode() not in out,
           "apply --all beside rivals: the verdict stands by itself", out)
    left_out("apply --all beside rivals", text, "s1", 250)


def refusals(cluster, s1):
    """Every request is refused, with another reason."""
    cluster.agents.running[1].kill()
    cluster.agents.running[1].wait()
    with s1(s1.refuse):
        run = toctl(cluster, "apply", "--all", cluster.one, "--set", "agents.timeout=10s")
        out, err = run.communicate(timeout=120)
        text = check("apply --all beside refusals", out + err, 2, "toctl apply: ")
        report(run.returncode == 1 and "s1: " in text and "\\x1b[2J" in text,
               "apply --all beside refusals: it says who refuses", text)
        for more in ((), ("--json",)):
            run = toctl(cluster, "status", cluster.two, *more)
            out, err = run.communicate(timeout=120)
            what = " ".join(("status", *more))
            report(run.returncode and b"\\x1b[2J" in out and
                   not HIDDEN.search((out + err).decode()), f"{what}: nothing is hidden", out + err)
            report(b"\n<0>" not in out and (more == () or json.loads(out)),
                   f"{what}: nor are there forged lines", out)
    check("status, warnings", err, 2, "toctl status: ")


def refused_run(cluster, s1):
    """toctl run asks once a second while all servers say something else each time."""
    cluster.agents.mend()
    wait_for(cluster.present)
    run = toctl(cluster, "run", cluster.two)
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(run.stdout), daemon=True)
    reader.start()
    wait_for(lambda: any(b"as planned" in line for line in lines))
    cluster.agents.stop()
    others = [Server(cluster, name) for name in ("s0", "s2", "s3")]
    with contextlib.ExitStack() as stack:
        for server in (s1, *others):
            stack.enter_context(server(server.refuse))
        report(wait_for(lambda: s1.refused.count("sample") >= LINES + 4, 120),
               "run beside refusals: it goes on", lines)
        run.send_signal(signal.SIGTERM)
        run.wait(60)
    reader.join()
    text = check("run beside refusals", b"".join(lines), LINES + 15, r"\d\d:\d\d:\d\d\.\d{3} \S")
    said = [line for line in text.splitlines() if " failed on 4 of 4 servers: s0: " in line]
    report(1 < len(said) <= LINES and "\\x1b[2J" in said[0], "run beside refusals: they are named", text)
    left_out("run beside refusals", text, "s1", 1)
    check("run beside refusals, warnings", run.stderr.read(), 2, "toctl run: ")


def in_etcd():
    with tempfile.TemporaryDirectory() as directory:
        cluster = Cluster(directory)
        try:
            cluster.passwords.init()
            cluster.agents = Users(cluster.etcd, directory, cluster.passwords)
            report(wait_for(cluster.present), "all agents are there")
            s1 = Server(cluster, "s1")
            rivals(cluster, s1)
            refusals(cluster, s1)
            refused_run(cluster, s1)
        finally:
            if cluster.agents:
                cluster.agents.stop()
            cluster.etcd.stop()


if __name__ == "__main__":
    at_pipes()
    in_etcd()
    done()
