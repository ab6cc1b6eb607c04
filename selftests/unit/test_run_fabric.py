#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 600
"""toctl run on a fabric without kernels: agents that keep tables in files, an
optical switch that is a file. Every step of a change fails in turn, on a
server, at the switch, by the death of an agent or of the controller; each time
the fabric must end on the old plan, whole, and while links are dark no server
may need them.

	test_run_fabric.py			the test
	test_run_fabric.py agent DIR SERVER	one agent, on standard input and output
	test_run_fabric.py switch DIR		the optical switch, see switch_command.c

DIR/phase says which traffic there is; DIR/harm-SERVER says what happens to the
server's requests with one of "ops", beginning with number "count", so many times;
DIR/harm-switch the same of the optical switch, which can refuse, lie, stop the
controller and all in its process group, or not answer: a change is lost, or late.
"""

import fcntl
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "selftests/unit")
from tap import done, report  # noqa: E402

N = 12
BUFFER = 1_000_000	# of AllReduce
HOT = 200_000_000		# each way between two servers
TIMEOUT = 6		# seconds, of an optical switch that does not answer
TOCTL = os.path.abspath(os.environ.get("TOCTL", "build/toctl"))
SELF = os.path.abspath(__file__)


def load(path, default=None):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return default


def save(path, document):
    with open(path + f".{os.getpid()}", "w", encoding="utf-8") as file:
        json.dump(document, file)
    os.rename(file.name, path)


def members(ranges):
    """[0, 1, 2, 5] of "0-2,5"."""
    return [i for part in ranges.split(",") if part for first, *last in [part.split("-")]
            for i in range(int(first), int((last or [first])[0]) + 1)]


def transfers(rings, phase):
    """Everybody to its neighbours on the rings, and to who is @phase apart."""
    matrix = [[0] * N for _ in range(N)]
    for i in range(N):
        for ring in rings:
            matrix[ring[i]][ring[i - 1]] += BUFFER * (N - 1) // N // len(rings)
            matrix[ring[i - 1]][ring[i]] += BUFFER * (N - 1) // N // len(rings)
        matrix[i][(i + phase) % N] += HOT // 2
        matrix[(i + phase) % N][i] += HOT // 2
    return matrix


# ---- the optical switch ----


def needs(table, dark):
    """Does the table lead to any server only by ports that are dark?"""
    by_node = {route["group"] for route in table["routes"] if route.get("nodes")}
    return any(all(hop["port"] in dark for hop in table["groups"][group]) for group in by_node)


def switch(directory):
    request = json.load(sys.stdin)
    if request["action"] == "read":
        print(json.dumps({"cross_connects": load(f"{directory}/light")}))
        return 0
    harm = harmed(directory, "switch", request["action"])
    if harm == "refuse":
        print("laser interlock is open", file=sys.stderr)
        return 1
    if harm == "stop":
        os.killpg(load(f"{directory}/controller"), signal.SIGTERM)
    if harm == "lost" or harm == "late" and os.fork():
        signal.pause()
    if harm == "late":
        os.setsid()
        time.sleep(3 * TIMEOUT)
        save(f"{directory}/came", True)
    joined = load(f"{directory}/light")
    plan = load(f"{directory}/ports")
    lit = {port for pair in joined if pair not in request["remove"] for port in pair}
    poor = []
    for path in glob.glob(f"{directory}/kernel-*"):
        server = path.rsplit("-", 1)[1]
        table = load(path)["active"]["table"]
        ports = {name for name, number in plan[server].items() if number not in lit}
        if table and needs(json.loads(table), ports):
            poor.append(server)
    with open(f"{directory}/poor", "a", encoding="utf-8") as file:
        file.write(json.dumps(poor) + "\n")
    if harm == "lie":
        return 0
    save(f"{directory}/light", [pair for pair in joined if pair not in request["remove"]] +
         request["add"])
    return 0


# ---- an agent ----


