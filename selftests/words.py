#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hold the words of header comments: the first line of each says by itself what a thing is.

A summary ("name() - ...") of a function begins with a verb, that of a struct with a noun
phrase, and none needs the comment above it. Headers from before this rule have a number of
exceptions, in words.txt; no file may get more, and the numbers only fall.

    words.py [--update]
"""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
KNOWN = Path(__file__).resolve().parent / "words.txt"
SUMMARY = re.compile(r"^\s*/?\*\*?\s*(?:struct |enum )?\w+(?:\(\))? - (.*)")
# words that hang on the name, or on another comment
HANGING = ("of from that where as in to by with without behind no none and it its same "
           "whether").split()
DIALECT = re.compile(r"\b(of it\b|as there|the same[;,.]|likewise|no more$|its like|their like"
                     r"|the rest:)", re.I)


def odd(summary):
    first = re.match(r"[@\w'-]+", summary)
    first = first[0].lower() if first else ""
    return first in HANGING or first.startswith("@") or DIALECT.search(summary)


def findings():
    files = subprocess.run(["git", "-C", TOP, "ls-files", "tools/*.h", "kmod/*.h", "bpf/*.h"],
                           check=True, capture_output=True, text=True).stdout.split()
    for name in files:
        for number, line in enumerate((TOP / name).read_text().splitlines(), 1):
            match = SUMMARY.match(line)
            if match and odd(match[1].strip()):
                yield name, number, match[1].strip()


found = {}
for name, number, text in findings():
    found.setdefault(name, []).append((number, text))
if sys.argv[1:] == ["--update"]:
    KNOWN.write_text("".join(f"{len(lines)} {name}\n" for name, lines in sorted(found.items())))
known = {name: int(n) for n, name in (line.split() for line in KNOWN.read_text().splitlines())}
failed = False
for name in sorted(set(found) | set(known)):
    lines = found.get(name, [])
    if len(lines) > known.get(name, 0):
        failed = True
        for number, text in lines:
            print(f"{name}:{number}: a summary that hangs on its name: {text}")
    elif len(lines) < known[name]:
        failed = True
        print(f"{name}: {len(lines)} exceptions, not {known[name]}: run selftests/words.py --update")
sys.exit(failed)
