#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows on random networks end when ns-3 says they do, to 1 ns: packet level, open loop.

Senders, layers of switches, receivers: data go one way, so that no ACK, of which ns-3
knows nothing, is before them. Flows go where there is one shortest path.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, "selftests/unit")
from tap import done, report  # noqa: E402

TOSIM = os.environ.get("TOSIM", "build/tosim")
CXX = os.environ.get("CXX", "g++")
NETWORKS = 20
MTU = 1000
LIBRARIES = ["-lns3-core", "-lns3-network", "-lns3-point-to-point"]
FLAGS = os.environ.get("NS3_FLAGS", "").split()


def network(rng):
    """Layers of vertices, and the links from each to the next: Mbit/s and ns."""
    layers = [[f"a{i}" for i in range(rng.randint(3, 10))]]
    layers += [[f"w{k}{i}" for i in range(rng.randint(1, 4))] for k in range(rng.randint(1, 4))]
    layers += [[f"b{i}" for i in range(rng.randint(2, 6))]]
    links = {}
    for near, far in zip(layers, layers[1:]):
        pairs = {(x, rng.choice(far)) for x in near} | {(rng.choice(near), y) for y in far}
        # all of a layer are reached from the first of the one before
        pairs |= {(near[0], y) for y in far if far[0][0] == "w"}
        for pair in sorted(pairs):
            links[pair] = rng.randint(10000, 100000), rng.randint(100, 3000)
    return layers, links


def only_path(links, src, dst):
    """The links of the only path, all of which are as long as there are layers; else None."""
    paths = [[src]]
    while paths and paths[0][-1] != dst:
        paths = [path + [y] for path in paths for x, y in links if x == path[-1]]
        if paths and paths[0][-1][0] == "b":
            paths = [path for path in paths if path[-1] == dst]
    return list(zip(paths[0], paths[0][1:])) if len(paths) == 1 else None


def ours(tmp, layers, links, flows):
    servers = layers[0] + layers[-1]
    switches = [x for layer in layers[1:-1] for x in layer]
    with open(f"{tmp}/net.json", "w", encoding="utf-8") as file:
        json.dump({"format": "topoopt-network", "version": 1, "servers": servers,
                   "packet_switches": switches,
                   "links": [{"ends": ends, "bandwidth": f"{rate}M", "latency": f"{latency}ns"}
                             for ends, (rate, latency) in links.items()]}, file)
    with open(f"{tmp}/job.json", "w", encoding="utf-8") as file:
        json.dump({"name": "flows", "servers": len(servers), "allreduce": [],
                   "mp": [{"from": str(servers.index(src)), "to": str(servers.index(dst)),
                           "bytes": size} for src, dst, size, _ in flows]}, file)
    subprocess.run([TOSIM, "simulate", "--fabric", f"{tmp}/net.json", "--job", f"{tmp}/job.json",
                    "--level", "packet", "--transport", "none", "--queue-pairs", "1",
                    "--step-latency", "0",
                    "--mtu", str(MTU), "--headers", "2", "--buffer", "1GB",
                    "-o", f"{tmp}/out.json"], check=True, stdout=subprocess.DEVNULL)
    with open(f"{tmp}/out.json", encoding="utf-8") as file:
        return {t["from"]: t["finish_s"] for t in json.load(file)["transfers"]}


def theirs(tmp, links, flows):
    numbers = {ends: i for i, ends in enumerate(links)}
    text = [f"l {rate * 10**6} {latency * 1000}" for rate, latency in links.values()]
    for _, _, size, path in flows:
        packets = -(-size // MTU)
        text.append(f"f {packets} {MTU} {size - (packets - 1) * MTU} {len(path)} "
                    + " ".join(str(numbers[ends]) for ends in path))
    said = subprocess.run([f"{tmp}/ns3"], input="\n".join(text) + "\n", capture_output=True,
                          check=True, text=True).stdout
    return {flows[int(line.split()[0])][0]: int(line.split()[1]) * 1e-12
            for line in said.splitlines()}


def main(tmp):
    if subprocess.run([CXX, *FLAGS, "-x", "c++", "-E", "-"], check=False, capture_output=True,
                      input=b"#include <ns3/core-module.h>").returncode:
        print("1..0 # SKIP no libns3-dev, or no g++: deps.sh ns3")
        return
    subprocess.run([CXX, "-std=gnu++17", "selftests/unit/ns3.cpp", *FLAGS, *LIBRARIES,
                    "-Wl,--allow-shlib-undefined", "-o", f"{tmp}/ns3"], check=True)
    rng = random.Random(1)
    worst, compared, queued = 0, 0, 0
    for _ in range(NETWORKS):
        layers, links = network(rng)
        flows = []
        for src in layers[0]:
            dst = rng.choice(layers[-1])
            path = only_path(links, src, dst)
            if path:
                flows.append((src, dst, rng.randint(8, 400 * MTU), path))
        if not flows:
            continue
        mine, other = ours(tmp, layers, links, flows), theirs(tmp, links, flows)
        for src, _, size, path in flows:
            compared += 1
            worst = max(worst, abs(mine[src] - other[src]))
            alone = sum(links[ends][1] for ends in path) * 1e-9
            slowest = min(links[ends][0] for ends in path) * 1e6
            queued += mine[src] > 1.5 * (alone + size * 8 / slowest)
    print(f"# {compared} flows, farthest apart: {worst * 1e12:.0f} ps; {queued} waited for others")
    report(compared > 2 * NETWORKS and queued > 5, "flows that share links", f"{compared} {queued}")
    report(worst <= 1e-9, "all end when ns-3 says, within 1 ns", f"{worst}")
    done()


with tempfile.TemporaryDirectory() as directory:
    main(directory)
