# SPDX-License-Identifier: GPL-2.0-or-later
"""Both programs under test, for tests that run commands of each."""

import json
import os
import subprocess

TOCTL = os.path.abspath(os.environ.get("TOCTL", "build/toctl"))
TOSIM = os.path.abspath(os.environ.get("TOSIM", "build/tosim"))
SANITIZED = "/sanitize/" in TOCTL


def argv(line):
    """Words of a call: "tosim cost ..." is of tosim, "plan ..." of toctl."""
    words = line.split(" ")
    return [TOSIM, *words[1:]] if words[0] == "tosim" else [TOCTL, *words]


def commands():
    """Commands of both programs as help prints them, by the words that argv() takes."""
    found = {}
    for program, prefix in (TOCTL, ""), (TOSIM, "tosim "):
        ran = subprocess.run([program, "--json", "help"], stdin=subprocess.DEVNULL,
                             capture_output=True, check=True)
        found |= {prefix + command["name"]: command for command in json.loads(ran.stdout)["commands"]}
    return found
