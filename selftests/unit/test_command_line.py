#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Both programs hold the grammar of Documentation/command-line.md, as their command
tables (--json help) say, and table, help and manual pages agree."""

import collections
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, "selftests/unit")
from tap import done, report

PROGRAMS = {"toctl": os.environ.get("TOCTL", "build/toctl"),
            "tosim": os.environ.get("TOSIM", "build/tosim")}
PAGES = os.path.join(os.path.dirname(PROGRAMS["toctl"]), "man")
GRAMMAR = open("Documentation/command-line.md").read()
HELP_MAX = 40			# lines of a command's help
OVERVIEW_MAX = 30		# lines of a program's help
SUMMARY_MAX = 54		# bytes of a summary, so that its row in the overview fits
WORDS_MAX = 5500		# of help in the command tables


def run(*args, **kwargs):
    return subprocess.run(args, capture_output=True, text=True, **kwargs)


def flat(text):
    return " ".join(text.split())


TABLES = {name: json.loads(run(path, "--json", "help").stdout)["commands"]
          for name, path in PROGRAMS.items()}
COMMANDS = [(program, command) for program, table in TABLES.items() for command in table]

for name, path in PROGRAMS.items():
    shown = run(path, "--help").stdout
    lines = shown.splitlines()
    report(len(lines) <= OVERVIEW_MAX and all(len(line) <= 79 for line in lines),
           f"{name} --help fits a screen", shown)
    missing = [c["name"] for c in TABLES[name]
               if c["name"] not in ("help", "version", "completion")
               and not re.search(rf"\b{c['name'].split()[0]}\b", shown)]
    report(not missing, f"{name} --help names every command or its family", missing)

long, lacking, cut = [], [], []
for program, command in COMMANDS:
    shown = run(PROGRAMS[program], *command["name"].split(), "--help").stdout
    if len(shown.splitlines()) > HELP_MAX or any(len(line) > 79 for line in shown.splitlines()):
        long.append(f"{program} {command['name']}: {len(shown.splitlines())} lines")
    for option in command["options"]:
        if f"--{option['name']}" not in shown:
            lacking.append(f"{program} {command['name']} --{option['name']}")
        listed = re.search(rf"^  ...? *--{option['name']}\b", shown, re.M)
        if listed and flat(option["help"]) not in flat(shown):
            cut.append(f"{program} {command['name']} --{option['name']}")
report(not long, f"help of a command has at most {HELP_MAX} lines of 79 columns", long)
report(not lacking, "help of a command names all its options", lacking)
report(not cut, "no explanation is cut", cut)

letters = collections.defaultdict(set)
types = collections.defaultdict(set)
for program, command in COMMANDS:
    for option in command["options"]:
        if option.get("letter"):
            letters[option["letter"]].add(option["name"])
        # a word of a list here may be a file there, a number may be a fraction
        types[option["name"]].add(option["type"].replace("choice", "string")
                                  .replace("real", "number"))
documented = dict(re.findall(r"^\| `-(\w)` \| `--([a-z-]+)` \|", GRAMMAR, re.M))
documented.pop("V")		# stands before a command
report({k: {v} for k, v in documented.items()} == dict(letters),
       "a letter has the one meaning that command-line.md says",
       {k: sorted(v) for k, v in letters.items() if v != {documented.get(k)}})
report(all(len(v) == 1 for v in types.values()), "an option takes the same everywhere",
       {k: sorted(v) for k, v in types.items() if len(v) > 1})
report(types["output"] == types["report"] == {"output"} and
       not [k for k, v in types.items() if "output" in v and k not in ("output", "report")],
       "only --output and --report write",
       [k for k, v in types.items() if "output" in v])
writes = [f"{p} {c['name']}" for p, c in COMMANDS for o in c["options"]
          if o["name"] in ("job", "cluster", "model", "log") and o["type"] == "output"]
report(not writes, "--job, --cluster, --model and --log are read", writes)

odd = [f"{p} {c['name']}: {c['summary']}" for p, c in COMMANDS
       if len(c["summary"]) > SUMMARY_MAX or c["summary"].endswith(".")
       or not re.match(r"[A-Z][a-z]+ ", c["summary"])]
report(not odd, "a summary is a short sentence without a full stop", odd)
words = sum(len(c["summary"].split()) for _, c in COMMANDS)
seen = set()
for _, command in COMMANDS:
    for option in command["options"]:
        if option["help"] not in seen:
            words += len(option["help"].split())
            seen.add(option["help"])
report(words <= WORDS_MAX, f"help in the tables has at most {WORDS_MAX} words", words)

absent, differing = [], []
for program, command in COMMANDS:
    page = f"{program}-{command['name'].replace(' ', '-')}.8"
    if not os.path.exists(f"{PAGES}/{page}"):
        absent.append(page)
        continue
    text = open(f"{PAGES}/{page}").read().replace("\\-", "-").replace("\\&", "")
    text = flat(re.sub(r"\\f[BIRP]", "", text))
    for option in command["options"]:
        if f"--{option['name']}" not in text or flat(option["help"]) not in text.replace("\\e", "\\"):
            differing.append(f"{page}: --{option['name']}")
    if command["summary"].split()[0].lower() not in text.lower():
        differing.append(f"{page}: summary")
report(not absent, "every command has a manual page", absent)
report(not differing, "manual pages explain every option as the help does", differing)

for was, now in (("simulate", "tosim simulate"), ("shard simulate", "tosim days"),
                 ("collective show", "tosim steps")):
    out = run(PROGRAMS["toctl"], *was.split())
    report(out.returncode == 2 and out.stderr == f"toctl: this is now: {now}\n",
           f"toctl {was} says where it is", out.stderr)
done()
