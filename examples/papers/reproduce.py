#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of papers, published and ours: make reproduce FIG=11, PAPER=bml.

    reproduce.py fig11|fig12|fig13|fig14|fig15|fig16|themis|bml|sip

Points of a sweep are kept in build/reproduce (or $REPRODUCE): killed, the same goes on.

Each line has what was published, what tosim computes, how far that is off and, where it
is, which assumption explains it: the line below it has that assumption changed. Nothing
is tuned towards a published number.
"""

import concurrent.futures
import glob
import json
import os
import subprocess
import sys

TOSIM = os.environ.get("TOSIM", "build/tosim")
HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = os.environ.get("REPRODUCE", "build/reproduce")


def tosim(*arguments):
    run = subprocess.run([TOSIM, *arguments, "--json"], stdout=subprocess.PIPE, check=False)
    if run.returncode:  # it has said why
        sys.exit(1)
    return json.loads(run.stdout)


# The papers' simulators begin a step of a collective in no time.
AT_ONCE = ("--step-latency", "0ns")


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
                 tosim("cost", "--servers", "128", "--degree", d, "--bandwidth", b, *words)["fabrics"]}
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
    networks = sorted(glob.glob(HERE + "/dims-*.json"))
    two = [name for name in networks if "3D-SW_SW_SW_hetero" in name or "4D-Ring_FC_Ring_SW" in name]
    sizes = [f"{n}MB" for n in range(100, 1001, 100)]

    def schedules(policy, order, names=networks, *options):
        return [tosim("schedule", "--network", name, "--size", size, "--policy", policy, "--order", order, *options)
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
        line(f"  --imbalance {share}: Themis + SCF", 95.14, used(schedules("themis", "scf", networks,
                                                                        "--imbalance", share)))
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
    themis_iterations(networks)


# Models of section 5.2 and how they are parallelised; published mean, most, and mean if ideal.
THEMIS_MODELS = (("resnet152", ("--placement", "data"), (1.49, 2.25, 1.54)),
                 ("gnmt", ("--placement", "data"), (1.30, 1.78, 1.32)),
                 ("dlrm", ("--placement", "tables"), (1.30, 1.77, 1.33)),
                 ("transformer-1t", ("--placement", "data", "--model-parallel", "128"), (1.25, 1.53, 1.26)))


def iterations(networks, model, *options):
    """An iteration on each network, by policy."""
    return {policy: [tosim("simulate", "--model", model, "--network", name, "--policy", policy, *options)
                     for name in networks] for policy in ("baseline", "themis", "ideal")}


def gains(found, policy, computing=None):
    """Of iterations over the baseline's; where `computing` takes so many seconds, if said."""
    def seconds(one):
        return one["time_s"] - one["computing_s"] + (one["computing_s"] if computing is None else computing)
    return [seconds(slow) / seconds(fast) for slow, fast in zip(found["baseline"], found[policy])]


def average(found):
    return sum(found) / len(found)


def computing_for(found, wanted):
    """Seconds of computing with which Themis gains `wanted` in the mean; None where none does."""
    if average(gains(found, "themis", 0)) < wanted:
        return None
    low, high = 0, 1e3
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if average(gains(found, "themis", middle)) > wanted else (low, middle)
    return low


def themis_gains(what, found, published, computing=None):
    mean, most, ideal = published
    fast = gains(found, "themis", computing)
    if computing is None:
        line(f"{what}mean", mean, average(fast))
    line(f"{what}most", most, max(fast))
    line(f"{what}mean, if ideal", ideal, average(gains(found, "ideal", computing)))


