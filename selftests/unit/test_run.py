#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl run on recorded traffic: what it decides, and that it says so as
Documentation/schemas/run.schema.json has it. No fabric is needed."""

import json
import os
import subprocess
import sys
import tempfile

import jsonschema

sys.path.insert(0, "selftests/unit")
from tap import done, report  # noqa: E402

TOCTL = os.environ.get("TOCTL", "build/toctl")
N = 12
INTERVAL = 50_000_000

with open("Documentation/schemas/run.schema.json", encoding="utf-8") as schema_file:
    schema = json.load(schema_file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)

tmp = tempfile.TemporaryDirectory()
def path(name):
    return os.path.join(tmp.name, name)


def save(name, document):
    with open(path(name), "w", encoding="utf-8") as file:
        json.dump(document, file)
    return path(name)


def mp(apart):
    """Every server sends to the one @apart from it, and back."""
    matrix = [[0] * N for _ in range(N)]
    for i in range(N):
        matrix[i][(i + apart) % N] = matrix[(i + apart) % N][i] = 200_000_000
    return matrix


def recording(phases, servers=N):
    """tm.json of the phases, one per interval; None is a pause."""
    samples = []
    for i, apart in enumerate(phases):
        matrix = mp(apart) if apart else [[0] * N] * N
        samples.append({
            "start_ns": i * INTERVAL, "end_ns": (i + 1) * INTERVAL, "elapsed_ns": INTERVAL,
            "absent": 0, "lost": [0, 0], "links": [],
            "pairs": [[s, d, 0, 100, matrix[s][d]] for s in range(N) for d in range(N)
                      if matrix[s][d]]})
    return {"format": "topoopt-tm", "version": 1, "job": "phases", "plan": "0" * 16,
            "interval_ns": INTERVAL, "classes": ["roce", "tcp", "other"],
            "servers": [f"s{s}" for s in range(servers)], "links": [], "samples": samples}


def run(traffic, *options):
    tm = save("tm.json", traffic if isinstance(traffic, dict) else recording(traffic))
    log = path("log")
    if os.path.exists(log):
        os.unlink(log)
    done = subprocess.run((TOCTL, "run", plan, "--replay", tm, "--json", "-o", log,
                           *options), capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    with open(log, encoding="utf-8") as file:
        same = [json.loads(line) for line in file] == lines
    errors = [f"{line}: {error.message}" for line in lines
              for error in validator.iter_errors(line)]
    if done.returncode or not same or errors:
        errors.append(f"status {done.returncode}: {done.stderr}, log is the same: {same}")
    return lines, errors


def changes(lines):
    return [action for action in actions(lines) if action != "keep"]


def actions(lines):
    return [line["action"] for line in lines if line["event"] == "decision"]


job = save("job.json", {"name": "phases", "servers": N, "mp": mp(6)})
plan = path("plan.json")
subprocess.run((TOCTL, "plan", "--job", job, "--degree", "4", "--seed", "1", "-o", plan),
               check=True, capture_output=True)
before = open(plan, "rb").read()

lines, errors = run([6] * 400)
report(not errors, "lines are as the schema says, on standard output and in the log", errors)
report(actions(lines) == [], "steady traffic: no decision", lines)

lines, errors = run([6] * 100 + [3] * 300)
report(not errors, "the same with a decision", errors)
report(changes(lines) == ["rewire"], "other hot pairs: rewired once", lines)
kinds = [line["kind"] for line in lines if line["event"] == "shift"]
report(kinds[:1] == ["busy"] and set(kinds[1:]) <= {"due"}, "as links are busier than promised",
       lines)
decision = [line for line in lines if line.get("action") == "rewire"][0]
report(decision["reason"] and decision["regret_s"] >= decision["price_s"] >= 0.25
       and len(decision["candidates"]) > 1, "with regret, price and all candidates", decision)
outcome = lines[-1]["before"]
report(abs(outcome["predicted"] - outcome["realised"]) < 0.15,
       "it saves about what was predicted", outcome)

lines, errors = run(([6] * 200 + [3] * 200) * 4)
report(actions(lines).count("rewire") == 7 and not errors,
       "phases of ten seconds: each has its plan", lines)
returns = [line["candidate"] for line in lines if line.get("action") == "rewire"]
report(returns.count(0) == 3, "the first plan always is a candidate", lines)

lines, errors = run(([6] * 4 + [3] * 4) * 100)
report(actions(lines).count("rewire") <= 1, "phases of 200 ms: one plan for both at most", lines)

lines, errors = run(([6] * 98 + [3] * 2) * 8)
report(set(actions(lines)) <= {"keep"}, "bursts: nothing is changed", lines)

lines, errors = run([6] * 100 + ([None] * 20 + [6] * 20) * 10)
report(actions(lines) == [], "pauses: no decision", lines)

lines, errors = run([6] * 100 + [3] * 300, "--change-cost", "1000s")
report(set(actions(lines)) <= {"keep", "reroute"}, "no rewiring that costs more than it saves",
       lines)

lines, errors = run([6] * 100 + [3] * 3 + [6] * 100, "--change-cost", "10ms")
report("rewire" in actions(lines), "a few intervals are enough where a change costs little", lines)

partial = recording([6] * 100 + [3] * 50 + [6] * 100)
for sample in partial["samples"][100:150]:
    sample["absent"] = 1
lines, errors = run(partial)
report(not errors and not actions(lines), "an interval that lacks a server tells nothing", lines)

short = recording([6] * 100 + [3] * 50 + [6] * 100)
for sample in short["samples"][100:150]:
    sample["elapsed_ns"] = 1_000_000
    for pair in sample["pairs"]:
        pair[4] //= 50
lines, errors = run(short)
report(not errors and "rewire" not in actions(lines), "short ones are joined with the next", lines)

report(open(plan, "rb").read() == before and not os.path.exists(plan + ".next"),
       "a replay changes no file")


def refused(name, words, *arguments):
    done = subprocess.run((TOCTL, "run", *arguments), capture_output=True, text=True, check=False)
    report(done.returncode and words in done.stderr and done.stderr.count("\n") <= 2,
           name, f"status {done.returncode}: {done.stderr}")


other = save("other.json", recording([6], servers=N + 1))
refused("traffic of other servers is refused", "there are 13", plan, "--replay", other)
refused("so is a recording of one server", "recording of b alone", plan, "--replay",
        "selftests/unit/formats/tm-server.json")
refused("and traffic that lacks a server", "merged without s3", plan, "--replay",
        save("missing.json", recording([6]) | {"missing": ["s3"]}))
refused("and a log that cannot be written", "/nowhere/log", plan, "-o",
        "/nowhere/log", "--replay", other)

done()
