#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Continuity checks of a server of a plan, for continuity.sh.

    continuity.py on PLAN SERVER INTERVAL [FABRIC]	the active table again, with its neighbours
    continuity.py off				and without
    continuity.py show			PORT NEIGHBOUR REASON transit|local|none of each
    continuity.py get PORT KEY			of a neighbour
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import genl

family = genl.Family()
ON = {"ifindex": genl.ifindex("topo0")}


def neighbours(plan, server):
    ports = {f"{s['name']}:{p['name']}": p for s in plan["servers"] for p in s["ports"]}
    index = {s["name"]: i for i, s in enumerate(plan["servers"])}
    for link in plan["links"]:
        for near, far in (link["a"], link["b"]), (link["b"], link["a"]):
            if near.split(":")[0] != server:
                continue
            name, port = far.split(":")
            yield {"port": genl.ifindex(near.split(":")[1]),
                   "mac": bytes.fromhex(ports[far]["mac"].replace(":", "")),
                   "index": index[name], "server": name, "server-port": port}


def commit(**more):
    state = family.do("dev-get", ON)
    groups = family.table_groups(ON)
    routes = [r for m in family.dump("route-get", ON) for r in m["route"]]
    family.do("stage-new", ON)
    family.do("stage-add", dict(ON, group=groups, route=routes, **more))
    family.do("commit", dict(ON, **{"base-generation": state["generation"]}))


def peers():
    return [p for m in family.dump("peer-get", ON) for p in m["peer"]]


command, *rest = sys.argv[1:]
if command == "on":
    with open(rest[0], encoding="utf-8") as stream:
        plan = json.load(stream)
    commit(peer=list(neighbours(plan, rest[1])),
           check={"interval": rest[2], "fabric": int((rest[3:] or ["7"])[0]),
                  "server": rest[1], "grace": 3000})
elif command == "off":
    commit()
elif command == "show":
    for p in peers():
        takes = "transit" if p.get("transit") else "local" if p.get("local") else "none"
        print(genl.ifname(p["port"]) if hasattr(genl, "ifname") else p["port"],
              p["server"].split("-")[0] + ":" + p["server-port"], p["reason"], takes)
elif command == "get":
    for p in peers():
        if p["port"] == genl.ifindex(rest[0]):
            print(p.get(rest[1]))
