#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What small inputs may cost, however they were meant: two seconds of a processor and
500 MB, or one line that refuses them. Prints a table."""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "selftests/unit")
from chakra_trace import ALL_REDUCE, METADATA, collective, encode, node  # noqa: E402
from tap import done, report  # noqa: E402

TOCTL = os.path.abspath(os.environ.get("TOCTL", "build/toctl"))
SECONDS, MEGABYTES = 2, 500
# what a sanitizer takes is not the input's cost
SANITIZED = "/sanitize/" in TOCTL


def job(servers, **more):
    return json.dumps({"name": "small", "servers": servers} | more)


def many(entry, n):
    return [entry] * n


def tm(servers, samples=(), **more):
    return json.dumps({
        "format": "topoopt-tm", "version": 1, "job": "small", "plan": "0" * 16,
        "interval_ns": 50_000_000, "classes": ["roce", "tcp", "other"],
        "servers": [f"s{i}" for i in range(servers)], "samples": samples} | more)


def recording(intervals):
    """Of s0, with two samples so many intervals apart."""
    ns = 50_000_000
    return tm(2, [{"start_ns": i * ns, "end_ns": (i + 1) * ns, "elapsed_ns": ns, "lost": [0, 0],
                   "flows": [], "ports": [[0, 0, 0, 0]]} for i in (1, 1 + intervals)],
              server="s0", generation=1, ports=[{"name": "eth0", "to": None, "from": None}])


def trace(groups):
    """Of a rank of two, in so many process groups."""
    names = json.dumps([{"pg_name": str(g), "ranks": [0, 1]} for g in range(groups)])
    return encode([node(METADATA, "process_group:init", (), 0, names)] +
                  [collective(ALL_REDUCE, 1, pg_name=str(g)) for g in range(groups)])


ALL = {"group": "all", "bytes": 1}
SQUARE = {"from": "0-2047", "to": "0-2047", "bytes": 1}
# each input, the command that reads it as {}, and the line that refuses it, or "" if none does
INPUTS = {
    "a job of 16384 servers":
        (lambda: job(16384), "plan --job {} --degree 4 -o out", "--large allows that"),
    "a job of 65536 servers":
        (lambda: job(65536), "plan --job {} --degree 4 -o out", "--large allows that"),
    "100,000 equal AllReduce groups":
        (lambda: job(16, allreduce=many(ALL, 100_000)), "plan --job {} --degree 4 -o out",
         "allreduce: there are 100000, more than 32768"),
    "30,000 equal AllReduce groups":
        (lambda: job(16, allreduce=many(ALL, 30_000)), "plan --job {} --degree 4 -o out", ""),
    "5000 all-to-all transfers of 2048 servers":
        (lambda: job(2048, mp=many(SQUARE, 5000)), "heatmap {} -o out", "--large allows that"),
    "the same, allowed by --large":
        (lambda: job(2048, mp=many(SQUARE, 5000)), "heatmap {} --large -o out",
         ""),
    "40,000 process groups in a Chakra trace":
        (lambda: trace(40_000), "chakra -o out in.0.et in.1.et", ""),
    "60 MB of [] for a plan":
        (lambda: "[" + "[]," * 20_000_000 + "[]]", "verify {}", "its values take about"),
    "60 MB of [] for a job":
        (lambda: "[" + "[]," * 20_000_000 + "[]]", "plan --job {} --degree 4 -o out", "its values take about"),
    "60 MB of [] for a traffic matrix":
        (lambda: "[" + "[]," * 20_000_000 + "[]]", "tm show {}", "its values take about"),
    "a traffic matrix of 60,000 servers":
        (lambda: tm(60_000, links=[]), "tm show {}", "--large allows that"),
    "a recording of 2^24 - 1 intervals, two of them with samples":
        (lambda: recording((1 << 24) - 1), "tm merge --partial -o out {}", "the recordings span"),
    "arrays nested 100,000 deep":
        (lambda: "[" * 100_000, "verify {}", "nested 100000 deep"),
}


def write(path, make):
    """By a child: the kernel counts what this process ever had for those that it starts."""
    child = os.fork()
    if not child:
        text = make()
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        os._exit(0)
    os.waitpid(child, 0)
    return os.path.getsize(path)


def try_input(name, make, command, refusal):
    with tempfile.TemporaryDirectory() as home:
        size = write(f"{home}/in", make)
        for rank in range(2):
            os.link(f"{home}/in", f"{home}/in.{rank}.et")
        with open(f"{home}/said", "w", encoding="utf-8") as said, subprocess.Popen(
                (TOCTL, *command.replace("{}", "in").split()), cwd=home,
                stdout=subprocess.DEVNULL, stderr=said) as run:
            _, run.returncode, used = os.wait4(run.pid, 0)
        with open(f"{home}/said", encoding="utf-8") as file:
            lines = file.read().splitlines()
    seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1000
    print(f"# {name}: {size} bytes, {seconds:.2f} s, {megabytes:.0f} MB"
          f"{', refused' if run.returncode else ''}")
    refused = run.returncode and len(lines) == 1 and refusal in lines[0]
    report(refused if refusal else not run.returncode, f"{name}: is "
           f"{'refused in one line' if refusal else 'taken'}", [run.returncode, lines[:3]])
    report(SANITIZED or (seconds <= SECONDS and megabytes <= MEGABYTES),
           f"{name}: costs little", f"{seconds:.2f} s, {megabytes:.0f} MB")


for title, row in INPUTS.items():
    try_input(title, *row)
done()