def float16(name):
    """A model of examples/models in float16, on the accelerator of the others here; in a file."""
    with open(f"{HERE}/../models/{name}.json", encoding="utf-8") as file:
        model = json.load(file)
    with open(f"{HERE}/themis-{name}.json", encoding="utf-8") as file:
        same = json.load(file)
    model |= {key: same[key] for key in ("device", "batch_per_gpu")}
    model["device"]["memory_bytes"] = "1TB"
    for operator in model["operators"]:
        operator["parameter_bytes"] //= 2
        operator["output_bytes"] //= 2
    os.makedirs(KEPT, exist_ok=True)
    with open(f"{KEPT}/themis-{name}.json", "w", encoding="utf-8") as file:
        json.dump(model, file)
    return f"{KEPT}/themis-{name}.json"


def themis_waits(found, policy):
    """How many times as long the baseline waits for communication."""
    def waits(one):
        return one["time_s"] - one["computing_s"]
    return [waits(slow) / waits(fast) for slow, fast in zip(found["baseline"], found[policy])]


def themis_waiting(what, every):
    """Means over all iterations."""
    used = [100 * one["utilisation"] for found in every for one in found["baseline"]]
    for policy, published in ("themis", 1.65), ("ideal", 1.72):
        line(f"{what}waiting for communication, {policy}", published,
             average([gain for found in every for gain in themis_waits(found, policy)]))
    line(f"{what}utilisation (%), baseline", 59.7, average(used))
    line(f"{what}utilisation (%), baseline, least", 35.1, min(used))


def themis_today():
    """Utilisation (%) of the baseline on the network of today, 1200 and 100 Gbit/s; data parallelism."""
    with open(f"{HERE}/dims-2D-SW_SW.json", encoding="utf-8") as file:
        network = json.load(file)
    network["dimensions"][1]["bandwidth"] = "100G"
    path = f"{KEPT}/dims-today.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(network, file)
    return average([100 * tosim("simulate", "--model", f"{HERE}/themis-{name}.json", "--network", path,
                                "--policy", "baseline")["utilisation"] for name in ("resnet152", "gnmt")])


def themis_iterations(networks):
    head("Themis, Figure 12: an iteration over the baseline's, six networks of 1024 ranks, SCF")
    every = []
    for name, options, published in THEMIS_MODELS:
        found = iterations(networks, f"{HERE}/themis-{name}.json", *options)
        every.append(found)
        themis_gains(f"{name}: ", found, published)
        computing = computing_for(found, published[0])
        if computing is None:
            line("  if it took no time to compute: mean", published[0], average(gains(found, "themis", 0)))
            continue
        print(f"    the mean is as published if computing takes {seconds(computing)}, not "
              f"{seconds(found['themis'][0]['computing_s'])}; then:")
        themis_gains("  ", found, published, computing)
    large = iterations(networks, float16("dlrm"), "--placement", "tables")
    themis_gains("  layers of examples/models/dlrm.json: ", large, THEMIS_MODELS[2][2])
    head("Themis, sections 3.2 and 6.2: gains and utilisation, means over these models and networks")
    themis_waiting("", every)
    themis_waiting("  dlrm.json: ", [*every[:2], large, every[3]])
    line("utilisation (%), baseline, 1200 and 100 Gbit/s", 97.7, themis_today(), "resnet152 and gnmt")


def bml():
    def time(n, k, algorithm="bml"):
        return tosim("steps", "--bcube", f"{n},{k}", "--algorithm", algorithm)["time_tf"]

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


def sweep(path, kept, axes):
    """Mean seconds of an iteration, by the values of `axes`; and ratios by name."""
    swept = tosim("sweep", path, "-o", f"{KEPT}/{kept}")
    return ({tuple(point["values"][axis] for axis in axes): point["iteration_time_s"]["mean"]
             for point in swept["points"]},
            {ratio["name"]: ratio for ratio in swept["ratios"]})


def figure(name, axes):
    os.makedirs(KEPT, exist_ok=True)
    return sweep(f"{HERE}/topoopt-{name}.json", name, axes)


