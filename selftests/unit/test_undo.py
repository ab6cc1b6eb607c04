#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl apply --previous and --confirm-within, on a fabric of agents without kernels."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, "selftests/unit")
from fabric import FAKES, TOCTL  # noqa: E402
from fakes import load, save  # noqa: E402
from tap import done, report, wait_for  # noqa: E402

RING = "examples/ring-4/"
tmp = tempfile.TemporaryDirectory()
DIR = tmp.name
ENV = os.environ | {"TOPOOPT_STATE": f"{DIR}/state"}
APPLY = (TOCTL, "apply", "--all", "--set", f"agents.command={FAKES} agent {DIR} {{}}")
ONE, TWO = f"{DIR}/one.json", f"{DIR}/two.json"

subprocess.run((TOCTL, "plan", "--cluster", RING + "cluster.json", "--job", RING + "job.json",
                "--fixed", "-o", ONE), check=True, stdout=subprocess.DEVNULL)
plan = load(ONE)
for table in plan["tables"]:
    table["groups"][0][0]["weight"] = 3
save(TWO, plan)
save(f"{DIR}/ports", {server["name"]: {"eth0": 2 * i, "eth1": 2 * i + 1}
                      for i, server in enumerate(plan["servers"])})
save(f"{DIR}/light", [[2 * i, 2 * i + 1] for i in range(4)])


def run(*arguments, command=APPLY):
    return subprocess.run((*command, *arguments), env=ENV, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)


def active():
    """Which of the plans all servers have."""
    tables = {json.loads(load(f"{DIR}/kernel-s{i}")["active"]["table"])["groups"][0][0].get("weight", 1)
              for i in range(4)}
    generations = {load(f"{DIR}/kernel-s{i}")["active"]["generation"] for i in range(4)}
    return {1: ONE, 3: TWO}[tables.pop()] if len(tables | generations) == 2 else None


def start(*arguments, **options):
    """An apply that waits for its confirmation, once it does."""
    options = {"stdin": subprocess.DEVNULL} | options
    process = subprocess.Popen((*APPLY, *arguments), env=ENV, stderr=subprocess.PIPE, text=True,
                               stdout=subprocess.PIPE, **options)
    line = process.stderr.readline()
    return process, line


def end(process):
    out, err = process.communicate(timeout=60)
    return process.returncode, out + err


# --- the plan before ---

said = run("--previous")
report(said.returncode == 1 and "no job has a all-previous.json" in said.stderr,
       "no plan was active: there is none to go back to", said.stderr)
run(ONE)
said = run("--previous", "ring-4")
report(said.returncode == 1 and "no plan of job ring-4" in said.stderr,
       "one plan was active: there is none before it", said.stderr)
run(TWO)
run(TWO)
said = run("--previous")
report(said.returncode == 0 and active() == ONE, "back to the plan before, whatever was applied twice",
       said.stderr)
said = run("--previous", "ring-4")
report(said.returncode == 0 and active() == TWO, "and once more: to the one that it replaced",
       said.stderr)
said = run("--previous", command=(TOCTL, "apply", "--dry-run"))
report(said.returncode == 1 and "previous.json" in said.stderr,
       "what --all made active is no server's own", said.stderr)
os.makedirs(f"{DIR}/state/other")
open(f"{DIR}/state/other/all-previous.json", "w", encoding="ascii").close()
said = run("--previous")
report(said.returncode == 1 and re.search("say which: (ring-4, other|other, ring-4)", said.stderr) and
       active() == TWO, "several jobs: one is to be named", said.stderr)

# --- confirmed or not ---

said = run("--confirm-within", "50ms", ONE)
report(said.returncode == 1 and active() == TWO and
       "toctl apply: not confirmed: all servers went back" in said.stderr,
       "nobody confirms: all servers are back", said.stderr)
said = run("--previous", "ring-4", "--confirm-within", "50ms")
report(said.returncode == 1 and active() == TWO and run("--previous", "ring-4").returncode == 0 and
       active() == ONE, "what was not confirmed is no plan that was active", said.stderr)

process, line = start("--confirm-within", "3600s", TWO)
while_waiting = active()
other = run("--confirm-within", "3600s", TWO)
given = run("--confirm", "ring-4", command=(TOCTL, "apply", "--all"))
code, text = end(process)
report(while_waiting == TWO and "toctl apply --confirm within 3600 s" in line and not code and
       given.returncode == 0 and active() == TWO, "confirmed from elsewhere: it stays", line + text)
report(other.returncode == 1 and "waits for another change of ring-4" in other.stderr,
       "one change waits at a time", other.stderr)
given = run("--confirm", "ring-4", command=(TOCTL, "apply", "--all"))
report(given.returncode == 1 and "no change of ring-4 waits" in given.stderr,
       "nothing waits: nothing is confirmed", given.stderr)

for what, number in (("interrupted", signal.SIGINT), ("terminated", signal.SIGTERM)):
    process, line = start("--confirm-within", "3600s", ONE)
    process.send_signal(number)
    code, text = end(process)
    report(code == 1 and active() == TWO, f"{what}: all servers are back", text)
process, line = start("--confirm-within", "3600s", ONE)
process.kill()
process.wait()
report(wait_for(lambda: active() == TWO), "killed: the agents go back")

for what, typed, want in (("Enter", b"\n", ONE), ("a terminal that goes away", None, ONE)):
    ours, theirs = pty.openpty()
    limit = "3600s" if typed else "200ms"
    before = active()
    process, line = start("--confirm-within", limit, TWO if before == ONE else ONE, stdin=theirs)
    os.close(theirs)
    asked = "Keep it with Enter" in line
    if typed:
        os.write(ours, typed)
    else:
        os.close(ours)
    code, text = end(process)
    report(asked and active() == want and code == (0 if typed else 1), f"at a terminal: {what}",
           line + text)

# --- mistakes ---

for options in (("--dry-run",), ("--stage",), ("--xdp", "off")):
    said = run("--confirm-within", "1s", *options, ONE, command=(TOCTL, "apply"))
    report(said.returncode == 2 and "--confirm-within cannot be combined" in said.stderr,
           f"--confirm-within with {options[0]}", said.stderr)
said = run("--confirm", "--previous", command=(TOCTL, "apply"))
report(said.returncode == 2 and "--confirm changes nothing" in said.stderr, "--confirm with --previous")

done()
