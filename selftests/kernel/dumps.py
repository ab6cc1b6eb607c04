#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Dumps during which something changes; see dumps.sh.

The kernel makes the first part of a dump at the request and each other part when
the one before it is read. A dump of several parts is therefore in its middle
between dump_begin() and dump_end().
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import genl

PORTS, DEVICES, ROUTES = 30, 30, 1000
tap = genl.Tap()
family = genl.Family()
reader = genl.Family(room=4096)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def ip_batch(lines):
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)


ip_batch([f"link add t{i} type topoopt" for i in range(DEVICES)] +
         [f"link add d{i} type dummy" for i in range(PORTS + 1)] +
         [f"link set d{i} master t0" for i in range(PORTS)])
on = {"ifindex": genl.ifindex("t0")}
port = genl.ifindex("d0")


def stage(net, extra=0):
    """Open a stage with as many groups as routes, to addresses in @net."""
    family.do("stage-new", on)
    add(net, 0, ROUTES + extra)


def add(net, first, end):
    for i in range(first, end, 100):
        ids = range(i, min(i + 100, end))
        family.do("stage-add", dict(
            on, group=[{"id": j, "nexthop": [{"port": port, "mac": f"02:00:00:00:{net:02x}:01"}]}
                       for j in ids],
            route=[{"dst": f"10.{net}.{j >> 8}.{j & 255}", "group": j} for j in ids]))


def commit(base, generation):
    return family.do("commit", dict(on, **{"base-generation": base,
                                           "generation": generation}))["generation"]


def dump(operation, what, values, change=lambda: None):
    """What a dump reads, with its mark, when @change happens in its middle."""
    request = reader.dump_begin(operation, values)
    change()
    replies = reader.dump_end(request)
    found = [one for reply in replies
             for one in (reply[what] if isinstance(reply[what], list) else [reply[what]])]
    return found, reader.interrupted


def undisturbed(name, operation, what, values, count, change=lambda: None):
    found, interrupted = dump(operation, what, values, change)
    tap.ok(len(found) == count and not interrupted, name,
           f"{len(found)} of {count}, interrupted: {interrupted}")


def disturbed(name, operation, what, values, change):
    found, interrupted = dump(operation, what, values, change)
    tap.ok(interrupted, name, f"{len(found)} entries without a mark")
    return found


def nets(routes):
    return {route["dst"].split(".")[1] for route in routes}


# --- the active table ---

stage(1)
commit(0, 1)
generation = 1
tables = (("route-get", "route"), ("group-get", "group"))
for operation, what in tables:
    undisturbed(f"{operation}: whole", operation, what, on, ROUTES)
# Sequences made of the generation's low bits would not tell these apart.
for step in (1, 1 << 31, 1 << 32, 1 << 33):
    for operation, what in tables:
        stage(2)
        state = {}

        def change():
            state["generation"] = commit(generation, generation + step)
        found = disturbed(f"{operation}: commit of generation +{step:#x}", operation, what, on,
                          change)
        if what == "route":
            tap.ok(len(nets(found)) == 1, "routes of one table", nets(found))
        generation = state["generation"]
        stage(1)
        generation = commit(generation, generation + 1)

family.do("stage-new", on)
undisturbed("a stage that changes leaves dumps of the table alone", "route-get", "route", on,
            ROUTES, lambda: add(3, 0, 100))
family.do("abort", on)

# --- the stage ---

staged = dict(on, staged=True)
for operation, what in tables:
    stage(3)
    undisturbed(f"{operation}: whole stage", operation, what, staged, ROUTES)
    disturbed(f"{operation}: stage that grows", operation, what, staged,
              lambda: add(3, ROUTES, ROUTES + 100))
    disturbed(f"{operation}: stage that is prepared", operation, what, staged,
              lambda: family.do("stage-prepare", on))
    undisturbed(f"{operation}: whole prepared stage", operation, what, staged, ROUTES + 100)

    def again():
        family.do("abort", on)
        stage(4, 100)
    disturbed(f"{operation}: stage that is replaced", operation, what, staged, again)
    family.do("abort", on)

# --- ports and devices ---

undisturbed("port-get: whole", "port-get", "port", on, PORTS)
for name, change in (
        ("joins", ("link", "set", f"d{PORTS}", "master", "t0")),
        ("leaves", ("link", "set", f"d{PORTS}", "nomaster")),
        ("goes up", ("link", "set", "d0", "up")),
        ("goes down", ("link", "set", "d0", "down")),
        ("is renamed", ("link", "set", "d0", "name", "e0"))):
    disturbed(f"port-get: a port {name}", "port-get", "port", on, lambda: ip(*change))
for values in ({"tx-ifindex": genl.ifindex(f"d{PORTS}")}, {"tx-ifindex": 0}, {"xdp-classes": 1}):
    disturbed(f"port-get: port-set of {values}", "port-get", "port", on, lambda: family.do(
        "port-set", dict(on, port=dict(values, ifindex=port))))


def commit_again():
    stage(1)
    commit(generation, generation + 1)


undisturbed("port-get: a commit changes no port", "port-get", "port", on, PORTS, commit_again)
undisturbed("dev-get: whole", "dev-get", "ifindex", {}, DEVICES)
disturbed("dev-get: a device comes", "dev-get", "ifindex", {},
          lambda: ip("link", "add", "t99", "type", "topoopt"))
disturbed("dev-get: a device goes", "dev-get", "ifindex", {}, lambda: ip("link", "delete", "t99"))

# --- the last generation that may be asked for ---

generation = family.do("dev-get", on)["generation"]
stage(1)
generation = commit(generation, (1 << 63) - 1)
stage(1)
generation = family.do("commit", dict(on, **{"base-generation": generation}))["generation"]
tap.ok(generation == 1 << 63, "commits go on after it", generation)
tap.done()
