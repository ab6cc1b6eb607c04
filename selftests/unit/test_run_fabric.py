#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 600
"""toctl run on a fabric without kernels (fabric.py). Every step of a change fails in
turn, on a server, at the switch, by the death of an agent or of the controller; each
time the fabric must end on the old plan, whole, and while links are dark no server
may need them."""

import json
import os
import subprocess
import sys
import time

sys.path.insert(0, "selftests/unit")
from fabric import Fabric, make_plan  # noqa: E402
from fakes import FORGERIES, TIMEOUT, load, save  # noqa: E402
from tap import done, report, wait_for  # noqa: E402

ROUNDS = int(os.environ.get("TEST_ROUNDS", "40"))	# of a hostile agent
FLAT = 4096	# kB that these may take more than the first ones


def server_fails(made, action, harm, steps):
    for words, op, count in steps:
        # a commit is tried twice
        fails(made, f"s3 {action} at {words}",
              lambda fabric, op=op, count=count: fabric.harm("s3", harm, op, count, 2), "s3")


def changes(made, what, steps):
    """The way that works."""
    fabric = Fabric(made)
    report(not fabric.wrong(fabric.plan), f"{what}: the start brings the fabric to the plan",
           fabric.wrong(fabric.plan))
    time.sleep(2)
    report(not fabric.lines("shift"), f"{what}: steady traffic is no shift", fabric.story())
    os.rename(fabric.plan, f"{fabric.dir}/real")
    os.chmod(f"{fabric.dir}/real", 0o600)
    os.symlink("real", fabric.plan)
    fabric.traffic(3)
    if fabric.wait("changed", what):
        report([line["action"] for line in fabric.lines("changed")] == ["rewire"],
               f"{what}: the fabric is rewired", fabric.story())
    done = [line["step"] for line in fabric.lines("step")]
    times = done.count("switch")
    report(done == ["drain"] + ["stage", "switch", "carrier", "commit"] * times + ["verify"] and
           times >= steps, f"{what}: in all steps", fabric.story())
    status, out = fabric.end()
    report(status == 0 and fabric.lines("end"), f"{what}: SIGTERM ends it well", out)
    report(load(fabric.plan)["links"] != made["links"], f"{what}: the plan in force was written")
    report(os.path.islink(fabric.plan) and os.stat(fabric.plan).st_mode & 0o777 == 0o600,
           f"{what}: where its link leads, as private as it was")
    report(not fabric.wrong(fabric.plan), f"{what}: the fabric is as the new plan says",
           fabric.wrong(fabric.plan))
    report(fabric.poor()[1:] == [[]] * times, f"{what}: nobody needed a link while it was dark",
           fabric.poor())
    fabric.start()
    report(fabric.lines("restored")[0]["changed"] is False,
           f"{what}: a new start changes nothing", fabric.story())
    fabric.end()


def cannot_count(made):
    """A server refuses 20 samples."""
    fabric = Fabric(made)
    fabric.harm("s3", "refuse", "sample", 1, 20)
    if fabric.wait("missing", "s3 cannot count", lambda line: line["servers"] == ["s3"]):
        line = fabric.lines("missing", lambda line: line["servers"])[0]
        report(line.get("error") == "s3: refused by the test", "s3 cannot count: the log says why",
               line)
    fabric.wait("missing", "s3 counts again",
                lambda line: line["servers"] == [] and "error" not in line)
    fabric.end()


def dry_run(made):
    """On a fabric that runs the plan already."""
    fabric = Fabric(made)
    fabric.end()
    fabric.options = (*fabric.options, "--dry-run")
    fabric.launch()
    fabric.wait("missing", "a dry run", lambda line: line["servers"] == [])
    fabric.traffic(3)
    fabric.wait("decision", "a dry run", lambda line: line["action"] == "rewire")
    status, out = fabric.end()
    report(status == 0 and not fabric.lines("changed") and not fabric.wrong(fabric.plan) and
           load(fabric.plan)["links"] == made["links"], "a dry run: nothing is changed", out)


def hostile(made):
    """A server sends what it likes: it is named, and all others count."""
    fabric = Fabric(made)
    fabric.wait("missing", "a hostile agent", lambda line: line["servers"] == [])
    for i, (action, error) in enumerate(FORGERIES.items()):
        what, since = f"a hostile agent, {action}", time.time() - 0.001
        server = f"s{1 + i % 3}"	# of each, ten lines in a minute are logged
        error = f"{server}: {error.replace('s3', server)}"
        fabric.harm(server, action, "sample", 1, 3)
        # it may be late before, where much is to be read
        if fabric.wait("missing", what, lambda line, since=since, server=server, error=error:
                       line["time"] >= since and server in line["servers"] and
                       error in line.get("error", "")):
            report(True, f"{what}: it is named")
        report(wait_for(lambda server=server: load(f"{fabric.dir}/harm-{server}")["count"] <= -2) and
               wait_for(lambda: fabric.lines("missing")[-1]["servers"] == [], 120),
               f"{what}: no more", fabric.story())
    report(not fabric.lines("refused") and not fabric.lines("shift"),
           "a hostile agent: nothing else happens", fabric.story())
    fabric.harm("s3", "generations", "sample", 1, 40)
    report(wait_for(lambda: load(f"{fabric.dir}/harm-s3")["count"] <= -40),
           "a hostile agent, generations: the loop goes on", fabric.story())
    said = fabric.lines("restored", lambda line: line["why"] == "a server has a later generation")
    report(len(said) <= 10, "a hostile agent, generations: the log says no more", said)
    fabric.traffic(3)
    if fabric.wait("changed", "a hostile agent, generations"):
        report(fabric.lines("changed")[0]["generation"] < 100,
               "a hostile agent does not use up the generations", fabric.lines("changed"))
    most = fabric.most_memory()
    report(most < 100_000, "a hostile agent takes no memory", f"{most} kB")
    fabric.end()