def changed(name, what, options, axes, by):
    """The same figure with other options, at some values of its axes: mean seconds."""
    with open(f"{HERE}/topoopt-{name}.json", encoding="utf-8") as file:
        document = json.load(file)
    del document["published"]
    document["options"] |= options
    document["axes"] = [{**axis, "values": axes.get(axis["option"], axis["values"])}
                        for axis in document["axes"] if axis["option"] not in options]
    for axis in document["axes"]:
        if axis["option"] == "model":
            axis["values"] = [f"{HERE}/{value}" for value in axis["values"]]
    with open(f"{KEPT}/{name}-{what}.json", "w", encoding="utf-8") as file:
        json.dump(document, file)
    return sweep(f"{KEPT}/{name}-{what}.json", f"{name}-{what}", by)[0]


def point(name, **options):
    """Mean seconds of one iteration; the same options are not run twice."""
    words = [word for key, value in options.items() for word in (f"--{key}", str(value))]
    path = f"{KEPT}/{name}.json"
    if not os.path.exists(path):
        found = tosim("simulate", *words, *AT_ONCE)
        with open(path + "~", "w", encoding="utf-8") as file:
            json.dump(found, file)
        os.rename(path + "~", path)
    with open(path, encoding="utf-8") as file:
        return json.load(file)["iteration_time_s"]["mean"]


def options(name):
    with open(f"{HERE}/topoopt-{name}.json", encoding="utf-8") as file:
        return json.load(file)["options"]


def values(times, index):
    """Those of an axis, in its order."""
    return list(dict.fromkeys(key[index] for key in times))


def seconds(value):
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"


def table(title, times, rows, columns, key):
    print(f"  {title:24}" + "".join(f"{column:>10}" for column in columns))
    for row in rows:
        print(f"    {row:22}" + "".join(f"{seconds(times[key(row, column)]):>10}" for column in columns))


def claims(title):
    print(f"{title}\n  {'':66} {'published':>9} {'ours':>8} {'off by':>7}")


def claim(what, published, ours, does, note=""):
    verdict = "" if does is None else "holds" if does else "does not hold"
    off = ""
    if not isinstance(published, str):
        off = f"{100 * (ours / published - 1):+6.0f}%"
        published = f"{published:g}"
    print(f"  {what:66} {published:>9} {ours:8.3g} {off:>7}  {verdict:13}  {note}".rstrip())


def claim_ratio(ratio):
    """Equal: within 10 %; else: who is faster."""
    published, ours = ratio["published"], ratio["mean"]
    does = abs(ours - 1) < 0.1 if published == 1 else (ours > 1) == (published > 1)
    claim(ratio["name"], published, ours, does, "within 10 %" if published == 1 else
          f"who is faster; {ratio['min']:.3g} to {ratio['max']:.3g}")


def mean(times, above, below, rest):
    found = [times[(*above, one)] / times[(*below, one)] for one in rest]
    return sum(found) / len(found)


def by_hand(name, rates):
    """The figure with strategies that people use, which no search has found: (above, below) -> mean."""
    fixed = ["topoopt", "ideal", "cost-equivalent", "expander"]
    data = changed(name, "data", {"placement": "data"}, {
        "model": ["../models/candle.json", "../models/bert.json"], "fabric": fixed}, ("model", "fabric", "bandwidth"))
    tables = changed(name, "tables", {"placement": "tables"}, {
        "model": ["../models/dlrm.json"], "fabric": fixed}, ("model", "fabric", "bandwidth"))
    # links that change take long to simulate: at one bandwidth
    few = [rate for rate in rates if rate == "100G"] or rates[-1:]
    changing = changed(name, "changing", {"placement": "data"}, {
        "model": ["../models/candle.json"], "fabric": ["topoopt-reconfig", "sip-ring"], "bandwidth": few},
        ("model", "fabric", "bandwidth"))
    bare = changed(name, "bare", {"placement": "tables"}, {
        "model": ["../models/dlrm.json"], "fabric": ["topoopt-reconfig", "sip-ring"], "bandwidth": rates[-1:]},
        ("model", "fabric", "bandwidth"))
    return data | tables | changing | bare


