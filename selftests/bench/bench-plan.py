#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How good plans are and what they cost, beside bounds, targets, the rings that
the paper would choose, LEMON's matching and other ways to parallelise a model.

	bench-plan.py [plans|literal|known|optimum|latency|simplex|matching|models|wavelengths]...	default: all

build/bench/plan.json gets an array with an object per measurement. All have
`kind`; a `..._target` is the most that a figure should be, null where there is
none; a `..._ratio` is a figure over its bound.

	plan	job, degree, effort; cpu_s and memory_mb (peak; not below this
		script's own) of toctl plan, verify_cpu_s; mp_ratio, hops_ratio,
		link_ratio, allreduce_ratio, comm_ratio, tax_ratio; cpu_s_target,
		memory_mb_target, mp_ratio_target, hops_ratio_target,
		allreduce_ratio_target, comm_ratio_target; runner_up, the
		second family, and runner_up_ratio, its time over the winner's;
		figures: what toctl verify --json prints
	literal	the same, and offsets: of a circulant with the offsets that Algorithms
		3 and 4 pick where their metric ties, evenly by index among the numbers
		coprime to N, with our routes
	known	graph, servers, degree; family; mp_ratio: load of transfers between all over
		the bound of any topology, mp_ratio_target; linked_ratio: over the least that any
		routes come to on this graph (optimum), linked_ratio_target
	optimum	job, degree; graph: fixed links, null where the planner chose them; comm_time_s;
		bound_s: of any links; optimum_s: below which no routes and no trees of
		AllReduce come on the same links, by linear programming (GLPK), reached_s what
		its solution comes to, after so many rounds; linked_s: as optimum_s where a
		hop of a tree between servers with a link takes it, as those of plans do;
		cut_s: the most that any set of servers keeps the links out of it busy; ratio
		of comm_time_s to optimum_s, linked_ratio to linked_s
	latency	servers, degree, bytes; of one AllReduce over all servers, with the default
		latencies of toctl plan: comm_time_s and latency_s of our plan, family;
		ring_s, double_tree_s: time and latency together of plans of
		--family totient and double-binary-tree, null where there is none;
		bound_s: the larger of the lower bounds of bytes and of latency; ratio of
		ours to it, ratio_to_best to the faster of the two families
	simplex	job, degree, seed; duplex_s and simplex_s, what plans are chosen by: the
		communication time and AllReduce's latency; ratio, ratio_target
	matching
		graph, vertices, edges, weight, ours_s and lemon_s (CPU), ratio,
		ratio_target
	wavelengths
		servers, wavelengths, reach of an optical ring; cpu_s, cpu_s_target; served: share of
		the pairs within reach that have a lightpath; used: of wavelengths and segments
	model	model, servers, degree, cpu_s, memory_mb; approaches: by name time_s of
		an iteration, bound_s on any network, ratio of time_s to that of the
		search, parameter_bytes of the fullest server, fits

Exit status 1 when a plan does not verify or a matching is not as heavy as
LEMON's; a target that is missed only shows.
"""

import json
import math
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
TOCTL = "build/toctl"

# job, degree, effort, targets; allreduce-N is an AllReduce over N servers and nothing else
PLANS = [
    *(("dlrm-16", degree, None, {"cpu_s": 1, "allreduce_ratio": 1.01}) for degree in (3, 5, 7)),
    *((f"allreduce-{servers}", degree, None, {"cpu_s": 2, "allreduce_ratio": 1.01})
      for servers in (64, 128) for degree in (3, 5, 7)),
    ("dlrm-16", 4, None, {"cpu_s": 1, "mp_ratio": 1.02}),
    ("dlrm-16", 6, None, {"cpu_s": 1, "mp_ratio": 1.08}),
    ("candle-16", 4, None, {"cpu_s": 1}),
    ("hybrid-128", 4, None, {"cpu_s": 1, "mp_ratio": 1.25}),
    ("hybrid-128", 8, None, {"cpu_s": 1, "mp_ratio": 1.15, "hops_ratio": 1.04}),
    ("hybrid-432", 8, None, {"cpu_s": 5, "mp_ratio": 1.10}),
    ("hybrid-1024", 8, None, {"cpu_s": 45, "mp_ratio": 1.10, "hops_ratio": 1.04,
                              "comm_ratio": 1.12}),
    ("hybrid-128", 8, 1, {}),
    ("hybrid-128", 8, 9, {}),
]
LITERAL = [("hybrid-128", 4), ("hybrid-128", 8), ("hybrid-432", 8), ("hybrid-1024", 8)]
KNOWN = [("Petersen", 10, 3), ("Heawood", 14, 3), ("C5 * F4", 20, 3), ("K3 * X8", 24, 5),
         ("Hoffman-Singleton", 50, 7), ("Clebsch", 16, 5)]
# links between servers that are numbered; each server has as many ports as it has links
FIXED = {
    "Petersen": [(i, (i + 1) % 5) for i in range(5)] + [(i, i + 5) for i in range(5)] +
                [(5 + i, 5 + (i + 2) % 5) for i in range(5)],
    "hypercube 16": [(i, i ^ 1 << k) for i in range(16) for k in range(4) if i < i ^ 1 << k],
    "hypercube 32": [(i, i ^ 1 << k) for i in range(32) for k in range(5) if i < i ^ 1 << k],
    "torus 4 x 8": [pair for i in range(32) for pair in
                    ((i, i // 8 * 8 + (i + 1) % 8), (i, (i + 8) % 32))],
    "circulant 32, 1 5 16": [(i, (i + p) % 32) for i in range(32) for p in (1, 5)] +
                     [(i, i + 16) for i in range(16)],
}
DEGREES = range(3, 9)
# servers, and ports: with 4 of 16 and 7 of 128 there is a hypercube
LATENCY = [(16, 4), (128, 4), (1024, 4), (128, 7)]
BUFFERS = [2**16, 2**20, 2**25, 2**30]
SEEDS = range(1, 6)
JOBS = ["dlrm-16", "candle-16", "hybrid-128", "hybrid-432", "hybrid-1024"]
MODELS = [(model, servers) for servers in (16, 128)
          for model in ("dlrm", "candle", "bert", "vgg16", "resnet50")]
MODEL_DEGREE = 4
RATIOS = {
    "mp_ratio": "mp_max_load", "hops_ratio": "mean_hops", "link_ratio": "max_link_load",
    "allreduce_ratio": "allreduce_time", "comm_ratio": "comm_time", "tax_ratio": "bandwidth_tax",
}
UNITS = {"mp_max_load": "_bytes", "max_link_load": "_bytes", "allreduce_time": "_s",
         "comm_time": "_s"}

results = []
failed = False


def fail(text):
    global failed
    failed = True
    print("bench-plan.py: " + text, file=sys.stderr)


def measure(*command):
    """Run it. Returns exit status, standard output, CPU seconds, peak MB."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return (process.returncode, out.read(), round(usage.ru_utime + usage.ru_stime, 3),
                usage.ru_maxrss // 1024)


def record(kind, result):
    results.append({"kind": kind} | result)
    return result


def job_file(job, tmp):
    if not job.startswith("allreduce-"):
        return f"examples/jobs/{job}.json"
    with open(f"{tmp}/{job}.json", "w", encoding="utf-8") as file:
        json.dump({"name": job, "servers": int(job.partition("-")[2]),
                   "allreduce": [{"group": "all", "bytes": 2**32}]}, file)
    return file.name


def plan(job, degree, effort, targets, path, *arguments):
    """Plan and verify. Returns the result, None when there is no plan."""
    result = {"job": job, "degree": degree, "effort": effort}
    status, _, result["cpu_s"], result["memory_mb"] = measure(
        TOCTL, "plan", "--job", job_file(job, os.path.dirname(path)), "--output", path,
        *(["--degree", str(degree)] if degree else []),
        *(["--effort", str(effort)] if effort else []), *arguments)
    if status:
        fail(f"{job} cannot be planned")
        return None
    status, text, result["verify_cpu_s"], _ = measure(TOCTL, "verify", "--json", path)
    figures = json.loads(text or "{}")
    if status:
        fail(f"the plan of {job} does not verify: " + "".join(figures.get("violations", [])[:1]))
        return None
    for name, figure in RATIOS.items():
        unit = UNITS.get(figure, "")
        bound = figures[f"{figure}_bound{unit}"]
        result[name] = figures[figure + unit] / bound if bound else None
    for name in ("cpu_s", "memory_mb", "mp_ratio", "hops_ratio", "allreduce_ratio", "comm_ratio"):
        result[name + "_target"] = targets.get(name)
    return result | runner_up(path) | {"figures": figures}


def extract(path, jq):
    """Part of a large file: what this script takes counts as peak of its children."""
    return json.loads(subprocess.check_output(["jq", "-c", jq, path]))


def runner_up(path):
    """The best of the other families, and its time over the winner's."""
    candidates = extract(path, ".candidates // []")
    won = next((c for c in candidates if c.get("chosen")), None)
    # those that were routed in full have a time beside the estimate
    others = [c for c in candidates if c is not won and c.get("comm_time_s")]
    if not others:
        return {"runner_up": None, "runner_up_ratio": None}
    second = min(others, key=lambda c: c["comm_time_s"])
    return {"runner_up": second["family"],
            "runner_up_ratio": second["comm_time_s"] / won["comm_time_s"]}


def aim(result, name, text):
    """A figure with its target: <= where it is met, > where missed."""
    target = result.get(name + "_target")
    if target is None or result[name] is None:
        return text
    return f"{text} {'<=' if result[name] <= target else '>'} {target:g}"


def ratio(result, name):
    return "-" if result[name] is None else aim(result, name, f"{result[name]:.3f}")


def table(head, rows):
    widths = [max(len(row[i]) for row in [head] + rows) for i in range(len(head))]
    for row in [head] + rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    print(flush=True)


PLAN_HEAD = ["job", "d", "effort", "CPU s", "peak MB", "family", "next", "diameter", "mean hops",
             "MP max load, MiB", "link", "AllReduce", "comm, ms", "tax"]


def plan_row(result):
    figures = result["figures"]
    mib = [figures[name] / 2**20 for name in ("mp_max_load_bytes", "mp_max_load_bound_bytes")]
    return [
        result["job"], str(result["degree"]), str(result["effort"] or ""),
        aim(result, "cpu_s", f"{result['cpu_s']:.2f}"),
        aim(result, "memory_mb", f"{result['memory_mb']}"), figures["family"],
        f"{result['runner_up']} {result['runner_up_ratio']:.3f}" if result["runner_up"] else "-",
        f"{figures['diameter']}/{figures['diameter_bound']}",
        f"{figures['mean_hops']:.3f}/{figures['mean_hops_bound']:.3f} = "
        + ratio(result, "hops_ratio"),
        f"{mib[0]:.1f}/{mib[1]:.1f} = " + ratio(result, "mp_ratio"),
        ratio(result, "link_ratio"), ratio(result, "allreduce_ratio"),
        f"{figures['comm_time_s'] * 1e3:.1f} = " + ratio(result, "comm_ratio"),
        f"{figures['bandwidth_tax']:.3f} = " + ratio(result, "tax_ratio")]


def plans(tmp):
    rows = []
    for job, degree, effort, targets in PLANS:
        result = plan(job, degree, effort, targets | {"memory_mb": 1024}, f"{tmp}/plan.json")
        if result:
            rows.append(plan_row(record("plan", result)))
    print("Plans, each figure over its bound, with its target where there is one")
    table(PLAN_HEAD, rows)


def cable(plan_path, path, pairs):
    """Write the cluster of a plan with links between pairs of servers."""
    servers = extract(plan_path, "[.servers[] | del(.ports[].optical_switch, "
                                 ".ports[].optical_port)]")
    used = [0] * len(servers)

    def port(server):
        used[server] += 1
        return f"{servers[server]['name']}:{servers[server]['ports'][used[server] - 1]['name']}"

    with open(path, "w", encoding="utf-8") as file:
        json.dump({"format": "topoopt-cluster", "version": 1, "link_mode": "duplex",
                   "servers": servers,
                   "links": [{"a": port(a), "b": port(b)} for a, b in pairs]}, file)


def circulant(plan_path, path, degree):
    """Write the cluster of a plan with the paper's links. Returns the offsets."""
    n = extract(plan_path, ".servers | length")
    coprime = [p for p in range(1, n) if math.gcd(p, n) == 1]
    offsets = [coprime[i * len(coprime) // (degree // 2)] for i in range(degree // 2)]
    cable(plan_path, path, [(i, (i + p) % n) for p in offsets for i in range(n)])
    return offsets


def literal(tmp):
    rows = []
    for job, degree in LITERAL:
        path, cluster = f"{tmp}/plan.json", f"{tmp}/cluster.json"
        # for the servers and their ports
        if not plan(job, degree, 1, {}, path):
            continue
        offsets = circulant(path, cluster, degree)
        result = plan(job, None, None, {}, path, "--cluster", cluster, "--fixed")
        if result:
            result["degree"] = degree
            record("literal", result | {"offsets": offsets})
            rows.append(plan_row(result) + [",".join(map(str, offsets))])
    print("The paper's algorithm to the letter: rings evenly by index; our routes")
    table(PLAN_HEAD + ["offsets"], rows)


def between_all(path, servers):
    """A job of equal transfers between all servers."""
    transfers = [{"from": str(x), "to": ",".join(str(y) for y in range(servers) if y != x),
                  "bytes": 2**20} for x in range(servers)]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"name": "between-all", "servers": servers, "allreduce": [], "mp": transfers},
                  file)


def figures_of(job, degree, path, *arguments):
    """Figures of a plan that verifies, None where there is none."""
    if measure(TOCTL, "plan", "--job", job, "--output", path,
               *([] if "--fixed" in arguments else ["--degree", str(degree)]), *arguments)[0]:
        fail(f"{job} cannot be planned")
        return None
    status, text, _, _ = measure(TOCTL, "verify", "--json", path)
    if status:
        fail(f"the plan of {job} does not verify")
        return None
    return json.loads(text)


def known(tmp):
    rows = []
    for name, servers, degree in KNOWN:
        between_all(f"{tmp}/job.json", servers)
        figures = figures_of(f"{tmp}/job.json", degree, f"{tmp}/plan.json")
        if not figures:
            continue
        least = json.loads(subprocess.check_output(["build/bench/optimum", f"{tmp}/plan.json"]))
        result = record("known", {
            "graph": name, "servers": servers, "degree": degree, "family": figures["family"],
            "mp_ratio": figures["mp_max_load_bytes"] / figures["mp_max_load_bound_bytes"],
            "mp_ratio_target": 1.02,
            "linked_ratio": figures["comm_time_s"] / least["linked_s"],
            "linked_ratio_target": 1.02})
        rows.append([name, str(servers), str(degree), figures["family"],
                     ratio(result, "mp_ratio"), ratio(result, "linked_ratio")])
    print("Equal transfers between all, where a best graph is known: load over the bound of any\n"
          "topology, and over the least that any routes come to on this graph")
    table(["graph", "N", "d", "family", "of bound", "of graph"], rows)


def fixed_cases(tmp):
    """Job, degree and arguments of plans on the links of FIXED."""
    for name, links in FIXED.items():
        servers = 1 + max(map(max, links))
        degree = 2 * len(links) // servers
        for kind in ("between all", "AllReduce", "both"):
            path = f"{tmp}/{name.replace(' ', '-')}-{kind.replace(' ', '-')}"
            between_all(f"{path}.json", servers)
            with open(f"{path}.json", encoding="utf-8") as file:
                job = json.load(file)
            if kind != "between all":
                job["allreduce"] = [{"group": "all", "bytes": 2**27}]
            if kind == "AllReduce":
                job["mp"] = []
            with open(f"{path}.json", "w", encoding="utf-8") as file:
                json.dump(job, file)
            if not figures_of(f"{path}.json", degree, f"{tmp}/plan.json", "--effort", "1"):
                continue
            cable(f"{tmp}/plan.json", f"{path}.cluster.json", links)
            yield name, kind, f"{path}.json", degree, ("--cluster", f"{path}.cluster.json",
                                                       "--fixed")


def optimum(tmp):
    rows = []
    cases = [(None, job, f"examples/jobs/{job}.json", degree, ())
             for job in JOBS if job.endswith("-16") for degree in DEGREES]
    for _, servers, degree in KNOWN:
        if servers <= 32:
            between_all(f"{tmp}/between-{servers}.json", servers)
            cases.append((None, f"between {servers}", f"{tmp}/between-{servers}.json", degree, ()))
    for graph, name, job, degree, arguments in cases + list(fixed_cases(tmp)):
        path = f"{tmp}/plan.json"
        figures = figures_of(job, degree, path, "--step-latency", "0", *arguments)
        if not figures:
            continue
        found = json.loads(subprocess.check_output(["build/bench/optimum", path]))
        result = record("optimum", found | {
            "job": name, "degree": degree, "graph": graph, "comm_time_s": figures["comm_time_s"],
            "bound_s": figures["comm_time_bound_s"],
            "ratio": figures["comm_time_s"] / found["optimum_s"],
            "linked_ratio": figures["comm_time_s"] / found["linked_s"]})
        rows.append([graph or "best found", name, str(degree)] +
                    [f"{result[key] * 1e3:.4g}" for key in
                     ("bound_s", "cut_s", "optimum_s", "linked_s", "comm_time_s")] +
                    [ratio(result, "ratio"), ratio(result, "linked_ratio")])
    print("Time of bytes, ms: bound of any links; of these the cut bound and the linear program's, "
          "the same where hops of trees take links, and ours")
    table(["links", "job", "d", "bound", "cut", "optimum", "linked", "ours", "ours / optimum",
           "ours / linked"], rows)


def latency(tmp):
    rows = []
    path = f"{tmp}/job.json"
    for servers, degree in LATENCY:
        for size in BUFFERS:
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"name": "allreduce", "servers": servers,
                           "allreduce": [{"group": "all", "bytes": size}]}, file)
            found = [figures_of(path, degree, f"{tmp}/plan.json", *arguments)
                     for arguments in ((), ("--family", "totient"),
                                       ("--family", "double-binary-tree"))]
            if None in found:
                continue
            ours, ring, tree = (figures["allreduce_time_s"] + figures["allreduce_latency_s"]
                                for figures in found)
            bound = max(found[0]["allreduce_time_bound_s"],
                        found[0]["allreduce_latency_bound_s"])
            result = record("latency", {
                "servers": servers, "degree": degree, "bytes": size,
                "family": found[0]["family"], "comm_time_s": found[0]["allreduce_time_s"],
                "latency_s": found[0]["allreduce_latency_s"], "ring_s": ring,
                "double_tree_s": tree, "bound_s": bound, "ratio": ours / bound,
                "ratio_to_best": ours / min(ring, tree)})
            rows.append([str(servers), str(degree), f"{size // 1024}", result["family"],
                         f"{result['comm_time_s'] * 1e3:.4g} + {result['latency_s'] * 1e3:.4g}",
                         f"{ring * 1e3:.4g}", f"{tree * 1e3:.4g}", f"{bound * 1e3:.4g}",
                         ratio(result, "ratio"), ratio(result, "ratio_to_best")])
    print("AllReduce, ms: bytes + latency of ours, both of one family")
    table(["N", "d", "KiB", "ours", "ms", "ring", "double tree", "bound", "ours / bound",
           "ours / best"], rows)


