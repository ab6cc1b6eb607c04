#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 900
"""toctl run is killed before each system call that writes, while it makes a change, and
while it mends what a killed one left: the next one must complete or undo the change, the
plan's file must be a whole plan at any time, and no switch may move before all servers
have staged what follows. The fabric is fabric.py's; strace kills. A sample of the calls,
all of them with TEST_ALL=1."""

import fcntl
import os
import re
import subprocess
import sys

sys.path.insert(0, "selftests/unit")
from fabric import Fabric, make_plan  # noqa: E402
from fakes import load  # noqa: E402
from tap import done, report, wait_for  # noqa: E402

CALLS = "write,writev,pwrite64,sendto,sendmsg,openat,creat,truncate,ftruncate,rename,renameat," \
    "renameat2,unlink,unlinkat,link,linkat,symlink,mkdir,chmod,fchmod,fchown,fsync,fdatasync,msync,kill"
READS = re.compile(r"openat\((?!.*O_(CREAT|TMPFILE))")
SAMPLE = 16	# calls of a change
MENDING = 5	# of what mends it


class Killer:
    """strace on a process, which kills it before its @n-th @call, if one is named."""

    def __init__(self, pid, path, call, n):
        kill = ["-e", f"inject={call}:signal=KILL:when={n}"] if call else []
        self.path = path
        self.strace = subprocess.Popen(
            ["strace", "-y", "-s", "40", "-o", path, "-e", f"trace={CALLS}", *kill,
             "-p", str(pid)], stderr=subprocess.PIPE, text=True)
        self.said = self.strace.stderr.readline()

    def works(self):
        return "attached" in self.said

    def calls(self):
        """All that there were, when it has ended."""
        self.strace.wait()
        self.strace.stderr.close()
        with open(self.path, encoding="utf-8", errors="replace") as file:
            return [line.rstrip() for line in file if "(" in line]


class Change(Fabric):
    """Four servers in a ring; other pairs want the links beside it in each phase."""

    def __init__(self, made):
        super().__init__(made, phase=0, options=(
            "--change-cost", "10ms", "--repair-after", "0s"))

    def start(self, timeout="60s"):
        """Up to the reply to its first measurement, of which it waits for the last part."""
        self.traffic(0, 0)
        self.harm("s0", "wait", "sample", 1)
        super().start(timeout)
        wait_for(lambda: os.path.exists(f"{self.dir}/waits"), 60)

    def end(self):
        if os.path.exists(f"{self.dir}/waits"):
            os.unlink(f"{self.dir}/waits")
        return super().end()

    def change(self, call=None, n=0):
        """The calls of a change and of what comes before it, up to the one that kills."""
        ends = [sorted(end.split(":")[0] for end in (link["a"], link["b"]))
                for link in load(self.plan)["links"]]
        self.traffic([[0, 1], [2, 3]] if ends.count(["s0", "s1"]) < 2 else [[1, 2], [0, 3]], 0)
        return self.watch("changed", call, n)

    def restart(self, call=None, n=0):
        """Those of a new start, from where it has the first answer of an agent."""
        self.settle()
        self.harm("s0", "wait", "hello stage revert abort", 1)
        self.launch()
        wait_for(lambda: os.path.exists(f"{self.dir}/waits"), 60)
        return self.watch("restored", call, n)

    def watch(self, event, call, n):
        killer = Killer(self.controller.pid, f"{self.dir}/strace", call, n)
        if not killer.works():
            return [killer.said]
        os.unlink(f"{self.dir}/waits")
        if call:
            self.controller.communicate(timeout=120)
        else:
            self.wait(event, "nobody disturbs")
            self.end()
        return killer.calls()

    def settle(self):
        """Until the switch has done what it was told last."""
        with open(f"{self.dir}/lock-switch", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)


def kind(call):
    return call[:call.index("(")]


def count(calls, i):
    """Name and number of one of them, as strace counts them."""
    return kind(calls[i]), sum(kind(call) == kind(calls[i]) for call in calls[:i + 1])


