#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cyclic buffer dependencies that toctl verify finds, against those of plan.json's own tables."""

import json
import os
import subprocess
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")  # RefResolver, in versions after Debian 12's
import jsonschema

sys.path.insert(0, "selftests/unit")
from fakes import load, save  # noqa: E402
from tap import done, report  # noqa: E402

TOCTL = os.environ.get("TOCTL", "build/toctl")
SCHEMA = load("Documentation/schemas/verify.schema.json")
tmp = tempfile.TemporaryDirectory()
DIR = tmp.name


def toctl(*arguments):
    run = subprocess.run((TOCTL, *arguments), capture_output=True, text=True, check=False)
    if run.returncode:
        report(False, " ".join(arguments), run.stderr)
        done()
    return run.stdout


def members(text):
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


class Routes:
    """Next links by server and address, and by source where it has routes of its own."""

    def __init__(self, plan):
        names = [server["name"] for server in plan["servers"]]
        self.n, self.arcs = len(names), {}
        shared = {f"{server['name']}:{port['name']}" for server in plan["servers"]
                  for port in server["ports"] if port.get("packet_switch")}
        for link in plan["links"]:
            for a, b in ((link["a"], link["b"]), (link["b"], link["a"])):
                server, port = a.split(":")
                peer = b.split(":")[0]
                # the buffers on the way: on a packet switch those of both its ports
                buffers = ("to", a), ("from", b) if a in shared else ("to", a)
                self.arcs[names.index(server), port, peer if a in shared else None] = (
                    buffers, names.index(peer))
        self.next, self.own, self.addresses = {}, {}, set()
        for table in plan["tables"]:
            x = names.index(table["server"])
            groups = [[self.arcs[x, hop["port"], hop.get("peer")] for hop in group
                       if not hop.get("backup") and not hop.get("ingress") and
                       (x, hop["port"], hop.get("peer")) in self.arcs] for group in table["groups"]]
            for route in table["routes"]:
                sets = [route.get("nodes", ""), *route.get("ports", ())]
                for slot, text in enumerate(sets):
                    for dst in members(text):
                        self.next[x, dst, slot] = groups[route["group"]]
                        self.addresses.add((dst, slot))
            for pair in table["pairs"]:
                for slot, text in enumerate([pair.get("nodes", ""), *pair.get("ports", ())]):
                    for dst in members(text):
                        for src in members(pair["from"]):
                            self.own.setdefault((src, dst, slot), {})[x] = groups[pair["group"]]

    def waits(self, sends):
        """Pairs of buffers that packets take one after the other."""
        found = set()
        for dst, slot in self.addresses:
            for src in range(self.n):
                if src == dst or not sends(src, dst):
                    continue
                own, seen, todo = self.own.get((src, dst, slot), {}), set(), [src]
                while todo:
                    x = todo.pop()
                    if x == dst or x in seen:
                        continue
                    seen.add(x)
                    for (first, last), to in own.get(x) or self.next.get((x, dst, slot), ()):
                        todo.append(to)
                        if first != last:
                            found.add((first, last))
                        if to != dst:
                            found.update((last, after) for (after, _), _ in
                                         own.get(to) or self.next.get((to, dst, slot), ()))
        return found


def cyclic(waits):
    """Take away links that nothing waits for until none is left, or a cycle is."""
    waits = set(waits)
    while waits:
        begin = {a for a, b in waits} & {b for a, b in waits}
        left = {(a, b) for a, b in waits if a in begin and b in begin}
        if left == waits:
            return True
        waits = left
    return False


