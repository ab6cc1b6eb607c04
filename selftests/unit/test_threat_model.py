#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of Documentation/threat-model.md name every door of the code: sockets that listen,
commands, environment variables, files of the system, keys of etcd, operations of netlink."""

import glob
import re
import sys

sys.path.insert(0, "selftests/unit")
from tap import done, report  # noqa: E402

LIB = "tools/lib/"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def code(path):
    """Source without comments."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", read(path), flags=re.S)


SOURCES = {path: code(path) for path in glob.glob("tools/**/*.[ch]", recursive=True)}
NAMES = {name: value for text in SOURCES.values()
         for name, value in re.findall(r'^#define\s+(\w+)\s+"([^"]*)"', text, re.M)}
PAGE = read("Documentation/threat-model.md")


def rows(title):
    """Rows of the table below a title."""
    section = PAGE.split(f"\n### {title}\n")[1].split("\n#")[0]
    return [line for line in section.splitlines() if line.startswith("| ")][1:]


def words(title):
    return {word for row in rows(title) for word in re.findall("`([^`]+)`", row)}


def files_with(pattern):
    return {path.removeprefix(LIB) for path, text in SOURCES.items() if re.search(pattern, text)}


def covers(title, wanted, what):
    wanted = set(wanted)
    missing = wanted - words(title)
    report(wanted and not missing, f"{title}: {what}", f"without a row: {sorted(missing)}")


def is_current(title, found):
    """No row names a file whose door has been closed."""
    named = {word for word in words(title) if word.endswith(".c")}
    report(named <= found, f"{title}: no row is left over", sorted(named - found))


listening = files_with(r"\b(?:bind|listen|accept4?|to_mhd\.start_daemon)\(")
covers("Sockets that listen", listening, "every file that binds a socket")
is_current("Sockets that listen", listening)
spawning = files_with(r"\b(?:exec[lv]p?e?|execvpe|posix_spawnp?|v?fork|clone3?|popen|system)\(")
covers("Commands that are started", spawning, "every file that starts a program")
is_current("Commands that are started", spawning)

variables, unnamed = set(), set()
for path, text in SOURCES.items():
    for argument in re.findall(r"\b(?:secure_)?getenv\(([^()]*)\)", text):
        if argument.startswith('"'):
            variables.add(argument.strip('"'))
        elif argument in NAMES:
            variables.add(NAMES[argument])
        else:
            unnamed.add(path.removeprefix(LIB))
covers("Environment", variables, "every variable that is read by its name")
covers("Environment", unnamed, "every file that reads a variable by a name from elsewhere")
bare = {path for path in files_with(r"\benviron\b") if path != "base/environment.c"}
report(not bare, "only base/environment.c has the whole environment", bare)

system = {path for text in SOURCES.values()
          for path in re.findall(r'"(/(?:etc|var|run)(?:/[\w.-]+)*)', text)}
named = " ".join(rows("Files"))
missing = [path for path in system if f"`{path}" not in named and path != "/run" and
           not any(path.startswith(word + "/") for word in words("Files"))]
report(system and not missing, "Files: every path below /etc, /var and /run", missing)

keys = re.findall(r'^#define\s+TO_ETCD_(?!OBSERVER)\w+\s+"([^"]+)"', code(LIB + "control/etcd_key.h"), re.M)
covers("Keys of etcd", keys, "every key")

operations = {f"{name.lower().replace('_', '-')}": "yes" if "ADMIN_PERM" in rest else "no"
              for name, rest in re.findall(r"\.cmd\s*=\s*TOPOOPT_CMD_(\w+),(.*?)\}",
                                           code("kmod/netlink_policy.c"), re.S)}
told = dict(re.findall(r"^\| `([^`]+)` \| (yes|no) \|$", "\n".join(rows("Generic netlink")), re.M))
report(operations and told == operations, "Generic netlink: every operation and its privilege",
       set(told.items()) ^ set(operations.items()))

curl = files_with(r"curl_easy_(?:init|reset)") - {"base/lazy_curl.c"}
report(not curl, "only base/lazy_curl.c makes handles of libcurl", curl)
done()