def simplex(tmp):
    rows = []
    for job in JOBS:
        for degree in DEGREES:
            results = []
            for seed in SEEDS:
                figures = [figures_of(f"examples/jobs/{job}.json", degree, f"{tmp}/plan.json",
                                      "--links", links, "--seed", str(seed))
                           for links in ("duplex", "simplex")]
                if None in figures:
                    continue
                times = [plan["comm_time_s"] + plan["allreduce_latency_s"] for plan in figures]
                results.append(record("simplex", {
                    "job": job, "degree": degree, "seed": seed, "duplex_s": times[0],
                    "simplex_s": times[1], "ratio": times[1] / times[0],
                    "ratio_target": 1.001}))
            if not results:
                continue
            worst = max(results, key=lambda result: result["ratio"])
            rows.append([job, str(degree)] +
                        [" ".join(f"{result[key] * 1e3:.4g}" for result in results)
                         for key in ("duplex_s", "simplex_s")] + [ratio(worst, "ratio")])
    print(f"Communication time with latency, ms, of seeds {SEEDS[0]} to {SEEDS[-1]}; the worst simplex / duplex")
    table(["job", "d", "duplex", "simplex", "ratio"], rows)


def matching(_tmp):
    rows = []
    status, text, _, _ = measure("build/bench/matching_lemon")
    if status:
        fail("a matching is not as heavy as LEMON's")
    for line in text.splitlines():
        result = json.loads(line) | {"ratio_target": 1}
        record("matching", result)
        rows.append([result["graph"], str(result["vertices"]), str(result["edges"]),
                     f"{result['ours_s'] * 1e3:.1f}", f"{result['lemon_s'] * 1e3:.1f}",
                     aim(result, "ratio", f"{result['ratio']:.3f}")])
    print("Maximum-weight matching beside LEMON's MaxWeightedMatching, equal totals")
    table(["graph", "vertices", "edges", "ours, CPU ms", "LEMON, CPU ms", "ratio"], rows)


