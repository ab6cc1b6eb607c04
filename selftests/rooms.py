#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hold two orders and find circles.

The rooms of tools/lib stand in the order of its README.md, the files of the module in that
of kmod/topoopt.h. Each uses only those before it. No files, of the library, of a program or
of the module, use each other in a circle; NAME.c and NAME.h are one file.

Checked are includes: of rooms by all files, of files by headers. As a declaration can be had
without an include, the symbols of all objects are checked, too.

    rooms.py OBJECTS-OF-TOOLS [OBJECTS-OF-KMOD]
"""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
TOOLS = TOP / "tools"
LIB = TOOLS / "lib"
found = set()
COMMAND_MAX = 200	# lines of the file of a command


class Order:
    def __init__(self, names):
        self.place = {name: i for i, name in enumerate(names)}

    def use(self, path, user, used, what):
        """`path`, which belongs to `user`, uses `what` of `used`."""
        if self.place[used] > self.place[user]:
            found.add(f"{path}: uses {what}, but {used} stands below {user}")


class Files:
    """Which file uses which, as a graph: `uses[file][other]` is something of `other`."""

    def __init__(self):
        self.uses = {}

    def use(self, path, other, what):
        file, other = path.with_suffix(""), other.with_suffix("")
        if file != other:
            self.uses.setdefault(file, {}).setdefault(other, what)

    def reached(self, file, way):
        """All that `file` uses along `way`, a graph like `uses`, itself included."""
        seen, todo = {file}, [file]
        while todo:
            new = way.get(todo.pop(), {}).keys() - seen
            seen |= new
            todo += new
        return seen

    def find_circles(self):
        """A circle is what a file reaches and is reached from."""
        users = {}
        for file, used in self.uses.items():
            for other in used:
                users.setdefault(other, {})[file] = None
        left = set(self.uses)
        while left:
            file = left.pop()
            circle = self.reached(file, self.uses) & self.reached(file, users)
            left -= circle
            if len(circle) == 1:
                continue
            links = [f"\n\t{a} uses {what} of {b}" for a in sorted(circle)
                     for b, what in sorted(self.uses[a].items()) if b in circle]
            found.add(f"{min(circle)}: is in a circle of {len(circle)} files:{''.join(links)}")


def symbols(objects):
    """Yield (user, owner, name): a source, one that it needs, and the symbol that it needs.
    `objects` maps sources to objects."""
    defined, undefined = {}, []
    for path, built in objects.items():
        names = subprocess.run(["nm", built], check=True, capture_output=True, text=True)
        for kind, name in re.findall(r" ([A-Z]) (\w+)$", names.stdout, re.M):
            if kind == "U":
                undefined.append((path, name))
            elif not name.startswith(("__pfx_", "__cfi_")):
                defined[name] = path
    return [(path, defined[name], name) for path, name in undefined if name in defined]


def tools(objects):
    rooms = Order(re.findall(r"^\| ([a-z]+) \|", (LIB / "README.md").read_text(), re.M)[1:])
    files = Files()
    sources = [f.relative_to(TOOLS) for f in sorted(TOOLS.rglob("*.[ch]"))]

    def room(path):
        return path.parts[1] if path.parts[0] == "lib" else None

    def use(path, other, what):
        if room(path) and room(other):
            rooms.use(path, room(path), room(other), what)

    for path in list(sources):
        if room(path) and (len(path.parts) != 3 or room(path) not in rooms.place):
            found.add(f"{path}: is in no room of README.md")
            sources.remove(path)
            continue
        for header in re.findall(r'^#include "(.*)"', (TOOLS / path).read_text(), re.M):
            for other in {Path("lib", header), path.parent / header, Path(path.parts[0], header)}:
                if other in sources:
                    use(path, other, header)
                    if path.suffix == ".h":
                        files.use(path, other, header)
    for path, other, name in symbols({path: objects / path.with_suffix(".o")
                                      for path in sources if path.suffix == ".c"}):
        use(path, other, f"{name} of {other}")
        files.use(path, other, name)
    files.find_circles()


def module(objects):
    listed = re.search(r"A file calls only files that come before it here:\n(.*?)\*/",
                       (TOP / "kmod" / "topoopt.h").read_text(), re.S)[1]
    order = Order([name for line in listed.splitlines() for name in line.split()[2:]])
    files = Files()
    sources = [f.relative_to(TOP) for f in sorted((TOP / "kmod").glob("*.[ch]"))]
    for path in list(sources):
        if path.suffix == ".c" and path.stem not in order.place:
            found.add(f"{path}: is not in the order of topoopt.h")
            sources.remove(path)
        elif path.suffix == ".h":
            for header in re.findall(r'^#include "(.*)"', (TOP / path).read_text(), re.M):
                if path.parent / header in sources:
                    files.use(path, path.parent / header, header)
    for path, other, name in symbols({path: objects / f"{path.stem}.o"
                                      for path in sources if path.suffix == ".c"}):
        # Data that refers to all that handles requests.
        if name != "topoopt_nl_family":
            order.use(path, path.stem, other.stem, f"{name} of {other}")
            files.use(path, other, name)
    files.find_circles()


def commands():
    """The file of a command is short; where it is not, a comment says why."""
    for path in sorted(TOOLS.glob("*/cmd/*.c")):
        text = path.read_text()
        if text.count("\n") > COMMAND_MAX and f"/* Over {COMMAND_MAX} lines: " not in text:
            found.add(f"{path.relative_to(TOP)}: over {COMMAND_MAX} lines without a reason")


tools(Path(sys.argv[1]))
commands()
if len(sys.argv) > 2:
    module(Path(sys.argv[2]))
print(*sorted(found), sep="\n", end="\n" if found else "")
sys.exit(bool(found))