class Kernel:
    """Active table and stage of a server; outlives agents."""

    def __init__(self, directory, server):
        self.directory, self.server = directory, server
        self.path = f"{directory}/kernel-{server}"
        self.number = int(server[1:])
        self.state = load(self.path) or {"active": {"generation": 0, "table": None},
                                         "stage": None}
        self.before = None

    def write(self):
        save(self.path, self.state)

    def go_back(self, generation):
        self.state["active"] = {"generation": generation, "table": self.before["table"]}
        self.before = None

    def live(self):
        lit = {port for pair in load(f"{self.directory}/light") for port in pair}
        ports = load(f"{self.directory}/ports")[self.server]
        return [name for name, number in ports.items() if number in lit]

    def sample(self, request):
        now = time.time_ns()
        time.sleep(max(0, request["until_ns"] - now) / 1e9)
        until, interval = request["until_ns"], request["interval_ns"]
        row = transfers(load(f"{self.directory}/rings"),
                        load(f"{self.directory}/phase"))[self.number]
        flows = [[-1, 0, self.number, j, 0, 100, size] for j, size in enumerate(row) if size]
        return json.dumps({
            "format": "topoopt-tm", "version": 1, "job": "test", "plan": "0" * 16,
            "interval_ns": interval, "classes": ["roce", "tcp", "other"],
            "servers": [f"s{i}" for i in range(N)], "server": self.server, "generation": 1,
            "ports": [{"name": "eth0", "to": None, "from": None}],
            "samples": [{"start_ns": until - interval, "end_ns": until,
                         "elapsed_ns": interval, "lost": [0, 0], "flows": flows,
                         "ports": [[0, 0, 0, 0]]}]})

    def call(self, request):
        op, active = request["op"], self.state["active"]
        reply = {"ok": True}
        if op == "stage":
            self.state["stage"] = {"generation": request["generation"],
                                   "table": request["table"], "on": active["generation"]}
            reply["differs"] = request["table"] != active["table"]
        elif op == "commit":
            stage = self.state["stage"]
            if not stage or stage["generation"] != request["generation"] or \
                    stage["on"] != active["generation"]:
                return {"ok": False, "error": "no such stage"}
            self.before, self.state["stage"] = active, None
            self.state["active"] = {key: stage[key] for key in ("generation", "table")}
        elif op == "confirm":
            self.before = None
        elif op == "revert":
            self.state["stage"] = None
            if active["generation"] == request["from"]:
                if not self.before:
                    return {"ok": False, "error": "nothing to go back to"}
                self.go_back(request["generation"])
            else:
                active["generation"] = request["generation"]
        elif op == "abort":
            self.state["stage"] = None
        elif op == "sample":
            reply["tm"] = self.sample(request)
        self.write()
        return reply

    def close(self):
        """The controller is gone."""
        self.state["stage"] = None
        if self.before:
            self.go_back(self.state["active"]["generation"] + 1)
        self.write()


def harmed(directory, server, op):
    """What to do to this request; each is counted."""
    path = f"{directory}/harm-{server}"
    harm = load(path)
    if not harm or op not in harm["ops"]:
        return None
    harm["count"] -= 1
    save(path, harm)
    return harm["action"] if -harm["times"] < harm["count"] <= 0 else None


def forge(action, reply):
    """What a hostile agent makes of a sample."""
    tm = json.loads(reply["tm"])
    sample = tm["samples"][0]
    if action == "the past":
        sample["start_ns"] = 0
    elif action == "more names":
        tm["servers"] += [f"x{i}" for i in range(100)]
    elif action == "other names":
        tm["servers"].reverse()
    elif action == "another server":
        tm["server"] = "s5"
    elif action == "another plan":
        tm["plan"] = "f" * 16
    elif action == "another link":
        tm["ports"][0]["to"] = "s5:eth0" if tm["server"] != "s5" else "s3:eth0"
        tm["ports"][0]["from"] = tm["ports"][0]["to"]
    elif action == "far apart":
        later = ((1 << 24) - 1) * tm["interval_ns"]
        tm["samples"].append(sample | {"start_ns": sample["start_ns"] + later,
                                       "end_ns": sample["end_ns"] + later})
    elif action == "huge counts":
        sample["flows"] = [[-1, 0, 3, 4, 0, 1 << 53, 1 << 53]] * 1100
    elif action == "generations":
        reply["generation"] = 1 << 62
    elif action == "huge reply":
        tm["comment"] = "x" * 120_000_000
    elif action == "no end":
        while True:
            sys.stdout.write("x" * 65536)
    return reply | {"tm": json.dumps(tm)}


