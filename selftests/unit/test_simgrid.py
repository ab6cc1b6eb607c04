#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows on random graphs end when SimGrid says they do.

Flows go where there is one shortest path, so that both take the same.
"""

import random
import subprocess
import sys
import tempfile
from collections import deque

sys.path.insert(0, "selftests/unit")
import simgrid  # noqa: E402
from tap import done, report  # noqa: E402

GRAPHS = 200


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


def main(tmp):
    if not simgrid.installed():
        print("1..0 # SKIP no libsimgrid-dev, or no g++: deps.sh simgrid")
        return
    program = simgrid.build(tmp)
    rng = random.Random(1)
    all_flows, expected = simgrid.Flows(), []
    for _ in range(GRAPHS):
        servers, switches, links = graph(rng)
        flows = list(flows_of(rng, servers, links))
        all_flows.add(links, flows)
        subprocess.run([simgrid.TOSIM, *simgrid.write(tmp, servers, switches, links, flows)],
                       check=True, stdout=subprocess.DEVNULL)
        times = simgrid.times(tmp)
        expected += [times[src, dst] for src, dst, _, _ in flows]
    theirs = simgrid.ends(subprocess.run(simgrid.command(program), input=all_flows.input(),
                                         capture_output=True, check=True, text=True).stdout)
    report(len(theirs) == len(expected) > 5 * GRAPHS, f"{len(expected)} flows on {GRAPHS} graphs",
           f"SimGrid ended {len(theirs)} of {len(expected)}")
    worst = max(abs(theirs[i] / time - 1) for i, time in enumerate(expected))
    report(worst <= 1e-4, "all end when SimGrid says, within 1e-4", f"{worst}")
    print(f"# farthest apart: {worst:.2g}")
    done()


with tempfile.TemporaryDirectory() as directory:
    main(directory)
