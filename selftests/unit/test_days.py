#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tosim days: who gets servers and links when, against what one adds up by hand."""

import json
import os
import subprocess
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")  # RefResolver, in versions after Debian 12's
import jsonschema

sys.path.insert(0, "selftests/unit")
from clusters import grouped  # noqa: E402
from fakes import load, save  # noqa: E402
from tap import done, report  # noqa: E402

TOCTL = os.environ.get("TOCTL", "build/toctl")
TOSIM = os.environ.get("TOSIM", "build/tosim")
SMALL = "selftests/unit/formats/trace.json"
DAY = "examples/traces/day.json"
SIX = ("--cluster", "examples/panel-6/cluster.json")
SCHEMA = load("Documentation/schemas/days.schema.json")
tmp = tempfile.TemporaryDirectory()
DIR = tmp.name


def toctl(*arguments):
    return subprocess.run((TOCTL, "shard", *arguments), capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)


def days(*arguments):
    return subprocess.run((TOSIM, "days", *arguments), capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)


def simulate(trace, *arguments):
    said = days(trace, "--json", *arguments)
    if said.returncode:
        report(False, f"simulate {trace} {arguments}", said.stderr)
        done()
    out = json.loads(said.stdout)
    jsonschema.validate(out, SCHEMA)
    out["by"] = {job["name"]: job for job in out["jobs"]}
    return out


def trace(name, *jobs):
    """Of (name, servers, submit, run[, limit])."""
    keys = ("name", "servers", "submit_s", "run_s", "limit_s")
    path = f"{DIR}/{name}.json"
    save(path, {"format": "topoopt-trace", "version": 1, "name": name,
                "jobs": [dict(zip(keys, job)) for job in jobs]})
    return path


def times(out):
    return {name: (job["granted_s"], job["ready_s"], job["end_s"]) for name, job in out["by"].items()}


def near(a, b):
    return abs(a - b) < 1e-9


def adds_up(out):
    """Shares are those that its jobs make, and no server has two jobs at a time."""
    whole = out["servers"] * (out["end_s"] - out["begin_s"])
    runs = sum(len(job["servers"]) * (job["end_s"] - job["ready_s"]) for job in out["jobs"]) / whole
    busy = {}
    for job in out["jobs"]:
        for server in job["servers"]:
            busy.setdefault(server, []).append((job["granted_s"], job["end_s"]))
    overlap = [server for server, spans in busy.items()
               for a, b in zip(sorted(spans), sorted(spans)[1:]) if a[1] > b[0] + 1e-9]
    return abs(sum(out["shares"].values()) - 1) < 1e-9 and abs(runs - out["shares"]["runs"]) < 1e-9 \
        and not overlap


# --- who is next ---

still = ("--switching", "ocs", "--dark", "0ns")
out = simulate(SMALL, *SIX, *still)
report(times(out) == {"first": (0, 0, 300), "wide": (300, 300, 900.5), "narrow": (300, 300, 400)} and
       adds_up(out), "first come, first served: nobody passes the one that waits", out)
report(near(out["waiting_s"]["mean"], 480 / 3) and out["waiting_s"]["max"] == 240 and
       near(out["completion_s"]["mean"], (300 + 840.5 + 340) / 3), "means of waiting and completion", out)
few = (60 * 0 + 240 * 3) / (6 * 900.5)
report(near(out["shares"]["few"], few) and not out["shares"]["fragmented"],
       "what waits for more servers than are free is no fragmentation", out["shares"])
out = simulate(SMALL, *SIX, *still, "--discipline", "backfill")
report(times(out) == {"first": (0, 0, 300), "wide": (300, 300, 900.5), "narrow": (60, 60, 160)} and
       out["by"]["narrow"]["ahead"] and out["ahead"] == 1 and adds_up(out),
       "backfill: one goes first, and delays nobody", out)
long = trace("long", ("first", 3, 0, 300), ("wide", 4, 60, 600), ("narrow", 2, 60, 100, 241))
out = simulate(long, *SIX, *still, "--discipline", "backfill")
report(times(out)["narrow"][0] == 60 and times(out)["wide"][0] == 300,
       "one that may take longer goes on servers that nobody waits for", out)
long = trace("long", ("first", 3, 0, 300), ("wide", 5, 60, 600), ("narrow", 2, 60, 100, 241))
out = simulate(long, *SIX, *still, "--discipline", "backfill")
report(times(out)["narrow"][0] == 900, "and not on those that the next one is to have", out)
early = trace("early", ("first", 3, 0, 300, 3600), ("wide", 4, 60, 600))
out = simulate(early, *SIX, *still, "--discipline", "backfill")
report(times(out)["wide"][0] == 300, "a job that ends before its limit lets others begin", out)

# --- links ---

out = simulate(SMALL, *SIX, "--switching", "ocs")
report(times(out)["first"] == (0, 0.01, 300.01), "optical switches are dark for a time", out)
out = simulate(SMALL, *SIX, "--move-time", "10s")
made = [out["by"][name]["cross_connects"] for name in ("first", "wide", "narrow")]
report(made[0] == 6 and times(out)["first"] == (0, 60, 360) and
       times(out)["wide"][:2] == (360, 360 + 10 * made[1]) and
       near(times(out)["narrow"][1], 360 + 10 * (made[1] + made[2])) and adds_up(out) and
       out["cross_connects"] == sum(made),
       "fibres of a panel are moved one after the other, job by job", out)
