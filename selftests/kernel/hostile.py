#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""An agent that is asked by a controller and answers like a real one, but that every
other sample is a lie: unit/fakes.py's forgeries in turn, going on where the agent before
it was stopped. See hostile.sh.

	hostile.py agent DIR	in front of toctl agent, as long as there is no DIR/honest
	hostile.py told DIR	prints what is wrong in DIR/run.log: it tells of ten lies in a
				minute, and counts the others
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
        lines = [json.loads(line) for line in file]
    told = [line["error"] for line in lines if line["event"] == "missing" and "error" in line]
    for error in told:
        if not any(error.startswith(f"s3: {text}") for text in FORGERIES.values()):
            print(error)
    counted = sum(line["messages"] for line in lines if line["event"] == "left-out")
    # a lie and its end are two lines
    if len(told) < 4 or 2 * len(told) + counted < load(f"{directory}/samples") - 2:
        print(f"{len(told)} lies are told, {counted} lines were left out")


main()
