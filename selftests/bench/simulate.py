#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What toctl simulate takes: DLRM iterations by transfers, and flows beside SimGrid.

Processor time and memory of whole commands, the reading and writing of files included.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, "selftests/unit")
import simgrid  # noqa: E402

TOCTL = os.environ.get("TOCTL", "build/toctl")
MODEL = "examples/models/dlrm.json"
RACKS, RACK = 8, 8	# servers that SimGrid has, too


def measured(command, **options):
    """Processor seconds and MiB that @command takes."""
    process = subprocess.Popen(command, **options)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command[:3])} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def line(what, cpu, memory, note=""):
    print(f"  {what:52} {cpu:8.2f} s {memory:8.0f} MiB  {note}".rstrip(), flush=True)


def events(path):
    with open(path, encoding="utf-8") as file:
        return f"{json.load(file)['events']} events"


def dlrm(tmp, n, fabric, degree=4):
    """With a search for the strategy, and the iteration alone with that."""
    common = [TOCTL, "simulate", "--model", MODEL, "--servers", str(n), "--degree", str(degree),
              "--fabric", fabric, "--json"]
    searched, again = f"{tmp}/searched.json", f"{tmp}/again.json"
    for path, strategy, what in ((searched, "search", "with a search of 1000 steps"),
                                 (again, searched, "that strategy")):
        with open(path, "w", encoding="utf-8") as out:
            cost = measured([*common, "--placement", strategy], stdout=out)
        line(f"DLRM, {n} servers, {fabric}, {what}", *cost, events(path))


def beside_simgrid(tmp):
    """An all-to-all, no two flows alike, on racks of a tree."""
    rng = random.Random(1)
    servers = [f"s{i}" for i in range(RACKS * RACK)]
    racks = [f"w{i}" for i in range(RACKS)]
    of = {server: racks[i // RACK] for i, server in enumerate(servers)}
    links = {(server, rack): 100 for server, rack in of.items()}
    links.update({(rack, "core"): 100 * RACK // 2 for rack in racks})
    flows = []
    for a in servers:
        for b in servers:
            if a == b:
                continue
            path = [(a, of[a]), (of[b], b)] if of[a] == of[b] else [
                (a, of[a]), (of[a], "core"), ("core", of[b]), (of[b], b)]
            flows.append((a, b, rng.randint(10**6, 10**8), path))
    ours, memory = measured([TOCTL, *simgrid.write(tmp, servers, [*racks, "core"], links, flows)],
                            stdout=subprocess.DEVNULL)
    line(f"{len(flows)} flows on {len(servers)} servers in {RACKS} racks", ours, memory)
    if not simgrid.installed():
        print("  SimGrid is not installed: selftests/lab/deps.sh simgrid")
        return
    program, same = simgrid.build(tmp), simgrid.Flows()
    same.add(links, flows)
    with open(f"{tmp}/in", "w", encoding="utf-8") as file:
        file.write(same.input())
    with open(f"{tmp}/in", encoding="utf-8") as text, open(f"{tmp}/said", "w", encoding="utf-8") as out:
        theirs, memory = measured(simgrid.command(program), stdin=text, stdout=out)
    with open(f"{tmp}/said", encoding="utf-8") as file:
        ends = simgrid.ends(file.read())
    times = simgrid.times(tmp)
    apart = max(abs(ends[i] / times[src, dst] - 1) for i, (src, dst, _, _) in enumerate(flows))
    line("  SimGrid, the same flows", theirs, memory,
         f"{theirs / ours:.1f} times as long; ends {apart:.1g} apart at most")


with tempfile.TemporaryDirectory() as directory:
    print("toctl simulate, flow level")
    beside_simgrid(directory)
    dlrm(directory, 128, "ideal")
    dlrm(directory, 128, "topoopt")
    dlrm(directory, 1024, "ideal")
