#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How often the rightful owners of a fabric are refused while a stranger works on all leases of
their etcd (three members, users; ../unit/test_etcd_lockout.py) for @seconds, default 600:

    lockout.py [SECONDS]
"""

import collections
import itertools
import os
import sys
import tempfile
import time

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.insert(0, "selftests/unit")
from cluster import SERVERS  # noqa: E402
from tap import wait_for  # noqa: E402
from test_etcd_lockout import CLUSTER, Target  # noqa: E402

ALLOWED = 60	# seconds that an agent may take to be there


class Operations:
    """What the owners do. Each returns what was refused, "" when it was done."""

    def __init__(self, fabric):
        self.fabric, self.logs = fabric, (f"{fabric.directory}/{n}.log" for n in itertools.count())
        self.plans = itertools.cycle((fabric.two, fabric.one))
        self.servers = itertools.cycle(range(len(SERVERS)))

    def apply(self):
        status, text = self.fabric.apply(next(self.plans))
        return status and text

    def run(self):
        run = self.fabric.run(next(self.logs))
        run.terminate()
        _, err = run.communicate(timeout=60)
        return run.returncode and err

    def run_killed(self):
        """The next operation succeeds it."""
        run = self.fabric.run(next(self.logs))
        alive = run.poll() is None
        run.kill()
        _, err = run.communicate(timeout=60)
        return not alive and err

    def restart(self, end):
        i, agents = next(self.servers), self.fabric.agents
        end(agents.running[i])
        agents.running[i].wait()
        agents.mend()
        there = wait_for(lambda: self.fabric.owner(SERVERS[i]) == agents.running[i].pid, ALLOWED) \
            and wait_for(self.fabric.present, ALLOWED)
        return not there and f"{SERVERS[i]} is not there"

    def agent(self):
        return self.restart(lambda agent: agent.terminate())

    def agent_killed(self):
        return self.restart(lambda agent: agent.kill())

    def shards(self):
        for words in (("drain", "s1"), ("drain", "--end", "s1")):
            change = self.fabric.start("shard", *words, "--set", "shards.state=etcd")
            _, err = change.communicate(timeout=60)
            if change.returncode:
                return err
        return ""


def main():
    until = time.monotonic() + int((sys.argv + ["600"])[1])
    made, refused, longest = collections.Counter(), collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as directory:
        fabric = Target(directory)
        try:
            wait_for(fabric.present)
            fabric.start("shard", "init", CLUSTER, "--set", "shards.state=etcd").wait(60)
            operations = Operations(fabric)
            stranger = fabric.stranger(pause=0.01)
            while time.monotonic() < until:
                for name in ("apply", "run", "apply", "run_killed", "apply", "agent", "apply",
                             "agent_killed", "shards"):
                    since = time.monotonic()
                    wrong = getattr(operations, name)()
                    longest[name] = max(longest[name], time.monotonic() - since)
                    made[name] += 1
                    if wrong:
                        refused[name] += 1
                        print(f"{name}: {wrong}", flush=True)
            stranger.stop()
        finally:
            fabric.agents.stop()
            fabric.etcd.stop()
    print("the stranger:", ", ".join(f"{n} x {deed}" for deed, n in stranger.done.items()))
    for name, n in made.items():
        print(f"{name}: {n} operations, {refused[name]} refused, {longest[name]:.1f} s at most")
    print(f"all: {made.total()} operations, {refused.total()} refused")
    sys.exit(refused.total() > 0)


if __name__ == "__main__":
    main()
