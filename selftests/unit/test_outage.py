#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""etcd does not answer a controller for a while, or carries out a decision and
does not say so, at every step of toctl run and toctl apply --all, and when a
controller takes its lock again; agents have no kernel (bench/agents.c).
Afterwards every server has the plan, under one generation, and etcd keeps no
more than is needed."""

import base64
import http.client
import http.server
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, "selftests/unit")
from cluster import SERVERS, TOCTL, Agents, Etcd, apply_all, make_plans  # noqa: E402
from tap import done, report, wait_for  # noqa: E402

COMPACTED = 60	# seconds after which what was in etcd is forgotten


class Proxy(http.server.ThreadingHTTPServer):
    """etcd as a controller sees it; fail() says when it does not answer."""

    daemon_threads = True

    def __init__(self, etcd):
        super().__init__(("127.0.0.1", 0), Handler)
        self.to = etcd.clients[0].removeprefix("http://")
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.op, self.carried_out, self.seconds = None, False, 0
        self.dark_until = 0
        self.decisions = []	# that etcd has made
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def fail(self, op, carried_out, seconds):
        """The next decision OP, or "lock", and all for so long after it."""
        self.decisions = []
        self.op, self.carried_out, self.seconds = op, carried_out, seconds

    def is_dark(self):
        return time.monotonic() < self.dark_until

    def unknown_plans(self):
        """Decisions that name a plan which was not confirmed before."""
        known = {0, self.decisions[0]["plan"]}
        found = []
        for decision in self.decisions:
            if decision["plan"] not in known:
                found.append(decision)
            if decision["op"] == "confirm":
                known.add(decision["generation"])
        return found

    def handle_error(self, request, client_address):
        """A controller that went away."""


class Handler(http.server.BaseHTTPRequestHandler):
    """One request."""

    def log_message(self, *_):
        pass

    def refuse(self):
        self.send_response(503)
        self.end_headers()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        proxy, decision, op = self.server, None, None
        if self.path == "/v3/kv/txn":
            for put in [x["request_put"] for x in json.loads(body)["success"]
                        if "request_put" in x]:
                key = base64.b64decode(put["key"])
                if key.endswith(b"request/decision"):
                    decision = json.loads(base64.b64decode(put["value"]))
                    op = decision["op"]
                elif key.endswith(b"/controller"):
                    op = "lock"
        fails = op and op == proxy.op
        if fails:
            proxy.op = None
            proxy.dark_until = time.monotonic() + proxy.seconds
        if proxy.is_dark() and not (fails and proxy.carried_out):
            self.refuse()
            return
        to = http.client.HTTPConnection(proxy.to)
        to.request("POST", self.path, body, {"Content-Type": "application/json"})
        answer = to.getresponse()
        if decision:
            proxy.decisions.append(decision)
        if fails:
            self.refuse()
            return
        self.send_response(answer.status)
        self.end_headers()
        while data := answer.read1():
            self.wfile.write(data)
            self.wfile.flush()


class Fabric:
    """etcd, an agent for each server, both plans, and what is found there."""

    def __init__(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.dir = self.tmp.name
        self.etcd = Etcd(self.dir, 1)
        self.url = self.etcd.clients[0]
        self.agents = Agents(self.etcd, self.dir)
        self.one, self.two = make_plans(self.dir)
        self.log = f"{self.dir}/run.log"
        wait_for(lambda: self.etcd.present() == len(SERVERS))

    def plans(self):
        """Generations whose plans are in etcd."""
        return {key.split("/")[3] for key in self.etcd.keys("/topoopt/plans/")}

    def apply(self, plan, url=None):
        return apply_all(url or self.url, plan, self.dir)

    def run(self, plan, url):
        open(self.log, "w", encoding="ascii").close()
        return subprocess.Popen([TOCTL, "run", plan, "--set",
                                 f"etcd.endpoints={url}", "-o", self.log],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def restored(self):
        """How each attempt to bring the fabric to the plan ended."""
        with open(self.log, encoding="ascii") as file:
            lines = [json.loads(line) for line in file if line.endswith("\n")]
        return [line["ok"] for line in lines if line["event"] == "restored"]

    def last_error(self):
        with open(self.log, encoding="ascii") as file:
            lines = [json.loads(line) for line in file if line.endswith("\n")]
        return ([line["error"] for line in lines if "error" in line] or [""])[-1]

    def end_lease(self):
        """Of the controller."""
        key = self.etcd.range("/topoopt/controller")["kvs"][0]
        self.etcd.ctl("lease", "revoke", f"{int(key['lease']):x}")

    def story(self):
        with open(self.log, encoding="ascii") as file:
            return file.read() + str(self.agents.state())

    def tables(self):
        return {server: table for server, (_, table) in self.agents.state().items()}

    def is_at(self, tables):
        return self.tables() == tables and \
            len({generation for generation, _ in self.agents.state().values()}) == 1

    def stop(self):
        self.agents.stop()
        self.etcd.stop()
        self.tmp.cleanup()


def end(run):
    run.terminate()
    return run.wait(60)


def outages(fabric, proxy, plan_one, plan_two):
    for op in ("stage", "commit", "confirm"):
        for carried_out in (False, True):
            for seconds in (0, 3):
                what = f"no answer to a {op}" + (" that is made" if carried_out else "") + \
                    (f" and for {seconds} s" if seconds else "")
                fabric.apply(fabric.one)
                proxy.fail(op, carried_out, seconds)
                run = fabric.run(fabric.two, proxy.url)
                report(wait_for(lambda: fabric.restored() and fabric.restored()[-1]),
                       f"{what}: toctl run goes on", fabric.story())
                report(fabric.is_at(plan_two), f"{what}: all have the plan", fabric.story())
                report(not proxy.unknown_plans(), f"{what}: decisions name what was confirmed",
                       proxy.decisions)
                report(len(fabric.plans()) == 1, f"{what}: one plan is kept", fabric.plans())
                report(end(run) == 0, f"{what}: and it ends well")

                fabric.apply(fabric.one)
                proxy.fail(op, carried_out, seconds)
                status, text = fabric.apply(fabric.two, proxy.url)
                report(status == 1 and "unavailable" in text and text.count("\n") == 1,
                       f"{what}: toctl apply says so", text)
                status, text = fabric.apply(fabric.two)
                report(status == 0 and fabric.is_at(plan_two), f"{what}: the next one goes on",
                       [text, fabric.agents.state()])
                wait_for(lambda: not proxy.is_dark())

    # The controller dies while nothing is known of the confirm.
    what = "no answer to a confirm"
    fabric.apply(fabric.one)
    proxy.fail("confirm", False, 60)
    run = fabric.run(fabric.two, proxy.url)
    report(wait_for(lambda: fabric.restored() and not fabric.restored()[-1]),
           f"{what}: toctl run says so", fabric.story())
    run.kill()
    run.wait()
    status, text = fabric.apply(fabric.one)
    report(status == 0 and fabric.is_at(plan_one), f"{what}, then death: the next one goes on",
           [text, fabric.agents.state()])


def locks(fabric, proxy):
    """The controller's lease ends, and etcd fails it while it takes its lock again."""
    run = fabric.run(fabric.one, proxy.url)
    for carried_out in (False, True):
        what = "no answer to a lock" + (" that is made" if carried_out else "")
        wait_for(lambda: "no server has counted" in fabric.last_error())
        proxy.fail("lock", carried_out, 2)
        fabric.end_lease()
        report(wait_for(lambda: "no server has counted" not in fabric.last_error()),
               f"{what}: toctl run says so", fabric.story())
        # What was locked without its knowledge ends first.
        report(wait_for(lambda: "no server has counted" in fabric.last_error()),
               f"{what}: it is the controller again", fabric.story())
    report(end(run) == 0, "and it ends well")


