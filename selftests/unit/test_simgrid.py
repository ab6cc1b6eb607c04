#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows on random graphs end when SimGrid says they do.

Its model is CM02 with all factors 1: max-min fair rates, no window. Flows go where there
is one shortest path, so that both take the same.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from collections import deque

sys.path.insert(0, "selftests/unit")
from tap import done, report  # noqa: E402

TOCTL = os.environ.get("TOCTL", "build/toctl")
CXX = os.environ.get("CXX", "g++")
GRAPHS = 200
MODEL = ["network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
         "network/bandwidth-factor:1", "network/latency-factor:1", "network/weight-S:0"]


def graph(rng):
    """Servers, switches, and duplex links: a random tree and some more."""
    servers = [f"s{i}" for i in range(rng.randint(3, 12))]
    switches = [f"w{i}" for i in range(rng.randint(0, 4))]
    vertices = rng.sample(servers + switches, len(servers) + len(switches))
    links = {}
    for i, vertex in enumerate(vertices[1:], 1):
        links[vertex, rng.choice(vertices[:i])] = rng.choice((1, 2, 5, 10, 25))
    for _ in range(rng.randint(0, len(vertices))):
        a, b = rng.sample(vertices, 2)
        if (a, b) not in links and (b, a) not in links:
            links[a, b] = rng.randint(1, 40)
    return servers, switches, links


def only_path(near, src, dst):
    """Vertices of the shortest path, None when there are several."""
    distance, paths, before, queue = {src: 0}, {src: 1}, {}, deque([src])
    while queue:
        x = queue.popleft()
        for y in near[x]:
            if y not in distance:
                distance[y], paths[y], before[y] = distance[x] + 1, 0, x
                queue.append(y)
            if distance[y] == distance[x] + 1:
                paths[y] += paths[x]
    if paths[dst] != 1:
        return None
    path = [dst]
    while path[-1] != src:
        path.append(before[path[-1]])
    return path[::-1]


def flows_of(rng, servers, links):
    """(from, to, bytes, directed links) of some pairs."""
    near = {}
    for a, b in links:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    pairs = [(a, b) for a in servers for b in servers if a != b]
    for src, dst in rng.sample(pairs, rng.randint(1, min(30, len(pairs)))):
        path = only_path(near, src, dst)
        if path:
            yield src, dst, rng.randint(10**6, 10**8), list(zip(path, path[1:]))


def ours(tmp, servers, switches, links, flows):
    with open(f"{tmp}/net.json", "w", encoding="utf-8") as file:
        json.dump({"format": "topoopt-network", "version": 1, "servers": servers,
                   "packet_switches": switches,
                   "links": [{"ends": ends, "bandwidth": f"{rate}G"}
                             for ends, rate in links.items()]}, file)
    with open(f"{tmp}/job.json", "w", encoding="utf-8") as file:
        json.dump({"name": "flows", "servers": len(servers), "allreduce": [],
                   "mp": [{"from": src[1:], "to": dst[1:], "bytes": size}
                          for src, dst, size, _ in flows]}, file)
    subprocess.run([TOCTL, "simulate", "--fabric", f"{tmp}/net.json", "--job", f"{tmp}/job.json",
                    "--latency", "0", "--relay-latency", "0", "-i", "1", "-o", f"{tmp}/out.json"],
                   check=True, stdout=subprocess.DEVNULL)
    with open(f"{tmp}/out.json", encoding="utf-8") as file:
        return {(t["from"], t["to"]): t["finish_s"] for t in json.load(file)["transfers"]}


def main(tmp):
    if subprocess.run([CXX, "-x", "c++", "-E", "-"], input=b"#include <simgrid/s4u.hpp>",
                      capture_output=True, check=False).returncode:
        print("1..0 # SKIP no libsimgrid-dev, or no g++: deps.sh simgrid")
        return
    subprocess.run([CXX, "-std=gnu++17", "selftests/unit/simgrid.cpp", "-lsimgrid",
                    "-Wl,--allow-shlib-undefined", "-o", f"{tmp}/simgrid"], check=True)
    rng = random.Random(1)
    text, numbers, expected = [], {}, []
    for index in range(GRAPHS):
        servers, switches, links = graph(rng)
        flows = list(flows_of(rng, servers, links))
        for (a, b), rate in links.items():
            for ends in (a, b), (b, a):
                numbers[index, ends] = len(numbers)
                text.append(f"l {rate * 1e9 / 8}")
        for _, _, size, path in flows:
            text.append(f"f {size} {len(path)} "
                        + " ".join(str(numbers[index, ends]) for ends in path))
        times = ours(tmp, servers, switches, links, flows)
        expected += [times[src, dst] for src, dst, _, _ in flows]
    said = subprocess.run([f"{tmp}/simgrid", *(f"--cfg={c}" for c in MODEL),
                           "--log=root.thresh:error"], input="\n".join(text) + "\n",
                          capture_output=True, check=True, text=True).stdout
    theirs = {int(line.split()[0]): float(line.split()[1]) for line in said.splitlines()}
    report(len(theirs) == len(expected) > 5 * GRAPHS, f"{len(expected)} flows on {GRAPHS} graphs",
           f"SimGrid ended {len(theirs)} of {len(expected)}")
    worst = max(abs(theirs[i] / time - 1) for i, time in enumerate(expected))
    report(worst <= 1e-4, "all end when SimGrid says, within 1e-4", f"{worst}")
    print(f"# farthest apart: {worst:.2g}")
    done()


with tempfile.TemporaryDirectory() as directory:
    main(directory)