def models(_tmp):
    rows = []
    approaches = []
    for model, servers in MODELS:
        status, text, cpu, memory = measure(
            TOCTL, "parallelize", "--json", "--model", f"examples/models/{model}.json",
            "--servers", str(servers), "--degree", str(MODEL_DEGREE))
        if status:
            fail(f"{model} on {servers} servers: no strategy")
            continue
        found = json.loads(text)
        for way in found["approaches"].values():
            del way["strategy"]
        record("model", {"model": model, "servers": servers, "degree": MODEL_DEGREE, "cpu_s": cpu,
                         "memory_mb": memory, "approaches": found["approaches"]})
        approaches = sorted(found["approaches"], key=lambda name: name == "search")
        rows.append([model, str(servers), f"{cpu:.1f}"] +
                    [f"{way['time_s'] * 1e3:.4g} = {way['ratio']:.3f}" +
                     ("" if way["fits"] else " (too much memory)")
                     for way in map(found["approaches"].get, approaches)])
    print("Iteration, ms, and over that of the search, by way to parallelise")
    table(["model", "N", "CPU s"] + [name.replace("_", " ") for name in approaches], rows)


def wavelengths(_tmp):
    rows = []
    for servers, count, reach in ((1024, 64, 8), (1024, 320, 8), (1024, 320, 16)):
        status, text, _, _ = measure("build/bench/wavelengths", str(servers), str(count), str(reach))
        if status:
            fail(f"no wavelengths for {servers} servers")
            continue
        result = {"servers": servers, "wavelengths": count, "reach": reach} | json.loads(text)
        result["cpu_s_target"] = 0.1
        record("wavelengths", result)
        rows.append([str(servers), str(count), str(reach),
                     aim(result, "cpu_s", f"{result['cpu_s']:.3f}"), f"{100 * result['served']:.1f}",
                     f"{100 * result['used']:.1f}"])
    print("Wavelengths of an optical ring, all that are within reach of each other sending")
    table(["N", "wavelengths", "reach", "CPU s", "pairs served, %", "used, %"], rows)


def main():
    parts = {"plans": plans, "literal": literal, "known": known, "optimum": optimum,
             "latency": latency, "simplex": simplex, "matching": matching, "models": models,
             "wavelengths": wavelengths}
    chosen = sys.argv[1:] or list(parts)
    for name in chosen:
        if name not in parts:
            sys.exit(f"usage: bench-plan.py [{'|'.join(parts)}]...")
    os.chdir(TOP)
    with tempfile.TemporaryDirectory() as tmp:
        for name in chosen:
            parts[name](tmp)
    os.makedirs("build/bench", exist_ok=True)
    with open("build/bench/plan.json", "w", encoding="utf-8") as file:
        json.dump(results, file, indent="\t")
        file.write("\n")
    sys.exit(failed)


main()
