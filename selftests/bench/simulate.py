#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What tosim simulate takes: DLRM iterations by transfers, flows beside SimGrid, and packets
beside csg-htsim's RoCE.

Processor time and memory of whole commands, the reading and writing of files included.
csg-htsim (github.com/Broadcom/csg-htsim) is looked for where HTSIM says: the directory of
its sources, in which make -C sim has made sim/datacenter/htsim_roce.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, "selftests/unit")
import simgrid  # noqa: E402

TOSIM = os.environ.get("TOSIM", "build/tosim")
MODEL = "examples/models/dlrm.json"
RACKS, RACK = 8, 8	# servers that SimGrid has, too
PERMUTATIONS = 5	# that csg-htsim has, too: each side hashes flows to paths of its own
PERMUTED = 128		# servers, in a fat-tree of switches with eight ports
PACKETS = 5000		# of each of their flows
MTU, HEADERS = 4096, 64	# the latter are csg-htsim's
STOP, GO = 15, 13	# packets of a link in its switch at which PFC stops it, and lets it go


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
    common = [TOSIM, "simulate", "--model", MODEL, "--servers", str(n), "--degree", str(degree),
              "--fabric", fabric, "--step-latency", "0ns", "--json"]
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
    ours, memory = measured([TOSIM, *simgrid.write(tmp, servers, [*racks, "core"], links, flows)],
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


def permutation(rng):
    """Where each server sends to, none to itself."""
    to = list(range(PERMUTED))
    while any(i == j for i, j in enumerate(to)):
        rng.shuffle(to)
    return to


def permuted(tmp, to, seed):
    """Processor seconds, MiB, packet-hops and mean seconds of a flow."""
    wire = MTU + HEADERS
    headroom = 2 * 1e-6 * 100e9 / 8 + 2 * wire + 84
    with open(f"{tmp}/job.json", "w", encoding="utf-8") as file:
        json.dump({"name": "permutation", "servers": PERMUTED, "allreduce": [],
                   "mp": [{"from": str(i), "to": str(j), "bytes": PACKETS * MTU}
                          for i, j in enumerate(to)]}, file)
    with open(f"{tmp}/said.json", "w", encoding="utf-8") as out:
        cpu, memory = measured(
            [TOSIM, "simulate", "--json", "--job", f"{tmp}/job.json", "--fabric", "fat-tree:8",
             "--degree", "1", "--routing", "hash", "--step-latency", "0ns", "--seed", str(seed), "--level", "packet",
             "--transport", "none", "--queue-pairs", "1", "--headers", str(HEADERS), "--buffer",
             str(round(STOP * wire + headroom))], stdout=out)
    with open(f"{tmp}/said.json", encoding="utf-8") as file:
        said = json.load(file)
    return cpu, memory, said["packets"]["counts"]["hops"], said["packets"]["transfer_time_s"]["mean"]


def permuted_htsim(tmp, to, seed, program):
    """Processor seconds, MiB and mean seconds of a flow, which end there with an ACK."""
    with open(f"{tmp}/in.cm", "w", encoding="utf-8") as file:
        file.write(f"Nodes {PERMUTED}\nConnections {PERMUTED}\n")
        file.writelines(f"{i}->{j} start 0 size {PACKETS * MTU}\n" for i, j in enumerate(to))
    with open(f"{tmp}/said.txt", "w", encoding="utf-8") as out:
        cpu, memory = measured(
            [program, "-nodes", str(PERMUTED), "-tiers", "3", "-tm", f"{tmp}/in.cm", "-strat",
             "ecmp_host", "-paths", "256", "-linkspeed", "100000", "-mtu", str(MTU), "-q", "10000",
             "-pfc_thresholds", str(GO), str(STOP), "-end", "1000000", "-seed", str(seed),
             "-o", "/dev/null"], stdout=out, cwd=tmp)	# where it leaves idmap.txt
    with open(f"{tmp}/said.txt", encoding="utf-8") as file:
        ends = [float(end) for end in re.findall(r"finished at (\S+)", file.read())]
    if len(ends) != PERMUTED:
        sys.exit(f"csg-htsim ended {len(ends)} of {PERMUTED} flows")
    return cpu, memory, sum(ends) / len(ends) * 1e-6


def beside_htsim(tmp):
    """Permutations on a fat-tree with PFC, as fast as it lets flows go."""
    rng = random.Random(1)
    permutations = [permutation(rng) for _ in range(PERMUTATIONS)]
    runs = [permuted(tmp, to, i + 1) for i, to in enumerate(permutations)]
    ours, memory, hops, time = (sum(run[k] for run in runs) / len(runs) for k in range(4))
    line(f"{PERMUTED} flows of {PACKETS} packets on fat-tree:8", ours, memory,
         f"{hops / ours / 1e6:.1f} million packet-hops a second; a flow takes {time * 1e6:.0f} us")
    if not os.environ.get("HTSIM"):
        print("  csg-htsim: no HTSIM= says where it is")
        return
    program = os.path.abspath(os.environ["HTSIM"] + "/sim/datacenter/htsim_roce")
    runs = [permuted_htsim(tmp, to, i + 1, program) for i, to in enumerate(permutations)]
    theirs, memory, same = (sum(run[k] for run in runs) / len(runs) for k in range(3))
    line("  csg-htsim's RoCE, the same flows", theirs, memory,
         f"{theirs / ours:.1f} times as long; a flow takes {same * 1e6:.0f} us, "
         f"{(time / same - 1) * 100:+.1f} % for ours")


with tempfile.TemporaryDirectory() as directory:
    print("tosim simulate, packet level")
    beside_htsim(directory)
    print("tosim simulate, flow level")
    beside_simgrid(directory)
    dlrm(directory, 128, "ideal")
    dlrm(directory, 128, "topoopt")
    dlrm(directory, 1024, "ideal")