def candle(times, ratios, hand):
    for fabric in "cost-equivalent", "ideal", "topoopt-reconfig", "sip-ring":
        ratio = ratios[f"CANDLE: {fabric} over topoopt"]
        claim_ratio(ratio)
        rates = [rate for model, above, rate in hand if (model, above) == ("candle", fabric)]
        claim("  --placement data", ratio["published"], mean(hand, ("candle", fabric), ("candle", "topoopt"), rates),
              None, "the search finds pipelines: less to reduce, more to transfer"
              + (f"; at {rates[0]}" if len(rates) == 1 else ""))

    def worst(found):
        """Of the expander, over the slowest of the others."""
        rates = [rate for model, fabric, rate in found if (model, fabric) == ("candle", "expander")]
        return min(found["candle", "expander", rate] / max(
            time for (model, fabric, at), time in found.items()
            if (model, at) == ("candle", rate) and fabric != "expander") for rate in rates)

    claim("CANDLE: expander over the slowest of the others", "> 1", worst(times), worst(times) > 1)
    claim("  --placement data", "> 1", worst(hand), None)


def dlrm(name, times, ratios, hand, rates):
    """Is it the strategy, or the fabric?"""
    claim_ratio(ratios["DLRM: topoopt over ideal"])
    found = mean(hand, ("dlrm", "topoopt"), ("dlrm", "ideal"), rates)
    claim("  --placement tables", 1, found, None, "data parallelism, a table on one server: the tree's search finds "
          "stages, which want bisection")
    each = options(name)
    model = {"model": HERE + "/../models/dlrm.json", **{key: each[key] for key in ("servers", "degree")}}
    here = [point(f"{name}-dlrm-{rate}", **model, bandwidth=rate, placement=f"{KEPT}/{name}/dlrm_ideal_{rate}.json") /
            times["dlrm", "ideal", rate] for rate in rates]
    claim("  topoopt with the strategy that is found on ideal", 1, sum(here) / len(here), None,
          f"{min(here):.3g} to {max(here):.3g}")


def one_job(name):
    times, ratios = figure(name, ("model", "fabric", "bandwidth"))
    fabrics, rates = values(times, 1), values(times, 2)
    slow, fast = rates[0], rates[-1]
    n, degree = (options(name)[key] for key in ("servers", "degree"))

    def by_rate(above, below, model):
        return mean(times, (model, above), (model, below), rates)

    def gain(fabric):
        return times["dlrm", fabric, slow] / times["dlrm", fabric, fast]

    print(f"TopoOpt, Figure {name[3:]}: an iteration on {n} servers of {degree} ports")
    for model in values(times, 0):
        table(model, times, fabrics, rates, lambda fabric, rate, m=model: (m, fabric, rate))
    hand = by_hand(name, rates)
    claims(f"What the paper says of Figure {name[3:]}; ours are means over bandwidths")
    claim_ratio(ratios["cost-equivalent over topoopt"])
    claim("  at most", 3, ratios["cost-equivalent over topoopt"]["max"], None)
    claim("  --placement data, of DLRM tables", 2.2, sum(
        mean(hand, (model, "cost-equivalent"), (model, "topoopt"), rates) for model in ("candle", "bert", "dlrm")) / 3, None)
    candle(times, ratios, hand)
    for fabric, indent in ("topoopt-reconfig", "BERT: reconfig over topoopt"), (
            "topoopt-reconfig,relay", "  servers relay"):
        found = by_rate(fabric, "topoopt", "bert")
        claim(indent, "> 1", found, found > 1)
    dlrm(name, times, ratios, hand, rates)
    for fabric in "sip-ring", "topoopt-reconfig", "topoopt-reconfig,relay":
        claim(f"DLRM: {fabric}, {slow} over {fast}", 1, gain(fabric), gain(fabric) < 2,
              f"flat: below 2, where topoopt has {gain('topoopt'):.3g}")
    seldom = [point(f"{name}-seldom-{rate}", model=HERE + "/../models/dlrm.json", servers=n, degree=degree,
                    bandwidth=rate, placement="tables", fabric="ocs:25us,every=50ms") for rate in (slow, fast)]
    claim("  sip-ring's links decided on each 50 ms, --placement tables", 1, seldom[0] / seldom[1], None,
          "as topoopt-reconfig's, not each 100 us: then who has no link waits, whatever the bandwidth")
    claim_ratio(ratios["DLRM: topoopt-reconfig over sip-ring"])
    claim(f"  --placement tables, at {fast}", 100,
          mean(hand, ("dlrm", "topoopt-reconfig"), ("dlrm", "sip-ring"), [fast]), None,
          "the less bytes weigh, the more do the dark times of 10 ms each 50 ms and 25 us each 100 us")
    claim("  servers relay", 100, by_rate("topoopt-reconfig,relay", "sip-ring", "dlrm"), None)


