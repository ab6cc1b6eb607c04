#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl apply --all over three real members of etcd, with agents that have no
kernel (bench/agents.c). The leader, an agent or the controller dies, or the
leader hangs, before any step; then every server has the same plan under the same generation, or is
named."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, "selftests/unit")
from cluster import SERVERS, TOCTL, Agents, Etcd, Owner, apply_all, make_plan, make_plans  # noqa: E402
from tap import done, report, wait_for  # noqa: E402

STEPS = ("stage", "commit", "confirm")


def main():
    with tempfile.TemporaryDirectory() as directory:
        etcd = Etcd(directory)
        agents = Agents(etcd, directory)
        try:
            test(etcd, agents, directory)
        finally:
            agents.stop()
            etcd.stop()
    done()


def test(etcd, agents, directory):
    one, two = make_plans(directory)
    urls = ",".join(etcd.clients)

    def present():
        return etcd.present() == len(SERVERS)

    def errors(log):
        with open(log, encoding="ascii") as file:
            return [json.loads(line).get("error") for line in file if line.endswith("\n")]

    def last_error(log):
        return (errors(log) or [""])[-1] or ""

    def tables():
        return {server: table for server, (_, table) in agents.state().items()}

    def one_generation():
        return len({generation for generation, _ in agents.state().values()}) == 1

    def settle(what, wanted):
        """Agents and members are back: all have one of the plans."""
        agents.unharm()
        etcd.mend()
        agents.mend()
        report(wait_for(present), f"{what}: all agents are there", agents.state())
        report(wait_for(lambda: tables() in wanted), f"{what}: all have the same plan",
               agents.state())

    wait_for(present)
    status, text = apply_all(urls, one, directory)
    report(status == 0 and "on all 4 servers" in text, "a plan on all servers", text)
    plan_one = tables()
    status, text = apply_all(urls, one, directory)
    report(status == 0 and "nothing to do" in text, "once more, nothing to do", text)
    status, text = apply_all(urls, two, directory)
    plan_two = tables()
    report(status == 0 and plan_two != plan_one and one_generation(), "another plan", text)
    apply_all(urls, one, directory)

    for step in STEPS:
        for victim, fate in (("agent", "dies"), ("controller", "dies"), ("leader", "dies"),
                             ("leader", "hangs")):
            what = f"the {victim} {fate} before the {step} of s1"
            member = etcd.members[etcd.leader()]
            if victim == "agent":
                agents.harm("s1", step, "kill -9 $agent")
            elif victim == "controller":
                agents.harm("s1", step, f"kill -9 $(cat {directory}/controller)")
            else:
                agents.harm("s1", step,
                            f"kill -{'9' if fate == 'dies' else 'STOP'} {member.pid}")
            before = agents.state()
            status, text = apply_all(urls, two, directory, "--set",
                                     f"agents.timeout={3 if victim == 'agent' else 20}s")
            if victim == "agent" and step != "confirm":
                report(status == 1 and "s1: " in text, f"{what}: it is named", text)
            if victim == "leader":
                member.kill()
                member.wait()
                report(status == 0, f"{what}: the others elect another", text)
            if status == 0:
                report(tables() == plan_two, f"{what}: all have the new plan", agents.state())
            settle(what, (plan_one, plan_two) if victim == "controller" else
                   (plan_two,) if status == 0 or step == "confirm" else (plan_one,))
            report(before["s1"][0] <= agents.state()["s1"][0], f"{what}: generations grow",
                   (before, agents.state()))
            status, text = apply_all(urls, one, directory)
            report(status == 0, f"{what}: the next controller goes on", text)
            report(tables() == plan_one and one_generation(), f"{what}: with one generation",
                   agents.state())

    # A server that was away comes back to what was decided meanwhile.
    agents.running[2].send_signal(signal.SIGKILL)
    agents.running[2].wait()
    os.unlink(f"{directory}/s2")
    settle("a server was made anew", (plan_one,))
    report(one_generation(), "it has the generation of the others", agents.state())

    # All agents are busy for longer than their leases (5 s).
    for server in SERVERS:
        agents.harm(server, "sample", "sleep 8")
    log = f"{directory}/run.log"
    with subprocess.Popen([TOCTL, "run", one, "--set", f"etcd.endpoints={urls}", "-o", log],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        report(wait_for(lambda: etcd.present() == 0), "the leases of busy agents end")
        report(wait_for(lambda: "no agent" in last_error(log)), "toctl run names them")
        report(wait_for(present), "they are there again when they have answered")
        report(wait_for(lambda: "no server has counted" in last_error(log)),
               "toctl run sees them again", last_error(log))

        # They die, and etcd drops that from its history before toctl run hears of it.
        agents.stop()
        report(wait_for(lambda: "no agent" in last_error(log)), "agents die")
        for _ in range(3):
            revision = etcd.revision("put", "/other", "")
        etcd.ctl("compact", str(revision))
        for member in etcd.members:
            member.kill()
            member.wait()
            etcd.mend()
        agents.mend()
        report(wait_for(present), "agents come back")
        report(wait_for(lambda: "no server has counted" in last_error(log)),
               "toctl run sees them once more", last_error(log))
        said = [error for error in errors(log) if error]
        report(all(a != b for a, b in zip(said, said[1:])),
               "and says once what is the matter", said)
        run.terminate()

    # A controller stands still until another one has come and gone.
    what = "a controller that is late"
    three = make_plan(directory, "three", one, 5)
    os.mkdir(f"{directory}/late")
    agents.harm("s1", "hello", f"until [ -s {directory}/late/controller ]; do sleep 0.1; done; "
                f"kill -STOP $(cat {directory}/late/controller)")
    late = []
    thread = threading.Thread(target=lambda: late.extend(
        apply_all(urls, three, f"{directory}/late", "--set", "agents.timeout=60s")))
    thread.start()
    report(wait_for(lambda: etcd.value("/topoopt/controller")),
           f"{what}: it has the lock")
    report(wait_for(lambda: not etcd.value("/topoopt/controller")),
           f"{what}: the lock ends")
    status, text = apply_all(urls, two, directory)
    report(status == 0 and tables() == plan_two, f"{what}: another one decides", text)
    with open(f"{directory}/late/controller", encoding="ascii") as file:
        os.kill(int(file.read()), signal.SIGCONT)
    thread.join()
    report(late[0] == 1 and "was decided by another controller" in late[1],
           f"{what}: it is told", late)
    report(tables() == plan_two and one_generation(), f"{what}: it changes nothing",
           agents.state())
    status, text = apply_all(urls, one, directory)
    report(status == 0 and tables() == plan_one, f"{what}: the next one goes on", text)

    # No controller stages what is not later; an agent refuses it all the same.
    def decide(op, number, controller=None):
        generation = agents.state()["s1"][0]
        etcd.ctl("put", "/topoopt/request/decision",
                 json.dumps({"op": op, "generation": generation, "active": generation,
                             "plan": generation, "id": number,
                             "controller": controller or locked}))
        wait_for(lambda: reply().get("id") == number)
        return reply()

    def reply(to="state"):
        return json.loads(etcd.value(f"/topoopt/agents/s1/{to}") or "{}")

    locked = etcd.revision("put", "/topoopt/controller", "process 1 on somewhere")
    report(decide("commit", 1).get("ok") is True, "a commit that was carried out: so it is said")
    report(decide("stage", 2).get("ok") and decide("commit", 3).get("ok") is True and
           decide("confirm", 4).get("ok") is True, "one of what is active: so it is said", reply())

    # Nor does it carry out what was not written by the controller that there is.
    refused = "a decision that no controller made is ignored"
    report(decide("clear", 5, locked - 1).get("error") == refused,
           "a decision of another one than the controller is refused", reply())
    etcd.ctl("del", "/topoopt/controller")
    report(decide("clear", 6).get("error") == refused,
           "a decision while there is no controller is refused", reply())
    etcd.ctl("put", "/topoopt/request/query", json.dumps({"op": "clear", "id": 7}))
    report(wait_for(lambda: reply("look").get("id") == 7) and
           reply("look").get("error") == 'no query is called "clear"', "and one that is a query",
           reply("look"))
    report(tables() == plan_one, "which changes nothing", agents.state())

    # Controllers exclude each other.
    with Owner(etcd.ctl, "/topoopt/controller"):
        status, text = apply_all(urls, two, directory)
    report(status == 1 and "another controller is at work: process 1 on elsewhere" in text,
           "a second controller is told", text)
    report(tables() == plan_one, "and changes nothing", agents.state())

    # What a plan has as its generation may be another table's on a server.
    locked = etcd.revision("put", "/topoopt/controller", "process 1 on somewhere")
    agents.running[1].kill()
    agents.running[1].wait()
    generation, _ = agents.state()["s1"]
    with open(f"{directory}/s1", "w", encoding="ascii") as file:
        file.write(f"{generation} {plan_two['s1']}\n")
    agents.mend()
    report(wait_for(present), "an agent finds another table")
    report(decide("commit", 8).get("ok") is False and decide("confirm", 9).get("ok") is False,
           "which it does not take for the plan's", reply())
    report(decide("stage", 10).get("ok") and decide("commit", 11).get("ok") is False,
           "a commit that was refused: so it is said", reply())
    report(tables()["s1"] == plan_two["s1"], "and changes nothing", agents.state())
    etcd.ctl("del", "/topoopt/controller")

    # Bad input
    status, text = apply_all("http://127.0.0.1:1", one, directory)
    report(status == 1 and text.startswith("toctl apply: etcd http://127.0.0.1:1: ") and
           text.count("\n") == 1, "no etcd: one line", text)
    agents.running[0].send_signal(signal.SIGKILL)
    agents.running[0].wait()
    wait_for(lambda: not present())
    status, text = apply_all(urls, one, directory)
    report(status == 1 and "s0: no agent of it is there" in text and text.count("\n") == 1,
           "no agent: named in one line", text)
    etcd.ctl("put", "/topoopt/agents/s0.lab.example/state", "{}")
    status, text = apply_all(urls, one, directory)
    report(status == 1 and text.count("\n") == 1 and "s0: no agent of it is there; one is "
           "called s0.lab.example: if that is it, start it with --node s0" in text,
           "an agent whose name has a domain is told from none", text)
    ran = subprocess.run([TOCTL, "discover", "admin@s0", "admin@s9", "--set", f"etcd.endpoints={urls}",
                          "--set", "agents.timeout=2s"],
                         capture_output=True, text=True, check=False)
    report("s0: no agent of it is there; one is called s0.lab.example" in ran.stderr,
           "in etcd, a server given as USER@HOST is the host", ran.stderr)


if __name__ == "__main__":
    main()
