#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the spec with the uapi header and with the module; see spec.sh."""

import os
import re
import struct
import sys

here = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(here, ".."))
import genl

tap = genl.Tap()
family = genl.Family()
with open(os.path.join(here, "../../uapi/linux/topoopt.h"), encoding="utf-8") as stream:
    header = re.sub(r"/\*.*?\*/", "", stream.read(), flags=re.S)

# --- the header, as a C compiler numbers it ---

numbers = dict((name, int(value)) for name, value in
               re.findall(r"#define (TOPOOPT_\w+)\s+(\d+)", header))
for body in re.findall(r"enum\s*\w*\s*\{(.*?)\}", header, re.S):
    value = -1
    for item in filter(None, (item.strip() for item in body.split(","))):
        name, _, given = (part.strip() for part in item.partition("="))
        value = int(given) if given.isdigit() else numbers[re.search(r"__\w+", given)[0]] - 1 \
            if given else value + 1
        numbers[name] = value

expected = {"TOPOOPT_FAMILY_VERSION": 1}
for definition in family.spec["definitions"]:
    if definition["type"] == "const":
        expected[f"TOPOOPT_{definition['name']}"] = definition["value"]
    else:
        for i, name in enumerate(family.enums[definition["name"]]):
            expected[f"TOPOOPT_{definition['name']}_{name}"] = i
for space, names in family.sets.items():
    for name, spec in names.items():
        expected[f"TOPOOPT_A_{space}_{name}"] = spec["value"]
for name, operation in family.operations.items():
    expected[f"TOPOOPT_CMD_{name}"] = operation["value"]
expected = {name.upper().replace("-", "_"): value for name, value in expected.items()}
ours = {name: value for name, value in numbers.items()
        if not name.endswith("_MAX") and not name.startswith("__")}
tap.ok(ours == expected, "uapi header", str(set(ours.items()) ^ set(expected.items())))

# --- the module: which commands, for whom ---

found = {}
reply, = family._exchange(genl.CTRL, 0, struct.pack("=BBH", genl.GETFAMILY, 1, 0) +
                          genl.attribute(1, struct.pack("=H", family.id)))
for kind, _, data in genl.attributes(reply[4:]):
    if kind == 6:       # CTRL_ATTR_OPS
        for _, _, operation in genl.attributes(data):
            entry = {k: struct.unpack("=I", v)[0] for k, _, v in genl.attributes(operation)}
            found[entry[1]] = entry[2]
UNS_ADMIN, DO, HAS_DUMP, POLICY = 0x10, 2, 4, 8
# Without attributes, some kernels give a command a policy that refuses all, others none.
takes = {op["value"] for op in family.operations.values()
         if any("request" in op.get(mode, ()) for mode in ("do", "dump"))}
wanted = {}
for operation in family.operations.values():
    if "event" not in operation:
        wanted[operation["value"]] = (
            (DO if "do" in operation else 0) | (HAS_DUMP if "dump" in operation else 0) |
            (UNS_ADMIN if "uns-admin-perm" in operation.get("flags", ()) else 0) |
            (POLICY if operation["value"] in takes else found[operation["value"]] & POLICY))
tap.ok(found == wanted, "commands and privileges", f"{found} {wanted}")
tap.ok(list(family.groups) == [g["name"] for g in family.spec["mcast-groups"]["list"]],
       "multicast groups", str(family.groups))

# --- the module: what commands take ---

# enum netlink_attribute_type and netlink_policy_type_attr of linux/netlink.h
TYPES = {1: "flag", 2: "u8", 3: "u16", 4: "u32", 5: "u64", 10: "binary", 11: "string",
         12: "string", 13: "nest"}
TYPE, MAX_U, MIN_U, MIN_LENGTH, MAX_LENGTH, POLICY_INDEX, MASK = 1, 5, 4, 6, 7, 8, 12
# enum ctrl_attr_policy_op
DO_POLICY, DUMP_POLICY = 1, 2
LIMITS = {"u8": 0xff, "u16": 0xffff, "u32": 0xffffffff, "u64": 0xffffffffffffffff}
# Do and dump have policies of their own.
SPLIT = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= (6, 2)


def number(data):
    return int.from_bytes(data, sys.byteorder)


def policies(operation):
    """What the command nests, as {index: {type: {...}}}, and the index of its policy for
    each mode, DO_POLICY or DUMP_POLICY."""
    found, index = {}, {}
    for reply in family._exchange(
            genl.CTRL, genl.DUMP, struct.pack("=BBH", genl.GETPOLICY, 1, 0) +
            genl.attribute(1, struct.pack("=H", family.id)) +
            genl.attribute(10, struct.pack("=I", operation))):
        for kind, _, data in genl.attributes(reply[4:]):
            if kind == 8:       # CTRL_ATTR_POLICY
                for policy, _, entries in genl.attributes(data):
                    for attribute, _, fields in genl.attributes(entries):
                        found.setdefault(policy, {})[attribute] = {
                            k: number(v) for k, _, v in genl.attributes(fields)}
            elif kind == 9:     # CTRL_ATTR_OP_POLICY
                for command, _, entries in genl.attributes(data):
                    for mode, _, policy in genl.attributes(entries):
                        index.setdefault(command, {})[mode] = number(policy)
    return found, index[operation]


def compare(found, index, space, names, path, problems, seen=()):
    policy = {kind: entry for kind, entry in found.get(index, {}).items()
              if entry.get(TYPE)}
    wanted = {spec["value"]: spec for name, spec in family.sets[space].items()
              if name in names and spec["type"] != "pad"}
    if set(policy) != set(wanted):
        problems.append(f"{path}: takes {sorted(policy)}, spec has {sorted(wanted)}")
    for kind in set(policy) & set(wanted):
        spec, entry = wanted[kind], policy[kind]
        where = f"{path}.{spec['name']}"
        checks = spec.get("checks", {})
        if TYPES.get(entry[TYPE]) != spec["type"]:
            problems.append(f"{where}: is type {entry[TYPE]}, spec says {spec['type']}")
        highest = checks.get("max", LIMITS.get(spec["type"]))
        lowest = checks.get("min", 0) if spec["type"] in LIMITS else None
        mask = None
        if "enum" in spec:
            highest = len(family.enums[spec["enum"]]) - 1
        if spec.get("enum-as-flags"):
            lowest, highest, mask = None, None, (2 << highest) - 1
        for what, field, value in (
                ("max", MAX_U, highest),
                ("min", MIN_U, lowest),
                ("mask", MASK, mask),
                ("min-len", MIN_LENGTH, checks.get("exact-len")),
                ("max-len", MAX_LENGTH, checks.get("exact-len", checks.get("max-len")))):
            if value is not None and entry.get(field) != value:
                problems.append(f"{where}: {what} is {entry.get(field)}, spec says {value}")
        if spec["type"] == "nest" and spec["nested-attributes"] not in seen:
            inner = spec["nested-attributes"]
            compare(found, entry.get(POLICY_INDEX), inner, family.sets[inner], where,
                    problems, seen + (inner,))


for name, operation in family.operations.items():
    if operation["value"] not in takes:
        continue
    problems = []
    found, index = policies(operation["value"])
    for mode, policy in (("do", DO_POLICY), ("dump", DUMP_POLICY)):
        # Before 6.2 the kernel shows the policy of the do for the dump, too.
        request = operation.get(mode, {}).get("request")
        if request and (mode == "do" or SPLIT):
            compare(found, index[policy], operation["attribute-set"],
                    request["attributes"], f"{name} {mode}", problems)
    tap.ok(not problems, f"policy of {name}", "; ".join(problems))
tap.done()
