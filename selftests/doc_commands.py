#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that the documentation shows, for tests to run them.

    doc_commands.py KIND FILE...

Prints the code blocks below a line "<!-- test: KIND -->" in Markdown without
their indentation, each behind a line "# FILE:LINE" and ended by a NUL. A mark
without a block is an error.
"""

import re
import sys


def block(lines, at):
    """The code block at or after lines[at], and where it starts."""
    while at < len(lines) and not lines[at].strip():
        at += 1
    if at < len(lines) and lines[at].startswith("```"):
        end = at + 1
        while end < len(lines) and not lines[end].startswith("```"):
            end += 1
        return at + 1, lines[at + 1:end]
    end = at
    while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
        end += 1
    return at, [line[4:] for line in lines[at:end]]


kind, *files = sys.argv[1:]
for file in files:
    with open(file, encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    for number, line in enumerate(lines):
        mark = re.fullmatch(r"<!-- test: (\w+) -->", line)
        if not mark or mark[1] != kind:
            continue
        start, code = block(lines, number + 1)
        if not any(c.strip() for c in code):
            sys.exit(f"{file}:{number + 1}: no code block follows")
        print(f"# {file}:{start + 1}", *code, sep="\n", end="\0")