def check(name, path, routes, job):
    """What verify says of a plan: is there a cycle on its routes, and on its job's?"""
    plan = load(path)
    said = json.loads(toctl("verify", "--json", path))
    jsonschema.validate(said, SCHEMA)
    tables = Routes(plan)
    demand = {(src, dst) for mp in plan["demand"]["mp"] for src in members(mp["from"])
              for dst in members(mp["to"])}
    demand |= {(dst, src) for mp in plan["demand"]["mp"] if mp.get("both") for src in members(mp["from"])
               for dst in members(mp["to"])}
    everything = tables.waits(lambda src, dst: True)
    good = []
    for which, waits, expected in (("routes", everything, routes), ("job", tables.waits(
            lambda src, dst: (src, dst) in demand), job)):
        found = said["buffer_cycles"][which]
        good.append(cyclic(waits) == bool(found["servers"]) == expected and
                    len(waits) == found["dependencies"])
    names = {server["name"]: i for i, server in enumerate(plan["servers"])}
    ends = {}
    for ((_, end), _), to in tables.arcs.values():
        ends.setdefault(end.split(":")[0], set()).add(to)
    for found in said["buffer_cycles"].values():
        cycle = found["servers"]
        good.append(all(names[b] in ends[a] for a, b in zip(cycle, cycle[1:] + cycle[:1])))
    report(all(good), name, (good, said["buffer_cycles"]))


def ring(n, name, mp, allreduce=True):
    """A plan for a ring of cables whose job has these MP transfers."""
    cluster = load("examples/ring-4/cluster.json")
    servers = [{"name": f"s{i}", "ipv4": f"10.200.0.{i + 1}", "ports": [
        {"name": f"eth{q}", "mac": f"02:54:4f:0{q}:00:{i + 1:02x}", "ipv4": f"10.20{q + 1}.0.{i + 1}",
         "bandwidth": 100000000000} for q in range(2)]} for i in range(n)]
    cluster.update(servers=servers, links=[{"a": f"s{i}:eth0", "b": f"s{(i + 1) % n}:eth1"} for i in range(n)])
    save(f"{DIR}/cluster.json", cluster)
    save(f"{DIR}/job.json", {"format": "topoopt-job", "version": 1, "name": name, "servers": n,
                             "allreduce": [{"group": "all", "bytes": 1 << 30}] if allreduce else [],
                             "mp": [{"from": str(a), "to": str(b), "bytes": 1 << 20} for a, b in mp]})
    toctl("plan", "--cluster", f"{DIR}/cluster.json", "--job", f"{DIR}/job.json", "--fixed",
          "-o", f"{DIR}/{name}.json")
    return f"{DIR}/{name}.json"


def segments(n):
    """A ring of packet switches: server i on two of them, server n + i on one."""
    def port(i, q, switch):
        return {"name": f"eth{q}", "mac": f"02:54:4f:0{q}:00:{i + 1:02x}", "ipv4": f"10.20{q + 1}.0.{i + 1}",
                "bandwidth": 100000000000, "packet_switch": f"sw{switch % n}"}

    servers = [{"name": f"s{i}", "ipv4": f"10.200.0.{i + 1}",
                "ports": [port(i, 0, i - 1), port(i, 1, i)] if i < n else [port(i, 0, i)]} for i in range(2 * n)]
    save(f"{DIR}/cluster.json", {"format": "topoopt-cluster", "version": 1, "servers": servers, "links": [],
                                 "packet_switches": [{"name": f"sw{i}", "ports": 3} for i in range(n)]})
    save(f"{DIR}/job.json", {"format": "topoopt-job", "version": 1, "name": "segments", "servers": 2 * n,
                             "allreduce": [], "mp": [{"from": str(n + i), "to": str(n + (i + 1) % n),
                                                      "bytes": 1 << 20} for i in range(n)]})
    toctl("plan", "--cluster", f"{DIR}/cluster.json", "--job", f"{DIR}/job.json", "--fixed",
          "-o", f"{DIR}/segments.json")
    return f"{DIR}/segments.json"


check("a chain cannot deadlock", "examples/chain-3/plan.json", False, False)
check("a ring of six can, its AllReduce cannot", ring(6, "ring", ()), True, False)
check("nor can a job that has one transfer", ring(6, "one", ((0, 3),)), True, False)
check("one that sends two hops all round can", ring(6, "round", [(i, (i + 2) % 6) for i in range(6)]), True, True)
toctl("plan", "--job", "examples/jobs/dlrm-16.json", "--degree", "4", "--effort", "1", "-o", f"{DIR}/dlrm.json")
check("a DLRM on sixteen servers", f"{DIR}/dlrm.json", True, True)
check("ports of packet switches are buffers that routes share", segments(5), True, True)
text = toctl("verify", "examples/chain-3/plan.json")
report("  PFC              no buffer cycle\n" in text, "as text", text)
text = toctl("verify", "-v", f"{DIR}/ring.json")
report("  PFC              buffer cycle of 6 links, none for the job: can deadlock" in text and
       "    on routes: s" in text and "    on routes of the job: none\n" in text,
       "with the servers of a cycle", text)

