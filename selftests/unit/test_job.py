#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl job: what launchers are given is what they read, in the order of the plan's
rings; shares add up to 1; calls that are wrong get one line and leave no file."""

import json
import os
import subprocess
import sys
import tempfile

import jsonschema

sys.path.insert(0, "selftests/unit")
from tap import done, report  # noqa: E402

TOCTL = os.path.abspath(os.environ.get("TOCTL", "build/toctl"))
home = tempfile.TemporaryDirectory()


def toctl(*args):
    return subprocess.run([TOCTL, *args], capture_output=True, text=True, check=False, timeout=60)


def make(name, *args):
    path = f"{home.name}/{name}.json"
    ran = toctl("plan", *args, "-o", path)
    if ran.returncode:
        sys.exit(ran.stderr)
    return path


def same(got, expected, name):
    report(got == expected, name, f"got:\n{got}\nexpected:\n{expected}")


ring4 = make("ring4", "--job", "examples/ring-4/job.json",
             "--cluster", "examples/ring-4/cluster.json", "--fixed")
proto = make("proto", "--job", "examples/prototype-12/job.json", "--degree", "4")

with open(f"{home.name}/two", "w", encoding="utf-8") as file:
    json.dump({"format": "topoopt-job", "version": 1, "name": "two", "servers": 8, "allreduce": [
        {"group": "0-3", "bytes": 1000000}, {"group": "4-7", "bytes": 1000000}]}, file)
two = make("two-plan", "--job", f"{home.name}/two", "--degree", "2")

with open(f"{home.name}/none", "w", encoding="utf-8") as file:
    json.dump({"format": "topoopt-job", "version": 1, "name": "none", "servers": 4,
               "mp": [{"from": "all", "to": "all", "bytes": 1000}]}, file)
none = make("none-plan", "--job", f"{home.name}/none", "--degree", "2")

# --- files for launchers ----------------------------------------------------

JUMPS = [i * 5 % 12 for i in range(12)]

same(toctl("job", "ranks", ring4).stdout,
     "s0 slots=1\ns1 slots=1\ns2 slots=1\ns3 slots=1\n", "ring of four: hostfile of OpenMPI")
same(toctl("job", "ranks", proto, "--ring", "1", "--slots", "8").stdout,
     "".join(f"s{i} slots=8\n" for i in JUMPS), "prototype, ring 1: hostfile of OpenMPI")
same(toctl("job", "ranks", proto, "--ring", "1", "--format", "mpich", "--slots", "2").stdout,
     "".join(f"s{i}:2\n" for i in JUMPS), "prototype, ring 1: hostfile of MPICH")
same(toctl("job", "ranks", proto, "--ring", "1", "--format", "slurm", "--slots", "2").stdout,
     "".join(2 * f"s{i}\n" for i in JUMPS), "prototype, ring 1: a line per rank for Slurm")
same(toctl("job", "ranks", ring4, "--format", "torchrun", "--slots", "3").stdout,
     "".join(f"s{i} --nnodes=4 --node-rank={i} --nproc-per-node=3 "
             "--master-addr=10.200.0.1 --master-port=29500\n" for i in range(4)),
     "ring of four: arguments of torchrun")
same(sorted(toctl("job", "ranks", two, "--group", "1", "--format", "slurm").stdout.split()),
     ["s4", "s5", "s6", "s7"], "the second of two groups: its members alone")
same(toctl("job", "ranks", none, "--format", "slurm").stdout, "s0\ns1\ns2\ns3\n",
     "job without AllReduce: the plan's servers")
path = f"{home.name}/hosts"
ran = toctl("job", "ranks", ring4, "-o", path)
with open(path, encoding="utf-8") as file:
    same((ran.returncode, ran.stdout, file.read()[:11]), (0, "", "s0 slots=1\n"), "-o writes a file")

# --- all rings and trees ----------------------------------------------------

with open("Documentation/schemas/ranks.schema.json", encoding="utf-8") as file:
    schema = json.load(file)


def ranks(*args):
    document = json.loads(toctl("job", "ranks", *args).stdout)
    jsonschema.validate(document, schema)
    return document


got = ranks(proto, "--json")
same(got, ranks(proto, "--format", "json"), "--json is --format json")
same(sum(ring["share"] for ring in got["rings"]), 1, "the shares add up to 1")
same([(r["ring"], r["reverse"], r["order"][:3]) for r in got["rings"]],
     [(0, False, ["s0", "s1", "s2"]), (0, True, ["s0", "s11", "s10"]),
      (1, False, ["s0", "s5", "s10"]), (1, True, ["s0", "s7", "s2"])],
     "prototype: two rings, both directions")
same([s["name"] for s in ranks(proto, "--json", "--ring", "1")["servers"]],
     [f"s{i}" for i in JUMPS], "the servers have the order of the ring asked for")
same((ranks(none, "--json").get("group"), ranks(none, "--json")["rings"]), (None, []),
     "job without AllReduce: no group, no ring")
simplex = make("simplex", "--job", "examples/jobs/candle-16.json", "--degree", "3",
               "--links", "simplex")
got = ranks(simplex, "--json")
same((abs(sum(r["share"] for r in got["rings"] + got["trees"]) - 1) < 1e-12,
      any(r["reverse"] for r in got["rings"])), (True, False),
     "simplex links: no ring backwards, shares add up to 1")

# --- trees ------------------------------------------------------------------

tree = make("tree", "--job", "examples/ring-4/job.json", "--degree", "3")
with open(tree, encoding="utf-8") as file:
    document = json.load(file)
document["rings"] = []
for link in document["links"]:
    link.pop("ring", None)
    link["use"] = "mp"
document["trees"] = [{"group": 0, "parents": [None, 0, 0, 1]}, {"group": 0, "parents": [1, None, 1, 2]}]
with open(tree, "w", encoding="utf-8") as file:
    json.dump(document, file)
ran = toctl("job", "ranks", tree)
same(ran.stdout, "s0 slots=1\ns1 slots=1\ns2 slots=1\ns3 slots=1\n",
     "group with trees: the order of its members")
got = ranks(tree, "--json") if not ran.returncode else {}
same([(t["tree"], t["share"], t["parents"]) for t in got.get("trees", [])],
     [(0, 0.5, {"s0": None, "s1": "s0", "s2": "s0", "s3": "s1"}),
      (1, 0.5, {"s0": "s1", "s1": None, "s2": "s1", "s3": "s2"})], "trees with their shares")

# --- environments (of RDMA devices: test_env.c) -------------------------------

OPENMPI = """OMPI_MCA_pml=ob1
OMPI_MCA_btl=tcp,sm,self
OMPI_MCA_btl_tcp_if_include=topo0
OMPI_MCA_oob_tcp_if_include=topo0
PRTE_MCA_prte_if_include=topo0
OMPI_MCA_coll=^han
OMPI_MCA_coll_tuned_use_dynamic_rules=1
OMPI_MCA_coll_tuned_allreduce_algorithm=4
"""
ran = toctl("job", "env", ring4, "--for", "openmpi", "--node", "s0")
same((ran.stdout, ran.stderr), (OPENMPI, ""), "ring of four: environment of OpenMPI, no warning")
ran = toctl("job", "env", ring4, "--for", "gloo", "--node", "s0", "--dev", "topo9", "--json")
same(json.loads(ran.stdout), {"GLOO_SOCKET_IFNAME": "topo9", "TP_SOCKET_IFNAME": "topo9"},
     "the device, and JSON")
ran = toctl("job", "env", proto, "--for", "openmpi", "--node", "s3")
report("1 of the group's 2 rings stay idle" in ran.stderr, "a ring that stays idle is a warning",
       ran.stderr)
with open(ring4, encoding="utf-8") as file:
    document = json.load(file)
document["rings"][0]["order"] = "0,2,1,3"
for link in document["links"]:
    link.pop("ring", None)
    link["use"] = "fixed"
shuffled = f"{home.name}/shuffled.json"
with open(shuffled, "w", encoding="utf-8") as file:
    json.dump(document, file)
ran = toctl("job", "env", shuffled, "--for", "openmpi", "--node", "s0")
same(ran.stderr, "toctl job env: warning: s0 - s2 has no cable: relayed\n",
     "a neighbour without a cable is a warning")
unplugged = f"{home.name}/unplugged.json"
with open(ring4, encoding="utf-8") as file, open(unplugged, "w", encoding="utf-8") as out:
    out.write(file.read().replace("eth0", "nil0").replace("eth1", "nil1"))

# --- what is wrong ----------------------------------------------------------

WRONG = (
    (("ranks", proto, "--group", "1"), 1, f"{proto}: no AllReduce group 1 in this plan (it has 1)"),
    (("ranks", none, "--group", "0"), 1, f"{none}: no AllReduce group 0 in this plan (it has 0)"),
    (("ranks", proto, "--ring", "2"), 1, f"{proto}: no ring 2 in this plan (it has 2)"),
    (("ranks", two, "--group", "0", "--ring", "1"), 1, f"{two}: ring 1 is of AllReduce group 1, not 0"),
    (("ranks", tree, "--ring", "0"), 1, f"{tree}: no ring 0 in this plan: it has trees"),
    (("ranks", tree, "--group", "0", "--ring", "0"), 1, f"{tree}: AllReduce group 0 has trees, not rings"),
    (("ranks", proto, "--slots", "0"), 2, "--slots: expected 1 to 1024, not 0"),
    (("ranks", proto, "--json", "--format", "slurm"), 2, "--json goes with no other --format"),
    (("ranks", proto, "--format", "pbs"), 2,
     '--format: expected one of openmpi, mpich, slurm, torchrun, json, not "pbs"'),
    (("env", ring4, "--for", "nccl", "--node", "s9"), 1,
     f"{ring4}: no server s9 in this plan (it has s0, s1, s2, s3); name one with --node"),
    (("env", two, "--for", "gloo", "--node", "s5", "--group", "0"), 1, "s5 is not in AllReduce group 0"),
    (("env", ring4, "--for", "gloo", "--node", "s0", "--ring", "7"), 1,
     f"{ring4}: no ring 7 in this plan (it has 1)"),
    (("env", ring4, "--node", "s0"), 2, "--for is required"),
    (("env", unplugged, "--for", "nccl", "--node", "s0"), 1, "s0: no port has carrier and a link"),
    (("env", unplugged, "--for", "ucx", "--node", "s0"), 1, "s0: no port has carrier and a link"),
    (("ranks", f"{home.name}/nil"), 1, f"{home.name}/nil: No such file or directory"),
)
before = set(os.listdir(home.name))
for args, status, line in WRONG:
    ran = toctl("job", *args, *(("-o", f"{home.name}/out") if args[0] == "ranks" else ()))
    said = ran.stderr.splitlines()
    report(ran.returncode == status and not ran.stdout and len(said) == status
           and said[0] == f"toctl job {args[0]}: {line}", f"refused: {line.split('/')[-1]}",
           f"status {ran.returncode}: {ran.stdout}{ran.stderr}")
same(set(os.listdir(home.name)), before, "and none of these leaves a file")
done()