def fig12():
    one_job("fig12")


def fig13():
    one_job("fig13")


def fig15():
    times, ratios = figure("fig15", ("model", "fabric"))
    models = values(times, 0)
    dark = [fabric for fabric in values(times, 1) if fabric.startswith("ocs:") and "," not in fabric]

    print("TopoOpt, Figure 15: links that change, dark for a time, decided on each 5 times that")
    table("iteration", times, values(times, 1), models, lambda fabric, model: (model, fabric))
    claims("What the paper says; it is silent about ports and bandwidth: 4 x 100G")
    for relay in "", ",relay":
        for model in models:
            found = [times[model, fabric + relay] / times[model, "topoopt"] for fabric in dark]
            claim_ratio(ratios[f"{model.upper()}: {dark[0] + relay} over topoopt"])
            first = next((10 ** i for i, ratio in enumerate(found) if ratio > 1.1), float("inf"))
            claim("  shortest dark time of these that loses more than 10 % (us)", 10, first, first == 10,
                  "decided on each 5 times that: nobody waits longer for a link than that")
            claim("  slower with each longer dark time", "yes", found[-1] / found[0],
                  all(a <= b * 1.01 for a, b in zip(found, found[1:])), "the longest over the shortest")


def fig16():
    times, _ = figure("fig16", ("model", "bandwidth", "degree"))
    degrees, rates = values(times, 2), values(times, 1)
    linear = int(degrees[-1]) / int(degrees[0])

    data = changed("fig16", "data", {"placement": "data"},
                   {"model": ["../models/candle.json"], "degree": [int(degrees[0]), int(degrees[-1])]},
                   ("model", "bandwidth", "degree"))
    print(f"TopoOpt, Figure 16: topoopt on {options('fig16')['servers']} servers of 4 to 10 ports")
    for rate in rates:
        table(rate, times, values(times, 0), degrees, lambda model, degree, b=rate: (model, b, degree))
    claims(f"What the paper says; {degrees[0]} ports over {degrees[-1]}, linear is {linear:g}")
    for rate in rates:
        gain = {model: times[model, rate, degrees[0]] / times[model, rate, degrees[-1]]
                for model in values(times, 0)}
        claim(f"CANDLE, {rate}: near linear", linear, gain["candle"],
              abs(gain["candle"] / linear - 1) < 0.2, "within 20 %")
        claim("  --placement data", linear, data["candle", rate, degrees[0]] / data["candle", rate, degrees[-1]], None,
              "AllReduce alone is communicated")
        claim(f"DLRM, {rate}: super-linear at 100G", f"> {linear:g}" if rate == "100G" else "",
              gain["dlrm"], gain["dlrm"] > linear if rate == "100G" else None)
        claim(f"BERT, {rate}: marginal", "near 1", gain["bert"], gain["bert"] < 1.5, "below 1.5")
        many = [point(f"fig16-bert-{rate}-{degree}", model=HERE + "/../models/bert.json", bandwidth=rate,
                      servers=options("fig16")["servers"], degree=degree, batch=128, budget=40)
                for degree in (degrees[0], degrees[-1])]
        claim("  --batch 128, not 16", "near 1", many[0] / many[1], None, "computing weighs more")


