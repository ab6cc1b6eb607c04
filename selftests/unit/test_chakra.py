#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Chakra execution traces become the demand that they hold.

The traces are those of chakra_trace.py.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, "selftests/unit")
from chakra_trace import (METADATA, COMP, SEND, COLL, ALL_REDUCE, REDUCE,  # noqa: E402
                          ALL_GATHER, SCATTER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER, BARRIER,
                          varint, text, node, collective, send, receive, encode)
from tap import done, report  # noqa: E402

TOCTL = os.environ.get("TOCTL", "build/toctl")
MIB = 1 << 20

tmp = tempfile.TemporaryDirectory()


def write(ranks, name="job"):
    """Files of the traces, each a list of nodes or the bytes of the file."""
    paths = []
    for rank, trace in enumerate(ranks):
        paths.append(f"{tmp.name}/{name}.{rank}.et")
        with open(paths[-1], "wb") as file:
            file.write(trace if isinstance(trace, bytes) else encode(trace))
    return paths


def run(*arguments):
    return subprocess.run((TOCTL, *arguments), capture_output=True, check=False, text=True,
                          errors="replace")


def load(ranks, *options):
    """Import the traces: (job, summary) or the line of the error."""
    paths = write(ranks)
    job = f"{tmp.name}/job.json"
    done = run("chakra", "--json", "-o", job, *options, *paths)
    if done.returncode:
        return done.stderr.replace(tmp.name + "/", "").strip()
    with open(job, encoding="utf-8") as file:
        return json.load(file), json.loads(done.stdout)


def matrix(job):
    n = job["servers"]
    if job["mp"] and isinstance(job["mp"][0], list):
        return job["mp"]
    out = [[0] * n for _ in range(n)]
    for entry in job["mp"]:
        for x in members(entry["from"]):
            for y in members(entry["to"]):
                out[x][y] += entry["bytes"]
    return out


def members(spec):
    out = []
    for part in spec.split(","):
        first, _, last = part.partition("-")
        out += range(int(first), int(last or first) + 1)
    return out


def groups(job):
    return {tuple(members(g["group"])): g["bytes"] for g in job["allreduce"]}


# --- what traces hold -------------------------------------------------------

def accepts(name, ranks, options=(), reduce=None, mp=None):
    loaded = load(ranks, *options)
    if isinstance(loaded, str):
        report(False, name, loaded)
        return None
    job, summary = loaded
    n = job["servers"]
    wanted = [[(mp or {}).get((x, y), 0) for y in range(n)] for x in range(n)]
    report(groups(job) == (reduce or {}) and matrix(job) == wanted, name, json.dumps(job))
    return summary


WORLD = tuple(range(8))
summary = accepts("all-reduce", [[collective(ALL_REDUCE, 10 * MIB)] * 3] * 8, (),
                  {WORLD: 30 * MIB})
report(summary and summary["collectives"] == {"all-reduce": {"count": 3, "bytes": 30 * MIB}}
       and summary["ranks"] == 8, "each collective is counted once", summary)
accepts("reduce-scatter is half an all-reduce", [[collective(REDUCE_SCATTER, 7)]] * 8, (),
        {WORLD: 4})
accepts("all-gather is half an all-reduce of all parts", [[collective(ALL_GATHER, MIB)]] * 8, (),
        {WORLD: 4 * MIB})
accepts("broadcast and reduce are half an all-reduce",
        [[collective(BROADCAST, MIB), collective(REDUCE, MIB)]] * 8, (), {WORLD: MIB})
job = f"{tmp.name}/job.json"
before = open(job, "rb").read()
said = run("chakra", *reversed(write([[collective(BROADCAST, MIB), collective(REDUCE, MIB)]] * 8)))
report(said.stdout.encode() == before and "AllReduce of 8 servers" in said.stderr,
       "traces in another order, job on standard output", said.stdout + said.stderr)
accepts("barrier sends nothing", [[node(COLL, "b", [("comm_type", BARRIER)])]] * 8)
accepts("all-to-all", [[collective(ALL_TO_ALL, 800 * (r + 1))] for r in range(8)], (), None,
        {(x, y): 100 * (x + 1) for x in range(8) for y in range(8) if x != y})
