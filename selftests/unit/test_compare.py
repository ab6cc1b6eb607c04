#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tosim compare: iterations of many jobs, in shards and on fabrics that all share."""

import json
import os
import subprocess
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")  # RefResolver, in versions after Debian 12's
import jsonschema

sys.path.insert(0, "selftests/unit")
from fakes import load  # noqa: E402
from tap import done, report  # noqa: E402

TOSIM = os.environ.get("TOSIM", "build/tosim")
SCHEMA = load("Documentation/schemas/compare.schema.json")
BERT, VGG = "examples/papers/fig14-bert.json", "examples/models/vgg16.json"
tmp = tempfile.TemporaryDirectory()
DIR = tmp.name


def tosim(*arguments):
    return subprocess.run((TOSIM, *arguments), capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)


def compare(*arguments):
    said = tosim("compare", "--json", "--budget", "8", "--job-servers", "4", "-d", "3",
                 "--step-latency", "0ns", *arguments)
    if said.returncode:
        report(False, f"compare {arguments}", said.stderr)
        done()
    out = json.loads(said.stdout)
    jsonschema.validate(out, SCHEMA)
    return out


def near(a, b):
    return abs(a - b) <= 1e-9 * max(a, b)


def times(point):
    return point["iteration_time_s"]


# --- shards ---

two = (f"{BERT}=3", VGG, "-n", "32")
out = compare(*two, "--jobs", "1,2,6,8")
alone = {model["name"]: model["alone_s"] for model in out["models"]}
counts = [[model["jobs"] for model in point["models"]] for point in out["points"]]
report(counts == [[1, 0], [2, 0], [5, 1], [6, 2]], "as many jobs of a model as its share says, rounded", counts)
report(all(near(times(point)["mean"], (n * alone["bert"] + k * alone["vgg16"]) / (n + k)) and
           near(times(point)["max"], max(alone["bert"], alone["vgg16"] if k else 0))
           for (n, k), point in zip(counts, out["points"])) and
       [round(point["load"], 3) for point in out["points"]] == [0.125, 0.25, 0.75, 1],
       "shards: an iteration takes what it takes alone, each job counts alike", out["points"])
single = json.loads(tosim("simulate", "--json", "--model", VGG, "--servers", "4", "--degree", "3", "--budget", "8",
                          "--step-latency", "0ns").stdout)
report(near(single["iteration_time_s"]["mean"], alone["vgg16"]), "which is what tosim simulate says", single)

# --- a fabric that all share ---

out = compare(*two, "--jobs", "8", "--fabric", "switch")
alone = {model["name"]: model["alone_s"] for model in out["models"]}
report(all(near(model["iteration_time_s"][what], alone[model["name"]])
           for model in out["points"][0]["models"] for what in ("mean", "p99", "max")),
       "one non-blocking switch: nobody is in another's way", out)
report(near(times(out["points"][0])["mean"], (6 * alone["bert"] + 2 * alone["vgg16"]) / 8),
       "where some have more iterations, too, each job counts alike", out)
other = compare(*two, "--jobs", "8", "--fabric", "switch", "--allocation", "random", "--seed", "1")
report(near(times(out["points"][0])["mean"], times(other["points"][0])["mean"]),
       "whichever servers they have", other)
longest = max(alone.values())
least = sum(-(-3 * longest * (1 - 1e-6) // alone[m["name"]]) * m["jobs"] for m in out["points"][0]["models"])
report(out["points"][0]["iterations"] >= least, "fast jobs go on for as long as slow ones", out["points"][0])
tree = (*two, "--fabric", "fat-tree:6,oversub=3", "--allocation", "random")
out = compare(*tree, "--jobs", "1,8")
few, many = (times(point) for point in out["points"])
report(many["mean"] > few["mean"] and many["max"] >= many["p99"] >= many["mean"],
       "jobs whose links are shared are slower together", out)
again = compare(*tree, "--jobs", "1,8")
report([dict(x, cpu_s=0) for x in (again, out)][0] == dict(out, cpu_s=0), "the same seed, the same outcome", again)
other = compare(*tree, "--jobs", "1,8", "--seed", "2")
report(times(other["points"][1]) != many, "another one, others")

# two servers below each ToR switch, one link above it
neck = (VGG, "-n", "4", "--job-servers", "2", "-d", "1", "--bandwidth", "10G", "--fabric", "fat-tree:4,oversub=2",
        "--latency", "0ns", "--allocation", "packed")
out = compare(*neck, "--jobs", "1,2")
report(near(times(out["points"][0])["mean"], times(out["points"][1])["mean"]),
       "jobs below ToR switches of their own do not meet", out["points"])

slower = {}
for seed in "123456":
    out = compare(*neck[:-1], "random", "--jobs", "2", "--seed", seed)
    slower[seed] = times(out["points"][0])["max"] / out["models"][0]["alone_s"]
report(min(slower.values()) < 1 + 1e-9 and 1.5 < max(slower.values()) <= 2 + 1e-9,
       "and two whose servers are below both share the link above: up to half as fast", slower)

said = tosim("compare", "--budget", "8", "--job-servers", "4", "-d", "3", *two, "--jobs", "8")
report("8 jobs, 100 % load: iteration mean " in said.stdout and "  vgg16 " in said.stdout, "as text",
       said.stdout + said.stderr)


# --- refused ---


def refused(name, status, text, *arguments):
    said = tosim("compare", *arguments)
    report(said.returncode == status and text in said.stderr and not said.stdout, name, said.stderr)


refused("more jobs than servers", 2, '--jobs: expected numbers from 1 to 2, not "3"', VGG, "-n", "32",
        "-d", "3", "--jobs", "1,3")
refused("a share that is none", 2, "expected MODEL or MODEL=SHARE", f"{VGG}=x", "-n", "32", "-d", "3", "--jobs", "1")
refused("links that change", 2, "one whose links stay", VGG, "-n", "32", "-d", "3", "--jobs", "1",
        "--fabric", "sip-ring")
refused("a model that is not there", 1, "No such file", f"{DIR}/none.json", "-n", "32", "-d", "3", "--jobs", "1")
refused("a fabric that is none", 1, "--fabric: expected one of", VGG, "-n", "32", "-d", "3", "--jobs", "1",
        "--fabric", "torus")
done()