# One cluster that jobs share: sections 5.1 and 5.4, Table 2; shares of jobs in percent.
SHARED = {"servers": 432, "job-servers": 16, "degree": 8, "jobs": "5,10,15,20,27", "budget": 200,
          "iterations": 2}
SHARED_MODELS = (("fig14-dlrm", 40), ("fig14-bert", 30), ("fig14-candle", 20), ("../models/vgg16", 10))
SHARED_TREE = "fat-tree:12,oversub=2"  # half of the uplinks
SHARED_SEEDS = (1, 2, 3)


def shared(fabric, seeds, *how):
    """Mean and 99th percentile of an iteration by number of jobs, means over seeds."""
    os.makedirs(f"{KEPT}/fig14", exist_ok=True)
    options = [word for name, value in SHARED.items() for word in (f"--{name}", str(value))]
    models = [f"{HERE}/{name}.json={share}" for name, share in SHARED_MODELS]
    found = {}
    for seed in seeds:
        path = f"{KEPT}/fig14/" + "_".join((fabric, *how, str(seed))) + ".json"
        if not os.path.exists(path):
            run = tosim("compare", *models, "--fabric", fabric, "--seed", str(seed), *options, *AT_ONCE, *how)
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump(run, file)
            os.rename(path + ".new", path)
        with open(path, encoding="utf-8") as file:
            for point in json.load(file)["points"]:
                for what in "mean", "p99":
                    at = found.setdefault((point["jobs"], what), 0)
                    found[point["jobs"], what] = at + point["iteration_time_s"][what] / len(seeds)
    return found


def fig14():
    tree = ("--routing", "hash")
    fabrics = {"topoopt": shared("topoopt", (1,)), "ideal": shared("ideal", SHARED_SEEDS, *tree),
               "oversubscribed": shared(SHARED_TREE, SHARED_SEEDS, *tree),
               "cost-equivalent": shared("cost-equivalent", SHARED_SEEDS, *tree)}
    loads = [int(jobs) for jobs in SHARED["jobs"].split(",")]
    whole = SHARED["servers"] / SHARED["job-servers"]

    def over(times, what, below=fabrics["topoopt"]):
        """Mean over loads of how many times topoopt's time that is."""
        return sum(times[jobs, what] / below[jobs, what] for jobs in loads) / len(loads)

    print(f"TopoOpt, Figure 14: jobs of {SHARED['job-servers']} on {SHARED['servers']} servers of "
          f"{SHARED['degree']} x 100G, all at once")
    for what in "mean", "p99":
        table(f"iteration, {what}", {(f, jobs): fabrics[f][jobs, what] for f in fabrics for jobs in loads},
              fabrics, loads, lambda fabric, jobs: (fabric, jobs))
    print("    load" + " " * 18 + "".join(f"{100 * jobs / whole:9.0f}%" for jobs in loads))
    claims("What the paper says of Figure 14; ours are means over loads, at flow level with collisions")
    for fabric, mean, p99 in (("cost-equivalent", 1.7, 3), ("oversubscribed", 1.16, 1.4), ("ideal", 1.07, 1.12)):
        for what, published in ("mean", mean), ("p99", p99):
            ours = over(fabrics[fabric], what)
            claim(f"{fabric} over topoopt, {what}", str(published), ours, ours > 1, "topoopt is faster")
    for note, fabric, how in (
            ("servers of a job at random in the tree", "ideal", (*tree, "--allocation", "random")),
            ("the tree without collisions (sprayed)", "ideal", ("--routing", "spray")),
            ("one non-blocking switch for the tree", "switch", ()),
            ("latencies made equal: links of the tree 500 ns, 6 as long as 3", "ideal",
             (*tree, "--latency", "500ns"))):
        times = shared(fabric, SHARED_SEEDS[:1], *how)
        for what, published in ("mean", 1.07), ("p99", 1.12):
            claim(f"  {note}, {what}", str(published), over(times, what), None)
    data = shared("topoopt", (1,), "--relay-latency", "0ns")
    claim("  relays that take no time: ideal over topoopt, mean", "1.07", over(fabrics["ideal"], "mean", data), None)


