#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of papers, published and ours: make reproduce FIG=11.

    reproduce.py fig11

Each line has what was published, what toctl computes, how far that is off and, where it
is, which assumption explains it: the line below it has that assumption changed. Nothing
is tuned towards a published number.
"""

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


PAPERS = {"fig11": fig11}

if len(sys.argv) != 2 or sys.argv[1] not in PAPERS:
    sys.exit(f"reproduce.py: which of {', '.join(PAPERS)}?")
PAPERS[sys.argv[1]]()
