#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Dimensions of plans: tosim schedule --network plan.json."""

import json
import os
import subprocess
import sys
import tempfile
from itertools import product

sys.path.insert(0, "selftests/unit")
from tap import done, report  # noqa: E402

TOCTL = os.environ.get("TOCTL", "build/toctl")
TOSIM = os.environ.get("TOSIM", "build/tosim")


def links_of(sizes, ring):
    """Links of a torus (a ring in every digit) or of full meshes; servers by their digits."""
    strides = [1]
    for size in sizes:
        strides.append(strides[-1] * size)
    links = set()
    for digits in product(*map(range, sizes)):
        server = sum(d * s for d, s in zip(digits, strides))
        for k, size in enumerate(sizes):
            for other in ([(digits[k] + 1) % size] if ring else range(size)):
                if other != digits[k]:
                    links.add(tuple(sorted((server, server + (other - digits[k]) * strides[k]))))
    return strides[-1], sorted(links)


def plan_of(home, n, links):
    servers = [{"name": f"s{i}", "ipv4": f"10.200.0.{i + 1}", "ports": []} for i in range(n)]
    cables = []
    for link in links:
        ends = []
        for i in link:
            ports = servers[i]["ports"]
            ends.append(f"s{i}:eth{len(ports)}")
            ports.append({"name": f"eth{len(ports)}", "mac": f"02:00:00:00:{i:02x}:{len(ports):02x}",
                          "ipv4": f"10.{201 + len(ports)}.0.{i + 1}", "bandwidth": 100 * 10**9})
        cables.append({"a": ends[0], "b": ends[1]})
    for name, document in (
            ("cluster", {"format": "topoopt-cluster", "version": 1, "link_mode": "duplex",
                         "servers": servers, "links": cables}),
            ("job", {"format": "topoopt-job", "version": 1, "name": "all", "servers": n,
                     "allreduce": [{"group": "all", "bytes": 1 << 20}]})):
        with open(f"{home}/{name}.json", "w", encoding="utf-8") as out:
            json.dump(document, out)
    subprocess.run([TOCTL, "plan", "--job", f"{home}/job.json", "--cluster", f"{home}/cluster.json",
                    "--fixed", "-o", f"{home}/plan.json"], check=True, stdout=subprocess.DEVNULL)
    return f"{home}/plan.json"


def schedule(plan, *options):
    return subprocess.run([TOSIM, "schedule", "--network", plan, "--size", "1GB", "--json", *options],
                          capture_output=True, text=True, check=False)


def dimensions(plan, *options):
    ran = schedule(plan, *options)
    if ran.returncode:
        return ran.stderr
    return [(d["kind"], d["size"], d["bandwidth_bps"] // 10**9) for d in json.loads(ran.stdout)["per_dimension"]]


with tempfile.TemporaryDirectory() as home:
    for name, sizes, ring, expected in (
            ("a ring", (8,), True, [("ring", 8, 200)]),
            ("a torus", (4, 5), True, [("ring", 4, 200), ("ring", 5, 200)]),
            ("a torus of three", (2, 3, 4), True, [("direct", 2, 100), ("direct", 3, 200), ("ring", 4, 200)]),
            ("full meshes", (4, 3), False, [("direct", 4, 300), ("direct", 3, 200)]),
            ("a full mesh", (7,), False, [("direct", 7, 600)])):
        found = dimensions(plan_of(home, *links_of(sizes, ring)))
        report(found == expected, f"{name}: its dimensions", found)

    plan = plan_of(home, *links_of((4, 4), True))
    ran = json.loads(schedule(plan).stdout)
    report(ran["utilisation"] > 0.999 and ran["baseline_time_s"] > 1.59 * ran["time_s"],
           "both halves of a torus are full, where the baseline fills one")
    found = dimensions(plan, "--gpus", "8", "--gpu-bandwidth", "3600G", "--latency", "2us")
    report(found == [("switch", 8, 3600), ("ring", 4, 25), ("ring", 4, 25)],
           "GPUs share the ports of their server", found)

    def switched(word, servers, *options):
        with open(f"{home}/job.json", "w", encoding="utf-8") as out:
            json.dump({"name": "all", "servers": servers, "allreduce": [{"group": "all", "bytes": 1 << 20}]}, out)
        subprocess.run([TOCTL, "plan", "--job", f"{home}/job.json", "--topology", word, "-o", f"{home}/plan.json"],
                       check=True, stdout=subprocess.DEVNULL)
        return dimensions(f"{home}/plan.json", *options)

    for name, word, servers, expected in (
            ("digits of BCube", "bcube:3,2", 9, [("switch", 3, 100), ("switch", 3, 100)]),
            ("three digits of BCube", "bcube:2,3", 8, [("switch", 2, 100)] * 3),
            ("rails", "rail:4", 6, [("switch", 6, 400)])):
        found = switched(word, servers)
        report(found == expected, f"{name}: a port on a packet switch counts once", found)
    found = switched("rail:4", 6, "--gpus", "4", "--gpu-bandwidth", "900G")
    report(found == [("switch", 4, 900), ("switch", 6, 100)], "GPUs of a server, and a rail for each", found)

    n, links = links_of((4, 4), True)
    for name, changed in (("a link less", links[1:]), ("a link across", links + [(0, 5)]),
                          ("servers in another order",
                           [tuple(sorted((a ^ 4 * (a % 4 == 1), b ^ 4 * (b % 4 == 1)))) for a, b in links])):
        ran = schedule(plan_of(home, n, changed))
        report(ran.returncode == 1 and "no torus or product of full meshes" in ran.stderr,
               f"{name}: is refused", ran.stderr or ran.stdout[:200])

done()
