#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hold the order of the rooms that tools/lib/README.md lists.

A room uses those above it in the list. Checked are the includes of each file
and, as a declaration can be had without an include, the symbols of each object.

    rooms.py OBJECTS        objects of tools/lib, a folder for each room
"""

import re
import subprocess
import sys
from pathlib import Path

LIB = Path(__file__).resolve().parent.parent / "tools" / "lib"
objects = Path(sys.argv[1])
order = re.findall(r"^\| ([a-z]+) \|", (LIB / "README.md").read_text(), re.M)[1:]
place = {room: i for i, room in enumerate(order)}
found = set()


def uses(user, room, what):
    """`user`, a path in tools/lib, uses `what` of `room`."""
    if place[room] > place[user.parts[0]]:
        found.add(f"{user}: uses {what}, but {room} stands below {user.parts[0]}")


sources = [f.relative_to(LIB) for f in sorted(LIB.rglob("*.[ch]"))]
for path in sources:
    if len(path.parts) != 2 or path.parts[0] not in place:
        found.add(f"{path}: is in no room of README.md")
        continue
    for header in re.findall(r'^#include "(.*)"', (LIB / path).read_text(), re.M):
        room = header.split("/")[0]
        if room in place:
            uses(path, room, header)

defined, undefined = {}, []
for path in sources:
    if path.suffix != ".c" or len(path.parts) != 2:
        continue
    names = subprocess.run(["nm", objects / path.with_suffix(".o")], check=True,
                           capture_output=True, text=True).stdout
    for kind, name in re.findall(r" ([A-Z]) (\w+)$", names, re.M):
        if kind == "U":
            undefined.append((path, name))
        else:
            defined[name] = path
for path, name in undefined:
    if name in defined and path.parts[0] in place:
        uses(path, defined[name].parts[0], f"{name}() of {defined[name]}")

print("\n".join(sorted(found)))
sys.exit(bool(found))
