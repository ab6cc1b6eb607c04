#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What every command does that is given /dev/zero in place of a file: one line that names
it, before there is no memory left. A command that comes to read another file comes here."""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, "selftests/unit")
from programs import SANITIZED, TOCTL, argv, commands  # noqa: E402
from tap import done, report  # noqa: E402

MEMORY = 1 << 30    # bytes of addresses; what is read may be a file of as many

# Each file that a command reads, as {}; the others are good.
CALLS = """
discover --cluster {}
init --renumber {}
plan --degree 2 --job {}
plan --job RING/job.json --cluster {}
parallelize --servers 4 --degree 2 --model {}
parallelize --model MODEL --cluster {}
tosim simulate {}
tosim simulate --servers 4 --degree 2 --model {}
tosim simulate --degree 2 --job {}
tosim simulate PLAN --fabric {}.json
tosim simulate --servers 4 --degree 2 --model MODEL --placement {}
tosim simulate PLAN --fabric cost-equivalent --prices {}
tosim simulate --model MODEL --network {}
tosim simulate --chakra PLAN {}.0.et zero.1.et
tosim sweep --output out {}
tosim cost --servers 4 --degree 2 --bandwidth 100G --prices {}
tosim schedule --size 1MB --network {}
replan PLAN --tm {}
replan --tm TM {}
verify {}
diff {} PLAN
diff PLAN {}
report {}
report PLAN {}
report --log {}
report --simulation {}
apply {}
clear --all {}
fabric check {}
fabric use {}
fabric init-etcd --set etcd.endpoints=x -o x {}
run {}
run none --initial {}
run none --replay {}
route --plan {} s1 from s0
switch show {}
switch apply {}
switch flip {}
shard init --set shards.state=state {}
shard add one --set shards.state=state --job {}
shard resize one --set shards.state=state --job {}
shard prepare one --set shards.state=state --job {}
tosim days {} --servers 4 --degree 2
tosim days TRACE --cluster {}
tosim compare MODEL --jobs 1 --servers 4 --degree 2 --job-servers 2 --fabric cost-equivalent --prices {}
tosim compare {} --jobs 1 --servers 4 --degree 2 --job-servers 2
status {}
top {}
watch --listen 127.0.0.1:38471 {}
doctor {}
tm record --output out {}
tm show {}
tm merge --output out {}
tm compare {} TM
tm compare PLAN {}
tm demand {}
tosim steps {}
collective run --size 1MB {}
job ranks {}
job env --for nccl {}
job check --tm {} PLAN
job check --tm TM {}
job check --nccl-log {} PLAN
job run {} -- true
job read --user 0 {}
chakra --output out {}.0.et zero.1.et
heatmap {}
help --manual {}
tosim help --manual {}
"""
os.environ["TOPOOPT_COLLECTIVE_TOKEN"] = "of-this-test-alone"
FILES = {"PLAN": "plan.json", "MODEL": "examples/models/dlrm.json",
         "RING": "examples/ring-4", "TM": "selftests/unit/formats/tm.json",
         "TRACE": "selftests/unit/formats/trace.json"}

# Logs, which grow while they are followed; and what has 64 KiB at most, or curl reads.
ELSEWHERE = {"log", "token-file", "config"}


def limit():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def read_by(words):
    """The option that the file is given to, or None for an operand."""
    at = next(i for i, word in enumerate(words) if "{}" in word)
    return words[at - 1][2:] if words[at - 1].startswith("--") and words[at - 1] not in (
        "--all", "--chakra") else None


def main():
    known = commands()
    missing = {(name, option["name"]) for name, c in known.items() for option in c["options"]
               if option["type"] == "string" and "FILE" in option.get("argument", "")
               and option["name"] not in ELSEWHERE}
    missing |= {(name, None) for name, c in known.items()
                if re.search("PLAN|TM|FILE|CLUSTER|json", c.get("operands", ""))}
    top = os.getcwd()
    with tempfile.TemporaryDirectory() as home:
        for tree in "examples", "selftests":
            os.symlink(f"{top}/{tree}", f"{home}/{tree}")
        shutil.copy("examples/chain-3/plan.json", home)
        for name in "zero", "zero.json", "zero.0.et", "zero.1.et":
            os.symlink("/dev/zero", f"{home}/{name}")
        subprocess.run([TOCTL, "shard", "init", "--set", "shards.state=state",
                        "examples/panel-6/cluster.json"],
                       cwd=home, stdout=subprocess.DEVNULL, check=True)
        for line in CALLS.split("\n")[1:-1]:
            words = [word.replace(name, file) for word in line.split() for name, file in
                     [next(((n, f) for n, f in FILES.items() if word.startswith(n)), ("", ""))]]
            command = max((c for c in known if line.startswith(c)), key=len)
            missing.discard((command, read_by(words)))
            ran = subprocess.run(argv(" ".join(words).replace("{}", "zero")), cwd=home,
                                 capture_output=True, stdin=subprocess.DEVNULL, timeout=60,
                                 preexec_fn=limit, check=False)
            lines = ran.stderr.decode().splitlines()
            lines = [one for one in lines if not one.startswith("serving ")]
            report(ran.returncode in (1, 3) and len(lines) == 1 and "zero" in lines[0] and
                   "memory" not in lines[0], line, [ran.returncode, lines[:3]])
    report(not missing, "each file that a command reads is here", missing)
    done()


main()