SIP_SERVERS = 64  # with the samples a GPU of 1024: each then computes and sends nearly the same
SIP_RATES = [2 ** i for i in range(7, 14)]  # Gbit/s of a GPU
SIP_MODELS = ("resnet50", "transformer", "megatron")


def sip_fabrics(rate):
    """By the names of the figure's curves: fabric, and how the model is parallelised."""
    wavelengths = 2 * round(rate / 50)
    return {"Elect-Cluster 200G": ("elect-cluster:8,200G", "sip"),
            "Elect-Cluster 400G": ("elect-cluster:8,400G", "sip"),
            "Elect-Flat (DP)": ("elect-flat", "data"), "Elect-Flat": ("elect-flat", "sip"),
            "SiP-OCS": ("sip-ocs:16", "sip"), "SiP-Ring": (f"sip-ring:{wavelengths},8", "sip")}


def sip_large(model, size):
    """The model with so many bytes a parameter in memory, not 4; in a file."""
    with open(f"{HERE}/sip-{model}.json", encoding="utf-8") as file:
        document = json.load(file)
    document["device"]["memory_bytes"] = document["device"]["memory_bytes"] * 4 // size
    path = f"{KEPT}/sip/sip-{model}-{size}.json"
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(document, file)
    os.rename(path + ".new", path)
    return path


def sip_wide(model, size):
    """Elect-Cluster 400G over SiP-OCS of as many circuits as bytes a parameter: least and most."""
    path = sip_large(model, size)

    def at(fabric, rate):
        return point(f"sip/{model}-{size},{fabric},{rate}G", model=path, placement="sip", servers=SIP_SERVERS,
                     degree=1, bandwidth=f"{rate}G", fabric=fabric, latency="0ns")
    gain = [at("elect-cluster:8,400G", rate) / at(f"sip-ocs:{size}", rate) for rate in SIP_RATES]
    return min(gain), max(gain)


def sip_point(model, curve, rate, *how):
    """Seconds of an iteration, infinite where parameters have no room; kept in a file."""
    fabric, placement = sip_fabrics(rate)[curve]
    kept = f"{KEPT}/sip/" + ",".join((model, fabric, placement, f"{rate}G", str(SIP_SERVERS), *how)) + ".json"
    if not os.path.exists(kept):
        run = subprocess.run(
            [TOSIM, "simulate", "--model", f"{HERE}/sip-{model}.json", "--placement", placement,
             "--servers", str(SIP_SERVERS), "--degree", "1", "--bandwidth", f"{rate}G",
             "--fabric", fabric, "--latency", "0ns", *AT_ONCE, "--json", *how],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)
        if run.returncode and "no room" not in run.stderr:
            sys.exit(run.stderr.strip())
        found = json.loads(run.stdout)["iteration_time_s"]["mean"] if not run.returncode else None
        with open(kept + ".new", "w", encoding="utf-8") as file:
            json.dump({"iteration_time_s": found}, file)
        os.rename(kept + ".new", kept)
    with open(kept, encoding="utf-8") as file:
        found = json.load(file)["iteration_time_s"]
    return float("inf") if found is None else found