accepts("sends", [[send(1, 5), send(1, 7, 3), receive(3, 9)], [receive(0, 7, 3), receive(0, 5)],
                  [], [send(0, 9)]], (), None, {(0, 1): 12, (3, 0): 9})
for field in (7, 9, 11, 13, 15, 17, 19, 21, 23, 25):
    accepts(f"integers of type {field}",
            [[node(COLL, "x", [("comm_type", ALL_REDUCE, field), ("comm_size", 300, field)])]] * 2,
            (), {(0, 1): 300})
summary = accepts("compute, CPU operators and unknown nodes",
                  [[node(COMP, "gemm", [("is_cpu_op", False)], 1500),
                    node(COMP, "python", [("is_cpu_op", True)], 9999),
                    node(COLL, "c10d::allreduce_", [("is_cpu_op", True)]),
                    node(2, "load"), node(99, "new"), collective(ALL_REDUCE, 1)],
                   [node(COMP, "gemm", (), 500), collective(ALL_REDUCE, 1)]], (), {(0, 1): 1})
report(summary and abs(summary["compute_s"] - 1.5e-3) < 1e-9 and summary["nodes"] == 8,
       "compute time is that of the slowest rank", summary)

# --- groups -----------------------------------------------------------------

accepts("process groups are the ranks that use them",
        [[collective(ALL_REDUCE, 10, pg_name=f"p{r % 2}"), collective(ALL_REDUCE, 1)]
         for r in range(8)], (), {(0, 2, 4, 6): 10, (1, 3, 5, 7): 10, WORLD: 1})
listed = "['[" + ", ".join(json.dumps({"pg_name": str(g), "backend": "nccl", "ranks": ranks})
                           for g, ranks in enumerate(([], [0, 1], [2, 3]))) + "]']"