def agent(directory, server):
    if os.path.exists(f"{directory}/dead-{server}"):
        return 1
    with open(f"{directory}/lock-{server}", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kernel = Kernel(directory, server)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(kernel.close()))
        for line in sys.stdin:
            request = json.loads(line)
            action = harmed(directory, server, request["op"])
            if action == "die":
                open(f"{directory}/dead-{server}", "w", encoding="utf-8").close()
                return 1
            if action == "silence":
                continue
            if action == "kill":
                os.kill(load(f"{directory}/controller"), signal.SIGKILL)
                break
            reply = kernel.call(request) if action != "refuse" else \
                {"ok": False, "error": "refused by the test"}
            reply |= {"id": request.get("id"), "staged": bool(kernel.state["stage"]),
                      "generation": kernel.state["active"]["generation"],
                      "live": kernel.live()}
            if action and "tm" in reply:
                reply = forge(action, reply)
            print(json.dumps(reply), flush=True)
        kernel.close()
    return 0


if sys.argv[1:2] == ["agent"]:
    sys.exit(agent(*sys.argv[2:]))
if sys.argv[1:2] == ["switch"]:
    sys.exit(switch(sys.argv[2]))

# ---- the test ----

class Fabric:
    """A fresh fabric that runs the plan, and a controller."""

    def __init__(self, made, switch_timeout=60):
        self.tmp = tempfile.TemporaryDirectory()
        self.dir = self.tmp.name
        self.plan = f"{self.dir}/plan.json"
        self.log = f"{self.dir}/log"
        made["optical_switches"][0] |= {
            "control": {"driver": "command", "command": f"{SELF} switch {self.dir}",
                        "timeout_ms": switch_timeout * 1000}}
        save(self.plan, made)
        self.allow = f"{self.dir}/allow"
        with open(self.allow, "w", encoding="utf-8") as file:
            file.write(f"command {SELF} switch {self.dir}\n")
        save(f"{self.dir}/ports", {server["name"]: {port["name"]: port["optical_port"]
                                                    for port in server["ports"]}
                                   for server in made["servers"]})
        save(f"{self.dir}/rings", [members(ring["order"]) for ring in made["rings"]
                                   if made["demand"]["allreduce"]])
        save(f"{self.dir}/light", [])
        save(f"{self.dir}/phase", 6)
        self.controller = None
        self.start()

    def start(self, timeout="60s"):
        open(self.log, "w", encoding="utf-8").close()
        self.controller = subprocess.Popen(
            (TOCTL, "run", "--plan", self.plan, "--allow", self.allow, "--log", self.log, "--change-cost", "10ms",
             "--timeout", timeout, "--command", f"{SELF} agent {self.dir} {{}}"),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, process_group=0)
        save(f"{self.dir}/controller", self.controller.pid)
        self.wait("restored", "start")

    def lines(self, event, where=lambda line: True):
        with open(self.log, encoding="utf-8") as file:
            found = [json.loads(line) for line in file if line.endswith("\n")]
        return [line for line in found if line["event"] == event and where(line)]

    def wait(self, event, what, where=lambda line: True, seconds=120):
        deadline = time.monotonic() + seconds
        while not self.lines(event, where):
            if time.monotonic() > deadline or self.controller.poll() is not None:
                return report(False, f"{what}: waits for {event}",
                              self.story() if self.controller.poll() is None else self.end())
            time.sleep(0.05)
        return True

    def story(self):
        with open(self.log, encoding="utf-8") as file:
            return "\n".join(line[:300] for line in file)

    def harm(self, server, action, ops, count, times=1):
        save(f"{self.dir}/harm-{server}",
             {"action": action, "ops": ops.split(), "count": count, "times": times})

    def mend(self):
        for path in glob.glob(f"{self.dir}/harm-*") + glob.glob(f"{self.dir}/dead-*"):
            os.unlink(path)

    def end(self):
        if self.controller.poll() is None:
            self.controller.terminate()
        out = self.controller.communicate()[0]
        return self.controller.returncode, out

    def wrong(self, plan):
        """What is not as the plan says, and whether a table needs a dark link."""
        made, found = load(plan), []
        ports = load(f"{self.dir}/ports")
        want = sorted(sorted((x["a"], x["b"])) for x in made["cross_connects"])
        light = sorted(sorted(pair) for pair in load(f"{self.dir}/light"))
        if light != want:
            found.append(f"light {light}, not {want}")
        lit = {port for pair in light for port in pair}
        tables = {table["server"]: table for table in made["tables"]}
        generations = set()
        for server, numbers in ports.items():
            state = load(f"{self.dir}/kernel-{server}")
            generations.add(state["active"]["generation"])
            if state["stage"]:
                found.append(f"{server} holds a stage")
            table = json.loads(state["active"]["table"])
            if any(table[key] != tables[server][key] for key in ("groups", "routes")):
                found.append(f"{server} has another table")
            dark = {name for name, number in numbers.items() if number not in lit}
            if needs(table, dark):
                found.append(f"{server} needs a dark link")
        if len(generations) != 1:
            found.append(f"generations {sorted(generations)}")
        if os.path.exists(plan + ".next"):
            found.append(f"{plan}.next is left")
        return found

    def parted(self):
        """Pairs of servers between which the tables, as they are, do not lead by what is lit."""
        light, ports = load(f"{self.dir}/light"), load(f"{self.dir}/ports")
        peer = dict(light) | {b: a for a, b in light}
        owner = {number: server for server, numbers in ports.items() for number in numbers.values()}
        ways = {}
        for server, numbers in ports.items():
            table = json.loads(load(f"{self.dir}/kernel-{server}")["active"]["table"])
            for route in table["routes"]:
                hops = [owner.get(peer.get(numbers[hop["port"]]))
                        for hop in table["groups"][route["group"]]]
                for to in members(route.get("nodes", "")):
                    ways[server, f"s{to}"] = hops[0]
        found = []
        for here, to in sorted((x, y) for x in ports for y in ports if x != y):
            at, left = here, N
            while at and at != to and left:
                at, left = ways.get((at, to)), left - 1
            if at != to:
                found.append((here, to))
        return found

    def poor(self):
        """Servers that needed a link while it was dark, in each change of the switch."""
        with open(f"{self.dir}/poor", encoding="utf-8") as file:
            return [json.loads(line) for line in file]


