# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl run on a fabric without kernels: agents and the optical switch are fakes.py."""

import atexit
import gc
import glob
import itertools
import json
import os
import socket
import subprocess
import tempfile
import time

from fakes import BUFFER, HOT, harm_lock, load, members, needs, save, serve
from tap import report

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
TOCTL = os.path.join(BUILD, "toctl")
SOON = 100_000_000	# ns


def start_fakes():
    """The command that is one of the fakes."""
    directory = tempfile.TemporaryDirectory()
    address = f"{directory.name}/fakes"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    until, ours = os.pipe()
    gc.freeze()
    server = os.fork()
    if not server:
        os.close(ours)
        serve(listener, until)
        os._exit(0)
    listener.close()
    os.close(until)

    def end():
        os.close(ours)
        os.waitpid(server, 0)
        directory.cleanup()

    atexit.register(end)
    return f"{BUILD}/selftests/fake {address}"


FAKES = start_fakes()


class Fabric:
    """A fresh fabric that runs the plan, and a controller."""

    def __init__(self, made, switch_timeout=60, phase=6, options=("--change-cost", "10ms")):
        self.tmp = tempfile.TemporaryDirectory()
        self.dir = self.tmp.name
        self.plan = f"{self.dir}/plan.json"
        self.log = f"{self.dir}/log"
        for switch in made.get("optical_switches", ())[:1]:
            switch["control"] = {"driver": "command", "command": f"{FAKES} switch {self.dir}",
                                 "timeout_ms": switch_timeout * 1000}
        save(self.plan, made)
        self.allow = f"{self.dir}/allow"
        with open(self.allow, "w", encoding="utf-8") as file:
            file.write(f"command {FAKES} switch {self.dir}\n")
        # those that are on no optical switch are lit
        number = itertools.count(1)
        ports = {server["name"]: {port["name"]: port.get("optical_port") or next(number)
                                  for port in server["ports"]} for server in made["servers"]}
        save(f"{self.dir}/ports", ports)
        save(f"{self.dir}/rings", [members(ring["order"]) for ring in made["rings"]
                                   if made["demand"]["allreduce"]])
        save(f"{self.dir}/light", [] if made.get("optical_switches") else
             [[port] for names in ports.values() for port in names.values()])
        self.traffic(phase, 0)
        self.options = options
        self.controller = None
        self.start()

    def traffic(self, phase, since=None):
        """Begins @since, or when agents that are looking at it have done so."""
        if since is None:
            since = time.time_ns() + SOON
        save(f"{self.dir}/phase", load(f"{self.dir}/phase", []) + [[since, phase]])

    def launch(self, timeout="60s"):
        open(self.log, "w", encoding="utf-8").close()
        self.controller = subprocess.Popen(
            (TOCTL, "run", self.plan, "-o", self.log, "--set", f"switches.allow={self.allow}",
             "--set", f"agents.timeout={timeout}",
             "--set", f"agents.command={FAKES} agent {self.dir} {{}}", *self.options),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, process_group=0)
        save(f"{self.dir}/controller", self.controller.pid)

    def start(self, timeout="60s"):
        self.launch(timeout)
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
        with harm_lock(self.dir):
            save(f"{self.dir}/harm-{server}",
                 {"action": action, "ops": ops.split(), "count": count, "times": times})

    def mend(self):
        with harm_lock(self.dir):
            for path in glob.glob(f"{self.dir}/harm-*") + glob.glob(f"{self.dir}/dead-*"):
                os.unlink(path)

    def most_memory(self):
        """That the controller has had so far, kB."""
        with open(f"/proc/{self.controller.pid}/status", encoding="ascii") as file:
            return [int(line.split()[1]) for line in file if line.startswith("VmHWM:")][0]

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
        if light != want and made.get("optical_switches"):
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
            at, left = here, len(ports)
            while at and at != to and left:
                at, left = ways.get((at, to)), left - 1
            if at != to:
                found.append((here, to))
        return found

    def moves(self):
        """Each change of the optical switch, as fakes.py says."""
        with open(f"{self.dir}/moves", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def poor(self):
        """Servers that needed a link while it was dark, in each change of the switch."""
        return [move["poor"] for move in self.moves()]


def make_plan(n, degree, apart, allreduce):
    """For servers that send to who is @apart, and around rings."""
    with tempfile.TemporaryDirectory() as directory:
        mp = [[0] * n for _ in range(n)]
        for i in range(n):
            mp[i][(i + apart) % n] = HOT
        save(f"{directory}/job.json", {
            "name": "test", "servers": n, "mp": mp,
            "allreduce": [{"group": "all", "bytes": BUFFER}] if allreduce else []})
        subprocess.run((TOCTL, "plan", "--job", f"{directory}/job.json", "--degree", str(degree),
                        "--bandwidth", "100M", "--seed", "1", "-o", f"{directory}/plan.json"),
                       check=True, capture_output=True)
        return load(f"{directory}/plan.json")