def missing(fabric, plan_two):
    """A server that is away stops nobody, and costs etcd no more than one plan."""
    fabric.apply(fabric.one)
    os.kill(fabric.agents.running[3].pid, signal.SIGKILL)
    wait_for(lambda: fabric.etcd.present() == len(SERVERS) - 1)
    run = fabric.run(fabric.two, fabric.url)
    report(wait_for(fabric.restored) and fabric.restored() == [True] and
           all(fabric.tables()[name] == plan_two[name] for name in SERVERS[:3]),
           "a server is away: all others have the plan at once", fabric.story())
    report(len(fabric.plans()) <= 2, "a server is away: plans do not pile up", fabric.plans())
    status, text = fabric.apply(fabric.one)
    report(status == 1 and "another controller is at work" in text,
           "a server is away: nobody else gets in", text)
    fabric.agents.mend()
    report(wait_for(lambda: fabric.is_at(plan_two)), "a server is back: it has the plan",
           fabric.story())
    report(fabric.restored() == [True], "a server is back: nobody else is bothered",
           fabric.story())
    end(run)


def main():
    since = time.monotonic()
    steady, fabric = Fabric(), Fabric()
    try:
        steady.apply(steady.one)
        steadily = steady.run(steady.one, steady.url)
        fabric.apply(fabric.two)
        plan_two = fabric.tables()
        fabric.apply(fabric.one)
        outages(fabric, Proxy(fabric.etcd), fabric.tables(), plan_two)
        locks(fabric, Proxy(fabric.etcd))
        missing(fabric, plan_two)

        time.sleep(max(0, since + COMPACTED + 5 - time.monotonic()))
        text = steady.etcd.ctl("get", "--rev", "2", "key").stderr
        report("has been compacted" in text, "what was in etcd a minute ago is forgotten", text)
        end(steadily)
    finally:
        fabric.stop()
        steady.stop()
    done()


if __name__ == "__main__":
    main()
