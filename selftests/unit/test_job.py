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
two = make("two-plan", "--job", f"{home.name}/two", "--degree", "2", "--family", "totient")

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

# --- what examples/training makes of it -----------------------------------------

sys.path.insert(0, "examples/training")
from topoopt_rings import Rings  # noqa: E402

path = f"{home.name}/ranks.json"
toctl("job", "ranks", proto, "--ring", "1", "--slots", "2", "--format", "json", "-o", path)
rings = Rings(path)
same(rings.n, 24, "examples: two ranks on each of 12 servers")
# s0 has ranks 0 and 1, s5 2 and 3, s1 10 and 11
same([order[:4] for order, _ in rings.rings],
     [[0, 1, 10, 11], [0, 1, 14, 15], [0, 1, 2, 3], [0, 1, 22, 23]], "examples: each ring's order of ranks")
same((rings.cut(1000), rings.cut(3), rings.cut(0)),
     ([0, 250, 500, 750, 1000], [0, 1, 2, 2, 3], [0, 0, 0, 0, 0]), "examples: buffers are cut by share")

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
one_order = make("one-order", "--job", "examples/prototype-12/job.json", "--degree", "4", "--family", "one-order")
same(toctl("job", "env", one_order, "--for", "openmpi", "--node", "s3").stderr, "",
     "rings of one order all are used")
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

# --- did the bytes stay on their links ----------------------------------------

MB = 1000000


def matrix(name, plan, pairs, carried=None, seen=1):
    """A merged recording: {(from, to): bytes}; links carry what their servers send each
    other, or carried[(from, to)], of which kernels see so many times as much."""
    with open(plan, encoding="utf-8") as file:
        document = json.load(file)
    names = [server["name"] for server in document["servers"]]
    ends = [(link["a"], link["b"]) for link in document["links"]]
    ends += [(b, a) for a, b in ends]

    def on(end):
        pair = tuple(names.index(e.split(":")[0]) for e in end)
        return (carried or {}).get(pair, pairs.get(pair, 0))

    path = f"{home.name}/{name}.tm"
    with open(path, "w", encoding="utf-8") as file:
        json.dump({
            "format": "topoopt-tm", "version": 1, "job": document["job"],
            "plan": json.loads(toctl("job", "ranks", plan, "--json").stdout)["plan"],
            "interval_ns": 50 * MB, "classes": ["roce", "tcp", "other"], "servers": names,
            "links": [{"from": a, "to": b} for a, b in ends],
            "samples": [{"start_ns": 50 * MB, "end_ns": 100 * MB, "elapsed_ns": 50 * MB, "absent": 0, "lost": [0, 0],
                         "pairs": [[a, b, 1, 1, n] for (a, b), n in pairs.items()],
                         "links": [[on(end), int(seen * on(end)), 0, 0] for end in ends]}]}, file)
    return path


def check(*args):
    return toctl("job", "check", *args)


def ring_traffic(order, n):
    return {(a, order[(i + 1) % len(order)]): n for i, a in enumerate(order)}


PLANNED = list(range(12))
clean = matrix("clean", proto, ring_traffic(PLANNED, 100 * MB))
ran = check(proto, "--tm", clean)
same((ran.returncode, ran.stdout), (0, """ring 0: 1.12 GiB, 100.00 % of it on its links
ring 0 back: 0 B, 0.00 % of it on its links
ring 1: 0 B, 0.00 % of it on its links
ring 1 back: 0 B, 0.00 % of it on its links
1.12 GiB between all servers: 0.00 % between those that are no neighbours, 0.00 % off their links; \
0.00 % relayed
""".replace("\\\n", "")), "AllReduce in the order of the ring stays on it")

SHUFFLED = [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11]
stray = matrix("stray", proto, ring_traffic(SHUFFLED, 100 * MB))
ran = check(proto, "--tm", stray)
same((ran.returncode, ran.stderr.split(" % ")[1]),
     (1, "of the bytes went between servers that are no neighbours or off their links, most s1 -> s3: 100000000 bytes\n"),
     "a shuffled order strays")
got = json.loads(check(proto, "--tm", stray, "--json").stdout)
same(([ring["bytes"] for ring in got["rings"]], got["strays"][0]["from"], got["relayed"]),
     ([100 * MB, 0, 0, 0], "s1", 1100 * MB), "as JSON says: s11 -> s0 alone is on a ring")
