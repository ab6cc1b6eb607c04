#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Agents, controllers and observers as users of three real members of etcd: what each may
not do, tokens that etcd has forgotten, a server with two agents, replies above etcd's limit,
observers that ask without end; agents have no kernel (bench/agents.c)."""

import base64
import functools
import http.client
import json
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, "selftests/unit")
from cluster import SERVERS, TOCTL, Agents, Etcd, Owner, apply_all, end, make_plans  # noqa: E402
from tap import done, report, wait_for  # noqa: E402



class Passwords:
    """The files of toctl fabric init-etcd."""

    def __init__(self, etcd, directory):
        self.etcd, self.directory = etcd, f"{directory}/passwords"

    def init(self, *more):
        return subprocess.run(
            [TOCTL, "fabric", "init-etcd", "--set", f"etcd.endpoints={','.join(self.etcd.clients)}",
             "-o", self.directory, "examples/ring-4/cluster.json", *more],
            capture_output=True, text=True, check=False)

    def file(self, name):
        return f"{self.directory}/{name}"

    def login(self, name):
        """Options of toctl with the password of that user."""
        return "--set", f"etcd.password-file={self.file(name)}"

    def of(self, name):
        with open(self.file(name), encoding="ascii") as file:
            return file.read().strip()

    def ctl(self, name, *args):
        user = name if name == "root" else f"topoopt/{name}"
        return self.etcd.ctl(f"--user={user}:{self.of(name)}", *args)


class Users(Agents):
    """Agents that log in."""

    def __init__(self, etcd, directory, passwords):
        self.passwords = passwords
        super().__init__(etcd, directory)

    def start(self, i):
        return super().start(i, TOPOOPT_ETCD_PASSWORD=self.passwords.of(f"agents/{SERVERS[i]}"))


class Fabric:
    """What is asked of it."""

    def __init__(self, directory):
        self.directory = directory
        self.etcd = Etcd(directory)
        self.urls = ",".join(self.etcd.clients)
        self.passwords = Passwords(self.etcd, directory)
        self.agents = None
        self.one, self.two = make_plans(directory)

    def apply(self, plan, *more, password="controller"):
        return apply_all(self.urls, plan, self.directory, *self.passwords.login(password),
                         "--set", "agents.timeout=30s", *more)

    def keys(self, prefix):
        return self.passwords.ctl("root", "get", "--prefix", "--keys-only",
                                  f"/topoopt/{prefix}").stdout.split()

    def owner(self, server):
        text = self.passwords.ctl("root", "get", "--print-value-only",
                                  f"/topoopt/agents/{server}/owner").stdout
        return json.loads(text or "{}").get("pid")

    def present(self):
        return sum(key.endswith("/state") for key in self.keys("agents/")) == len(SERVERS)

    def tables(self):
        return {server: table for server, (_, table) in self.agents.state().items()}

    def status(self, user="observer", password=None):
        """toctl status, under way."""
        return subprocess.Popen(
            [TOCTL, "status", "--json", self.one, "--set", f"etcd.endpoints={self.urls}",
             "--set", f"etcd.user=topoopt/{user}", *self.passwords.login(password or user),
             "--set", "agents.timeout=30s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=dict(os.environ, TOPOOPT_STATE=f"{self.directory}/state"))

    def look(self, request):
        """As an observer, by its own hands."""
        return self.passwords.ctl("observer", "put", "/topoopt/request/look", json.dumps(request))

    def answer(self, server):
        """The last one to a look, and how many there were."""
        reply = json.loads(self.passwords.ctl("observer", "get", "-w", "json",
                                              f"/topoopt/agents/{server}/look").stdout or "{}")
        if not reply.get("kvs"):
            return {}, 0
        return json.loads(base64.b64decode(reply["kvs"][0]["value"])), reply["kvs"][0]["version"]

    def agent(self, server, *more):
        """One that is to be refused; it is ended when it is not."""
        return subprocess.run(["timeout", "60", TOCTL, "agent", "--set", f"etcd.endpoints={self.urls}",
                               "--node", server, *more],
                              capture_output=True, text=True, check=False)


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="ascii") as file:
        return file.read()


def one_line(run, text):
    return run.returncode == 1 and text in run.stderr and run.stderr.count("\n") == 1


def strangers(fabric):
    """What others made before etcd asked for users does not outlive that."""
    passwords, ctl = fabric.passwords, fabric.etcd.ctl
    for command in (
            ["role", "add", "root"], ["user", "add", "evil:evil"], ["user", "grant-role", "evil", "root"],
            ["role", "add", "topoopt/agents"],
            ["role", "grant-permission", "topoopt/agents", "--prefix=true", "readwrite", "/topoopt/"],
            ["user", "add", "topoopt/agents/s2:x"],
            ["user", "grant-role", "topoopt/agents/s2", "root"]):
        ctl(*command)
    run = passwords.init()
    report(one_line(run, "anybody may have made the users that etcd has (evil): "),
           "a user that anybody may have made is refused by name", run)
    ctl("user", "delete", "evil")


def users(fabric):
    """Made once; another run makes what is missing."""
    passwords = fabric.passwords
    strangers(fabric)
    run = passwords.init()
    report(run.returncode == 0 and run.stdout.startswith("7 users, 7 of them new"),
           "users for root, the controller, an observer and four agents", run)
    files = [passwords.file(name) for name in
             ["root", "controller", "observer"] + [f"agents/{server}" for server in SERVERS]]
    report(all(stat.S_IMODE(os.stat(file).st_mode) == 0o600 for file in files),
           "nobody else reads their passwords")
    report(passwords.ctl("agents/s2", "user", "list").returncode != 0 and
           passwords.ctl("agents/s1", "put", "/topoopt/request/decision", "x").returncode != 0,
           "what others allowed them before is gone")
    before = passwords.of("agents/s1")
    run = passwords.init("--json")
    report(run.returncode == 0 and json.loads(run.stdout)["new"] == 0 and
           passwords.of("agents/s1") == before, "once more, nothing is new", run)
    run = passwords.init(*passwords.login("controller"))
    report(run.returncode == 0 and ", 0 of them new" in run.stdout,
           "nor where fabric.conf is a controller's", run)
    os.unlink(passwords.file("agents/s1"))
    run = passwords.init()
    report("1 of them new" in run.stdout and passwords.of("agents/s1") != before and
           passwords.ctl("agents/s1", "get", "/topoopt/controller").returncode == 0,
           "a password that was lost is replaced", run)
    os.chmod(passwords.file("agents"), 0o777)
    run = passwords.init()
    report(one_line(run, "agents/: others may write there; chmod 700 it"),
           "no passwords where others may write", run)
    os.chmod(passwords.file("agents"), 0o700)
    if os.geteuid() == 0:
        os.chown(passwords.file("agents/s1"), 65534, -1)
        run = passwords.init()
        report(one_line(run, "agents/s1: belongs to another user"), "nor is another user's taken", run)
        os.chown(passwords.file("agents/s1"), 0, -1)
    run = fabric.agent("s1")
    report(one_line(run, "asks for a user and its password"), "no password: one line", run)
    os.chmod(passwords.file("agents/s1"), 0o640)
    run = fabric.agent("s1", *passwords.login("agents/s1"))
    report(one_line(run, "others may read this password; chmod 600 it"),
           "a password that others may read is refused", run)
    os.chmod(passwords.file("agents/s1"), 0o600)
    run = fabric.agent("s1", *passwords.login("agents/s2"))
    report(one_line(run, "(user topoopt/agents/s1): etcd.user names another"),
           "another server's password is none", run)
    run = subprocess.run([TOCTL, "agent", "--set", "etcd.endpoints=http://192.0.2.1:2379",
                          "--node", "s1", *passwords.login("agents/s1")],
                         capture_output=True, text=True, check=False)
    report(one_line(run, "use https"), "no password goes over http to another host", run)


def forgeries(fabric, plan_one):
    """What the agent of s1 may write, and what it may not."""
    ctl = fabric.passwords.ctl
    clear = json.dumps({"op": "clear", "id": 1})
    for key in ("request/decision", "request/query", "controller", "plans/1/job/0",
                "agents/s2/state", "agents/s2/owner", "samples/s2/state/0", "agents/s1/more"):
        run = ctl("agents/s1", "put", f"/topoopt/{key}", clear)
        report("permission denied" in run.stderr, f"the agent of s1 cannot write {key}",
               run.stderr[-400:])
    for key in ("agents/s2/state", "agents/s2/owner", "request/decision"):
        run = ctl("agents/s1", "del", f"/topoopt/{key}")
        report("permission denied" in run.stderr, f"nor delete {key}", run)
    run = ctl("controller", "put", "/topoopt/agents/s2/state", "{}")
    report("permission denied" in run.stderr, "nobody speaks for s2, nor does a controller", run)
    run = fabric.etcd.ctl("put", "/topoopt/request/decision", clear)
    report("user name is empty" in run.stderr, "nobody decides without a password", run)
    status, text = fabric.apply(fabric.two, password="agents/s1")
    report(status == 1 and "(user topoopt/controller)" in text and text.count("\n") == 1,
           "an agent's password makes no controller", text)
    status, text = fabric.apply(fabric.two, "--set", "etcd.user=topoopt/agents/s1",
                                password="agents/s1")
    report(status == 1 and text == "toctl apply: etcd: user topoopt/agents/s1 may not write "
           "controller: use topoopt/controller\n", "nor does its user, and it is said whose may", text)
    report(fabric.tables() == plan_one, "nothing has changed", fabric.agents.state())


def tokens(fabric, plan_two):
    """etcd forgets them when a member is started, and when a password changes."""
    log = f"{fabric.directory}/run.log"
    run = subprocess.Popen([TOCTL, "run", fabric.one, "--set", f"etcd.endpoints={fabric.urls}",
                            *fabric.passwords.login("controller"), "-o", log],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: '"restored"' in read(log))
        for i, member in enumerate(fabric.etcd.members):
            member.kill()
            member.wait()
            fabric.etcd.start(i)
            report(wait_for(lambda: not fabric.etcd.ctl("endpoint", "status").returncode),
                   f"member {i} knows no token any more")
    finally:
        status = end(run)
    report(status == 0, "toctl run goes on, and ends well", read(log))
    report(wait_for(fabric.present), "so do the agents")
    os.unlink(fabric.passwords.file("agents/s3"))
    fabric.passwords.init()
    os.kill(fabric.agents.running[3].pid, 9)
    fabric.agents.running[3].wait()
    fabric.agents.mend()
    # else its predecessor's lease may end before it is there
    wait_for(lambda: fabric.owner("s3") == fabric.agents.running[3].pid)
    status, text = fabric.apply(fabric.two)
    report(status == 0 and fabric.tables() == plan_two, "and follow the next decision", text)


def names(fabric):
    """One agent for a server."""
    agents, passwords = fabric.agents, fabric.passwords
    # with a lease that outlives what a controller takes to see it
    run = fabric.agent("s1", "--lease", "600s", *passwords.login("agents/s1"))
    report(run.returncode == 1 and run.stderr.splitlines()[-1].startswith(
        f"toctl agent: server s1 has an agent already: process {agents.running[1].pid} on "),
           "the second agent is refused, and names the first", run)
    status, text = fabric.apply(fabric.one)
    report(status == 0 and "s1: a second agent was refused: process " in text,
           "the controller says so", text)
    owner = passwords.ctl("root", "get", "--print-value-only", "/topoopt/agents/s1/owner").stdout
    agents.running[1].kill()
    agents.running[1].wait()
    # of no lease, so that none ends
    passwords.ctl("root", "put", "/topoopt/agents/s1/owner", owner.strip())
    agents.mend()
    report(wait_for(lambda: fabric.owner("s1") == agents.running[1].pid),
           "one that was killed has a successor before its lease ends")
    agents.running[2].kill()
    agents.running[2].wait()
    with Owner(functools.partial(passwords.ctl, "root"), "/topoopt/agents/s2/owner"):
        run = fabric.agent("s2", "--lease", "1s", *passwords.login("agents/s2"))
    report(run.returncode == 1 and "server s2 has an agent already: process 1 on elsewhere" in
           (run.stderr.splitlines() or [""])[-1], "one elsewhere that lives is named", run)
    agents.mend()
    report(wait_for(lambda: fabric.owner("s2") == agents.running[2].pid),
           "when that has gone, the next one comes")
    wait_for(fabric.present)


def large(fabric, plan_one, plan_two):
    """Replies above etcd's limit of 1.5 MiB."""
    def pad(size):
        with open(f"{fabric.directory}/padding-s1", "w", encoding="ascii") as file:
            file.write(str(size))

    pad(4000000)
    status, text = fabric.apply(fabric.two)
    report(status == 0 and fabric.tables() == plan_two, "replies of 4 MB go in parts", text)
    report(len([key for key in fabric.keys("samples/s1/") if "/state/" in key]) > 1,
           "which etcd has", fabric.keys("samples/"))
    pad(9000000)
    status, text = fabric.apply(fabric.one)
    report(status == 1 and "s1: a reply of " in text.splitlines()[-1],
           "of one that is too large, the controller is told", text)
    os.unlink(f"{fabric.directory}/padding-s1")
    status, text = fabric.apply(fabric.one)
    report(status == 0 and fabric.tables() == plan_one, "the agent hears all the same", text)


