#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Chakra execution traces take as long as their nodes do, one after the other."""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "selftests/unit")
from chakra_trace import (ALL_REDUCE, ALL_TO_ALL, COMP, after, collective, encode, node,  # noqa: E402
                          number, receive, send)
from tap import done, report  # noqa: E402

TOSIM = os.environ.get("TOSIM", "build/tosim")
MIB = 1 << 20
NIC = 50e9      # bytes/s: four ports of 100 Gbit/s at one switch
BEFORE, BEHIND = node(COMP, "forward", micros=100), node(COMP, "update", micros=50)
RING = collective(ALL_REDUCE, 8 * MIB)
REDUCED = 2 * 3 / 4 * 8 * MIB / NIC     # over four ranks


def simulate(tmp, ranks, *more):
    """(seconds, all that --json says), or the line of the error."""
    paths = []
    for rank, trace in enumerate(ranks):
        paths.append(f"{tmp}/job.{rank}.et")
        with open(paths[-1], "wb") as file:
            file.write(encode(trace))
    out = subprocess.run([TOSIM, "simulate", "--json", "--chakra", *paths, "--fabric", "switch",
                          "--degree", "4", "--latency", "0", "--step-latency", "0", *more], capture_output=True,
                         check=False, text=True)
    if out.returncode:
        return out.stderr.replace(tmp + "/", "").strip(), None
    out = json.loads(out.stdout)
    return out["iteration_time_s"]["mean"], out


def takes(tmp, name, ranks, seconds, *more):
    said, _ = simulate(tmp, ranks, *more)
    report(isinstance(said, float) and abs(said / seconds - 1) < 1e-6, name,
           f"{said} instead of {seconds}")


def refuses(tmp, name, ranks, line, *more):
    said, _ = simulate(tmp, ranks, *more)
    report(said == line, name, str(said))


def main(tmp):
    step = [BEFORE, RING, BEHIND]
    takes(tmp, "one node after the other", [step] * 4, 150e-6 + REDUCED)
    slow = [node(COMP, "forward", micros=400), RING, BEHIND]
    takes(tmp, "an AllReduce waits for the last rank", [step, slow, step, step], 450e-6 + REDUCED)
    takes(tmp, "what does not wait goes on beside it",
          [[after(node(COMP, "forward", micros=2000)), after(RING)]] * 4, 2000e-6)
    takes(tmp, "control dependencies count",
          [[node(COMP, "forward", micros=100), after(RING, ctrl=[0]),
            after(BEHIND, ctrl=[0, 1])]] * 4, 150e-6 + REDUCED)
    takes(tmp, "nodes may stand before those that they wait for",
          [[after(BEHIND, 2), after(BEFORE), after(RING, 1)]] * 4, 150e-6 + REDUCED)
    sent = MIB / NIC
    takes(tmp, "a pipeline of two stages",
          [[BEFORE, send(1, MIB)], [receive(0, MIB), BEHIND]], 150e-6 + sent)
    takes(tmp, "a receive that is reached late",
          [[send(1, MIB)], [node(COMP, "other", micros=900), receive(0, MIB), BEHIND]], 950e-6)
    takes(tmp, "an all-to-all", [[BEFORE, collective(ALL_TO_ALL, 8 * MIB)]] * 4,
          100e-6 + 3 * 2 * MIB / NIC)
    cpu = node(COMP, "launch", [("is_cpu_op", True)], micros=700)
    takes(tmp, "the CPU takes no time", [[cpu, *step]] * 4, 150e-6 + REDUCED)
    takes(tmp, "stragglers compute longer", [step] * 4, 300e-6 + REDUCED, "--stragglers",
          "slow:1,2", "--iterations", "1")

    _, out = simulate(tmp, [step] * 4)
    report(out["workload"] == "job" and out["servers"] == 4
           and abs(out["critical_path_s"]["compute"] - 150e-6) < 1e-12, "what is said of it",
           str(out["critical_path_s"]))

    refuses(tmp, "a node that is not there", [step, [BEFORE, after(RING, 7), BEHIND], step, step],
            "tosim simulate: job.1.et: rank 1: node 1 waits for node 7, which is not there")
    refuses(tmp, "an id that two nodes have", [step, [BEFORE, RING, after(BEHIND + number(1, 0))],
                                               step, step],
            "tosim simulate: job.1.et: rank 1 has two nodes 0")
    refuses(tmp, "a node that waits for itself",
            [step, [BEFORE, RING, after(BEHIND, 2)], step, step],
            "tosim simulate: task 4 (rank 1 node 2) waits for itself in a cycle")
    crossed = [[RING, RING], [after(RING, 1), after(RING)]]
    refuses(tmp, "ranks that wait for each other", crossed,
            "tosim simulate: task 0 (rank 0 node 0) waits for itself in a cycle")
    said, _ = simulate(tmp, [step] * 4, "--job", "x.json")
    report("give one" in said, "one workload", said)
    done()


with tempfile.TemporaryDirectory() as directory:
    main(directory)