with open("Documentation/schemas/job-check.schema.json", encoding="utf-8") as file:
    check_schema = json.load(file)
jsonschema.validate(got, check_schema)

traffic = ring_traffic(PLANNED, 100 * MB)
ran = check(proto, "--tm", matrix("off", proto, traffic, {(3, 4): 40 * MB}))
same((ran.returncode, ran.stderr), (1, "toctl job check: 5.00 % of the bytes went between neighbours off the "
                                       "links between them\n"), "bytes that left their link")
report("ring 0: 1.12 GiB, 95.00 % of it on its links\n" in ran.stdout, "by ring", ran.stdout)

gso = matrix("gso", proto, traffic, {pair: 98 * MB for pair in traffic}, 100 / 98)
same(check(proto, "--tm", gso).returncode, 0, "NICs that count a GSO packet as one frame")

traffic[(0, 3)] = 60000
same(check(proto, "--tm", matrix("slack", proto, traffic)).returncode, 0, "connections may stray, a little")
traffic[(0, 3)] = 163840 * 200      # MP transfers of 200 iterations
moved = matrix("moved", proto, traffic)
same((check(proto, "--tm", moved, "--iterations", "200").returncode, check(proto, "--tm", moved).returncode),
     (0, 1), "MP transfers are planned, for so many iterations")
same(check(proto, "--tm", moved, "--tolerance", "5").returncode, 0, "--tolerance")
del traffic[(0, 3)]

# --- what NCCL says -----------------------------------------------------------

RANKS = 4


def nccl(host, rank, order, version="2.30.7", net="IB", extra=()):
    """Lines of a rank as NCCL prints them, with its neighbours on a ring and in a tree."""
    head = f"{host}:4242:4250 [0] NCCL INFO "
    after, before = (order[(order.index(rank) + step) % RANKS] for step in (1, -1))
    lines = [f"NCCL version {version}+cuda13.0",
             head + "NCCL_SOCKET_IFNAME set by environment to =topo0",
             head + "NET/IB : Using [0]rocep1s0f0:1/RoCE [1]rocep1s0f1:1/RoCE [RO]; OOB topo0:10.200.0.1<0>",
             head + f"ncclCommInitRank comm 0x55d{rank} rank {rank} nranks {RANKS} cudaDev 0 nvmlDev 0 "
             "busId 1000 commId 0x1f2e - Init START",
             head + f"comm 0x55d{rank} rank {rank} nRanks {RANKS} nNodes {RANKS} localRanks 1 localRank 0 MNNVL 0"]
    if rank == 0:
        lines += [head + f"Channel {c:02}/02 :" + "".join(f"{r:4}" for r in order) for c in (0, 1)]
    for channel in 0, 1:
        lines += [head + f"Channel {channel:02}/0 : {before}[0] -> {rank}[0] [receive] via NET/{net}/0",
                  head + f"Channel {channel:02}/0 : {rank}[0] -> {after}[0] [send] via NET/{net}/{channel}"]
    return "".join(line + "\n" for line in (*lines, *(head + line for line in extra)))


def logs(name, order=(0, 1, 2, 3), **more):
    files = []
    for rank in range(RANKS):
        files.append(f"{home.name}/{name}.{rank}")
        with open(files[-1], "w", encoding="utf-8") as file:
            file.write("(worker pid=7) hello\n" + nccl(f"s{rank}", rank, order, **more))
    return files


good = logs("good", extra=("Channel 01/0 : 0[0] -> 2[0] [send] via NET/IB/1",))
ran = check(ring4, "--nccl-log", *good)
same((ran.returncode, ran.stdout), (0, """NCCL 2.30.7
channel 0: s0 s1 s2 s3: ring 0
channel 1: s0 s1 s2 s3: ring 0
""" + "".join(f"s{i} uses [0]rocep1s0f0:1/RoCE [1]rocep1s0f1:1/RoCE [RO]; OOB topo0:10.200.0.1<0>\n"
              for i in range(4)) + """set: NCCL_SOCKET_IFNAME==topo0
s0 -> s2: no cable, relayed: 4 channels
"""), "NCCL on the ring, with a tree: orders, NICs, variables, connections that are relayed")
got = json.loads(check(ring4, "--nccl-log", *reversed(good), "--json").stdout)
jsonschema.validate(got, check_schema)
same((got["nccl"], [c["ring"] for c in got["channels"]], len(got["connections"])), ("2.30.7", [0, 0], 5),
     "as JSON, whatever the order of the files")