def hostile_for_long(made):
    """All of that, one after the other, for so many rounds: memory stays as it was after
    the first ones, and the loop goes on with all others."""
    rounds, first = ROUNDS, 2 * len(FORGERIES)
    fabric = Fabric(made)
    fabric.wait("missing", "hostile for long", lambda line: line["servers"] == [])
    fabric.harm("s3", list(FORGERIES), "sample", 1, rounds)

    def left():
        return rounds + load(f"{fabric.dir}/harm-s3")["count"] - 1

    wait_for(lambda: left() <= rounds - first, 120)
    before = fabric.most_memory()
    what = f"a hostile agent for {rounds} rounds"
    report(wait_for(lambda: left() <= 0, 120 + rounds), f"{what}: the loop goes on", left())
    report(wait_for(lambda: fabric.lines("missing")[-1]["servers"] == []),
           f"{what}: all count again", fabric.story())
    more = fabric.most_memory() - before
    report(more < FLAT, f"{what}: memory stays flat", f"{before} kB and {more} kB more")
    print(f"# {before} kB after {first} rounds, {more} kB more after {rounds}")
    report(not fabric.lines("shift") and all(
        line["servers"] in ([], ["s3"]) for line in fabric.lines("missing")),
           f"{what}: no other server is missing", fabric.story())
    fabric.end()


def fails(made, what, arm, told):
    """A change that fails; the controller brings the fabric back."""
    fabric = Fabric(made)
    save(f"{fabric.dir}/kept", load(fabric.plan))
    arm(fabric)
    fabric.traffic(3)
    if fabric.wait("restored", what, lambda line: line["why"] != "start"):
        report(told in fabric.story(), f"{what}: told", fabric.story())
        report(not fabric.parted(), f"{what}: all servers reach each other", fabric.parted())
    fabric.mend()
    # before the next attempt, which would succeed
    fabric.traffic(6)
    fabric.wait("restored", what, lambda line: line["why"] != "start" and line["ok"])
    # a server whose agent was away is brought there when it is back
    wait_for(lambda: not fabric.wrong(fabric.plan), 120)
    status, out = fabric.end()
    if not fabric.lines("changed"):
        report(status == 0 and not fabric.wrong(fabric.plan) and
               load(fabric.plan) == load(f"{fabric.dir}/kept"),
               f"{what}: all is as before", [out, fabric.wrong(fabric.plan)])
    else:
        report(not fabric.wrong(fabric.plan), f"{what}: all is as planned", fabric.story())
    report(all(not poor for poor in fabric.poor()[1:]), f"{what}: nobody needed a dark link",
           fabric.poor())


def killed(made, what, server, op, count):
    """The controller is killed; the next one finds what there is."""
    fabric = Fabric(made)
    save(f"{fabric.dir}/kept", load(fabric.plan))
    fabric.harm(server, "kill", op, count)
    fabric.traffic(3)
    try:
        fabric.controller.wait(120)
    except subprocess.TimeoutExpired:
        report(False, f"{what}: reached", fabric.story())
        fabric.end()
        return
    fabric.controller.communicate()
    fabric.mend()
    fabric.traffic(6)
    fabric.start()
    restored = fabric.lines("restored")[0]
    fabric.end()
    report(restored["ok"] and not fabric.wrong(fabric.plan), f"{what}: whole after a new start",
           [restored, fabric.wrong(fabric.plan)])
    report(load(fabric.plan) == load(f"{fabric.dir}/kept"), f"{what}: on the old plan", restored)
    report(all(not poor for poor in fabric.poor()[1:]), f"{what}: nobody needed a dark link",
           fabric.poor())


def stopped(made):
    """SIGTERM to the whole process group, as timeout(1) and shells send it."""
    what = "all is told to stop at the switch"
    fabric = Fabric(made)
    fabric.harm("switch", "stop", "change", 1)
    fabric.traffic(3)
    fabric.wait("end", what)
    status, out = fabric.end()
    report(status == 0 and fabric.lines("changed"), f"{what}: the change is finished", out)
    report(load(fabric.plan)["links"] != made["links"] and not fabric.wrong(fabric.plan),
           f"{what}: all is as the new plan says", fabric.wrong(fabric.plan))