def make_plan(allreduce):
    with tempfile.TemporaryDirectory() as directory:
        mp = [[0] * N for _ in range(N)]
        for i in range(N):
            mp[i][(i + 6) % N] = HOT
        save(f"{directory}/job.json", {
            "name": "test", "servers": N, "mp": mp,
            "allreduce": [{"group": "all", "bytes": BUFFER}] if allreduce else []})
        subprocess.run((TOCTL, "plan", "--job", f"{directory}/job.json", "--degree", "4",
                        "--bandwidth", "100M", "--seed", "1", "-o", f"{directory}/plan.json"),
                       check=True, capture_output=True)
        return load(f"{directory}/plan.json")


def server_fails(made, action, harm, steps):
    for words, op, count in steps:
        # a commit is tried twice
        fails(made, f"s3 {action} at {words}",
              lambda fabric, op=op, count=count: fabric.harm("s3", harm, op, count, 2), "s3")


def changes(made, what, steps):
    """The way that works."""
    fabric = Fabric(made)
    report(not fabric.wrong(fabric.plan), f"{what}: the start brings the fabric to the plan",
           fabric.wrong(fabric.plan))
    time.sleep(2)
    report(not fabric.lines("shift"), f"{what}: steady traffic is no shift", fabric.story())
    os.rename(fabric.plan, f"{fabric.dir}/real")
    os.chmod(f"{fabric.dir}/real", 0o600)
    os.symlink("real", fabric.plan)
    save(f"{fabric.dir}/phase", 3)
    if fabric.wait("changed", what):
        report([line["action"] for line in fabric.lines("changed")] == ["rewire"],
               f"{what}: the fabric is rewired", fabric.story())
    done = [line["step"] for line in fabric.lines("step")]
    times = done.count("switch")
    report(done == ["drain"] + ["stage", "switch", "carrier", "commit"] * times + ["verify"] and
           times >= steps, f"{what}: in all steps", fabric.story())
    status, out = fabric.end()
    report(status == 0 and fabric.lines("end"), f"{what}: SIGTERM ends it well", out)
    report(load(fabric.plan)["links"] != made["links"], f"{what}: the plan in force was written")
    report(os.path.islink(fabric.plan) and os.stat(fabric.plan).st_mode & 0o777 == 0o600,
           f"{what}: where its link leads, as private as it was")
    report(not fabric.wrong(fabric.plan), f"{what}: the fabric is as the new plan says",
           fabric.wrong(fabric.plan))
    report(fabric.poor()[1:] == [[]] * times, f"{what}: nobody needed a link while it was dark",
           fabric.poor())
    fabric.start()
    report(fabric.lines("restored")[0]["changed"] is False,
           f"{what}: a new start changes nothing", fabric.story())
    fabric.end()