def reached(run):
    """How many servers an observer reached, and what it said."""
    out, err = run.communicate(timeout=120)
    return json.loads(out)["reached"] if out else 0, out + err


def observers(fabric):
    """What they may: look, and nothing else."""
    ctl = fabric.passwords.ctl
    for key in ("request/decision", "request/query", "controller", "plans/1/job/0",
                "agents/s2/state", "agents/s1/look", "samples/s2/look/0", "shards/current", "more"):
        run = ctl("observer", "put", f"/topoopt/{key}", "{}")
        report("permission denied" in run.stderr, f"an observer cannot write {key}", run)
    for key in ("controller", "request/", "plans/", "agents/", "samples/", "shards/"):
        run = ctl("observer", "get", "--limit=1", "-w", "json", *["--prefix"] * key.endswith("/"),
                  f"/topoopt/{key}")
        report(not run.returncode, f"it reads {key}", run)
    number, text = reached(fabric.status())
    report(number == len(SERVERS), "toctl status, as an observer", text)
    status, text = fabric.apply(fabric.two, "--set", "etcd.user=topoopt/observer",
                                password="observer")
    report(status == 1 and text == "toctl apply: etcd: user topoopt/observer may not write "
           "controller: use topoopt/controller\n", "it applies nothing", text)
    number, text = reached(fabric.status("agents/s1"))
    report(not number and text == "toctl status: etcd: user topoopt/agents/s1 may not read agents/: "
           "use topoopt/observer\n", "an agent's user is no observer's", text)
    run = subprocess.run([TOCTL, "shard", "show", "--set", "shards.state=etcd",
                          "--set", f"etcd.endpoints={fabric.urls}",
                          "--set", "etcd.user=topoopt/observer", *fabric.passwords.login("observer")],
                         capture_output=True, text=True, check=False)
    report("no cluster is shared here" in run.stderr, "toctl shard show reads as an observer", run)


