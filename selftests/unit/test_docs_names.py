#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the documentation names is there: every command of both programs with its options, in code blocks
and in the text, every target of make, and every file of the source tree."""

import glob
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, "selftests/unit")
from programs import commands  # noqa: E402
from tap import done, report  # noqa: E402

PAGES = ["README.md", "tools/lib/README.md", *sorted(glob.glob("Documentation/*.md")),
         *sorted(glob.glob("Documentation/man/*.scd"))]
FAMILIES = set()
OPTIONS = {}		# of each command, with their dashes
FLAGS = {}		# those that take no argument

for name, command in commands().items():
    FAMILIES.add(command["name"].split()[0])
    for which, options in (OPTIONS, command["options"]), (
            FLAGS, [o for o in command["options"] if o["type"] == "flag"]):
        which[name] = {"--" + o["name"] for o in options} | {"-" + o["letter"] for o in options
                                                            if "letter" in o}


def code(page):
    """What is code: the lines of blocks, with those that go on joined, and words between ``."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    fenced = re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    indented = re.findall(r"(?:^(?: {4}.*|[ \t]*)\n)+", text, re.M)
    for block in fenced + indented:
        yield from re.sub(r"\\\n\s*", " ", block).splitlines()
    for words in re.findall(r"`([^`]+)`", re.sub(r"^ {4}.*$", "", text, flags=re.M)):
        yield " ".join(words.split())


def wrong_call(program, words):
    """Why @words, behind @program, are none of its commands; None if they are."""
    if words[0].endswith(":") or words[1:] and words[1].endswith(":"):
        return None		# it is what the program says
    prefix = "" if program == "toctl" else program + " "
    name = prefix + (" ".join(words[:2]) if prefix + " ".join(words[:2]) in OPTIONS else words[0])
    if name not in OPTIONS:
        return None if name in FAMILIES and len(words) < 2 else f"no command {' '.join(words[:2])}"
    for word in words[len(name.removeprefix(prefix).split()):]:
        if word == "--":
            break
        option = word.split("=")[0]
        if not re.fullmatch(r"--[a-z][a-z-]*|-[A-Za-z]+", option) or option in OPTIONS[name]:
            continue
        if not option.startswith("--") and {"-" + letter for letter in option[1:-1]} <= FLAGS[name] \
                and "-" + option[-1] in OPTIONS[name]:
            continue
        return f"{name} has no {option}"
    return None


calls, missing = 0, []
for path in PAGES:
    for line in code(path):
        for call in re.split(r"(?<!purge )\b(?=(?:toctl|tosim) [a-z])", line.split(" #")[0])[1:]:
            calls += 1
            program, call = call.split(" ", 1)
            why = wrong_call(program, re.split(r"[|;&>()\"'’]", call)[0].split())
            if why:
                missing.append(f"{path}: {why}: {line.strip()}")
report(not missing and calls > 200, "every command and option that pages name is there",
       "\n".join([*missing, f"{calls} of them"]))

# Options are parsed before --help takes effect.
failed, examples = [], 0
for path in sorted(glob.glob("Documentation/man/*.8.scd")):
    with open(path, encoding="utf-8") as file:
        blocks = re.findall(r"^```\n(.*?)^```", file.read(), re.M | re.S)
    for line in re.sub(r"\\\n\s*", " ", "".join(blocks)).splitlines():
        if not re.match(r"(toctl|tosim) ", line):
            continue
        words = shlex.split(re.split(r" [|<>&;] ?| -- ", line)[0], comments=True)
        program = os.environ.get(words[0].upper(), "build/" + words[0])
        ran = subprocess.run([program, *words[1:], "--help"], capture_output=True, text=True,
                             check=False)
        examples += 1
        if ran.returncode or not ran.stdout.startswith("usage: "):
            failed.append(f"{path}: {line}: {ran.stderr.strip()}")
report(not failed and examples > 50, "every example of a manual page is parsed",
       "\n".join([*failed, f"{examples} of them"]))

with open("Makefile", encoding="utf-8") as makefile:
    targets = set(re.findall(r"^([a-z-]+):", makefile.read(), re.M))
named = {(path, target) for path in PAGES for line in code(path)
         for target in re.findall(r"^(?:sudo )?make ([a-z][a-z-]*)(?=$| *#| [A-Z]+=| &&)", line.strip())}
missing = [f"{path}: make {target}" for path, target in sorted(named) if target not in targets]
report(not missing and len(named) > 20, "every target of make is there", "\n".join(missing))

TREE = re.compile(r"^(?:Documentation|bpf|examples|kmod|selftests|tools|uapi)/[\w./-]*\w$")
named = {(path, line) for path in PAGES for line in code(path) if TREE.match(line)}
missing = [f"{path}: {file}" for path, file in sorted(named) if not os.path.exists(file)]
report(not missing and len(named) > 30, "every file of the source tree is there",
       "\n".join([*missing, f"{len(named)} of them"]))
done()