def cannot_count(made):
    """A server refuses 20 samples."""
    fabric = Fabric(made)
    fabric.harm("s3", "refuse", "sample", 1, 20)
    if fabric.wait("missing", "s3 cannot count", lambda line: line["servers"] == ["s3"]):
        line = fabric.lines("missing", lambda line: line["servers"])[0]
        report(line.get("error") == "s3: refused by the test", "s3 cannot count: the log says why",
               line)
    fabric.wait("missing", "s3 counts again",
                lambda line: line["servers"] == [] and "error" not in line)
    fabric.end()


FORGERIES = {
    "the past": "recorded from 0 ns on, most others from",
    "more names": "faulty recording: servers: there are 112, the fabric has 12",
    "other names": "faulty recording: servers[0]: it is s11, in the fabric it is s0",
    "another server": "faulty recording: server: it is s5",
    "another plan": "recorded under generation ffffffffffffffff, most others under",
    "another link": "faulty recording: ports[0]: it is not as in the plan",
    "far apart": "faulty recording: samples: there are 2, not 1",
    "huge counts": "faulty recording: the recording of s3 counts more than 2^56",
    "huge reply": "faulty agent: it sent",
    "no end": "faulty agent: it sent",
}


def hostile(made):
    """A server sends what it likes: it is named, and all others count."""
    fabric = Fabric(made)
    fabric.wait("missing", "a hostile agent", lambda line: line["servers"] == [])
    for action, error in FORGERIES.items():
        what, seen = f"a hostile agent, {action}", len(fabric.lines("missing"))
        fabric.harm("s3", action, "sample", 1, 3)
        if fabric.wait("missing", what, lambda line, seen=seen: len(fabric.lines("missing")) > seen):
            line = fabric.lines("missing")[seen]
            report(line["servers"] == ["s3"] and line.get("error", "").startswith(f"s3: {error}"),
                   f"{what}: it is named", line)
        fabric.wait("missing", f"{what}: no more",
                    lambda line, seen=seen: len(fabric.lines("missing")) > seen + 1)
    report(not fabric.lines("refused") and not fabric.lines("shift"),
           "a hostile agent: nothing else happens", fabric.story())
    fabric.harm("s3", "generations", "sample", 1, 5)
    save(f"{fabric.dir}/phase", 3)
    if fabric.wait("changed", "a hostile agent, generations"):
        report(fabric.lines("changed")[0]["generation"] < 100,
               "a hostile agent does not use up the generations", fabric.lines("changed"))
    with open(f"/proc/{fabric.controller.pid}/status", encoding="ascii") as file:
        most = [int(line.split()[1]) for line in file if line.startswith("VmHWM:")][0]
    report(most < 100_000, "a hostile agent takes no memory", f"{most} kB")
    fabric.end()


