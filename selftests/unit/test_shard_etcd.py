#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl shard, shards.state=etcd: the state of a cluster in a real etcd, behind a proxy that loses
answers, waits and kills; agents have no kernel (bench/agents.c)."""

import atexit
import json
import os
import random
import subprocess
import sys
import threading

sys.path.insert(0, "selftests/unit")
from cluster import SERVERS, TOCTL, Agents, Owner  # noqa: E402
from fakes import load, save  # noqa: E402
from shard_etcd import CLUSTER, DIR, PREFIX, State  # noqa: E402
from tap import done, report, wait_for  # noqa: E402

state = State()

# --- the same as in a directory ---

said = state("show")
report(said.returncode == 3 and "no cluster is shared here: toctl shard init" in said.err,
       "nothing is shared yet", said.err)
said = subprocess.run((TOCTL, "shard", "show", "--set", "shards.state=etcd"), capture_output=True,
                      text=True, check=False)
report(said.returncode == 3 and "etcd.endpoints is not set" in said.stderr, "etcd, but not where",
       said.stderr)
said = state("init", CLUSTER)
report(said.returncode == 0 and "etcd:/topoopt/shards: 6 servers, 0 links in place, 0 shards" in said.out,
       "init", said.err)
said = state.add("a", 2, "--on", "s0,s1")
report(said.returncode == 0 and state.names() == ["a"] and
       state.keys() == ["current", "index", "texts/cluster.json/0", "texts/plans/a.2.json/0"],
       "a shard: its plan and one state are kept, and nobody holds the lock", f"{said.err}{state.keys()}")
said = state("show", "a", "--output", f"{DIR}/a")
report(said.returncode == 0 and load(f"{DIR}/a")["job"] == "a" and
       json.loads(state("show", "a", "-o", "-").out) == load(f"{DIR}/a"), "its plan as a file", said.err)
before = state.show()
said = state.add("b", 2, "--dry-run")
report(said.returncode == 0 and state.show() == before, "a dry run takes nothing", said.err)

# --- answers that are lost ---


def lose(keys, behind):
    if behind and "current" in keys:
        state.proxy.hook = None
        return True
    return False


for where, urls in (("", state.proxy.url), (", asked again at another member", f"{state.proxy.url},{state.url}")):
    state.proxy.hook = lose
    said = state.add("b", 2, url=urls)
    report(said.returncode == 0 and state.proxy.hook is None and state.names() == ["a", "b"],
           f"the answer to the commit is lost{where}: it was made, and is found to be", said.err)
    state("remove", "b")

# --- two at once ---


class Pause:
    """The proxy waits before @key is put."""

    def __init__(self, key):
        self.key, self.reached, self.go_on = key, threading.Event(), threading.Event()
        state.proxy.hook = self

    def __call__(self, keys, behind):
        if self.key in keys and not behind:
            self.reached.set()
            self.go_on.wait(60)
        return False


with Owner(state.etcd.ctl, f"{PREFIX}lock"):
    before = state.keys()
    said = state.add("c", 2)
    report(said.returncode == 1 and said.err.count("\n") == 1 and state.keys() == before and
           "another toctl is changing the cluster: process 1 on elsewhere" in said.err,
           "two at once: one is told of the other", said.err)
    report(state.names() == ["a"], "who only looks waits for nobody")

pause = Pause("current")
first = state.start("add", "b", "--job", f"{DIR}/2.json", "--effort", "1", url=state.proxy.url)
pause.reached.wait(30)
second = state.start("add", "c", "--job", f"{DIR}/2.json", "--effort", "1")
pause.go_on.set()
said = first.communicate(timeout=60)[1] + second.communicate(timeout=60)[1]
report(first.returncode == second.returncode == 0 and state.names() == ["a", "b", "c"],
       "when the other ends in time: one after the other", said)
state("remove", "b")
state("remove", "c")

pause = Pause("current")
first = state.start("add", "b", "--job", f"{DIR}/2.json", "--effort", "1", url=state.proxy.url)
pause.reached.wait(30)
state.unlock()
second = state.add("c", 2)
after = state.show()
pause.go_on.set()
first.out, first.err = first.communicate(timeout=60)
report(second.returncode == 0 and first.returncode == 1 and
       "another toctl has changed the cluster meanwhile" in first.err and state.show() == after,
       "one that lost its lock changes nothing, and is told", first.err + second.err)
state.proxy.hook = None
state("remove", "c")
report(state.names() == ["a"] and len(state.keys()) == 4, "and nothing is left of its plan", state.keys())

# --- killed at each step ---

whole = state.show()
steps = None
step, trouble = 0, []
while steps is None or step < steps:
    seen = []

    def kill(keys, behind, at=step, run=[]):
        seen.append(keys)
        if len(seen) - 1 == at:
            wait_for(lambda: run)
            run[0].kill()
            run[0].wait()
        return False

    state.proxy.hook = kill
    run = state.start("add", "b", "--job", f"{DIR}/2.json", "--effort", "1", url=state.proxy.url)
    kill.__defaults__[1].append(run)
    out, err = run.communicate(timeout=60)
    state.proxy.hook = None
    if run.returncode == 0:
        steps = step
        trouble += [] if step >= 8 else [f"only {step} steps"]
        break
    state.unlock()
    names = state.names()
    again = state.add("b", 2)
    if names not in (["a"], ["a", "b"]) or again.returncode != (names == ["a", "b"]) or \
            state.names() != ["a", "b"] or len(state.keys()) != 5:
        trouble.append(f"step {step}: {run.returncode} {names} {again.err} {state.keys()}")
    state("remove", "b")
    step += 1
state("remove", "b")
report(not trouble and state.show()["shards"] == whole["shards"],
       "killed before and after each transaction: the state before or after it, and the same "
       "again completes it", "\n".join(trouble))

# --- agents through the same etcd ---

agents = Agents(state.etcd, DIR)
atexit.register(agents.stop)
wait_for(lambda: state.etcd.present() == len(SERVERS))


def tables():
    return {name: table for name, table in agents.state().items() if table[0]}


said = state("apply", "a")
report(said.returncode == 0 and set(tables()) == {"s0", "s1"} and state.show("a")["state"] == "active",
       "apply: tables of its servers, of nobody else's", f"{said.err}{tables()}")
a = tables()
state.add("b", 2, "--on", "s2,s3")
said = state("apply", "b")
b = {name: table for name, table in tables().items() if name not in a}
report(said.returncode == 0 and set(b) == {"s2", "s3"} and {n: tables()[n] for n in a} == a,
       "a second one beside it", f"{said.err}{tables()}")
said = state("remove", "b")
report(said.returncode == 0 and tables() == a, "removed: the tables of the other one stay",
       f"{said.err}{tables()}")
os.kill(agents.running[0].pid, 9)
agents.running[0].wait()
with open(f"{DIR}/s0", "w", encoding="ascii") as file:
    file.write("0 0\n")
agents.mend()
report(wait_for(lambda: tables() == a), "a server that comes back gets the table of its shard", tables())
state.add("b", 2, "--on", "s2,s3")
state("apply", "b")
agents.running[3].kill()
agents.running[3].wait()
wait_for(lambda: state.etcd.present() == 3)
said = state("remove", "b")
report(said.returncode == 1 and "s3: no agent of it is there" in said.err and
       state.show("b")["state"] == "removing" and {n: tables()[n] for n in a} == a,
       "a server that is away: the shard is not removed yet", said.err)
agents.mend()
wait_for(lambda: state.etcd.present() == 4)
said = state("remove", "b")
report(said.returncode == 0 and tables() == a, "the same again removes it", f"{said.err}{tables()}")
state("resize", "a", "--job", f"{DIR}/3.json", "--effort", "1", "--on", "s0,s1,s2")
said = state("apply", "a")
report(said.returncode == 0 and set(tables()) == {"s0", "s1", "s2"}, "resized to three", said.err)
state("resize", "a", "--job", f"{DIR}/2.json", "--effort", "1")
said = state("apply", "a")
report(said.returncode == 0 and set(tables()) == {"s0", "s1"},
       "and back: the one that it has no more is without a table", f"{said.err}{tables()}")
for name in ("c", "d"):
    state.add(name, 2, "--on", "s2,s3")
    state("apply", name)
    state("remove", name)
decisions = {key.removeprefix("/topoopt/request/decision/")
             for key in state.etcd.keys("/topoopt/request/decision/")}
report("c" not in decisions and "a" in decisions, "what was decided for shards that are gone goes", decisions)
agents.stop()
state("remove", "--forget", "a")

# --- a state beyond what etcd takes in one request ---

random.seed(1)
numbers = iter(random.sample(range(1 << 24), 1024 * 33))


def ipv4():
    number = next(numbers)
    return f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"


save(f"{DIR}/large.json", {
    "format": "topoopt-cluster", "version": 1, "link_mode": "duplex", "optical_switches": [],
    "servers": [{"name": f"s{i}", "ipv4": ipv4(), "ports": [
        {"name": f"eth{q}", "mac": "02:" + ":".join(f"{b:02x}" for b in random.randbytes(5)),
         "ipv4": ipv4(), "bandwidth": 100000000000} for q in range(32)]} for i in range(1024)]})
said = state("init", f"{DIR}/large.json")
parts = [key for key in state.keys() if key.startswith("texts/cluster.json/")]
report(said.returncode == 0 and os.path.getsize(f"{DIR}/large.json") > 3 << 20 and
       len(state.show()["free"]) == 1024, "a cluster above etcd's limit of a request", f"{said.err}{parts}")
said = state("init", CLUSTER)
report(said.returncode == 0 and len(state.show()["free"]) == 6, "and a small one again", said.err)

# --- users of etcd ---

said = subprocess.run((TOCTL, "fabric", "init-etcd", "--set", f"etcd.endpoints={state.url}",
                       "-o", f"{DIR}/passwords", CLUSTER), capture_output=True, text=True, check=False)


def ctl(name, *arguments):
    """As that user of etcd."""
    return state.etcd.ctl(f"--user=topoopt/{name}:{load_text(f'{DIR}/passwords/{name}')}", *arguments)


def load_text(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


report(said.returncode == 0 and "asks for a user" in state("show").err, "etcd asks for a user", said.stderr)
said = ctl("agents/s0", "get", f"{PREFIX}current"), ctl("agents/s0", "put", f"{PREFIX}current", "x")
report(all("permission denied" in run.stderr for run in said), "an agent may neither read nor write it",
       said[0].stdout + said[1].stderr)
state.login = ("--set", f"etcd.password-file={DIR}/passwords/controller")
said = state.add("a", 2)
report(said.returncode == 0 and state.names() == ["a"], "the controller's user may", said.err)
state.etcd.stop()
said = state("show")
report(said.returncode == 3 and said.err.count("\n") == 1, "etcd is away: one line", said.err)
done()