def sip():
    os.makedirs(f"{KEPT}/sip", exist_ok=True)
    curves = list(sip_fabrics(SIP_RATES[0]))
    keys = [(model, curve, rate) for model in SIP_MODELS for curve in curves for rate in SIP_RATES]
    few, one = SIP_MODELS[:-1], ("--batch", "1")
    keys += [(model, curve, rate, *one) for model in few for curve in curves for rate in SIP_RATES]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        times = dict(zip(keys, pool.map(lambda key: sip_point(*key), keys)))

    def ratios(above, below, how=(), models=SIP_MODELS, slower=1):
        """Of `above` at each rate to `below` at the rate over `slower`."""
        return [times[m, above, b, *how] / times[m, below, b // slower, *how] for m in models
                for b in SIP_RATES if b // slower in SIP_RATES]

    print(f"SiP-ML, Figure 5: an iteration on {SIP_SERVERS} GPUs, each with the samples of one of 1024, by Gbit/s")
    for model in SIP_MODELS:
        table(model, times, curves, SIP_RATES, lambda curve, rate, m=model: (m, curve, rate))
    claims("What the paper says of Figure 5; times to accuracy there, of an iteration here")
    for curve in "SiP-OCS", "SiP-Ring":
        for text, how, models in ("", (), SIP_MODELS), ("  --batch 1, not 8 and 4: ", one, few):
            gain = ratios("Elect-Cluster 400G", curve, how, models)
            claim(f"{text}Elect-Cluster 400G over {curve}, least", "1.3", min(gain), None)
            claim(f"{text}Elect-Cluster 400G over {curve}, most", "9.1", max(gain), None)
        for wide in (16, 32) if curve == "SiP-OCS" else ():
            least, most = sip_wide(SIP_MODELS[-1], wide)
            text = f"  {SIP_MODELS[-1]}, {wide} bytes a parameter, sip-ocs:{wide}: "
            claim(f"{text}least", "1.3", least, None)
            claim(f"{text}most", "9.1", most, None, f"a block takes {wide} GPUs, a server has 8")
        gain = ratios("Elect-Cluster 200G", curve)
        claim(f"  200G: Elect-Cluster over {curve}, most", "9.1", max(gain), None)
        half = ratios(curve, "Elect-Flat", slower=2)
        claim(f"{curve} over Elect-Flat of half the bandwidth, most", "1", max(half), max(half) <= 1.01,
              "within 1 %")
    similar = ratios("SiP-Ring", "SiP-OCS")
    claim("SiP-Ring over SiP-OCS, mean", "1", sum(similar) / len(similar),
          abs(sum(similar) / len(similar) - 1) < 0.1, "within 10 %")
    similar = ratios("SiP-Ring", "SiP-OCS", models=few)
    claim(f"  without {SIP_MODELS[-1]}", "1", sum(similar) / len(similar), None)
    claim("Elect-Flat (DP) over Elect-Flat, most", "2",
          max(ratios("Elect-Flat (DP)", "Elect-Flat", models=few)), None)
    claim("  --batch 1, not 8 and 4", "2", max(ratios("Elect-Flat (DP)", "Elect-Flat", one, few)), None)
    large = times[SIP_MODELS[-1], "Elect-Flat (DP)", SIP_RATES[0]]
    claim("Megatron by data parallelism has no room", "inf", large, large == float("inf"))
    order = [times[m, a, b] <= 1.01 * times[m, c, b] for m in SIP_MODELS for b in SIP_RATES
             for a, c in (("Elect-Flat", "SiP-OCS"), ("Elect-Flat", "SiP-Ring"),
                          ("SiP-OCS", "Elect-Cluster 400G"), ("SiP-Ring", "Elect-Cluster 400G"),
                          ("Elect-Cluster 400G", "Elect-Cluster 200G"))]
    claim("share of points where Flat <= SiP <= Cluster 400G <= 200G", "1", sum(order) / len(order),
          all(order), "within 1 %")
    print("  Profiles of GPUs are not public: times are of a roofline, so that ratios can be compared,\n"
          "  and minutes cannot; the batch is one, not the best of several")


PAPERS = {"fig11": fig11, "fig12": fig12, "fig13": fig13, "fig14": fig14, "fig15": fig15, "fig16": fig16,
          "themis": themis, "bml": bml, "sip": sip}

if len(sys.argv) != 2 or sys.argv[1] not in PAPERS:
    sys.exit(f"reproduce.py: which of {', '.join(PAPERS)}?")
PAPERS[sys.argv[1]]()
