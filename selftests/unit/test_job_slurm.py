#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What examples/slurm does at the beginning and the end of a job, without Slurm: six
servers on one optical switch, their agents and the switch are fakes."""

import atexit
import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
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
if [[ -e {DIR}/hang ]]; then
	exec sleep 1000
fi
exec {FAKES} agent {DIR}/agents "$1"
""", 0o755)
write(f"{DIR}/scripts/topoopt.conf", f"""
STATE={DIR}/state SLOTS=2 TOPOOPT_JOB= PLAN_OPTIONS=(--effort 1)
TIMEOUT=${{TIMEOUT:-60}} READ_TIMEOUT=${{READ_TIMEOUT:-60}}
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
os.chmod(DIR, 0o755)
for n in (2, 3):
    save(f"{DIR}/{n}.json", {"format": "topoopt-job", "version": 1, "name": "job", "servers": n,
                             "allreduce": [{"group": "all", "bytes": 1000000}]})
save(f"{DIR}/bad.json", {"format": "topoopt-job", "version": 1, "name": "job", "servers": 2,
                         "allreduce": [{"group": "0,5", "bytes": 1000000}]})
subprocess.run((TOCTL, "shard", "init", f"{DIR}/cluster.json"), check=True,
               stdout=subprocess.DEVNULL)


def environment(number, servers, comment="", **more):
    return os.environ | {"PATH": f"{DIR}/bin:{os.environ['PATH']}", "SLURM_JOB_ID": str(number),
                         "SLURM_JOB_UID": str(os.getuid()), "SLURM_JOB_COMMENT": comment,
                         "SLURM_JOB_NODELIST": servers} | more


def script(name, number, servers, comment="", **more):
    said = subprocess.run(f"{DIR}/scripts/{name}.sh", check=False, capture_output=True, text=True,
                          env=environment(number, servers, comment, **more))
    return said.returncode, said.stdout + said.stderr


def prolog(number, servers, comment, **more):
    return script("prolog", number, servers, comment, **more)


def epilog(number, servers, comment="", **more):
    return script("epilog", number, servers, comment, **more)


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


def fails(name, servers, comment, reason, **more):
    """@reason: what the job says, or an expression that matches it"""
    write(f"{DIR}/updates", "")
    status, _ = prolog(5, servers, comment, **more)
    report(status > 0, f"{name}: the prolog fails")
    said = file(f"{DIR}/updates")
    begin = "JobId=5 AdminComment=topoopt: "
    report(said == f"{begin}{reason}\n" if isinstance(reason, str) else
           said.startswith(begin) and reason.fullmatch(said[len(begin):-1]),
           f"{name}: the job says why", f"got:      {said}expected: {reason}")
    report(said[len("JobId=5 AdminComment=topoopt: "):] in file(f"{DIR}/state/log"),
           f"{name}: and so does the log", file(f"{DIR}/state/log"))
    same(f"{name}: and nothing is left", (tables(), state(), shards()), ("", [], []))


fails("another number of servers", "s0,s1,s2", f"topoopt={DIR}/2.json",
      f"toctl shard add: {DIR}/2.json: the job has 2 servers, --on names 3")
fails("no such file", "s0,s1", f"topoopt={DIR}/none.json",
      f"toctl job read: {DIR}/none.json: No such file or directory")
fails("unknown servers", "s0,s8", f"topoopt={DIR}/2.json",
      "toctl shard add: server s8 is not in the cluster")
fails("a job that cannot be planned", "s0,s1", f"topoopt={DIR}/bad.json",
      f"toctl job read: {DIR}/bad.json:1: allreduce[0].group: index 5 is outside 0 to 1")
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

epilog(6, "s1,s2")

# --- files that a user may name ---

SECRET = "hunter2"
OTHER = "1" if os.getuid() else "65534"     # a user who is not the one that runs this
os.mkfifo(f"{DIR}/fifo", 0o666)
write(f"{DIR}/sparse", "")
os.truncate(f"{DIR}/sparse", 2 << 30)
os.mkdir(f"{DIR}/closed", 0o700)
write(f"{DIR}/secret", f"{SECRET}\n", 0o600)
write(f"{DIR}/closed/readable", f"{SECRET}\n", 0o644)
os.symlink(f"{DIR}/secret", f"{DIR}/link")
os.symlink(f"{DIR}/2.json", f"{DIR}/link.json")

NO_RIGHT = "(Permission denied|does not belong to the user who wants it read)"
for what, name, reason in (
        ("a FIFO", f"{DIR}/fifo", "not a regular file"),
        ("a device", "/dev/zero", "not a regular file"),
        ("a directory", DIR, "not a regular file"),
        ("2 GiB", f"{DIR}/sparse", "more than 67108864 bytes")):
    fails(what, "s0,s1", f"topoopt={name}", f"toctl job read: {name}: {reason}")
for what, name in (("a secret of SlurmUser's", f"{DIR}/secret"), ("a link to one", f"{DIR}/link"),
                   ("a file in a directory of SlurmUser's", f"{DIR}/closed/readable")):
    fails(what, "s0,s1", f"topoopt={name}", re.compile(f"toctl job read: {name}: {NO_RIGHT}"),
          SLURM_JOB_UID=OTHER)
    fails(f"{what} that the user may read, and no JSON", "s0,s1", f"topoopt={name}",
          f"toctl job read: {name}:1: not JSON: '[' or '{{' expected")
report(SECRET not in file(f"{DIR}/state/log"), "no word of a secret is in the log")
fails("a user whom nobody knows", "s0,s1", f"topoopt={DIR}/2.json",
      "toctl job read: 4000000000: no such user on this host", SLURM_JOB_UID="4000000000")
for what, name in (("an option", "--help"), ("standard input", "-"), ("a relative path", "2.json"),
                   ("a line of its own", "/x\nJobId=5 AdminComment=topoopt: all is well"),
                   ("an escape sequence", "/x\033[2J")):
    fails(what, "s0,s1", f"topoopt={name}",
          "--comment=topoopt=FILE: expected a path from / without control characters")
fails("a name that no terminal takes", "s0,s1", f"topoopt={DIR}/\u202enone.json",
      f"toctl job read: {DIR}/\\u202enone.json: No such file or directory")
same("a link to a job of the user's", prolog(5, "s0,s1", f"topoopt={DIR}/link.json"), (0, ""))
epilog(5, "s0,s1")
if os.getuid() == 0:
    shutil.copy(f"{DIR}/2.json", f"{DIR}/theirs.json")
    os.chown(f"{DIR}/theirs.json", int(OTHER), int(OTHER))
    os.chmod(f"{DIR}/theirs.json", 0o600)
    same("a file that only the job's user may read",
         prolog(5, "s0,s1", f"topoopt={DIR}/theirs.json", SLURM_JOB_UID=OTHER), (0, ""))
    epilog(5, "s0,s1")

# --- what hangs, ends, or is missing ---


@contextlib.contextmanager
def instead(command, text):
    """Let @text be what runs as @command: $real is the command itself."""
    os.mkdir(f"{DIR}/instead")
    write(f"{DIR}/instead/{command}", f"""#!/bin/bash
real={TOCTL}
{text}
""", 0o755)
    try:
        yield {"PATH": f"{DIR}/instead:{DIR}/bin:{os.environ['PATH']}"}
    finally:
        shutil.rmtree(f"{DIR}/instead")


def started(number, servers, **more):
    """A prolog that goes on while the test does."""
    return subprocess.Popen(f"{DIR}/scripts/prolog.sh", stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL,
                            env=environment(number, servers, f"topoopt={DIR}/2.json", **more))


def lock_is_free():
    with open(f"{DIR}/state/lock", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


HANG = f'''[[ "$1 $2" != "job read" ]] || {{ touch {DIR}/hangs; exec sleep 1000; }}; exec $real "$@"'''
with instead("toctl", HANG) as path:
    first = started(7, "s2,s3", **path)
    wait_for(lambda: os.path.exists(f"{DIR}/hangs"))
    same("while one job's file hangs, another job starts",
         (prolog(5, "s0,s1", f"topoopt={DIR}/2.json"), tables(), first.poll()),
         ((0, ""), "s0 s1", None))
    write(f"{DIR}/updates", "")
    first.send_signal(signal.SIGTERM)
    same("TERM ends the first", first.wait() > 0, True)
    same("which says what it was doing", file(f"{DIR}/updates"),
         "JobId=7 AdminComment=topoopt: a signal ended it in: toctl job read\n")
    epilog(5, "s0,s1")
    fails("a file that hangs", "s0,s1", f"topoopt={DIR}/2.json",
          "toctl job read took longer than 1 s", READ_TIMEOUT="1", **path)
with instead("toctl", f'''[[ "$1 $2" == "shard add" ]] || exec $real "$@"
echo $$ >{DIR}/adds; exec $real "$@"''') as path:
    write(f"{DIR}/hang", "")
    write(f"{DIR}/updates", "")
    first = started(5, "s0,s1", **path)
    wait_for(lambda: os.path.exists(f"{DIR}/adds") and file(f"{DIR}/adds") and not lock_is_free())
    os.unlink(f"{DIR}/hang")
    first.send_signal(signal.SIGTERM)
    report(first.wait() > 0, "TERM while agents hang fails the prolog")
    same("TERM: the job says why", file(f"{DIR}/updates"),
         "JobId=5 AdminComment=topoopt: a signal ended it in: toctl shard add\n")
    same("TERM: nothing is left", (tables(), state(), shards(), lock_is_free()), ("", [], [], True))
    report(not os.path.exists(f"/proc/{file(f'{DIR}/adds').strip()}"), "TERM: nor toctl")
with instead("toctl", f'''[[ "$1 $2" != "shard add" ]] || {{ sleep 1000 & echo $! >{DIR}/left; }}
exec $real "$@"''') as path:
    same("a command that leaves a process", prolog(5, "s0,s1", f"topoopt={DIR}/2.json", **path), (0, ""))
    report(lock_is_free(), "which does not hold the lock")
    os.kill(int(file(f"{DIR}/left")), signal.SIGKILL)
same("nobody else can open the lock", os.stat(f"{DIR}/state/lock").st_mode & 0o777, 0o600)
with instead("toctl", "exit 1") as path:
    write(f"{DIR}/updates", "")
    status, _ = epilog(5, "s0,s1", **path)
    report(status > 0 and re.fullmatch(
        "JobId=5 AdminComment=topoopt: toctl shard remove: status 1, and no message in .*\n",
        file(f"{DIR}/updates")), "an epilog that fails without a message says what failed",
        file(f"{DIR}/updates"))
epilog(5, "s0,s1")
with open(f"{DIR}/state/lock", "w", encoding="utf-8") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    lock.write("job 41 (prolog.sh, process 1)\n")
    lock.flush()
    fails("a lock that is held for too long", "s0,s1", f"topoopt={DIR}/2.json", re.compile(
        f"waited [12] s for {DIR}/state/lock, held by job 41 .prolog.sh, process 1."), TIMEOUT="2")
for missing in "toctl", "jq":
    os.mkdir(f"{DIR}/without")
    for command in ("bash chmod cut date dirname flock grep head jq mkdir mktemp paste realpath rm sed "
                    "scontrol tail timeout toctl tr").split():
        if command != missing:
            os.symlink(shutil.which(command, path=f"{DIR}/bin:{os.environ['PATH']}"),
                       f"{DIR}/without/{command}")
    fails(f"without {missing}", "s0,s1", f"topoopt={DIR}/2.json",
          re.compile(f"timeout: .*{missing}.*: No such file or directory"), PATH=f"{DIR}/without")
    shutil.rmtree(f"{DIR}/without")
with instead("toctl", '[[ "$1 $2" != "shard add" ]] || exec sleep 1000; exec $real "$@"') as path:
    fails("no end", "s0,s1", f"topoopt={DIR}/2.json", re.compile("toctl shard add took longer than [1-3] s"),
          TIMEOUT="3", **path)

# A full disk, in a mount namespace.
full = subprocess.run(
    ("unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size=8k tmpfs {DIR}/state || exit 77; "
     f"head -c 4096 /dev/zero >{DIR}/state/full; exec {DIR}/scripts/prolog.sh"),
    check=False, capture_output=True, text=True, env=environment(5, "s0,s1", f"topoopt={DIR}/2.json"))
if full.returncode != 77 and "unshare" not in full.stderr:
    report(full.returncode > 0 and file(f"{DIR}/updates").endswith("No space left on device\n"),
           "a full disk is a reason", file(f"{DIR}/updates"))
    same("a full disk: nothing is left", (tables(), shards()), ("", []))

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
