#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl job run on a fabric without kernels (fakes.py): what the command finds, its
status, signals, and what is refused before it starts."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, "selftests/unit")
from fabric import FAKES, TOCTL  # noqa: E402
from fakes import load, members, save  # noqa: E402
from tap import done, report, wait_for  # noqa: E402

home = tempfile.TemporaryDirectory()
top = home.name
os.mkdir(f"{top}/tmp")
os.mkdir(f"{top}/bin")
env = dict(os.environ, TMPDIR=f"{top}/tmp", PATH=f"{top}/bin:{os.environ['PATH']}")
AGENTS = ("--set", f"agents.command={FAKES} agent {top} {{}}", "--set", "agents.timeout=60s")


def toctl(*args):
    return subprocess.run([TOCTL, *args], capture_output=True, text=True, check=False,
                          timeout=120, env=env)


def start(*command):
    return subprocess.Popen([TOCTL, "job", "run", plan, *AGENTS, "--interval", "50ms", "--", *command],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def run(*command):
    process = start(*command)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def same(got, expected, name):
    report(got == expected, name, f"got:\n{got}\nexpected:\n{expected}")


def make(name, *args):
    path = f"{top}/{name}"
    ran = toctl("plan", "--job", f"{top}/job", *args, "-o", path)
    if ran.returncode:
        sys.exit(ran.stderr)
    return path


save(f"{top}/job", {"format": "topoopt-job", "version": 1, "name": "six", "servers": 6,
                    "allreduce": [{"group": "all", "bytes": 1000000}]})
plan = make("plan.json", "--degree", "2")
other = make("other.json", "--degree", "3")
document = load(plan)
save(f"{top}/ports", {server["name"]: {port["name"]: port["optical_port"] for port in server["ports"]}
                      for server in document["servers"]})
order = members(document["rings"][0]["order"])
save(f"{top}/rings", [order])
save(f"{top}/light", [])
save(f"{top}/phase", [[0, 0]])

# --- before it starts ---------------------------------------------------------

ran = toctl("apply", "--all", other, *AGENTS)
report(ran.returncode == 0, "another plan is active", ran.stderr)
generation = load(f"{top}/kernel-s0")["active"]["generation"]
same(run("touch", f"{top}/started"),
     (1, "", f"toctl job run: generation {generation}, which is active, is not {plan}: toctl apply --all {plan}\n"),
     "a plan that is not the active one is refused, with the generation")
same((load(f"{top}/kernel-s0")["stage"], load(f"{top}/kernel-s0")["active"]["generation"]),
     (None, generation), "and nothing is changed")
ran = toctl("apply", "--all", plan, *AGENTS)
report(ran.returncode == 0, "now it is active", ran.stderr)

broken = load(plan)
table = broken["tables"][0]
table["routes"] = table["routes"][:1]
save(f"{top}/broken.json", broken)
ran = toctl("job", "run", f"{top}/broken.json", *AGENTS, "--", "touch", f"{top}/started")
report(ran.returncode == 1 and ran.stderr.startswith(f"toctl job run: {top}/broken.json is not valid: ")
       and ran.stderr.count("\n") == 1, "a plan that is not valid is refused", ran.stderr)
ran = toctl("job", "run", plan, "--ring", "3", *AGENTS, "--", "touch", f"{top}/started")
same((ran.returncode, ran.stderr), (1, f"toctl job run: {plan}: no ring 3 in this plan (it has 1)\n"),
     "a ring that there is not")
ran = toctl("job", "run", plan)
same((ran.returncode, ran.stderr.splitlines()[0]), (2, "toctl job run: PLAN -- COMMAND... expected"),
     "without a command")
with open(f"{top}/bin/torchrun", "w", encoding="utf-8") as file:
    file.write(f"#!/bin/sh\nenv >{top}/env\n")
os.chmod(f"{top}/bin/torchrun", 0o755)
status, out, err = run("torchrun", "train.py")
report(status == 1 and "torchrun starts the ranks of this server, and it is not in the plan" in err,
       "torchrun on a server that is not in the plan", err)
report(not os.path.exists(f"{top}/started"), "none of these starts the command")

# --- what it runs ---------------------------------------------------------------

status, out, err = run("sh", "-c", 'cat "$TOPOOPT_HOSTS" "$TOPOOPT_RANKS"; sleep 0.3; exit 7')
same((status, out[:66]), (7, "".join(f"s{i} slots=1\n" for i in order)), "its files and its status")
same(json.loads(out[66:])["format"], "topoopt-ranks", "the rings, too")
report("ring 0: " in err and "between all servers" in err, "what was sent meanwhile is compared", err)
same(run("sh", "-c", "exit 2")[0::2][0], 2, "status 2 is the command's")
report("--help" not in run("sh", "-c", "exit 2")[2], "and no advice on options")
same(run("sh", "-c", "kill -KILL $$")[0], 137, "a signal that ended it")
status, out, err = run("no-such-launcher")
report(status == 127 and "no-such-launcher: No such file or directory" in err, "a command that is not there", err)

for launcher, want in (
        ("mpirun", ("PRTE_MCA_prte_default_hostfile=", "HYDRA_HOST_FILE=", "OMPI_MCA_btl_tcp_if_include=topo0")),
        ("srun", ("SLURM_HOSTFILE=", "SLURM_DISTRIBUTION=arbitrary")),
        ("torchrun", (f"PET_NODE_RANK={order.index(2)}", "PET_MASTER_ADDR=10.200.0.1", "GLOO_SOCKET_IFNAME=topo0"))):
    with open(f"{top}/bin/{launcher}", "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nenv >{top}/env\nexec \"$@\"\n")
    os.chmod(f"{top}/bin/{launcher}", 0o755)
    ran = toctl("job", "run", plan, *AGENTS, "--interval", "50ms", "--node", "s2", "--",
                f"{top}/bin/{launcher}", "true")
    with open(f"{top}/env", encoding="utf-8") as file:
        found = file.read()
    report(ran.returncode == 0 and all("\n" + line in "\n" + found for line in want),
           f"{launcher} is told of the ranks", found + ran.stderr)
env["OMPI_MCA_btl"] = "self"
env["TOPOOPT_ETCD_PASSWORD"] = env["OCS_PASSWORD"] = "secret"
with_switch = load(plan)
with_switch["optical_switches"][0]["control"] = {
    "driver": "polatis-restconf", "address": "http://127.0.0.1:1", "user": "admin",
    "password_env": "OCS_PASSWORD"}
save(f"{top}/with_switch.json", with_switch)
toctl("job", "run", plan, *AGENTS, "--interval", "50ms", "--", f"{top}/bin/mpirun", "true")
with open(f"{top}/env", encoding="utf-8") as file:
    found = file.read()
toctl("apply", "--all", f"{top}/with_switch.json", *AGENTS)
toctl("job", "run", f"{top}/with_switch.json", *AGENTS, "--interval", "50ms", "--", f"{top}/bin/srun", "true")
with open(f"{top}/env", encoding="utf-8") as file:
    switched = file.read()
toctl("apply", "--all", plan, *AGENTS)
del env["TOPOOPT_ETCD_PASSWORD"], env["OCS_PASSWORD"]
report("\nOMPI_MCA_btl=self\n" in "\n" + found, "variables that are set already stay")
report("TOPOOPT_ETCD_PASSWORD" not in found, "the job does not get the password of etcd", found)
report("SLURM_HOSTFILE" in switched and "secret" not in switched,
       "the job does not get the password of a switch of its plan", switched)
tokens = re.findall("^TOPOOPT_COLLECTIVE_TOKEN=(.*)$", found + switched, re.M)
report(len(set(tokens)) == 2 and all(len(t) >= 32 for t in tokens),
       "each job gets a new token for toctl collective run", found)

# --- signals --------------------------------------------------------------------

for number, name in ((signal.SIGTERM, "TERM"), (signal.SIGINT, "INT"), (signal.SIGHUP, "HUP")):
    process = start("sh", "-c", f"trap 'exit 9' {name}; echo up; while :; do sleep 0.05; done")
    up = process.stdout.readline()
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    same((up, process.returncode), ("up\n", 9), f"SIG{name} goes to the command")
    report("between all servers" in err, "and what was sent is compared", err)

# --- recording begins anew, and fails --------------------------------------------

link = next(link for link in document["links"] if link["a"].startswith("s1:"))
save(f"{top}/harm-s1", {"action": f"link {link['a'].removeprefix('s1:')} {link['b']}",
                        "ops": ["sample"], "count": 3, "times": 100})
status, out, err = run("sh", "-c", "sleep 0.5")
report(load(f"{top}/harm-s1")["count"] < 0 and status == 0 and "not recorded" not in err,
       "a link that was not known before is no failure", err)

# the first sample, before the command starts, is one more
save(f"{top}/harm-s1", {"action": "more names", "ops": ["sample"], "count": 3, "times": 6})
save(f"{top}/harm-s2", {"action": "say \x1b[2J\nno", "ops": ["sample"], "count": 3, "times": 6})
status, out, err = run("sh", "-c", f"until grep -q 'count.: -[0-9]' {top}/harm-s1; do sleep 0.05; done; sleep 0.3")
faulty = "faulty recording: servers: there are 106, the fabric has 6"
warned = [line for line in err.splitlines() if "no traffic data from" in line]
report(status == 0 and warned and all(line.startswith("toctl job run: warning: ") for line in warned) and
       sum(f"s1: {faulty}" in line for line in warned) in (1, 2) and len(warned) <= 2 and
       any("s2: \\x1b[2J\\x0ano" in line for line in warned) and "\x1b" not in err,
       "servers whose recordings are refused are named with the reason, once", err)
save(f"{top}/harm-s1", {"action": "more names", "ops": ["sample"], "count": 3, "times": 6})
ran = toctl("job", "run", plan, *AGENTS, "--interval", "50ms", "--json", "--", "sh", "-c",
            f"until grep -q 'count.: -[0-9]' {top}/harm-s1; do sleep 0.05; done; sleep 0.3")
told = json.JSONDecoder().raw_decode(ran.stderr[ran.stderr.index("{"):])[0]
report(told.get("missing") == [{"server": "s1", "error": faulty}], "the report has them, too", ran.stderr)
for server in ("s1", "s2"):
    os.unlink(f"{top}/harm-{server}")

process = start("sh", "-c", f"echo up; while [ ! -e {top}/go ]; do sleep 0.05; done; exit 3")
process.stdout.readline()
save(f"{top}/harm-s1", {"action": "die", "ops": ["sample"], "count": 1, "times": 1})
wait_for(lambda: os.path.exists(f"{top}/dead-s1"), 120)
# an interval counts once others have been recorded after it; harm that never comes counts those
save(f"{top}/harm-s2", {"action": "die", "ops": ["sample"], "count": 1000, "times": 1})
wait_for(lambda: load(f"{top}/harm-s2")["count"] <= 980, 120)
save(f"{top}/go", True)
out, err = process.communicate(timeout=120)
report(process.returncode == 3 and "intervals lack a server's part" in err,
       "an agent that dies: the command goes on, and it is said", err)

same(os.listdir(f"{top}/tmp"), [], "no file is left")
done()