# --- routes without ---


def without(name, *arguments):
    """The same plan without buffer cycles, verified, and its figures."""
    figures = json.loads(toctl("plan", *arguments, "--no-buffer-cycles", "--json", "-o", f"{DIR}/{name}.json"))
    check(f"{name}: no cycle without buffer cycles", f"{DIR}/{name}.json", False, False)
    said = json.loads(toctl("verify", "--json", f"{DIR}/{name}.json"))
    report(said["valid"] and said["unreachable"] > 0 and
           load(f"{DIR}/{name}.json")["no_buffer_cycles"], f"{name}: valid, not all ports are reached", said)
    return figures


def price(figures):
    """Of the busiest link, and of hops."""
    other = figures["with_buffer_cycles"]
    return (figures["max_link_load_bytes"] / other["max_link_load_bytes"],
            figures["routes"]["all"]["mean_hops"] / other["mean_hops"])


save(f"{DIR}/ring8.json", {"format": "topoopt-job", "version": 1, "name": "ring8", "servers": 8,
                           "allreduce": [{"group": "all", "bytes": 1 << 30}]})
figures = without("allreduce", "--job", f"{DIR}/ring8.json", "--degree", "2", "--rings")
report(price(figures)[0] == 1 and price(figures)[1] >= 1, "AllReduce on rings has no price", figures)
ring(6, "hexagon", [(i, (i + 2) % 6) for i in range(6)])
figures = without("round6", "--job", f"{DIR}/job.json", "--cluster", f"{DIR}/cluster.json", "--fixed")
report(price(figures)[0] > 1, "on a ring the link where it is cut has none of the transfers: others have more", figures)
for name, job in (("dlrm", "jobs/dlrm-16"), ("candle", "jobs/candle-16"), ("prototype", "prototype-12/job")):
    without(name, "--job", f"examples/{job}.json", "--degree", "4", "--effort", "1")
text = toctl("plan", "--job", "examples/jobs/dlrm-16.json", "--degree", "4", "--effort", "1",
             "--no-buffer-cycles", "-o", f"{DIR}/text.json")
report("  no buffer cycles   busiest link " in text and " with them" in text, "the price as text", text)

toctl("plan", "--job", "examples/jobs/dlrm-16.json", "--degree", "4", "--effort", "1", "-o", f"{DIR}/plain.json")
plan = load(f"{DIR}/plain.json")
save(f"{DIR}/claims.json", plan | {"no_buffer_cycles": True})
run = subprocess.run((TOCTL, "verify", f"{DIR}/claims.json"), capture_output=True, text=True, check=False)
report(run.returncode == 1 and "no_buffer_cycles: links of " in run.stdout + run.stderr,
       "a plan that only claims it", run.stdout + run.stderr)
for name, arguments, text in (
        ("simplex links", ("--job", f"{DIR}/ring8.json", "--degree", "1", "--links", "simplex"),
         "no order of servers joins all of them"),
        ("packet switches", ("--cluster", f"{DIR}/segments-cluster.json", "--job", f"{DIR}/segments-job.json", "--fixed"),
         "packet switches have buffers that routes up and routes down share")):
    segments(5)
    for file in ("cluster", "job"):
        save(f"{DIR}/segments-{file}.json", load(f"{DIR}/{file}.json"))
    run = subprocess.run((TOCTL, "plan", *arguments, "--no-buffer-cycles", "-o", f"{DIR}/refused.json"),
                         capture_output=True, text=True, check=False)
    report(run.returncode == 1 and text in run.stderr, f"refused: {name}", run.stderr)
done()