def together(fabric):
    """Observers that ask at the same time, for replies that go in parts."""
    path = f"{fabric.directory}/padding-s1"
    with open(path, "w", encoding="ascii") as file:
        file.write("500000")
    found = []
    for _ in range(2):
        found += [reached(run) for run in [fabric.status() for _ in range(3)]]
    report(all(number == len(SERVERS) for number, _ in found),
           "three observers at once, all of which get large replies",
           [text[-400:] for number, text in found if number != len(SERVERS)])
    os.unlink(path)


def samples(fabric):
    """An observer's sample is put off until its time; none is taken beside a controller."""
    until = time.time_ns() + 3_000_000_000
    fabric.look({"op": "sample", "id": 1, "interval_ns": 1_000_000, "until_ns": until})
    fabric.look({"op": "look", "id": 2})
    report(wait_for(lambda: fabric.answer("s1")[0].get("id") == 2) and time.time_ns() < until,
           "an agent does not wait for a sample", fabric.answer("s1"))
    report(wait_for(lambda: fabric.answer("s1")[0].get("id") == 1) and time.time_ns() >= until,
           "which comes when its time is over", fabric.answer("s1"))
    answers = fabric.answer("s1")[1]
    fabric.look({"op": "look", "id": 1000 * "long"})
    fabric.look({"op": "look", "id": 6})
    report(wait_for(lambda: fabric.answer("s1")[0].get("id") == 6) and
           fabric.answer("s1")[1] == answers + 1, "what is no number is not repeated")
    fabric.look({"op": "sample", "id": 5, "interval_ns": 1_000_000,
                 "until_ns": time.time_ns() + 60_000_000_000})
    report(wait_for(lambda: fabric.answer("s1")[0].get("id") == 5) and
           "clock is more than 10 s ahead" in fabric.answer("s1")[0].get("error", ""),
           "one that would be too far ahead is refused", fabric.answer("s1"))
    fabric.passwords.ctl("controller", "put", "/topoopt/controller", "process 7 on host9")
    fabric.look({"op": "sample", "id": 3, "interval_ns": 1_000_000, "until_ns": 1})
    wait_for(lambda: fabric.answer("s1")[0].get("id") == 3)
    report(fabric.answer("s1")[0].get("error") == "a controller is at work: process 7 on host9",
           "a controller's samples are not cut by an observer's", fabric.answer("s1"))
    fabric.passwords.ctl("controller", "del", "/topoopt/controller")


