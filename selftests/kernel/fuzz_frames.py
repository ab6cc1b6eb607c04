#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Load a table of fuzz_frames into a topoopt device.

    fuzz_frames.py TABLE DEVICE
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import genl

hops, groups, routes, checks = {}, [], [], []
with open(sys.argv[1], encoding="utf-8") as stream:
    for line in stream:
        kind, *words = line.split()
        if kind == "port":
            hops[words[0]] = {"port": genl.ifindex(words[0]), "mac": words[2]}
        elif kind == "group":
            members = [hops[name] for name in words[1].split(",")]
            if words[2] != "-":
                members.append(dict(hops[words[2]], backup=True))
            groups.append(("group", [("id", int(words[0]))] + [("nexthop", m) for m in members]))
        elif kind == "neighbour":
            checks = [("check", {"interval": "10ms", "fabric": 7, "server": words[1]}),
                      ("peer", dict(hops[words[0]], index=0, server=words[2],
                                    **{"server-port": words[3]}))]
        else:
            route = {}
            for name, prefix in zip(("dst", "src"), words):
                if prefix != "any":
                    route[name], _, length = prefix.partition("/")
                    if length:
                        route[f"{name}-len"] = int(length)
            if words[2] == "local":
                route["type"] = words.pop(2)
            if words[2:]:
                route["group"] = int(words[2])
            routes.append(("route", route))

family = genl.Family()
device = ("ifindex", genl.ifindex(sys.argv[2]))
family.do("stage-new", [device])
family.do("stage-add", [device, *checks, *groups, *routes])
family.do("commit", [device, ("base-generation", 0)])