def fails(made, what, arm, told):
    """A change that fails; the controller brings the fabric back."""
    fabric = Fabric(made)
    save(f"{fabric.dir}/kept", load(fabric.plan))
    arm(fabric)
    save(f"{fabric.dir}/phase", 3)
    if fabric.wait("restored", what, lambda line: line["why"] != "start"):
        report(told in fabric.story(), f"{what}: told", fabric.story())
        report(not fabric.parted(), f"{what}: all servers reach each other", fabric.parted())
    fabric.mend()
    # before the next attempt, which would succeed
    save(f"{fabric.dir}/phase", 6)
    fabric.wait("restored", what, lambda line: line["why"] != "start" and line["ok"])
    status, out = fabric.end()
    if not fabric.lines("changed"):
        report(status == 0 and not fabric.wrong(fabric.plan) and
               load(fabric.plan) == load(f"{fabric.dir}/kept"),
               f"{what}: all is as before", [out, fabric.wrong(fabric.plan)])
    else:
        report(not fabric.wrong(fabric.plan), f"{what}: all is as planned", fabric.story())
    report(all(not poor for poor in fabric.poor()[1:]), f"{what}: nobody needed a dark link",
           fabric.poor())


def killed(made, what, server, op, count):
    """The controller is killed; the next one finds what there is."""
    fabric = Fabric(made)
    save(f"{fabric.dir}/kept", load(fabric.plan))
    fabric.harm(server, "kill", op, count)
    save(f"{fabric.dir}/phase", 3)
    try:
        fabric.controller.wait(120)
    except subprocess.TimeoutExpired:
        report(False, f"{what}: reached", fabric.story())
        fabric.end()
        return
    fabric.controller.communicate()
    fabric.mend()
    save(f"{fabric.dir}/phase", 6)
    fabric.start()
    restored = fabric.lines("restored")[0]
    fabric.end()
    report(restored["ok"] and not fabric.wrong(fabric.plan), f"{what}: whole after a new start",
           [restored, fabric.wrong(fabric.plan)])
    report(load(fabric.plan) == load(f"{fabric.dir}/kept"), f"{what}: on the old plan", restored)
    report(all(not poor for poor in fabric.poor()[1:]), f"{what}: nobody needed a dark link",
           fabric.poor())


def stopped(made):
    """SIGTERM to the whole process group, as timeout(1) and shells send it."""
    what = "all is told to stop at the switch"
    fabric = Fabric(made)
    fabric.harm("switch", "stop", "change", 1)
    save(f"{fabric.dir}/phase", 3)
    fabric.wait("end", what)
    status, out = fabric.end()
    report(status == 0 and fabric.lines("changed"), f"{what}: the change is finished", out)
    report(load(fabric.plan)["links"] != made["links"] and not fabric.wrong(fabric.plan),
           f"{what}: all is as the new plan says", fabric.wrong(fabric.plan))


def switch_fails(made, count):
    for action, told in (("refuse", "laser interlock is open"), ("lie", "ocs0")):
        fails(made, f"the switch would {action} at change {count}",
              lambda fabric, action=action: fabric.harm("switch", action, "change", count), told)


