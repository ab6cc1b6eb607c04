#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What examples/slurm does at the beginning and the end of a job, without Slurm: six
servers on one optical switch, their agents and the switch are fakes."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, "selftests/unit")
from cluster import AGENTS, Etcd  # noqa: E402
from fabric import FAKES, TOCTL  # noqa: E402
from fakes import load, save  # noqa: E402
from ocs import Device  # noqa: E402
from tap import done, report, wait_for  # noqa: E402

tmp = tempfile.TemporaryDirectory()
DIR = tmp.name
SERVERS = [f"s{i}" for i in range(6)]


def write(path, text, mode=0o644):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


# --- Slurm, agents, six servers on one optical switch ---

for folder in ("bin", "state", "agents"):
    os.mkdir(f"{DIR}/{folder}")
shutil.copytree("examples/slurm", f"{DIR}/scripts")
switch = Device.make(f"{DIR}/ocs", 24)
cluster = load("examples/panel-6/cluster.json")
cluster["optical_switches"][0]["control"] = {
    "driver": "command", "command": f"python3 {os.getcwd()}/selftests/unit/ocs.py {DIR}/ocs"}
save(f"{DIR}/cluster.json", cluster)
save(f"{DIR}/agents/ports", {s: {f"eth{q}": 4 * i + q + 1 for q in range(4)}
                             for i, s in enumerate(SERVERS)})
save(f"{DIR}/agents/light", [])
write(f"{DIR}/allow", "command *\n")
write(f"{DIR}/reach", f"""#!/bin/bash
if grep -qsx "$1" "{DIR}/down"; then
	echo "connect to host $1: No route to host" >&2
	exit 255
fi
exec {FAKES} agent {DIR}/agents "$1"
""", 0o755)
write(f"{DIR}/scripts/topoopt.conf", f"""
STATE={DIR}/state SLOTS=2 TOPOOPT_JOB= PLAN_OPTIONS=(--effort 1)
""")
os.environ["TOPOOPT_FABRIC"] = f"{DIR}/fabric.conf"
write(f"{DIR}/fabric.conf", f"""
[agents]
command = {DIR}/reach {{}}
[shards]
state = {DIR}/shards
[switches]
allow = {DIR}/allow
""")
# "scontrol show hostnames s1,s2", and what it updates
write(f"{DIR}/bin/scontrol", f"""#!/bin/bash
case $1 in
show) tr , '\\n' <<<"$3" ;;
update) echo "$2 $3" >>"{DIR}/updates" ;;
esac
""", 0o755)
os.symlink(TOCTL, f"{DIR}/bin/toctl")
for n in (2, 3):
    save(f"{DIR}/{n}.json", {"format": "topoopt-job", "version": 1, "name": "job", "servers": n,
                             "allreduce": [{"group": "all", "bytes": 1000000}]})
save(f"{DIR}/bad.json", {"format": "topoopt-job", "version": 1, "name": "job", "servers": 2,
                         "allreduce": [{"group": "0,5", "bytes": 1000000}]})
subprocess.run((TOCTL, "shard", "init", f"{DIR}/cluster.json"), check=True,
               stdout=subprocess.DEVNULL)


def script(name, number, servers, comment=""):
    said = subprocess.run(f"{DIR}/scripts/{name}.sh", check=False, capture_output=True, text=True,
                          env=os.environ | {"PATH": f"{DIR}/bin:{os.environ['PATH']}",
                                            "SLURM_JOB_ID": str(number), "SLURM_JOB_COMMENT": comment,
                                            "SLURM_JOB_NODELIST": servers})
    return said.returncode, said.stdout + said.stderr


def prolog(number, servers, comment):
    return script("prolog", number, servers, comment)


def epilog(number, servers, comment=""):
    return script("epilog", number, servers, comment)


def tables():
    """Servers that have one."""
    kernels = {s: load(f"{DIR}/agents/kernel-{s}") for s in SERVERS}
    return " ".join(s for s, kernel in kernels.items() if kernel and kernel["active"]["table"])


def state():
    return sorted(name for name in os.listdir(f"{DIR}/state") if os.path.isdir(f"{DIR}/state/{name}"))


def shards():
    return sorted(shard["name"] for shard in json.loads(subprocess.run(
        (TOCTL, "shard", "show", "--json"), check=True, capture_output=True,
        text=True).stdout)["shards"])


def same(name, got, expected):
    report(got == expected, name, f"got:      {got}\nexpected: {expected}")


def file(path):
    with open(path, encoding="utf-8") as text:
        return text.read()


# --- a job ---

same("a job of three: its prolog succeeds", prolog(1, "s1,s2,s4", f"topoopt={DIR}/3.json"), (0, ""))
same("its servers have tables, no other", tables(), "s1 s2 s4")
plan = load(f"{DIR}/state/1/plan.json")
same("its plan has its servers and their ports",
     [[s["name"], *(p["optical_port"] for p in s["ports"])] for s in plan["servers"]],
     [["s1", 5, 6, 7, 8], ["s2", 9, 10, 11, 12], ["s4", 17, 18, 19, 20]])
same("and the switch its cross-connects", {frozenset(pair) for pair in switch.joined()},
     {frozenset((x["a"], x["b"])) for x in plan["cross_connects"]})
same("a line for each rank, in the order of the ring", file(f"{DIR}/state/1/hosts"),
     subprocess.run((TOCTL, "job", "ranks", f"{DIR}/state/1/plan.json", "--slots", "2", "--format",
                     "slurm"), check=True, capture_output=True, text=True).stdout)
same("and all rings as JSON", load(f"{DIR}/state/1/ranks.json")["format"], "topoopt-ranks")

before = switch.joined()
same("a job beside it", (prolog(2, "s0,s3", f"topoopt={DIR}/2.json"), tables()),
     ((0, ""), "s0 s1 s2 s3 s4"))
