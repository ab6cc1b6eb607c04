#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of papers, published and ours: make reproduce FIG=11, PAPER=bml.

    reproduce.py fig11|themis|bml

Each line has what was published, what toctl computes, how far that is off and, where it
is, which assumption explains it: the line below it has that assumption changed. Nothing
is tuned towards a published number.
"""

import glob
import json
import os
import subprocess
import sys

TOCTL = os.environ.get("TOCTL", "build/toctl")


def toctl(*arguments):
    return json.loads(subprocess.run([TOCTL, *arguments, "--json"], check=True,
                                     stdout=subprocess.PIPE).stdout)


def head(title):
    print(f"{title}\n  {'':46} {'published':>9} {'ours':>8} {'off by':>8}")


def line(what, published, ours, note=""):
    print(f"  {what:46} {published:9.4g} {ours:8.4g} {100 * (ours / published - 1):+7.1f}%  {note}".rstrip())


def holds(what, does):
    print(f"  {what:46} {'yes':>9} {'yes' if does else 'no':>8}")


def fig11():
    panels = (("4", "100G"), ("8", "200G"))

    def usd(*assume):
        """Dollars a server by fabric, for each of the two panels."""
        words = [word for text in assume for word in ("--assume", text)]
        return [{fabric["fabric"]: fabric["per_server_usd"] for fabric in
                 toctl("cost", "--servers", "128", "--degree", d, "--bandwidth", b, *words)["fabrics"]}
                for d, b in panels]

    def mean(costs, above, below):
        return sum(cost[above] / cost[below] for cost in costs) / len(costs)

    plain = usd()
    bare = usd("optical-fibres=0")
    extra = usd("optical-fibres=0", "ocs-extra=75")
    head("TopoOpt, Figure 11: interconnect cost, mean of (a) d=4, 100G and (b) d=8, 200G")
    line("ideal over topoopt", 3.4, mean(plain, "ideal", "topoopt"), "Table 3, a fibre an interface")
    line("  optical-fibres=0", 3.4, mean(bare, "ideal", "topoopt"), "no fibre to the panels")
    line("optical switches over patch panels", 1.33, mean(plain, "topoopt-reconfig", "topoopt"),
         "Table 3, a fibre an interface")
    line("  optical-fibres=0 ocs-extra=75", 1.33, mean(extra, "topoopt-reconfig", "topoopt"),
         "and 75 USD more an interface")
    holds("topoopt overlaps cost-equivalent",
          all(abs(cost["cost-equivalent"] / cost["topoopt"] - 1) < 1e-9 for cost in plain))
    holds("expander is cheapest", all(min(cost, key=cost.get) == "expander" for cost in plain))
    dearest = ", ".join(f"{max(cost.values()) / int(d):.0f} USD (d={d}, {b})"
                        for (d, b), cost in zip(panels, plain))
    print(f"  sip-ml is dearest: the paper has no price of it; it is, above {dearest}, an interface")


def themis():
    here = os.path.dirname(os.path.abspath(__file__))
    networks = sorted(glob.glob(here + "/dims-*.json"))
    two = [name for name in networks if "3D-SW_SW_SW_hetero" in name or "4D-Ring_FC_Ring_SW" in name]
    sizes = [f"{n}MB" for n in range(100, 1001, 100)]

    def schedules(policy, order, names=networks, *options):
        return [toctl("schedule", "--network", name, "--size", size, "--policy", policy, "--order", order, *options)
                for name in names for size in sizes]

    def used(found):
        return 100 * sum(one["utilisation"] for one in found) / len(found)

    def faster(found):
        return sum(one["baseline_time_s"] / one["time_s"] for one in found) / len(found)

    plain = schedules("baseline", "fifo")
    fifo, scf = (schedules("themis", order) for order in ("fifo", "scf"))
    head("Themis: AllReduce of 100 to 1000 MB on six networks, 64 chunks, mean")
    line("utilisation (%), baseline", 56.31, used(plain))
    line("utilisation (%), Themis + FIFO", 87.67, used(fifo))
    line("utilisation (%), Themis + SCF", 95.14, used(scf))
    line("speed-up, Themis + FIFO", 1.58, faster(fifo))
    line("speed-up, Themis + SCF", 1.72, faster(scf))
    line("speed-up, most", 2.70, max(one["baseline_time_s"] / one["time_s"] for one in scf))
    for share in "0", "0.25", "1":
        line(f"  --threshold {share}: Themis + SCF", 95.14, used(schedules("themis", "scf", networks,
                                                                        "--threshold", share)))
    head("Themis: utilisation (%) of 3D-SW_SW_SW_hetero and 4D-Ring_FC_Ring_SW, mean")
    for chunks, published in ("4", (43.13, 48.58)), ("512", (87.81, 91.18)):
        for order, value in zip(("fifo", "scf"), published):
            line(f"{chunks} chunks, Themis + {order.upper()}", value,
                 used(schedules("themis", order, two, "--chunks", chunks)))
    for parallel in "16", "8":
        for order, value in ("fifo", 87.81), ("scf", 91.18):
            line(f"  --parallel {parallel}: 512 chunks, Themis + {order.upper()}", value,
                 used(schedules("themis", order, two, "--chunks", "512", "--parallel", parallel)),
                 "so many chunks under way in a dimension at most")


def bml():
    def time(n, k, algorithm="bml"):
        return toctl("collective", "show", "--bcube", f"{n},{k}", "--algorithm", algorithm)["time_tf"]

    head("BML, Figure 5: gradient synchronisation time in T_F")
    for n, k, fat_tree, published in (4, 2, 4, (0.9375, 1.875)), (32, 2, 16, (0.9990, 1.998)):
        servers = n ** k
        line(f"{servers} servers, BML on BCube({n},{k})", published[0], time(n, k))
        line(f"{servers} servers, PS on Fat-Tree({fat_tree})", published[1], 2 * (servers - 1) / servers,
             "by formula, 2(N-1)/N: non-blocking")
        line(f"{servers} servers, hierarchical on Fat-Tree({fat_tree})", published[1],
             2 * (servers - 1) / servers, "the same formula, one port a server")
        line(f"{servers} servers, PS on BCube({n},{k})", 2 * published[0], time(n, k, "ps"),
             "the paper says twice BML's")
        line("  if each server sent by one of its ports", 2 * published[0], 2 * (servers - 1) / servers)
    head("BML, section 3.2: the example, in T_F")
    line("BML on BCube(3,2)", 8 / 9, time(3, 2))
    line("PS on BCube(3,2)", 16 / 9, time(3, 2, "ps"), "the paper says twice BML's")
    print("  Figures 6 and 7 are job times of TensorFlow on GPUs, which are not computed here")


PAPERS = {"fig11": fig11, "themis": themis, "bml": bml}

if len(sys.argv) != 2 or sys.argv[1] not in PAPERS:
    sys.exit(f"reproduce.py: which of {', '.join(PAPERS)}?")
PAPERS[sys.argv[1]]()