def switch_fails(made, count):
    for action, told in (("refuse", "laser interlock is open"), ("lie", "ocs0")):
        fails(made, f"the switch would {action} at change {count}",
              lambda fabric, action=action: fabric.harm("switch", action, "change", count), told)


def does_not_answer(made, action):
    """As long as the change may come, all that it would end is not relied upon."""
    what = f"the switch does not answer, the change is {action}"
    fabric = Fabric(made, TIMEOUT)
    fabric.harm("switch", action, "change", 1)
    fabric.traffic(3)
    if fabric.wait("restored", what, lambda line: line["why"] != "start"):
        line = fabric.lines("restored")[1]
        report(not line["ok"] and "optical switch ocs0 may yet make a change that it did not "
               "answer in time" in line.get("error", ""), f"{what}: told", fabric.story())
        report(not fabric.parted(), f"{what}: all servers reach each other", fabric.parted())
    fabric.traffic(6)
    fabric.wait("restored", what, lambda line: line["why"] != "start" and line["ok"])
    deadline = time.monotonic() + 60
    while action == "late" and not load(f"{fabric.dir}/came") and time.monotonic() < deadline:
        time.sleep(0.05)
    status, out = fabric.end()
    report(status == 0 and not fabric.lines("changed") and not fabric.wrong(fabric.plan),
           f"{what}: all is as before", [out, fabric.wrong(fabric.plan)])
    report(all(not poor for poor in fabric.poor()[1:]), f"{what}: nobody needed a dark link",
           fabric.poor())


def refuses_to_go_back(fabric):
    """The last commit fails, and then the switch at the last step of the way back."""
    fabric.harm("s3", "refuse", "commit", 4, 2)
    fabric.harm("switch", "refuse", "change", 6, 1000)


def goes_back_twice(made, what):
    """A server is silent when the way back is nearly done, and when it is tried again."""
    fabric = Fabric(made)
    fabric.traffic(3)
    if not fabric.wait("changed", what):
        return
    fabric.end()
    os.rename(fabric.plan, f"{fabric.plan}.next")
    save(fabric.plan, made)
    # so that it is not found complete
    state = load(f"{fabric.dir}/kernel-s3")
    state["active"]["table"] = "{\"groups\": [], \"routes\": []}"
    save(f"{fabric.dir}/kernel-s3", state)
    fabric.harm("s3", "silence", "commit revert", 2, 1000)
    fabric.traffic(6)
    fabric.start("2s")
    fabric.wait("restored", what, lambda line: line["why"] == "again")
    report("s3: the agent does not answer" in fabric.story(), f"{what}: it is named",
           fabric.story())
    fabric.mend()
    # it may be repaired without the links that are dark until then
    wait_for(lambda: not fabric.wrong(fabric.plan), 120)
    status, out = fabric.end()
    report(status == 0 and not fabric.wrong(fabric.plan), f"{what}: all is as before",
           [out, fabric.wrong(fabric.plan)])


# Rings keep their links, which reach all servers.
plan = make_plan(12, 4, 6, True)
cannot_count(plan)
dry_run(plan)
# ASan keeps what was freed, by default 256 MB of it, which would pass for growth
sanitizer = os.environ.get("ASAN_OPTIONS", "")
os.environ["ASAN_OPTIONS"] = f"{sanitizer}:quarantine_size_mb=1:thread_local_quarantine_size_kb=64"
hostile(plan)
hostile_for_long(plan)
os.environ["ASAN_OPTIONS"] = sanitizer
goes_back_twice(plan, "a server is silent on the way back")
changes(plan, "other hot pairs", 1)
server_fails(plan, "refuses", "refuse",
             (("the first stage", "stage", 1), ("the first commit", "commit", 1),
              ("the second commit", "commit", 2)))
server_fails(plan, "dies", "die",
             (("the second stage", "stage", 2), ("the second commit", "commit", 2)))
stopped(plan)
switch_fails(plan, 1)
does_not_answer(plan, "late")
does_not_answer(plan, "lost")
for op, count in (("stage", 1), ("confirm", 1), ("stage", 2), ("commit", 2), ("confirm", 2)):
    killed(plan, f"the controller is killed at {op} {count}", "s3", op, count)

# All links but one are others, so that it takes three steps.
plan = make_plan(12, 4, 6, False)
changes(plan, "nearly all links", 3)
server_fails(plan, "refuses", "refuse", (("the third commit", "commit", 3),))
server_fails(plan, "dies", "die", (("the fourth commit", "commit", 4),))
switch_fails(plan, 2)
fails(plan, "the switch refuses to go back", refuses_to_go_back, "laser interlock is open")
for op, count in (("commit", 3), ("confirm", 3), ("stage", 4), ("confirm", 4)):
    killed(plan, f"nearly all links: the controller is killed at {op} {count}", "s3", op, count)

done()
