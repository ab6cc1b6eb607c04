#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 900
"""An agent is killed before each system call that writes, to etcd or to its kernel, while
a controller changes the plan on all servers; one that takes its place completes or undoes
the change. etcd is real, agents have no kernel (bench/agents.c); strace kills. A sample of
the calls, all of them with TEST_ALL=1. In all of this the controller asks again; an agent that
comes when that has given up finds its way alone."""

import os
import sys
import tempfile
import threading

sys.path.insert(0, "selftests/unit")
from cluster import SERVERS, Agents, Etcd, apply_all, make_plans  # noqa: E402
from tap import done, report, wait_for  # noqa: E402
from test_run_kill import READS, Killer, kind  # noqa: E402

SAMPLE = 6	# calls
VICTIM = 1


class Cluster:
    """etcd, an agent for each server, and two plans."""

    def __init__(self, directory):
        self.dir = directory
        self.etcd = Etcd(directory, 1)
        self.agents = Agents(self.etcd, directory)
        self.one, self.two = make_plans(directory)
        wait_for(self.present)
        self.apply(self.two)
        self.plan_two = self.tables()
        self.apply(self.one)
        self.plan_one = self.tables()

    def apply(self, plan, timeout="30s"):
        return apply_all(self.etcd.clients[0], plan, self.dir, "--set", f"agents.timeout={timeout}")

    def present(self):
        return self.etcd.present() == len(SERVERS)

    def tables(self):
        return {server: table for server, (_, table) in self.agents.state().items()}

    def one_generation(self):
        return len({generation for generation, _ in self.agents.state().values()}) == 1

    def killer(self, call=None, n=0):
        """Of the thread that does the work."""
        tasks = sorted(map(int, os.listdir(f"/proc/{self.agents.running[VICTIM].pid}/task")))
        return Killer(tasks[1], f"{self.dir}/strace", call, n)

    def stop(self):
        self.agents.stop()
        self.etcd.stop()


def change(cluster):
    """The calls of a change that nobody disturbs, as strace counts them; or None."""
    killer = cluster.killer()
    if not killer.works():
        print(f"1..0 # SKIP {killer.said.strip()}")
        return None
    status, text = cluster.apply(cluster.two)
    killer.strace.terminate()
    calls = killer.calls()
    report(status == 0 and cluster.tables() == cluster.plan_two,
           "a change that nobody disturbs", text)
    cluster.apply(cluster.one)
    return [(kind(call), sum(kind(other) == kind(call) for other in calls[:i + 1]))
            for i, call in enumerate(calls) if not READS.search(call)]


def killed(cluster, call, n):
    what = f"the agent of s{VICTIM} is killed before {call} {n}"
    agent = cluster.agents.running[VICTIM]
    killer = cluster.killer(call, n)

    def succeed():
        agent.wait()
        cluster.agents.mend()

    successor = threading.Thread(target=succeed)
    successor.start()
    status, text = cluster.apply(cluster.two)
    # at the latest, when it keeps its lease
    successor.join(60)
    report(agent.returncode == -9 and len(killer.calls()) >= n, f"{what}: so it is", text)
    report(wait_for(cluster.present), f"{what}: the next one is there", text)
    wanted = [cluster.plan_two] if not status else [cluster.plan_one, cluster.plan_two]
    report(wait_for(lambda: cluster.tables() in wanted and cluster.one_generation()),
           f"{what}: all servers have the same plan", [text, cluster.agents.state()])
    status, text = cluster.apply(cluster.one)
    report(status == 0 and cluster.tables() == cluster.plan_one and cluster.one_generation(),
           f"{what}: the next change is made", [text, cluster.agents.state()])


def away(cluster):
    """It is killed when its kernel has changed and before anybody hears of it."""
    what = f"the agent of s{VICTIM} is killed after its commit, and away"
    victim, agent = SERVERS[VICTIM], cluster.agents.running[VICTIM]
    cluster.agents.harm(victim, "commit-done", "kill -9 $agent")
    status, text = cluster.apply(cluster.two, "5s")
    report(agent.wait(60) == -9 and status == 1 and f"{victim}: " in text,
           f"{what}: the controller gives up, and names it", text)
    report(cluster.tables() == cluster.plan_one | {victim: cluster.plan_two[victim]},
           f"{what}: it alone has the new plan", cluster.agents.state())
    cluster.agents.mend()
    report(wait_for(lambda: cluster.tables() == cluster.plan_one and cluster.one_generation()),
           f"{what}: the next one goes back as the others did", cluster.agents.state())


def main():
    with tempfile.TemporaryDirectory() as directory:
        cluster = Cluster(directory)
        try:
            calls = change(cluster)
            if calls is None:
                return
            tried = calls if os.environ.get("TEST_ALL") else \
                [calls[round(i * (len(calls) - 1) / (SAMPLE - 1))] for i in range(SAMPLE)]
            print(f"# {len(tried)} of {len(calls)} calls")
            for call in tried:
                killed(cluster, *call)
            away(cluster)
        finally:
            cluster.stop()
    done()


if __name__ == "__main__":
    main()
