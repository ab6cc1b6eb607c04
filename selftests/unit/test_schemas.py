#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON Schemas agree with the loaders.

All examples are valid, and each broken document of formats/cases.json is
refused or accepted by its schema as the case says; test_formats.c holds the
loaders against the same documents. Each key has a description.
"""

import glob
import json
import os
import subprocess
import sys
import warnings

warnings.simplefilter("ignore")  # RefResolver, in versions after Debian 12's
import jsonschema

sys.path.insert(0, "selftests/unit")
from tap import done, report  # noqa: E402

SCHEMAS = "Documentation/schemas/"
FORMATS = "selftests/unit/formats/"
TOCTL = os.environ.get("TOCTL", "build/toctl")
NAMES = ("cluster", "dims", "inventory", "job", "model", "network", "plan", "prices", "sweep", "tm",
	 "trace", "verify")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


schemas = {name: load(f"{SCHEMAS}{name}.schema.json") for name in NAMES}
store = {schema["$id"]: schema for schema in schemas.values()}
validators = {}
for name, schema in schemas.items():
    jsonschema.Draft202012Validator.check_schema(schema)
    validators[name] = jsonschema.Draft202012Validator(
        schema,
        resolver=jsonschema.RefResolver(schema["$id"], schema, store),
        format_checker=jsonschema.FormatChecker())


def described(key, home):
    """A key says what it is, itself or what it refers to; one that has one value need not."""
    while "description" not in key and "const" not in key and "$ref" in key:
        file, _, path = key["$ref"].partition("#/")
        home = load(SCHEMAS + file) if file else home
        key = home
        for part in path.split("/") if path else []:
            key = key[part]
    return "description" in key or "const" in key


def silent(node, home, path=""):
    """The keys of a schema that say nothing."""
    if isinstance(node, list):
        node = dict(enumerate(node))
    if not isinstance(node, dict):
        return
    for name, part in node.items():
        if path.endswith("/properties") and part is not True and not described(part, home):
            yield f"{path}/{name}"
        yield from silent(part, home, f"{path}/{name}")


for path in sorted(glob.glob(SCHEMAS + "*.schema.json")):
    schema = load(path)
    keys = list(silent(schema, schema))
    report(not keys, f"{os.path.basename(path)} describes each key", "; ".join(keys))


def why(name, document):
    error = jsonschema.exceptions.best_match(validators[name].iter_errors(document))
    return error and f"{error.json_path}: {error.message}"


def kind(path, own=""):
    """Which format a document is of, by its file name or its folder's, or its `own` word."""
    base = os.path.basename(path).removesuffix(".json").split("-")[0]
    folder = os.path.basename(os.path.dirname(path)).removesuffix("s")
    return next((name for name in (base, folder, own) if name in schemas), "job")


for path in sorted(glob.glob("examples/**/*.json", recursive=True)):
    if path == "examples/monitoring/grafana.json":  # Grafana's own format
        continue
    document = load(path)
    error = why(kind(path, document.get("format", "").removeprefix("topoopt-")), document)
    report(not error, f"schema accepts {path}", error)

wrong = []
cases = load(FORMATS + "cases.json")
for case in cases:
    if case["schema"] == "not JSON":
        continue
    with open(FORMATS + case["of"], encoding="utf-8") as file:
        text = file.read().replace(case["find"], case["put"], 1)
    error = why(kind(case["of"]), json.loads(text))
    if bool(error) != (case["schema"] == "refuses"):
        wrong.append(f"{case['of']}: {case['put']!r}: expected: {case['schema']}; {error}")
report(not wrong, f"schemas judge {len(cases)} broken documents as said",
       "; ".join(wrong))
for line in wrong:
    print("# " + line)
for base in ("cluster", "cluster-cards", "cluster-tor", "dims", "job", "matrix", "model", "network", "plan", "plan-tor",
             "prices", "tm", "tm-server", "trace"):
    error = why(kind(base), load(f"{FORMATS}{base}.json"))
    report(not error, f"schema accepts {base}.json of the cases", error)

error = why("inventory", json.loads(subprocess.run([TOCTL, "discover", "--json"], check=True,
                                                    capture_output=True).stdout))
report(not error, "schema accepts what is found on this machine", error)

for job, how in (("jobs/dlrm-16", ("--degree", "4")),
                 ("jobs/candle-16", ("--degree", "4", "--links", "simplex")),
                 ("ring-4/job", ("--cluster", "examples/ring-4/cluster.json", "--fixed"))):
    made = subprocess.run((TOCTL, "plan", "--job", f"examples/{job}.json", *how, "-o", "-"),
                          capture_output=True, check=False)
    error = why("plan", json.loads(made.stdout)) if not made.returncode else made.stderr
    report(not error, f"schema accepts the plan for {job}", error)

done()