out = simulate(SMALL, *SIX, "--move-time", "10s", "--movers", "2")
report(times(out)["narrow"][1] == 360 + 10 * made[2], "two move at once", out)
same = trace("same", ("one", 4, 0, 100), ("two", 4, 10, 100), ("single", 1, 20, 100))
out = simulate(same, *SIX)
report(out["by"]["one"]["cross_connects"] == 8 and not out["by"]["two"]["cross_connects"] and
       out["by"]["two"]["servers"] == out["by"]["one"]["servers"] and
       not out["by"]["single"]["cross_connects"],
       "what a job leaves in place is there for the next one of its size", out)
ahead = simulate(SMALL, *SIX, "--switching", "look-ahead", "--move-time", "1s")
report(times(ahead)["first"] == (0, 6, 306) and near(times(ahead)["wide"][1], 306.01) and adds_up(ahead),
       "look-ahead: the fibres of the next one are moved while others run", ahead)
slow = simulate(SMALL, *SIX, "--switching", "look-ahead", "--move-time", "60s")
moves = slow["by"]["wide"]["cross_connects"]
report(near(times(slow)["wide"][1], 360 + 60 * moves + 0.01) and slow["shares"]["switches"] > 0 and
       adds_up(slow), "which waits for them where that takes longer", slow)

# --- fragments ---

# three groups of servers on switches of their own: of 5, 3 and 4
save(f"{DIR}/groups.json", grouped(load(SIX[1]), (5, 3, 4)))
rooms = ("--cluster", f"{DIR}/groups.json", *still)
parts = trace("parts", ("a", 2, 0, 100), ("b", 4, 0, 100), ("c", 3, 0, 80), ("d", 3, 20, 100))
out = simulate(parts, *rooms)
report([{s[1] for s in out["by"][job]["servers"]} for job in "abcd"] == [{"1"}, {"2"}, {"0"}, {"0"}] and
       times(out)["d"][0] == 80, "servers of a job are on the same switches", out)
report(near(out["shares"]["fragmented"], 3 * 60 / (12 * 180)) and not out["shares"]["few"] and adds_up(out),
       "free ones on others are fragmented for as long as it waits", out["shares"])

# --- the cluster that is shared now ---

state = ("--state", f"{DIR}/state")
shared = ("--set", f"shards.state={DIR}/state")
toctl("init", *shared, SIX[1])
toctl("drain", *shared, "s2")


def kept():
    found = {}
    for folder, _, files in os.walk(state[1]):
        for file in files:
            with open(f"{folder}/{file}", "rb") as data:
                found[f"{folder}/{file}"] = data.read()
    return found


before = kept()
out = simulate(SMALL, *state, *still)
report(out["servers"] == 5 and not any("s2" in job["servers"] for job in out["jobs"]) and
       kept() == before, "a drained server gets no job, and nothing of the state changes", out)

# --- a day ---

day = ("--servers", "64", "--degree", "4")
fifo, backfill, optical = (simulate(DAY, *day, *how) for how in (
    (), ("--discipline", "backfill"), ("--discipline", "backfill", "--switching", "ocs")))
report(all(adds_up(out) for out in (fifo, backfill, optical)), "shares of a day add up")
report(backfill["waiting_s"]["mean"] < fifo["waiting_s"]["mean"] and
       optical["waiting_s"]["mean"] < backfill["waiting_s"]["mean"] and
       not fifo["ahead"] and backfill["ahead"],
       "backfill and optical switches wait less", [out["waiting_s"] for out in (fifo, backfill, optical)])
started = [job["granted_s"] for job in fifo["jobs"]]
report(started == sorted(started), "first in, first out all day")
again = days(DAY, "--json", *day)
said = days(DAY, *day, "-o", f"{DIR}/out.json", "--report", f"{DIR}/page.html")
with open(f"{DIR}/out.json", encoding="utf-8") as file:
    report(file.read() == again.stdout, "the same trace, the same outcome, in a file too", again.stderr)
with open(f"{DIR}/page.html", encoding="utf-8") as file:
    page = file.read()
report(page.count('<rect class="runs"') >= len(fifo["jobs"]) and page.count("job-7: ") and
       '<rect class="switches"' in page and "<script" not in page, "a page with a bar for each job")
report(f"waiting         mean {fifo['waiting_s']['mean'] / 60:.3g} min" in said.stdout and
       f"{100 * fifo['shares']['runs']:.2f} % run jobs" in said.stdout, "and as text", said.stdout)


# --- refused ---


def refused(name, status, text, *arguments):
    said = days(*arguments)
    report(said.returncode == status and text in said.stderr and said.stderr.count("\n") == status and
           not said.stdout, name, said.stderr)


refused("a job for which no group is large enough", 1,
        "big.json: job big takes 6 servers, at most 5 are on the same optical switches",
        trace("big", ("big", 6, 0, 1)), *rooms)
refused("two clusters", 2, "give one", SMALL, *SIX, *state)
refused("servers without ports", 2, "--servers and --degree go together", SMALL, "-n", "8")
refused("a trace that is none", 1, 'format: expected "topoopt-trace"', SIX[1], *SIX)
done()
