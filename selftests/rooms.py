#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hold two orders: of the rooms of tools/lib, which its README.md lists, and of the
files of the module, which kmod/topoopt.h lists. Each uses only those before it.

Checked are the includes of rooms and, as a declaration can be had without an include,
the symbols of all objects.

    rooms.py LIB-OBJECTS [KMOD-OBJECTS]
"""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
LIB = TOP / "tools" / "lib"
found = set()


class Order:
    def __init__(self, names):
        self.place = {name: i for i, name in enumerate(names)}

    def use(self, path, user, used, what):
        """`path`, which belongs to `user`, uses `what` of `used`."""
        if self.place[used] > self.place[user]:
            found.add(f"{path}: uses {what}, but {used} stands below {user}")

    def hold(self, objects, owner):
        """Symbols: `objects` maps sources to objects, `owner` tells whose a source is."""
        defined, undefined = {}, []
        for path, built in objects.items():
            names = subprocess.run(["nm", built], check=True, capture_output=True, text=True)
            for kind, name in re.findall(r" ([A-Z]) (\w+)$", names.stdout, re.M):
                if kind == "U":
                    undefined.append((path, name))
                elif not name.startswith(("__pfx_", "__cfi_")):
                    defined[name] = path
        for path, name in undefined:
            if name in defined:
                self.use(path, owner(path), owner(defined[name]), f"{name} of {defined[name]}")


def library(objects):
    rooms = Order(re.findall(r"^\| ([a-z]+) \|", (LIB / "README.md").read_text(), re.M)[1:])
    sources = []
    for path in [f.relative_to(LIB) for f in sorted(LIB.rglob("*.[ch]"))]:
        if len(path.parts) != 2 or path.parts[0] not in rooms.place:
            found.add(f"{path}: is in no room of README.md")
            continue
        sources.append(path)
        for header in re.findall(r'^#include "(.*)"', (LIB / path).read_text(), re.M):
            if header.split("/")[0] in rooms.place:
                rooms.use(path, path.parts[0], header.split("/")[0], header)
    rooms.hold({path: objects / path.with_suffix(".o")
                for path in sources if path.suffix == ".c"}, lambda path: path.parts[0])


def module(objects):
    listed = re.search(r"A file calls only files that come before it here:\n(.*?)\*/",
                       (TOP / "kmod" / "topoopt.h").read_text(), re.S)[1]
    order = Order([name for line in listed.splitlines() for name in line.split()[2:]])
    sources = [f.relative_to(TOP) for f in sorted((TOP / "kmod").glob("*.c"))]
    for path in sources:
        if path.stem not in order.place:
            found.add(f"{path}: is not in the order of topoopt.h")
    order.hold({path: objects / f"{path.stem}.o"
                for path in sources if path.stem in order.place}, lambda path: path.stem)


library(Path(sys.argv[1]))
if len(sys.argv) > 2:
    module(Path(sys.argv[2]))
print(*sorted(found), sep="\n", end="\n" if found else "")
sys.exit(bool(found))
