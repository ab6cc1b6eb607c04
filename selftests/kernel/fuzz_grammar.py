#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Print the grammar of the netlink family as the C tables of fuzz_netlink.c.

    fuzz_grammar.py SPEC >fuzz_grammar.h
"""

import sys

import yaml

with open(sys.argv[1], encoding="utf-8") as stream:
    spec = yaml.safe_load(stream)
consts = {d["name"]: d for d in spec["definitions"]}


def symbol(name):
    return name.replace("-", "_")


def attribute(attr):
    checks = attr.get("checks", {})
    kind = "PAD" if attr["type"] == "pad" else attr["type"].upper()
    fields = [f'.name = "{attr["name"]}"', f".kind = {kind}"]
    if "enum" in attr:
        fields.append(f'.max = {len(consts[attr["enum"]]["entries"]) - 1}')
    for key in ("min", "max"):
        if key in checks:
            fields.append(f".{key} = {checks[key]}")
    for key in ("max-len", "exact-len"):
        if key in checks:
            fields.append(f".len = {checks[key]}")
    if attr.get("multi-attr"):
        fields.append(".many = true")
    if attr["type"] == "nest":
        fields.append(f'.nest = &set_{symbol(attr["nested-attributes"])}')
    return "{ " + ", ".join(fields) + " }"


def names(entry):
    """Bit per attribute that a request of an operation may have."""
    order = [a["name"] for a in device["attributes"]]
    return sum(1 << (order.index(name) + 1) for name in entry.get("request", {})
               .get("attributes", ()))


print(f"/* made from {sys.argv[1].rsplit('/', 1)[-1]} by fuzz_grammar.py */")
done = set()
pending = list(spec["attribute-sets"])
while pending:
    current = pending.pop(0)
    nested = {a["nested-attributes"] for a in current["attributes"] if a["type"] == "nest"}
    if nested - done:
        pending.append(current)
        continue
    done.add(current["name"])
    name = symbol(current["name"])
    print(f"static const struct attr attrs_{name}[] = {{")
    for attr in current["attributes"]:
        print(f"\t{attribute(attr)},")
    print("};")
    print(f'static const struct set set_{name} = '
          f'{{ attrs_{name}, {len(current["attributes"])} }};')

device = next(s for s in spec["attribute-sets"] if s["name"] == "device")
print("static const struct op ops[] = {")
for number, op in enumerate(spec["operations"]["list"], 1):
    if "event" in op:
        continue
    fields = [f'.name = "{op["name"]}"', f".cmd = {number}"]
    for way in ("do", "dump"):
        if way in op:
            fields.append(f".can_{way} = true, .{way}_attrs = {names(op[way]):#x}")
    print("\t{ " + ", ".join(fields) + " },")
print("};")