init = node(METADATA, "## process_group:init ##", (), 0, listed)
accepts("process groups that the traces list",
        [[init, collective(ALL_REDUCE, 4, pg_name="0"),
          collective(ALL_REDUCE, 10, pg_name=str(1 + r // 2))] for r in range(4)], (),
        {(0, 1, 2, 3): 4, (0, 1): 10, (2, 3): 10})
accepts("involved_dim with --dims",
        [[collective(ALL_REDUCE, 4, involved_dim=[True, False]),
          collective(ALL_REDUCE, 6, involved_dim=[False, True]),
          collective(ALL_REDUCE, 1, involved_dim=[True, True])] for _ in range(6)],
        ("--dims", "2x3"),
        {(0, 1): 4, (2, 3): 4, (4, 5): 4, (0, 2, 4): 6, (1, 3, 5): 6, tuple(range(6)): 1})
accepts("ranks that share a server",
        [[collective(ALL_REDUCE, 10, pg_name=f"local{r // 2}"),
          collective(ALL_REDUCE, 7, pg_name=f"across{r % 2}"),
          collective(ALL_TO_ALL, 80)] for r in range(8)], ("--ranks-per-server", "2"),
        {(0, 1, 2, 3): 14}, {(x, y): 40 for x in range(4) for y in range(4) if x != y})

# --- refusals ---------------------------------------------------------------


def refuses(name, ranks, line, options=()):
    said = load(ranks, *options)
    report(said == "toctl chakra: " + line, name, said)


ONE = encode([collective(ALL_REDUCE, MIB)])
LAST = len(encode([]))
refuses("empty file", [ONE, b""], "job.1.et: the file is empty")
refuses("truncated message", [ONE, ONE[:-3]],
        f"job.1.et: byte {LAST}: the file ends early: {len(ONE) - LAST - 4} bytes of a message "
        f"of {len(ONE) - LAST - 1} are there")
refuses("truncated length", [ONE, ONE + b"\x80"],
        f"job.1.et: byte {len(ONE)}: the file ends within a length")
refuses("bad varint", [ONE, ONE + b"\xff" * 10],
        f"job.1.et: byte {len(ONE)}: no length of a message")
refuses("bad node", [ONE, ONE + b"\x02\x0a\x05"], f"job.1.et: byte {len(ONE)}: no Chakra node")
refuses("no trace", [ONE, b"{ \"name\": 1 }" * 20],
        "job.1.et: not a Chakra trace: no metadata at its start")
refuses("collective without a type", [[node(COLL, "x", [("comm_size", 1)])]] * 2,
        "job.0.et: node 0 (x): has no comm_type")
refuses("unknown collective", [[collective(10, 1)]] * 2,
        "job.0.et: node 0 (nccl): comm_type: expected an integer of 0 to 9")
refuses("negative size", [[collective(ALL_REDUCE, -4)]] * 2,
        "job.0.et: node 0 (nccl): comm_size: expected an integer of 0 to 9223372036854775807")
refuses("size that is a string", [[node(COLL, "x\n", [("comm_type", 0), ("comm_size", "1")])]] * 2,
        "job.0.et: node 0 (x?): comm_size: expected an integer of 0 to 9223372036854775807")
refuses("scatter", [[collective(SCATTER, 1)]] * 2,
        "job.0.et: node 0 (nccl): a gather or scatter does not say its root")
refuses("more than 2^63 bytes", [[collective(ALL_REDUCE, 1 << 62)] * 2] * 2,
        "what is sent adds up to more than 2^63 - 1 bytes")
refuses("all-gather of more than 2^63 bytes", [[collective(ALL_GATHER, (1 << 63) - 1)]] * 2,
        "what is sent adds up to more than 2^63 - 1 bytes")
refuses("send to nowhere", [[node(SEND, "s", [("comm_size", 4)])], []],
        "job.0.et: node 0 (s): has no comm_dst")
refuses("send to a rank without a trace", [[send(2, 4)], []],
        "job.0.et: node 0 (send): its other rank has no trace")
refuses("send without receive", [[send(1, 4), send(1, 4)], [receive(0, 4)]],
        "job.0.et: node 1 (send): rank 1 has no receive for it")
refuses("receive without send", [[send(1, 4, 1)], [receive(0, 4, 1), receive(0, 4, 2)]],
        "job.1.et: node 1 (receive): rank 0 has no send for it")
refuses("receive of another size", [[send(1, 4)], [receive(0, 5)]],
        "job.1.et: node 0 (receive): receives 5 bytes where rank 0 sends 4")
refuses("different collectives", [[collective(ALL_REDUCE, 4)], [collective(ALL_GATHER, 4)]],
        "job.1.et: node 0 (nccl): all-gather of 4 bytes, where rank 0 has all-reduce of 4 (node 0)")
refuses("collective of another size", [[collective(ALL_REDUCE, 4)], [collective(ALL_REDUCE, 5)]],
        "job.1.et: node 0 (nccl): all-reduce of 5 bytes, where rank 0 has all-reduce of 4 (node 0)")
refuses("missing collective", [[collective(ALL_REDUCE, 4)] * 2, [collective(ALL_REDUCE, 4)]],
        "job.1.et: 1 collectives of process group \"\", where rank 0 has 2")
refuses("group with a rank without a trace",
        [[node(METADATA, "process_group:init", (), 0, '[{"pg_name": "0", "ranks": [0, 2]}]'),
          collective(ALL_REDUCE, 4, pg_name="0")], []],
        "job.0.et: node 1 (nccl): process group 0 has rank 2, which has no trace")
refuses("rank outside its group", [[init, collective(ALL_REDUCE, 4, pg_name="2")], [], [], []],
        "job.0.et: node 1 (nccl): rank 0 is not in process group 2")
refuses("list of groups that is none",
        [[node(METADATA, "process_group:init", (), 0, '[{"pg_name": 5}]')], []],
        'job.0.et: node 0 (process_group:init): expected process groups like '
        '[{"pg_name": "0", "ranks": [0, 1]}]')
refuses("involved_dim without --dims", [[collective(ALL_REDUCE, 4, involved_dim=[True, False])]] * 4,
        "job.0.et: node 0 (nccl): involved_dim leaves dimensions out: say their sizes with --dims")
refuses("--dims of other ranks", [[collective(ALL_REDUCE, 4)]] * 4,
        "the dimensions do not make 4 ranks", ("--dims", "3x2"))
refuses("servers that are not full", [[collective(ALL_REDUCE, 4)]] * 4,
        "4 ranks do not fill servers of 3", ("--ranks-per-server", "3"))
refuses("one rank", [[collective(ALL_REDUCE, 4)]],
        "expected traces for 2 to 65536 servers, not for 1")
paths = write([ONE] * 3, "part")
for name, files, line in (
        ("missing rank", (paths[0], paths[2]), "part.2.et: the ranks of 2 traces are 0 to 1"),
        ("rank twice", (paths[1], paths[1]), "part.1.et and part.1.et are both of rank 1"),
        ("name without a rank", (paths[0], "/x.et"), "/x.et: expected a name like NAME.RANK.et"),
        ("no such file", (paths[0], tmp.name + "/none.1.et"),
         "none.1.et: No such file or directory")):
    said = run("chakra", *files)
    report(said.returncode == 1 and
           said.stderr.replace(tmp.name + "/", "") == f"toctl chakra: {line}\n", name, said.stderr)
paths = write([ONE] * 2, "é" * 40)
said = run("chakra", "-o", job, *paths)
with open(job, encoding="utf-8") as file:
    name = json.load(file)["name"]
report(not said.returncode and name == "é" * 31, "a long name is cut between characters", name)
said = run("chakra", "-o", job, *write([ONE] * 2, "caf\udce9"))
report(said.returncode == 1 and said.stderr.endswith(
    "expected a string of 1 to 63 bytes of UTF-8 without control characters before the rank\n"),
       "a file name that no JSON can hold", said.stderr)
for dims in ("", "x", "2x", "0x4", "2y2", "-2", "2x2x2x2x2x2x2x2x2"):
    said = run("chakra", "--dims", dims, *paths)
    report(said.returncode == 2, f"--dims {dims or 'of nothing'}", said.stderr)

# Any one byte wrong, or any end missing: refused or read, never a crash.
source = encode([init, collective(ALL_REDUCE, MIB, pg_name="1"), send(1, 4)])
dice = random.Random(7)
crashed = []
for attempt in range(150):
    broken = bytearray(source)
    broken[dice.randrange(len(broken))] = dice.randrange(256)
    write([bytes(broken[:dice.randrange(len(broken) + 1)] if attempt % 3 else broken), source], "fz")
    said = run("chakra", tmp.name + "/fz.0.et", tmp.name + "/fz.1.et")
    if said.returncode not in (0, 1) or (said.returncode and said.stderr.count("\n") != 1):
        crashed.append((attempt, said.returncode, said.stderr))
report(not crashed, "broken traces are refused in one line", crashed)

# --- from traces to a verified plan -----------------------------------------

for n in (8, 12, 16):
    # half data-parallel groups with sharded optimisers, a pipeline between them
    ranks = []
    for r in range(n):
        stage, peer = f"dp{r * 2 // n}", (r + n // 2) % n
        work = [node(COMP, "forward", (), 900), collective(ALL_TO_ALL, n * MIB),
                collective(ALL_GATHER, 2 * MIB, pg_name=stage)]
        work.append(send(peer, 3 * MIB) if r < n // 2 else receive(peer, 3 * MIB))
        work.append(receive(peer, 5 * MIB) if r < n // 2 else send(peer, 5 * MIB))
        work += [collective(REDUCE_SCATTER, n * MIB, pg_name=stage), collective(ALL_REDUCE, 64 * MIB)]
        ranks.append(work)
    half = n // 2
    want = {(x, y): MIB + (3 * MIB if y - x == half else 5 * MIB if x - y == half else 0)
            for x in range(n) for y in range(n) if x != y}
    accepts(f"a job of {n} ranks", ranks, (),
            {tuple(range(n)): 64 * MIB, tuple(range(half)): half * MIB + half * MIB,
             tuple(range(half, n)): half * MIB + half * MIB}, want)
    plan = f"{tmp.name}/plan.json"
    made = run("plan", "--job", f"{tmp.name}/job.json", "--degree", "4", "-o", plan)
    checked = run("verify", "--json", plan)
    figures = json.loads(checked.stdout) if not checked.returncode else {}
    report(not made.returncode and figures.get("servers") == n,
           f"its plan for {n} servers is verified", made.stderr + checked.stdout + checked.stderr)

done()