def does_not_answer(made, action):
    """As long as the change may come, all that it would end is not relied upon."""
    what = f"the switch does not answer, the change is {action}"
    fabric = Fabric(made, TIMEOUT)
    fabric.harm("switch", action, "change", 1)
    save(f"{fabric.dir}/phase", 3)
    if fabric.wait("restored", what, lambda line: line["why"] != "start"):
        line = fabric.lines("restored")[1]
        report(not line["ok"] and "optical switch ocs0 may yet make a change that it did not "
               "answer in time" in line.get("error", ""), f"{what}: told", fabric.story())
        report(not fabric.parted(), f"{what}: all servers reach each other", fabric.parted())
    save(f"{fabric.dir}/phase", 6)
    fabric.wait("restored", what, lambda line: line["why"] != "start" and line["ok"])
    deadline = time.monotonic() + 60
    while action == "late" and not load(f"{fabric.dir}/came") and time.monotonic() < deadline:
        time.sleep(0.05)
    status, out = fabric.end()
    report(status == 0 and not fabric.lines("changed") and not fabric.wrong(fabric.plan),
           f"{what}: all is as before", [out, fabric.wrong(fabric.plan)])
    report(all(not poor for poor in fabric.poor()[1:]), f"{what}: nobody needed a dark link",
           fabric.poor())


def refuses_to_go_back(fabric):
    """The last commit fails, and then the switch at the last step of the way back."""
    fabric.harm("s3", "refuse", "commit", 4, 2)
    fabric.harm("switch", "refuse", "change", 6, 1000)


def goes_back_twice(made, what):
    """A server is silent when the way back is nearly done, and when it is tried again."""
    fabric = Fabric(made)
    save(f"{fabric.dir}/phase", 3)
    if not fabric.wait("changed", what):
        return
    fabric.end()
    os.rename(fabric.plan, f"{fabric.plan}.next")
    save(fabric.plan, made)
    # so that it is not found complete
    state = load(f"{fabric.dir}/kernel-s3")
    state["active"]["table"] = "{\"groups\": [], \"routes\": []}"
    save(f"{fabric.dir}/kernel-s3", state)
    fabric.harm("s3", "silence", "commit revert", 2, 1000)
    save(f"{fabric.dir}/phase", 6)
    fabric.start("2s")
    fabric.wait("restored", what, lambda line: line["why"] == "again")
    report("s3: the agent does not answer" in fabric.story(), f"{what}: it is named",
           fabric.story())
    fabric.mend()
    fabric.wait("restored", what, lambda line: line["ok"])
    status, out = fabric.end()
    report(status == 0 and not fabric.wrong(fabric.plan), f"{what}: all is as before",
           [out, fabric.wrong(fabric.plan)])


# Rings keep their links, which reach all servers.
plan = make_plan(True)
cannot_count(plan)
hostile(plan)
goes_back_twice(plan, "a server is silent on the way back")
changes(plan, "other hot pairs", 1)
server_fails(plan, "refuses", "refuse",
             (("the first stage", "stage", 1), ("the first commit", "commit", 1),
              ("the second commit", "commit", 2)))
server_fails(plan, "dies", "die",
             (("the second stage", "stage", 2), ("the second commit", "commit", 2)))
stopped(plan)
switch_fails(plan, 1)
does_not_answer(plan, "late")
does_not_answer(plan, "lost")
for op, count in (("stage", 1), ("confirm", 1), ("stage", 2), ("commit", 2), ("confirm", 2)):
    killed(plan, f"the controller is killed at {op} {count}", "s3", op, count)

# All links but one are others, so that it takes three steps.
plan = make_plan(False)
changes(plan, "nearly all links", 3)
server_fails(plan, "refuses", "refuse", (("the third commit", "commit", 3),))
server_fails(plan, "dies", "die", (("the fourth commit", "commit", 4),))
switch_fails(plan, 2)
fails(plan, "the switch refuses to go back", refuses_to_go_back, "laser interlock is open")
for op, count in (("commit", 3), ("confirm", 3), ("stage", 4), ("confirm", 4)):
    killed(plan, f"nearly all links: the controller is killed at {op} {count}", "s3", op, count)

done()