def flood(fabric, plan_two):
    """Looks without end: decisions are obeyed, and few looks are answered."""
    url = fabric.etcd.clients[0]
    token = fabric.etcd.ask(url, "/v3/auth/authenticate", {
        "name": "topoopt/observer", "password": fabric.passwords.of("observer")})["token"]
    headers = {"Authorization": token}
    encoded = [base64.b64encode(text.encode()).decode()
               for text in ("/topoopt/request/look", json.dumps({"op": "look", "id": 4}))]
    document = json.dumps({"key": encoded[0], "value": encoded[1]})
    over, sent = threading.Event(), []

    def ask():
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)
        while not over.is_set():
            connection.request("POST", "/v3/kv/put", document, headers)
            connection.getresponse().read()
            sent.append(time.monotonic())

    before = fabric.answer("s1")[1]
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(sent) > 3000)
    status, text = fabric.apply(fabric.two, "--set", "agents.timeout=5s")
    over.set()
    for thread in threads:
        thread.join()
    seconds = sent[-1] - sent[0]
    answers = fabric.answer("s1")[1] - before
    print(f"# {len(sent)} looks in {seconds:.1f} s, {answers} answers of s1")
    report(status == 0 and fabric.tables() == plan_two, "looks without end hold up no decision", text)
    report(0 < answers <= 12 * (seconds + 2), "some ten a second are answered", (answers, seconds))


def main():
    with tempfile.TemporaryDirectory() as directory:
        fabric = Fabric(directory)
        try:
            users(fabric)
            fabric.agents = Users(fabric.etcd, directory, fabric.passwords)
            report(wait_for(fabric.present), "agents that log in are there")
            status, text = fabric.apply(fabric.two)
            plan_two = fabric.tables()
            report(status == 0, "a plan on all servers", text)
            status, text = fabric.apply(fabric.one)
            plan_one = fabric.tables()
            report(status == 0 and plan_one != plan_two, "another plan", text)
            forgeries(fabric, plan_one)
            tokens(fabric, plan_two)
            names(fabric)
            large(fabric, plan_one, plan_two)
            observers(fabric)
            together(fabric)
            samples(fabric)
            flood(fabric, plan_two)
        finally:
            if fabric.agents:
                fabric.agents.stop()
            fabric.etcd.stop()
    done()


if __name__ == "__main__":
    main()
