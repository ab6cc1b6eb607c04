#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl shard, shards.state=etcd, killed after each transaction that others see, and before and
after a change of an optical switch: the next command completes it or undoes it, and the shard
beside it keeps its tables and cross-connects. Agents have no kernel (bench/agents.c)."""

import atexit
import itertools
import json
import os
import subprocess
import sys

sys.path.insert(0, "selftests/unit")
from cluster import AGENTS  # noqa: E402
from fakes import load, save  # noqa: E402
from ocs import Device, Refused, Scpi, Server  # noqa: E402
from shard_etcd import CLUSTER, DIR, State  # noqa: E402
from tap import done, report, wait_for  # noqa: E402

state = State()
agents = subprocess.Popen((AGENTS, state.url, DIR, "0", "6"))
atexit.register(agents.wait)
atexit.register(agents.kill)
wait_for(lambda: state.etcd.present() == 6)
devices = {}


class Switch(Device):
    """Kills who asks it for a change, once, before or after that."""

    when, victim = None, None

    def change(self, remove, add):
        when, self.when = self.when, None
        if when == "before":
            self.kill()
            raise Refused("nobody waits for this")
        fault = super().change(remove, add)
        if when == "after":
            self.kill()
        return fault

    def kill(self):
        self.victim.kill()
        self.victim.wait()


def controlled(path, name):
    """The cluster, on optical switches that kill."""
    cluster = load(path)
    for optical in cluster["optical_switches"]:
        device = devices[optical["name"]] = Switch.make(f"{DIR}/ocs-{optical['name']}", optical["ports"])
        optical["control"] = {"driver": "polatis-scpi", "address": Server(Scpi, device).address}
    save(f"{DIR}/{name}-cluster", cluster)
    return f"{DIR}/{name}-cluster"


def tables():
    """Generation and table of each server that has one."""
    found = {}
    for i in range(6):
        if os.path.exists(f"{DIR}/s{i}"):
            with open(f"{DIR}/s{i}", encoding="ascii") as text:
                generation, table = text.read().split()
            if generation != "0":
                found[f"s{i}"] = generation, table
    return found


def joined():
    return {(name, *sorted(pair)) for name, device in devices.items() for pair in device.joined()}


def crosses(of):
    return {(x["optical_switch"], *sorted((x["a"], x["b"]))) for x in of["cross_connects"]}


def dark():
    """As if somebody had pulled the fibres of all but shard a."""
    with devices["panel"].state() as content:
        content["joined"] = [pair for pair in content["joined"] if max(pair) <= 8]


def do(verb, *arguments):
    """What it says when it fails."""
    run = state(verb, *arguments)
    return run.err if run.returncode else ""


def add():
    """Shard b, planned."""
    dark()
    return do("add", "b", "--job", f"{DIR}/2.json", "--effort", "1", "--on", "s2,s3")


class Kill:
    """Runs commands until @at: so many transactions of theirs that others see are done; or a
    switch, and when."""

    def __init__(self, at, kept):
        self.at, self.kept, self.times, self.said = at, kept, 0, ""

    def __call__(self, verb, *arguments):
        """Return: what is wrong then."""
        seen, running = itertools.count(), []

        def hook(keys, behind):
            if behind and any(key == "current" or "decision" in key for key in keys) and next(seen) == self.at:
                wait_for(lambda: running)
                running[0].kill()
                running[0].wait()
            return False

        state.proxy.hook = hook
        run = state.start(verb, *arguments, url=state.proxy.url)
        running.append(run)
        if isinstance(self.at, tuple):
            device = devices[self.at[0]]
            device.victim, device.when = run, self.at[1]
        self.said = run.communicate(timeout=60)[1]
        state.proxy.hook = None
        if isinstance(self.at, tuple):
            device.when = None
        if run.returncode == -9:
            self.times += 1
            state.unlock()
        elif run.returncode:
            return self.said
        return untouched(self.kept)


def kept_of_a():
    """What shard a has."""
    return tables()["s0"], tables()["s1"], crosses(state.show("a"))


def untouched(kept):
    """What of shard a is not as it was."""
    now = tables()
    if (now.get("s0"), now.get("s1")) != kept[:2]:
        return f"a has {now.get('s0')}, {now.get('s1')}, not {kept[:2]}"
    return "" if kept[2] <= joined() else "links of a are dark"


def look(*servers, kept):
    """What is not so: shard b is active on these, gone if there are none; a is as it was."""
    shards = {shard["name"]: shard for shard in state.show()["shards"]}
    b = shards.get("b")
    if crosses(shards["a"]) != kept[2] or set(tables()) != {"s0", "s1", *servers}:
        return f"tables {tables()}"
    if not servers:
        return f"b is {b}" if b else untouched(kept)
    if not b or b["state"] != "active" or "next" in b or b["servers"] != list(servers):
        return f"b is {b}"
    return untouched(kept) if crosses(b) <= joined() else "links of b are dark"


def everywhere(name, act, switches=("panel",), least=3):
    """Have @act kill what it does at each step; it says what is wrong."""
    trouble, times, kept = [], 0, kept_of_a()
    for at in itertools.chain(((switch, when) for switch in switches for when in ("before", "after")),
                              itertools.count()):
        kill = Kill(at, kept)
        wrong = act(kill, kept)
        times += kill.times
        if wrong or (isinstance(at, tuple) and not kill.times):
            trouble.append(f"{at}: {wrong or 'was not killed'}")
        if len(trouble) > 2 or not isinstance(at, tuple) and not kill.times:
            break
    report(not trouble and times >= least + 2 * len(switches), f"{name}, killed {times} times", "\n".join(trouble))


# --- six servers on one optical switch ---

state("init", controlled(CLUSTER, "panel"))
said = state.add("a", 2, "--on", "s0,s1", "--apply")
report(said.returncode == 0 and set(tables()) == {"s0", "s1"}, "a shard beside which all happens", said.err)


def apply_and_remove(kill, kept):
    wrong = add() or kill("apply", "b") or do("apply", "b") or look("s2", "s3", kept=kept) or \
        kill("remove", "b")
    if not wrong and any(shard == "b" for shard in state.names()):
        wrong = do("remove", "b")
    return wrong or look(kept=kept)


def apply_undone(kill, kept):
    return add() or kill("apply", "b") or do("remove", "b") or look(kept=kept)


def resize(servers):
    dark()
    return do("resize", "b", "--job", f"{DIR}/{len(servers)}.json", "--effort", "1", "--on", ",".join(servers))


def resized(kill, kept):
    servers = state.show("b")["servers"]
    servers = ["s2", "s3", "s4"] if len(servers) == 2 else ["s2", "s3"]
    return resize(servers) or kill("apply", "b") or do("apply", "b") or look(*servers, kept=kept)


def undo(kept, servers, to):
    """Back, unless all was done."""
    b = state.show("b")
    if "next" in b:
        return do("undo", "b") or do("apply", "b") or look(*servers, kept=kept)
    return look(*(servers if b["servers"] == servers else to), kept=kept)


def resize_undone(kill, kept):
    servers = state.show("b")["servers"]
    to = ["s2", "s3", "s4"] if len(servers) == 2 else ["s2", "s3"]
    return resize(to) or kill("apply", "b") or undo(kept, servers, to)


def replace(kill):
    """Return: the servers before, those after, and what is wrong."""
    servers = state.show("b")["servers"]
    out, by = servers[1], "s5" if servers[1] == "s3" else "s3"
    dark()
    state("drain", "--end", by)
    return servers, [servers[0], by], kill("replace", out, "--by", by, "--apply")


def replaced(kill, kept):
    servers, to, wrong = replace(kill)
    b = state.show("b")
    if not wrong and b["servers"] == servers and "next" not in b:	# nothing was done
        return look(*servers, kept=kept) or do("apply", "b")
    return wrong or do("apply", "b") or look(*to, kept=kept)


def replace_undone(kill, kept):
    servers, to, wrong = replace(kill)
    return wrong or undo(kept, servers, to)


everywhere("apply, then remove: the same again completes it", apply_and_remove)
everywhere("apply: remove undoes it", apply_undone)
add()
state("apply", "b")
everywhere("resize: apply completes it", resized)
everywhere("resize: undo and apply undo it", resize_undone)
if len(state.show("b")["servers"]) == 3:
    resize(["s2", "s3"])
    state("apply", "b")
everywhere("replace: apply completes it", replaced)
everywhere("replace: undo and apply undo it", replace_undone)
state("remove", "b")
for server in "s3", "s5":
    state("drain", "--end", server)
keys = state.keys()
report([key.split(".")[0] for key in keys] == ["current", "index", "texts/cluster", "texts/plans/a"],
       "plans that a kill left were swept up", keys)
state("remove", "a")

# --- four servers with look-ahead ports ---

devices.clear()
state.forget()
said = state("init", controlled("examples/look-ahead-4/cluster.json", "ahead"))
report(said.returncode == 0, "a cluster with look-ahead ports", said.err)
with devices["flip"].state() as flips:
    flips["joined"] = [[port, 8 + port] for port in range(1, 9)]
for name, servers in (("a", "s0,s1"), ("b", "s2,s3")):
    said = state.add(name, 2, "--on", servers, "--apply")
report(said.returncode == 0, "two shards on it", said.err)
PREPARE = ("prepare", "b", "--job", f"{DIR}/2.json", "--effort", "1")


def ends():
    """Where the 1x2 switches of shard b are: at the first or the second end."""
    return {int(b > 16) for a, b in devices["flip"].joined() if 5 <= a <= 8}


def prepared(kill, kept):
    """Nothing that runs has changed; the same again, and flip, which is killed too."""
    was, before = ends(), tables()
    for name in "panel0", "panel1":
        with devices[name].state() as content:	# what is not in use
            if (name == "panel1") != (was == {1}):
                content["joined"] = [pair for pair in content["joined"] if min(pair) <= 4]
    wrong = kill(*PREPARE)
    b = state.show("b")
    if wrong or b["state"] != "active" or ends() != was or tables() != before:
        return wrong or f"b is {b}, {ends()} {tables()}"
    wrong = do(*PREPARE) or kill("flip", "b")
    b = state.show("b")
    if not wrong and "next" in b:
        wrong = do("apply" if b["state"] == "changing" else "flip", "b")
    if wrong or len(ends()) != 1 or (ends() == was and not kill.times):	# both ends have what it needs
        return wrong or f"its 1x2 switches are at {ends()}, they were at {was}"
    return look("s2", "s3", kept=kept)


everywhere("prepare: the same again, flip: apply completes it", prepared, switches=("flip",))
done()