report(set(before) < set(switch.joined()), "changes nobody's light", switch.joined())
same("its epilog clears its own", (epilog(2, "s0,s3"), tables()), ((0, ""), "s1 s2 s4"))
same("and removes its directory", (state(), shards()), (["1"], ["1"]))
same("a job on a server of one whose epilog has not run",
     (prolog(3, "s2,s5", f"topoopt={DIR}/2.json"), tables(), shards()), ((0, ""), "s2 s5", ["3"]))
same("that epilog then leaves the tables", (epilog(1, "s1,s2,s4"), tables(), state()),
     ((0, ""), "s2 s5", ["3"]))
epilog(3, "s2,s5")

# --- none ---

before = switch.log()
same("a job that asks for nothing gets nothing",
     (prolog(4, "s0,s1", "something else"), tables(), state(), shards()), ((0, ""), "", [], []))
same("and its epilog does nothing", (epilog(4, "s0,s1", "something else"), switch.log()),
     ((0, ""), before))

# --- a shard that is nobody's job ---

subprocess.run((TOCTL, "shard", "add", "--job", f"{DIR}/2.json", "--on", "s4,s5",
                "bert"), check=True, stdout=subprocess.DEVNULL)
status, _ = prolog(5, "s3,s4", f"topoopt={DIR}/2.json")
report(status > 0 and shards() == ["bert"] and
       "server s4 is taken by shard bert" in file(f"{DIR}/updates"),
       "a server of an operator's shard: it stays", shards())
subprocess.run((TOCTL, "shard", "remove", "bert"), check=True, stdout=subprocess.DEVNULL)

# --- failures ---


def fails(name, servers, comment, reason):
    write(f"{DIR}/updates", "")
    status, _ = prolog(5, servers, comment)
    report(status > 0, f"{name}: the prolog fails")
    same(f"{name}: the job says why", file(f"{DIR}/updates"), f"JobId=5 AdminComment=topoopt: {reason}\n")
    same(f"{name}: and nothing is left", (tables(), state(), shards()), ("", [], []))


fails("another number of servers", "s0,s1,s2", f"topoopt={DIR}/2.json",
      f"toctl shard add: {DIR}/2.json: the job has 2 servers, --on names 3")
fails("no such file", "s0,s1", f"topoopt={DIR}/none.json",
      f"toctl shard add: {DIR}/none.json: No such file or directory")
fails("unknown servers", "s0,s8", f"topoopt={DIR}/2.json",
      "toctl shard add: server s8 is not in the cluster")
fails("a job that cannot be planned", "s0,s1", f"topoopt={DIR}/bad.json",
      f"toctl shard add: {DIR}/bad.json:1: allreduce[0].group: index 5 is outside 0 to 1")
write(f"{DIR}/down", "s1\n")
fails("a server that is down", "s0,s1", f"topoopt={DIR}/2.json",
      "toctl shard add: stage: s1: the agent ended: connect to host s1: No route to host")
os.unlink(f"{DIR}/down")
same("requeued, it gets its plan", (prolog(5, "s0,s1", f"topoopt={DIR}/2.json"), tables()),
     ((0, ""), "s0 s1"))
write(f"{DIR}/down", "s1\n")
status, _ = epilog(5, "s0,s1")
report(status > 0, "a server that cannot be cleared fails the epilog")
report("s1: the agent ended: connect to host s1: No route to host" in file(f"{DIR}/state/log").splitlines()[-1],
       "which the log names", file(f"{DIR}/state/log"))
os.unlink(f"{DIR}/down")
same("the next job of its servers is not held up",
     (prolog(6, "s1,s2", f"topoopt={DIR}/2.json"), tables(), shards()), ((0, ""), "s1 s2", ["6"]))

# --- the state in etcd, where the agents are, too ---

etcd = Etcd(DIR, 1)
atexit.register(etcd.stop)
servers = subprocess.Popen((AGENTS, etcd.clients[0], DIR, "0", "6"))
atexit.register(servers.wait)
atexit.register(servers.kill)
write(f"{DIR}/fabric.conf", f"""
[etcd]
endpoints = {etcd.clients[0]}
[shards]
state = etcd
[switches]
allow = {DIR}/allow
""")
with switch.state() as content:
    content["joined"] = []
subprocess.run((TOCTL, "shard", "init", f"{DIR}/cluster.json"), check=True,
               stdout=subprocess.DEVNULL)
wait_for(lambda: etcd.present() == 6)


def decided():
    """Servers whose agents have a table, and shards that have a plan in etcd."""
    return (" ".join(s for s in SERVERS if os.path.exists(f"{DIR}/{s}") and file(f"{DIR}/{s}") != "0 0\n"),
            sorted(key.split("/")[-2].split(".")[0] for key in etcd.keys("/topoopt/shards/texts/plans/")))


same("etcd: a job has its servers and its plan",
     (prolog(7, "s0,s3", f"topoopt={DIR}/2.json"), decided()), ((0, ""), ("s0 s3", ["7"])))
same("etcd: which is a file for its script",
     [s["name"] for s in load(f"{DIR}/state/7/plan.json")["servers"]], ["s0", "s3"])
status, _ = prolog(8, "s4,s9", f"topoopt={DIR}/2.json")
same("etcd: one that fails leaves nothing", (status > 0, decided()), (True, ("s0 s3", ["7"])))
same("etcd: a server of one whose epilog has not run",
     (prolog(9, "s3,s4", f"topoopt={DIR}/2.json"), decided()), ((0, ""), ("s3 s4", ["9"])))
same("etcd: an epilog frees them", (epilog(9, "s3,s4"), decided()), ((0, ""), ("", [])))

done()
