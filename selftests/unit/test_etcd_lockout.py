#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 300
"""Who reaches three real members of etcd without a user, or with the user of another server's
agent (stranger.py), keeps no controller, agent or shard out of what is its own: neither by the
leases of those that died, nor by those of the living. Agents have no kernel (bench/agents.c)."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, "selftests/unit")
from cluster import TOCTL, apply_all  # noqa: E402
from stranger import DEEDS, SERVER, Stranger  # noqa: E402
from tap import done, report, wait_for  # noqa: E402
from test_etcd_users import Fabric, Users, read  # noqa: E402

PREFIX = "/topoopt/"
CLUSTER = "examples/ring-4/cluster.json"


class Target(Fabric):
    """etcd with users, an agent for each server, and a user of the stranger."""

    def __init__(self, directory):
        super().__init__(directory)
        self.passwords.init()
        ctl = self.passwords.ctl
        user = f"topoopt/agents/{SERVER}"
        for words in (("user", "add", f"{user}:secret"), ("role", "add", user),
                      ("role", "grant-permission", user, "--prefix=true", "readwrite",
                       f"{PREFIX}samples/{SERVER}/"), ("user", "grant-role", user, user)):
            ctl("root", *words)
        self.agents = Users(self.etcd, directory, self.passwords)

    def stranger(self, *deeds, pause=0.05):
        """Who does all that strangers do, or only @deeds."""
        return Stranger(self.etcd, "secret", deeds or DEEDS, pause)

    def get(self, key):
        return self.passwords.ctl("root", "get", "--print-value-only", PREFIX + key).stdout.strip()

    def moved(self, key):
        """As if the process that owns it ran on another machine."""
        owner = json.loads(self.get(key))
        self.passwords.ctl("root", "put", "--ignore-lease", PREFIX + key,
                           json.dumps(owner | {"place": "another machine", "host": "elsewhere"}))

    def lease(self):
        """A lease that only the stranger prolongs."""
        return self.passwords.ctl("root", "lease", "grant", "8").stdout.split()[1]

    def start(self, *command, login="controller"):
        return subprocess.Popen([TOCTL, *command, "--set", f"etcd.endpoints={self.urls}",
                                 *self.passwords.login(login)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, log):
        """A controller that is at work."""
        run = self.start("run", self.one, "-o", log)
        wait_for(lambda: '"restored"' in read(log))
        return run

    def at(self, plan):
        return self.tables() == plan and \
            len({generation for generation, _ in self.agents.state().values()}) == 1


def killed(process):
    process.kill()
    process.wait()


def living(fabric, plans):
    """All that strangers may do to the leases of the living."""
    stranger = fabric.stranger()
    wait_for(lambda: all(stranger.done[deed] for deed in ("keep", "attach", "grant")))
    refused = []
    for n in range(6):
        status, text = fabric.apply((fabric.two, fabric.one)[n % 2])
        refused += [text] if status or not fabric.at(plans[(n + 1) % 2]) else []
    report(not refused, "controllers, one after the other: none is kept out", refused)
    agent = fabric.agents.running[2]
    agent.terminate()
    agent.wait()
    report(not [key for key in fabric.keys("agents/s2/") if not key.endswith("rival")],
           "an agent that ends leaves no key, whoever's keys its lease has", fabric.keys("agents/s2/"))
    fabric.agents.mend()
    report(wait_for(lambda: fabric.owner("s2") == fabric.agents.running[2].pid),
           "the next one has its name")
    run = fabric.agent("s1", *fabric.passwords.login("agents/s1"))
    report(run.returncode == 1 and "server s1 has an agent already" in run.stderr,
           "a second agent is refused all the same", run)
    stranger.stop()
    print(f"# {dict(stranger.done)}")


def here(fabric, plans):
    """Processes of this machine, killed; a stranger prolongs their leases."""
    stranger = fabric.stranger("keep", "attach")
    run = fabric.run(f"{fabric.directory}/run.log")
    killed(run)
    status, text = fabric.apply(fabric.two)
    report(status == 0 and fabric.at(plans[1]), "a controller that was killed has a successor", text)
    killed(fabric.agents.running[1])
    status, text = fabric.apply(fabric.one, "--set", "agents.timeout=2s")
    report(status == 1 and text.endswith("s1: its agent does not answer\n"),
           "an agent that was killed is named in time", text)
    looks = fabric.start("status", fabric.one, "--json")
    out, err = looks.communicate(timeout=60)
    report("its agent does not answer" in out + err, "status says so, too", out + err)
    fabric.agents.mend()
    report(wait_for(lambda: fabric.owner("s1") == fabric.agents.running[1].pid),
           "it has a successor")
    status, text = fabric.apply(fabric.one)
    report(status == 0 and fabric.at(plans[0]), "which follows", text)
    stranger.stop()


def elsewhere(fabric, plans):
    """Processes of other machines, gone; a stranger prolongs their leases. Two newcomers each ask
    at once, and a member of etcd is killed while they wait."""
    stranger = fabric.stranger("keep", "attach")
    held = fabric.run(f"{fabric.directory}/held.log")
    killed(held)
    killed(fabric.agents.running[1])
    for key in ("controller", "agents/s1/owner"):
        fabric.moved(key)
    fabric.passwords.ctl("root", "put", "--lease", fabric.lease(), f"{PREFIX}shards/lock",
                         fabric.get("controller"))
    controllers = [fabric.start("apply", "--all", fabric.two, "--set", "agents.timeout=30s")
                   for _ in range(2)]
    shards = fabric.start("shard", "init", CLUSTER, "--set", "shards.state=etcd")
    fabric.agents.mend()
    killed(fabric.etcd.members[0])
    said = [(process.communicate(timeout=120), process.returncode) for process in controllers]
    report(any(status == 0 for _, status in said) and fabric.at(plans[1]),
           "a controller that is gone has a successor", said)
    report(all(status == 0 or "another controller" in out[1] for out, status in said),
           "of two newcomers one, then perhaps the other", said)
    out = shards.communicate(timeout=60)
    report(shards.returncode == 0, "who changed the cluster and is gone, too", out)
    report(wait_for(lambda: fabric.owner("s1") == fabric.agents.running[1].pid),
           "an agent that is gone, too")
    fabric.etcd.mend()
    stranger.stop()


def late(fabric, plans):
    """A controller stands still for longer than its TTL; a stranger prolongs its lease."""
    stranger = fabric.stranger("keep")
    os.mkdir(f"{fabric.directory}/late")
    fabric.agents.harm("s1", "stage", f"kill -STOP $(cat {fabric.directory}/late/controller)")
    said = []
    thread = threading.Thread(target=lambda: said.extend(apply_all(
        fabric.urls, fabric.one, f"{fabric.directory}/late", *fabric.passwords.login("controller"),
        "--set", "agents.timeout=60s")))
    thread.start()
    wait_for(lambda: not os.path.exists(f"{fabric.directory}/harm-s1-stage"))
    status, text = fabric.apply(fabric.two)
    report(status == 0 and fabric.at(plans[1]), "a controller that stands still has a successor", text)
    os.kill(int(read(f"{fabric.directory}/late/controller")), signal.SIGCONT)
    thread.join()
    report(said[0] == 1 and "another controller" in said[1] and fabric.at(plans[1]),
           "it is told, and changes nothing", said)
    stranger.stop()


def main():
    with tempfile.TemporaryDirectory() as directory:
        fabric = Target(directory)
        try:
            wait_for(fabric.present)
            fabric.apply(fabric.two)
            two = fabric.tables()
            fabric.apply(fabric.one)
            plans = fabric.tables(), two
            living(fabric, plans)
            here(fabric, plans)
            elsewhere(fabric, plans)
            late(fabric, plans)
        finally:
            fabric.agents.stop()
            fabric.etcd.stop()
    done()


if __name__ == "__main__":
    main()
