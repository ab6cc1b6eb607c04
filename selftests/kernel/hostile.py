#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""An agent that is asked by a controller and answers like a real one, but that every
other sample is a lie: unit/fakes.py's forgeries in turn, going on where the agent before
it was stopped. See hostile.sh.

	hostile.py agent DIR	in front of toctl agent, as long as there is no DIR/honest
	hostile.py told DIR	prints the lies that DIR/run.log does not tell of
"""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)) + "/../unit")
from fakes import FORGERIES, forge, load, save  # noqa: E402


def answer(directory, line, agent):
    request = json.loads(line)
    # in full, to forge them
    request.pop("names", None)
    agent.stdin.write(json.dumps(request) + "\n")
    agent.stdin.flush()
    line = agent.stdout.readline()
    reply = json.loads(line)
    if "tm" not in reply or os.path.exists(f"{directory}/honest"):
        return line
    n = load(f"{directory}/samples", 0)
    save(f"{directory}/samples", n + 1)
    if n % 2:
        return line
    return json.dumps(forge(list(FORGERIES)[n // 2 % len(FORGERIES)], reply)) + "\n"


def main():
    what, directory = sys.argv[1:]
    if what == "agent":
        with subprocess.Popen(["toctl", "agent", "--stdio"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as agent:
            for line in sys.stdin:
                print(answer(directory, line, agent), end="", flush=True)
        return
    with open(f"{directory}/run.log", encoding="utf-8") as file:
        told = [line.get("error", "") for line in map(json.loads, file)
                if line["event"] == "missing"]
    for lie, text in FORGERIES.items():
        if not any(error.startswith(f"s3: {text}") for error in told):
            print(lie)


main()