with open(f"{home.name}/all", "w", encoding="utf-8") as file:
    for path in good:
        with open(path, encoding="utf-8") as part:
            file.write("[2026-11-20 08:00:00] ".join(part.read().splitlines(keepends=True)))
same(check(ring4, "--nccl-log", f"{home.name}/all").returncode, 0, "one file, with the time in front")
same(check(ring4, "--nccl-log", *logs("back", (0, 3, 2, 1))).returncode, 0, "the ring backwards")
same(check(ring4, "--nccl-log", *logs("next", version="3.0.1")).returncode, 0,
     "a major version later knows it, too")
same(check(ring4, "--nccl-log", *logs("old", version="2.27.3", net="Socket")).returncode, 0,
     "an old NCCL over TCP is no matter")

# --- what is wrong ----------------------------------------------------------

with open(f"{home.name}/foreign", "w", encoding="utf-8") as file:
    file.write(nccl("gpu7", 3, (0, 1, 2, 3)))

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
    (("check", ring4), 2, "either --tm or --nccl-log is required"),
    (("check", ring4, "--nccl-log"), 2, "option --nccl-log needs an argument"),
    (("check", ring4, "--nccl-log", good[0], "--tm", clean), 2, "either --tm or --nccl-log is required"),
    (("check", proto, "--tm", clean, "x"), 2, 'unexpected operand "x"'),
    (("check", proto, "--tm", clean, "--tolerance", "-1"), 2, "--tolerance: expected 0 or more"),
    (("check", ring4, "--tm", clean), 3, f"{clean} was not measured under the plan {ring4}"),
    (("check", proto, "--tm", matrix("idle", proto, {})), 3, "nothing was sent between servers"),
    (("check", ring4, "--nccl-log", ring4), 3, f"{ring4}: no lines of NCCL_DEBUG=INFO"),
    (("check", ring4, "--nccl-log", f"{home.name}/nil"), 3, f"{home.name}/nil: No such file or directory"),
    (("check", f"{home.name}/nil", "--tm", clean), 3, f"{home.name}/nil: No such file or directory"),
    (("check", ring4, "--nccl-log", logs("foreign")[0], f"{home.name}/foreign"), 3,
     f"{home.name}/foreign:2: gpu7 is no server of the plan"),
    (("check", ring4, "--nccl-log", *good[:3]), 3,
     'no line of rank 3\'s says "comm ... rank 3": its log is missing'),
    (("check", ring4, "--nccl-log", *good[1:2]), 3,
     'no line of rank 2\'s says "comm ... rank 2": its log is missing'),
    (("ranks", f"{home.name}/nil"), 1, f"{home.name}/nil: No such file or directory"),
)
before = set(os.listdir(home.name))
for args, status, line in WRONG:
    ran = toctl("job", *args, *(("-o", f"{home.name}/out") if args[0] == "ranks" else ()))
    said = ran.stderr.splitlines()
    report(ran.returncode == status and not ran.stdout and len(said) == (2 if status == 2 else 1)
           and said[0] == f"toctl job {args[0]}: {line}", f"refused: {line.split('/')[-1]}",
           f"status {ran.returncode}: {ran.stdout}{ran.stderr}")
for name, more, line in (
        ("shuffled", {"order": (0, 2, 1, 3)}, "2 of 2 channels do not have the order of a ring of the plan"),
        ("ancient", {"version": "2.27.3"},
         "NCCL 2.27.3 does not know NCCL_IB_SUBNET_AWARE_ROUTING (2.30.7 does): RDMA connections "
         "enter by other ports than their cables'")):
    ran = check(ring4, "--nccl-log", *logs(name, **more))
    report(ran.returncode == 1 and ran.stderr == f"toctl job check: {line}\n" and ran.stdout,
           f"found: {line}", ran.stdout + ran.stderr)
    before |= {f"{name}.{rank}" for rank in range(RANKS)}
same(set(os.listdir(home.name)), before, "and none of these leaves a file")
done()