def writes(calls, begin, end):
    """Those from one like @begin to one like @end."""
    first = [i for i, call in enumerate(calls) if re.search(begin, call)][0]
    last = [i for i, call in enumerate(calls) if re.search(end, call)][0]
    return [count(calls, i) for i in range(first, last + 1) if not READS.search(calls[i])]


def name(call):
    """fsync(plan.json.next) of a line of strace."""
    call = re.sub(r"[^<\"(]*/|<socket:[^>]*>|\d+(?=<)|\\+", "", call)
    return re.sub(r"\.next\.\w{6}\b", ".next.XXXXXX", call)[:60]


def killed(fabric, doing, calls, call, n):
    """It was to be killed before @call number @n. Return: what the next one said that it did."""
    what = f"{doing}, killed before {name(calls[-1])}"
    if fabric.controller.returncode != -9:
        report(False, f"{call} {n}: it is killed", calls[-3:])
        return None
    try:
        whole = {"links", "tables", "cross_connects"} <= set(load(fabric.plan, ()))
    except ValueError:
        whole = False
    report(whole, f"{what}: there is a plan", os.listdir(fabric.dir))
    fabric.settle()
    fabric.start()
    restored = fabric.lines("restored")[:1]
    wrong = fabric.wrong(fabric.plan)
    report(restored and restored[0]["ok"] and not wrong, f"{what}: the next one mends it",
           [restored, wrong, fabric.story()])
    return restored and restored[0]["why"]


def sample(calls, most):
    """Some at equal distances, with both ends."""
    if not os.environ.get("TEST_ALL"):
        calls = [calls[round(i * (len(calls) - 1) / (most - 1))] for i in range(most)]
    return calls


def mending(fabric, halfway):
    """The next one is killed, too, before the one after it finds what both have left."""
    fabric.change(*halfway)
    calls = writes(fabric.restart(), "", 'event..:..resto')
    fabric.settle()
    fabric.start()
    tried = sample(calls, MENDING)
    print(f"# {len(tried)} of {len(calls)} calls")
    for call in tried:
        fabric.change(*halfway)
        killed(fabric, "mending", fabric.restart(*call), *call)


def main():
    # who ends under strace cannot look for leaks
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    plan = make_plan(4, 3, 2, True)
    fabric = Change(plan)
    fabric.first = load(fabric.plan)["links"]
    calls = fabric.change()
    if len(calls) < 2:
        print(f"1..0 # SKIP {calls[0].strip()}")
        fabric.end()
        return
    report(load(fabric.plan)["links"] != fabric.first, "a change that nobody disturbs")
    commits = [i for i, call in enumerate(calls) if "commit" in call and kind(call) == "sendto"]
    halfway = count(calls, commits[6])	# of eight: all have drained, half have the new tables
    calls = writes(calls, r"O_TMPFILE|O_CREAT.*\.next\.", "rewire done")
    tried = sample(calls, SAMPLE)
    print(f"# {len(tried)} of {len(calls)} calls")
    fabric.settle()
    fabric.start()
    outcomes = [killed(fabric, "changing", fabric.change(*call), *call) for call in tried]
    mending(fabric, halfway)
    fabric.change()
    left = [file for file in os.listdir(fabric.dir) if file.startswith("plan.json.")]
    report(left == ["plan.json.lock"], "the next change leaves nothing of what was killed", left)
    for why in ("unfinished change undone", "change found complete"):
        report(why in outcomes, f"some of these: {why}", outcomes)
    moves = fabric.moves()
    report(all(not move["poor"] for move in moves[1:]), "nobody needed a dark link", moves)
    early = [move for move in moves if move["unstaged"] and not move["alone"]]
    report(not early, "no switch moves before all servers have staged", early)
    print(f"# {len(moves)} moves, {sum(move['alone'] for move in moves)} after the death")
    done()


if __name__ == "__main__":
    main()
