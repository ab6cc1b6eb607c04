#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What every planning command does with input that is broken: one clear line,
a status, and no file written, damaged or left behind. The loaders' own lines
are in formats/cases.json."""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "selftests/unit")
from programs import TOCTL, argv, commands  # noqa: E402

RING = "examples/ring-4/"
PLAN = "examples/chain-3/plan.json"

# Each command with the file in question as {}; all write to "out".
COMMANDS = {
    "plan job": ("plan --job {} --degree 2 -o out", "examples/jobs/dlrm-16.json"),
    "plan cluster": (f"plan --job {RING}job.json --cluster {{}} --fixed -o out", RING + "cluster.json"),
    "parallelize": ("parallelize --model {} --servers 4 --degree 2 --budget 4 -o out",
                    "examples/models/dlrm.json"),
    "schedule": ("tosim schedule --network {} --size 100MB -o out", "selftests/unit/formats/dims.json"),
    "cost": ("tosim cost --prices {} --servers 4 --degree 2 --bandwidth 100G",
             "selftests/unit/formats/prices.json"),
    "sweep": ("tosim sweep {} -o out --list", "selftests/unit/formats/sweep.json"),
    "replan tm": (f"replan --tm {{}} {PLAN} -o out", "selftests/unit/formats/tm.json"),
    "replan plan": ("replan --tm selftests/unit/formats/tm.json {} -o out", PLAN),
    "verify": ("verify {}", "examples/chain-3/plan.json"),
    "report": ("report {} -o out", "examples/chain-3/plan.json"),
    "heatmap": ("heatmap {} -o out", "examples/jobs/dlrm-16.json"),
    "tm demand": ("tm demand {} -o out", "selftests/unit/formats/tm.json"),
    "tm compare": ("tm compare examples/chain-3/plan.json {}", "selftests/unit/formats/tm.json"),
}


def version(text):
    """Puts text where a good file has its version."""
    return lambda good: good.replace(b'"version": 1', text, 1)


SECRET = b"hunter2"     # first word of a file that is no JSON, which no message repeats

# What is done to a good file's text, and what the line has to say.
BROKEN = {
    "empty": (lambda good: b"", "bad:1: the file ends early"),
    "cut in half": (lambda good: good[:len(good) // 2], "bad:"),
    "NaN": (version(b'"version": NaN'), "not JSON: invalid token near 'NaN'"),
    "Infinity": (version(b'"version": -Infinity'), "not JSON: invalid token"),
    "1e999": (version(b'"version": 1e999'), "not JSON: real number overflow"),
    "2^64": (version(b'"version": 18446744073709551616'), "not JSON: too big integer"),
    "another version": (version(b'"version": 2'), "version: version 2 is unknown"),
    "wrong type": (version(b'"version": "1"'), "version: expected a whole number"),
    "unknown key": (version(b'"version": 1, "colour": 1'), "colour: unknown key"),
    "unknown key of two lines": (version(b'"version": 1, "a\\nb": 1'), "a\\x0ab: unknown key"),
    "key twice": (version(b'"version": 1, "version": 1'), "not JSON: duplicate object key"),
    "not UTF-8": (version(b'"ver\xff\xfesion": 1'), "not JSON: unable to decode byte 0xff"),
    "another format": (lambda good: b'{"format": "topoopt-shoe", "size": 42}',
                       "bad:1: format: expected "),
    "an array": (lambda good: b"[1, 2]", "bad:1: expected an object"),
    "nested too deep": (lambda good: b"[" * 100000,
                        "bad:1: arrays and objects are nested 100000 deep, more than 32"),
    "zero byte": (lambda good: good + b"\0\0", "bad: not text: it has a zero byte"),
    "a password": (lambda good: SECRET + b"\n", "bad:1: not JSON: '[' or '{' expected"),
    "a password in quotes": (lambda good: b' "' + SECRET + b"\n", "not JSON: unexpected newline"),
    "no text": (lambda good: bytes(range(255, 0, -1)) * 8, "bad:1: not JSON"),
}

# A job between servers 0 to 3 that has this, and the line that it earns.
JOBS = {
    '"servers": 1000000': "servers: expected 2 to 65536 servers",
    '"servers": 16384': "servers: 16384 servers are more than 1024: a matrix of them takes 2048 MiB, and what is "
                        "done with it as much time; --large allows that",
    '"servers": 1': "servers: expected 2 to 65536 servers",
    '"servers": 4.5': "servers: expected a number of servers or an array of their names",
    '"servers": ["a", "a"]': 'servers[1]: servers[0] is also called "a"',
    '"servers": ["a", "<b>"]': 'servers[1]: expected a name of 1 to 63 letters, digits, ".", "_" and "-", not "<b>"',
    '"servers": 4, "allreduce": [{"group": "2-5", "bytes": 1}]':
        "allreduce[0].group: index 5 is outside 0 to 3",
    '"servers": 4, "allreduce": [{"group": [0, 4], "bytes": 1}]':
        "allreduce[0].group[1]: the job's servers are 0 to 3",
    '"servers": 4, "allreduce": [{"group": "0-2,1", "bytes": 1}]':
        "allreduce[0].group: index 1 is there twice",
    '"servers": 4, "allreduce": [{"group": "0\\n1", "bytes": 1}]':
        'allreduce[0].group: expected a set of indices like 0-5,9, not "0\\x0a1"',
    '"servers": 4, "allreduce": [{"group": "3", "bytes": 1}]':
        "allreduce[0].group: expected 2 servers or more",
    '"servers": 4, "allreduce": [{"group": "all", "bytes": -1}]':
        "allreduce[0].bytes: expected a whole number, 1 or more",
    '"servers": 4, "allreduce": [{"group": "all", "bytes": 0.5}]':
        "allreduce[0].bytes: expected a whole number, 1 or more",
    '"servers": 4, "allreduce": [{"group": "all", "bytes": 9223372036854775807}]':
        "allreduce[0].bytes: with this group the job sends 2^63 bytes or more",
    '"servers": 4, "allreduce": {"group": "all", "bytes": 1}': "allreduce: expected an array",
    '"servers": 3, "mp": [[0, 1, 1], [1, 0, 1]]': "mp: expected 3 rows, one per server",
    '"servers": 3, "mp": [[0, 1, 1], [1, 0], [1, 1, 0]]':
        "mp[1]: expected 3 numbers, a row per source and a column per destination",
    '"servers": 3, "mp": [[0, 1, 1], [1, 0, -7], [1, 1, 0]]': "mp[1][2]: expected a whole number, 0 or more",
    '"servers": 3, "mp": [[0, 1, 1], [1, 9, 1], [1, 1, 0]]':
        "mp[1][1]: expected 0: a server sends nothing to itself",
    '"servers": 3, "mp": [[0, 1, 1], [1, 0, null], [1, 1, 0]]': "mp[1][2]: expected a whole number, 0 or more",
    '"servers": 3, "mp": [[0, 9223372036854775807, 0], [1, 0, 0], [0, 0, 0]]':
        "mp: expected less than 2^63 bytes in all",
    '"servers": 4, "mp": [{"from": "0", "to": "9", "bytes": 1}]': "mp[0].to: index 9 is outside 0 to 3",
}

# Calls that are wrong in themselves, and status and line.
CALLS = {
    "plan --job {job} --degree 2000000": (2, "--degree: expected 1 to 64, not 2000000"),
    "plan --job {job} --degree 55": (1, "degree 55: the default addresses are for 1 to 54"),
    "plan --job {job} --degree -1": (2, '--degree: expected a number, not "-1"'),
    "plan --job {job} --degree NaN": (2, '--degree: expected a number, not "NaN"'),
    "parallelize --model examples/models/bert.json --degree 4 --servers 1000000":
        (2, "--servers: expected 2 to 65536, not 1000000"),
    "parallelize --model examples/models/bert.json --degree 4 --servers 1025":
        (2, "--servers: more than 1024 take --large"),
    "plan --job {job} --degree 4 --bandwidth 0": (2, "--bandwidth: expected 1 to 9223372036854775807, not 0"),
    "plan --job {job} --degree 4 --bandwidth 18446744073709551615":
        (2, "--bandwidth: expected 1 to 9223372036854775807, not 18446744073709551615"),
    "plan --job {job} --degree 4 --bandwidth Infinity":
        (2, '--bandwidth: expected bits/s like 100G (k, M, G, T, Gbit), not "Infinity"'),
    "plan --job {ring}job.json --cluster {ring}cluster.json --bandwidth 400G":
        (2, "--bandwidth is for synthetic clusters (--degree)"),
    "plan --job {job} --degree 4 --seed 9223372036854775808":
        (2, "--seed: expected 0 to 9223372036854775807, not 9223372036854775808"),
    "plan --job {job} --degree 4 -o out --report out": (2, "--output and --report are both out"),
    "plan --job {job} --degree 4 --report -": (2, "plan and report cannot both go to standard output: give -o"),
    "plan --job {job} --degree 4 -o no/plan.json": (1, "no/plan.json: No such file or directory"),
    "plan --job {job} --degree 4 -o .": (1, ".: Is a directory"),
    "plan --job . --degree 4 -o out": (1, ".: Is a directory"),
    "plan --job {ring}job.json --cluster {ring}cluster.json --degree 3 -o out":
        (1, "degree 3: the servers have up to 2 ports"),
    "plan --job {ring}job.json --cluster selftests/unit/formats/cluster-tor.json -o out":
        (1, 'selftests/unit/formats/cluster-tor.json: packet switches ("tor0") make all links between '
            "their ports: --fixed keeps them"),
    "plan --job {job} --topology bcube:3,2 -o out": (1, "bcube:3,2 has 9 servers, the job 16"),
    "plan --job {job} --topology bcube:1,2 -o out":
        (1, "BCube(1,2): a switch needs 2 ports or more"),
    "plan --job {job} --topology rail: -o out":
        (1, "--topology rail:: expected mesh:n,k, bcube:n,k, rail:g, sip-ring:W,REACH or sip-ocs:Q"),
    "plan --job {job} --topology rail:30 -o out":
        (1, "30 ports on switches of 16: a server reaches 450 ports at one hop, it may reach 64"),
    "parallelize --model examples/models/bert.json --cluster selftests/unit/formats/cluster-tor.json --degree 1":
        (1, 'selftests/unit/formats/cluster-tor.json: it has packet switches ("tor0"), whose links are all kept: '
         "without --servers and --degree"),
    "verify selftests/unit/formats/plan-tor.json --down tor1":
        (1, 'selftests/unit/formats/plan-tor.json: no server or packet switch is called "tor1"'),
    "tosim schedule --network selftests/unit/formats/plan-tor.json --size 1MB -o out":
        (1, "selftests/unit/formats/plan-tor.json: the links are of no torus or product of full meshes whose "
         "servers are in its order: describe the dimensions in a dims.json"),
    "report {plan} -o /dev/full": (1, "/dev/full: No space left on device"),
    "replan --tm {tm} {plan} --horizon 0s": (2, "--horizon: expected 1 to 9223372036854775807, not 0s"),
    "replan --tm {tm} {plan} --threshold 1": (2, "--threshold is a share, from 0 to below 1"),
    "replan --tm {tm} {plan} -o out": (1, 'job: it is of job "chain", the plan of job "chain-3"'),
    "tm demand {tm} --iterations 0 -o out": (2, "--iterations: expected 1 to 1000000000, not 0"),
    "tm demand {tm} -o out --name caf\udce9": (2, "--name: expected a string of 1 to 63 bytes of UTF-8 without control characters"),
    "tm demand {tm} -o out --name " + 64 * "x": (2, "--name: expected a string of 1 to 63 bytes of UTF-8 without control characters"),
    "tosim schedule --network {dims} --size 63 -o out": (1, "chunks of 0 bytes: 63 bytes in 64 chunks"),
    "tosim schedule --network {plan} --size 1MB -o out":
        (1, "the links are of no torus or product of full meshes whose servers are in its order: "
            "describe the dimensions in a dims.json"),
    "tosim schedule --network {dims} --size 1MB --gpus 8 --gpu-bandwidth 3600G -o out":
        (1, "--gpus is for plans: dims.json has all dimensions"),
    "tosim schedule --network {dims} --size 1MB --gpus 8": (2, "--gpus goes with --gpu-bandwidth"),
    "tosim schedule --network {dims} --size 1MB --report - -o -":
        (2, "--output and --report cannot both go to standard output"),
    "tosim schedule --network {dims} --size 0": (2, "--size: expected 1 to 9223372036854775807, not 0"),
    "tosim schedule --network {dims} --size 1.5GB":
        (2, '--size: expected bytes like 100MB (kB to TB, KiB to TiB), not "1.5GB"'),
    "tosim schedule --network {dims} --size 1MB --chunks 0": (2, "--chunks: expected 1 to 4096, not 0"),
    "tosim schedule --network {dims} --size 1MB --imbalance -1 -o out": (2, "--imbalance is a share of a chunk, 0 or more"),
    "tosim schedule --network {dims} --size 1MB --policy optimal -o out":
        (1, "optimal is for up to 128 stages in all (384 here) and 576 orders of dimensions (36 here), "
            "any number of chunks in parallel"),
    "tosim schedule --network {dims} --size 9000000TB -o out":
        (1, "it could take 50 days: too many bytes or latencies for this bandwidth"),
    "tosim schedule --network {dims} --size 1MB --unordered": (2, "--unordered goes with --jitter"),
    "tosim schedule --network {dims} --size 1MB --chunks 4096 --jitter 1us -o out":
        (1, "a replay is for up to 2097152 stages of ranks, 25165824 here: fewer chunks?"),
    "tosim cost --servers 4 --degree 2 --bandwidth 50G":
        (1, 'no prices for 50 Gbit/s in "TopoOpt, Table 3; typical watts", but for 10, 25, 40, 100, 200'),
    "tosim cost --servers 4 --degree 2 --bandwidth 0": (2, "--bandwidth: expected 1 to 9223372036854775807, not 0"),
    "tosim cost --servers 4 --degree 0 --bandwidth 100G": (2, "--degree: expected 1 to 64, not 0"),
    "tosim cost --servers 4 --degree 2 --bandwidth 100G --fabric sip-ml":
        (1, 'sip-ml has no price: the paper names none, give "sip_ml_port" in --prices'),
    "tosim cost --servers 4 --degree 2 --bandwidth 100G --assume tree-levels=2.5":
        (2, '--assume: tree-levels: expected a whole number from 1 to 3, not "2.5"'),
    "tosim cost --servers 4 --degree 2 --bandwidth 100G --assume fibre-length=NaN":
        (2, '--assume: fibre-length: expected a number from 0 to 100000, not "NaN"'),
    "tosim cost --servers 4 --degree 2 --bandwidth 100G --assume fibre-length":
        (2, "--assume: expected KEY=VALUE with a key of optical-fibres, fibre-length, look-ahead, ocs-extra, "
            'tree-levels, oversubscription, not "fibre-length"'),
    "tosim cost --servers 4 --degree 2 --bandwidth 100G --prices none": (1, "none: No such file or directory"),
    "chakra -o out a.0.et a.1.et --name caf\udce9": (2, "--name: expected a string of 1 to 63 bytes of UTF-8 without control characters"),
}

# What goes for an argument that is no file, by the option's type.
ARGUMENTS = {"output": "x", "string": "x", "words": "x", "number": "2", "real": "0.5", "duration": "1s", "rate": "1G",
             "bytes": "1MB"}

top = os.getcwd()
problems = []
count = failed = 0


def finish(title):
    global count, failed
    count += 1
    failed += bool(problems)
    print(f"{'not ok' if problems else 'ok'} {count} - {title}")
    for problem in problems:
        print("# " + problem)
    problems.clear()


def refused(command, status, line, bad=b"", whole=True):
    """Run it where "bad" has what is wrong and "out" is there already; note all
    that is not as it should be. @line is all that is said, or some of it."""
    with tempfile.TemporaryDirectory() as home:
        for tree in "examples", "selftests":
            os.symlink(f"{top}/{tree}", f"{home}/{tree}")
        with open(home + "/bad", "wb") as out:
            out.write(bad)
        with open(home + "/out", "w") as out:
            out.write("as it was")
        os.symlink("bad", home + "/link")
        os.link(home + "/bad", home + "/hard")
        before = set(os.listdir(home))
        ran = subprocess.run(argv(command), cwd=home, capture_output=True,
                             stdin=subprocess.DEVNULL, timeout=60, check=False)
        said = ran.stderr.decode(errors="replace").splitlines()

        def say(what):
            problems.append(f"{command}: {what}: {said[:3]}")

        if ran.returncode != status:
            say(f"status {ran.returncode}")
        if not said or len(said) != (2 if status == 2 else 1):
            say(f"{len(said)} lines")
        elif not said[0].startswith(("toctl ", "tosim ")) or not (
                said[0].endswith(": " + line) if whole else line in said[0]):
            say(f"expected {line!r}")
        if ran.stdout:
            say("prints something")
        if SECRET in ran.stderr:
            say("repeats what is in the file")
        with open(home + "/out") as out:
            if out.read() != "as it was":
                say("out is damaged")
        with open(home + "/bad", "rb") as file:
            if file.read() != bad:
                say("the input is lost")
        if set(os.listdir(home)) != before:
            say(f"leaves {set(os.listdir(home)) - before}")


def companions(options, names):
    """What options called @names go with, and what that goes with."""
    found = {options[name]["with"] for name in names if "with" in options.get(name, {})}
    return found | companions(options, found) if found else found


def overwrites():
    """Every command with each of its outputs pointed at each of its inputs, by its own name,
    by another one, and through a link."""
    tried = 0
    for call, command in commands().items():
        options = {o["name"]: o for o in command["options"]}
        outputs = [(o["name"], path) for o in options.values() if o["type"] == "output"
                   for path in ("bad", "./bad", "link", "hard")]
        inputs = [name for name, o in options.items()
                  if o["type"] == "string" and "FILE" in o.get("argument", "")]
        names = command.get("operands", "").split()
        operands = [word for word in names if not word.startswith("[")] or names[:1]
        for output, path in outputs:
            for given in inputs + ["operand"] * bool(operands):
                words = [f"--{output} {path}"]
                words += [f"--{name} {ARGUMENTS[o['type']]}" for name, o in options.items()
                          if o["required"] and name not in (output, given)]
                words += [f"--{given} bad"] if given != "operand" else []
                words += ["bad" if given == "operand" else "x"] * len(operands)
                for also in companions(options, (output, given)):
                    words += [f"--{also} {options[also].get('choices', ['x'])[-1]}"]
                line = f"--{output} would overwrite bad, which " + (
                    "is read" if given == "operand" else f"--{given} reads")
                refused(f"{call} {' '.join(words)}", 2, line, b"as it is")
                tried += 1
    if tried < 60:
        problems.append(f"only {tried} calls")
    return tried


for title, (break_it, line) in BROKEN.items():
    for name, (command, good) in COMMANDS.items():
        with open(good, "rb") as file:
            text = file.read()
        refused(command.format("bad"), 1, line, break_it(text), whole=False)
    finish(f"{title}: one line from each of {len(COMMANDS)} commands")

for job, line in JOBS.items():
    text = '{"format": "topoopt-job", "version": 1, "name": "n",\n' + job + "}"
    for command in "plan --job bad --degree 2 -o out", "heatmap bad -o out":
        refused(command, 1, "bad:2: " + line, text.encode())
finish(f"{len(JOBS)} wrong jobs: the line names file, line and key")

finish(f"{overwrites()} calls that would overwrite what they read")

# What a file of a command's names is read, too, and so is a folder with a state.
SWEEP = b'{"format": "topoopt-sweep", "version": 1, "name": "n", "options": {"model": "out"}, ' \
        b'"axes": [{"option": "fabric", "values": ["ideal", "switch"]}]}'
refused("tosim sweep bad -o x --report out", 2, "--report would overwrite out, which bad has", SWEEP)
with open("selftests/unit/formats/trace.json", "rb") as file:
    trace = file.read()
with tempfile.TemporaryDirectory() as state:
    subprocess.run([TOCTL, "shard", "init", "--set", f"shards.state={state}",
                    "examples/panel-6/cluster.json"],
                   stdout=subprocess.DEVNULL, check=True)
    for option in "output", "report":
        refused(f"tosim days bad --state {state} --{option} {state}/x", 2,
                f"{state}/x would be in the directory of the shards' state, which is read", trace)
finish("nor what is named in a file, or is a folder with a state")

for call, (status, line) in CALLS.items():
    refused(call.format(job="examples/jobs/dlrm-16.json", ring=RING, plan="examples/chain-3/plan.json",
                        tm="selftests/unit/formats/tm.json",
                        dims="selftests/unit/formats/dims.json"), status, line)
finish(f"{len(CALLS)} wrong calls")

with open("selftests/unit/formats/tm.json", "rb") as file:
    many = json.load(file)
many["servers"] += [f"s{i}" for i in range(1025 - len(many["servers"]))]
for command in "tm show bad", "tm demand bad -o out", "heatmap bad -o out":
    refused(command, 1, "bad: servers: 1025 are more than 1024: --large allows that",
            json.dumps(many).encode())
finish("a matrix of more servers than usual takes --large")

many = b'{"format": "topoopt-job", "version": 1, "name": "n", "servers": 1025}'
refused("plan --job bad --degree 55 -o out", 1, "--large allows that", many, whole=False)
refused("plan --job bad --degree 55 -o out --large", 1,
        "degree 55: the default addresses are for 1 to 54", many)
finish("so does a job, and then has it")

with open(RING + "cluster.json", "rb") as file:
    cluster = json.load(file)
cluster["servers"][1]["ports"][0]["bandwidth"] = 10**18 * 9
made = json.dumps(cluster).encode()
with tempfile.TemporaryDirectory() as home:
    with open(home + "/cluster", "wb") as out:
        out.write(made)
    for arguments in (["plan", "--job", RING + "job.json", "--cluster", home + "/cluster", "--fixed",
                       "-o", home + "/plan"], ["verify", home + "/plan"]):
        ran = subprocess.run([TOCTL, *arguments], capture_output=True, text=True, check=False)
        if ran.returncode:
            problems.append(ran.stderr)
finish("the largest bandwidth can be planned with, and read again")

print(f"1..{count}")
sys.exit(failed > 0)
