#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages that the kernel has to refuse; see netlink_errors.sh.

    netlink_errors.py DEVICE PORT PORT
"""

import ctypes
import errno
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import genl

device, port, other = map(genl.ifindex, sys.argv[1:4])
loopback = genl.ifindex("lo")
tap = genl.Tap()
family = genl.Family()
MAC = "02:00:00:00:00:07"
HOP = {"port": port, "mac": MAC}
ON = {"ifindex": device}
ANY = object()      # old kernels blame no attribute of a dump


def snapshot():
    state = family.do("dev-get", ON)
    state.pop("counters")
    return state, family.dump("route-get", ON), family.dump("group-get", ON)


def refused(name, call, code, words, attribute=None, missing=None):
    """The call fails like this, and the device is as it was before."""
    before = snapshot()
    try:
        call()
    except genl.Error as error:
        good = (error.errno == code and re.search(words, error.text) and
                attribute in (error.attribute, ANY) and
                (missing is None or error.missing == missing))
        tap.ok(good and snapshot() == before, name,
               f"{error}, missing {error.missing}; expected "
               f"{os.strerror(code)}: {words} [{attribute}]; "
               f"unchanged: {snapshot() == before}")
    else:
        tap.ok(False, name, "not refused")


def do(operation, *values):
    return lambda: family.do(operation, list(values))


def add(*values):
    return do("stage-add", ("ifindex", device), *values)


def route(**values):
    return ("route", {name.replace("_", "-"): value for name, value in values.items()})


def group(*hops, id=9):
    return ("group", [("id", id)] + [("nexthop", hop) for hop in hops])


# --- the shape of messages ---

head = family.header("stage-add") + family.encode(ON)
refused("unknown command", lambda: family.raw(b"\x63\1\0\0"), errno.EOPNOTSUPP, "")
refused("no generic netlink header", lambda: family.raw(b""), errno.EINVAL, "")
refused("reserved bits of the header", lambda: family.raw(
    struct.pack("=BBH", family.operations["dev-get"]["value"], 1, 7) + family.encode(ON)),
        errno.EINVAL, "reserved")
refused("event as a request", lambda: family.raw(family.header("commit-ntf")),
        errno.EOPNOTSUPP, "")
refused("unknown attribute", do("dev-get", ("ifindex", device), (200, b"1234")),
        errno.EINVAL, "(?i)unknown|unsupported", "200")
refused("attribute that the command does not take",
        do("abort", ("ifindex", device), ("generation", 1)),
        errno.EINVAL, "(?i)unknown|unsupported", "generation")
refused("attribute longer than the message", lambda: family.raw(
    head + struct.pack("=HH", 400, 12 | genl.NESTED) + bytes(8)), errno.EINVAL, "")
refused("attribute shorter than its header", lambda: family.raw(
    head + struct.pack("=HH", 2, 12) + bytes(8)), errno.EINVAL, "")
refused("bytes after the last attribute", lambda: family.raw(head + b"\1\0\1"),
        errno.EINVAL, "bytes left")
refused("nest without its flag", lambda: family.raw(head + genl.attribute(
    family.sets["device"]["route"]["value"], genl.attribute(1, bytes(4)))),
        errno.EINVAL, "NLA_F_NESTED", "route")
refused("number of three bytes", do("dev-get", ("ifindex", b"123")),
        errno.EINVAL, "length", "ifindex")
refused("flags of a modification", lambda: family.raw(
    family.header("abort") + family.encode(ON), 0x100), errno.EINVAL, "(?i)flag|")

# --- devices ---

everything = ("dev-get", "stage-new", "stage-add", "stage-prepare", "commit",
              "abort", "route-get", "group-get", "port-get")
for operation in everything:
    refused(f"{operation}: no ifindex", do(operation), errno.EINVAL, "missing",
            missing=family.sets["device"]["ifindex"]["value"])
    refused(f"{operation}: no such device", do(operation, ("ifindex", 99999)),
            errno.ENODEV, "No such device", "ifindex")
    refused(f"{operation}: another kind of device", do(operation, ("ifindex", loopback)),
            errno.EOPNOTSUPP, "Not a topoopt device", "ifindex")
for operation in ("route-get", "group-get", "port-get"):
    refused(f"{operation}: dump without ifindex", lambda: family.dump(operation),
            errno.EINVAL, "missing", ANY)
    refused(f"{operation}: dump of no device",
            lambda: family.dump(operation, {"ifindex": 99999}), errno.ENODEV, "No such")
for operation, one in (("route-get", "route"), ("group-get", "group"), ("port-get", "port")):
    refused(f"{operation}: dump of a single one",
            lambda: family.dump(operation, {"ifindex": device, one: {}}),
            errno.EINVAL, "(?i)unknown|unsupported", ANY)
refused("dev-get: dump of a single one", lambda: family.dump("dev-get", ON), errno.EINVAL,
        "(?i)unknown|unsupported|no attributes", ANY)

refused("module-get: any attribute", do("module-get", ("ifindex", device)), errno.EINVAL,
        "(?i)unknown|no attributes|policy", ANY)

# --- programs that count ---


def program(kind, *instructions, flags=0):
    """A loaded BPF program; instructions are (code, registers, offset)."""
    code = b"".join(struct.pack("=BBhi", *i, 0) for i in instructions)
    memory, text = ctypes.create_string_buffer(code), ctypes.create_string_buffer(b"GPL")
    attr = struct.pack("=IIQQ", kind, len(instructions), ctypes.addressof(memory),
                       ctypes.addressof(text)).ljust(44, b"\0")
    attr = (attr + struct.pack("=I", flags)).ljust(128, b"\0")
    bpf = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
    return ctypes.CDLL(None, use_errno=True).syscall(bpf, 5, attr, len(attr))


def account(*values):
    return do("account", ("ifindex", device), *values)


ZERO, EXIT, ARGUMENT_11 = (0xb7, 0, 0), (0x95, 0, 0), (0x79, 0x10, 88)
STACK_128 = (0x7a, 10, -128)
SOCKET_FILTER, RAW_TRACEPOINT = 1, 17
SLEEPABLE = 1 << 4
good = program(RAW_TRACEPOINT, ZERO, EXIT)
tap.ok(good >= 0, "a program to count with", str(good))
refused("account: no program", account(), errno.EINVAL, "program is missing",
        missing=family.sets["device"]["program"]["value"])
refused("account: no such file", account(("program", 9999)), errno.EBADF,
        "Not a BPF program", "program")
refused("account: not a program", account(("program", 0)), errno.EINVAL,
        "Not a BPF program", "program")
refused("account: another type", account(("program", program(SOCKET_FILTER, ZERO, EXIT))),
        errno.EINVAL, "Not a BPF program", "program")
refused("account: reads past the arguments",
        account(("program", program(RAW_TRACEPOINT, ARGUMENT_11, ZERO, EXIT))),
        errno.EINVAL, "more arguments than there are", "program")
sleeping = program(RAW_TRACEPOINT, ZERO, EXIT, flags=SLEEPABLE)
if sleeping < 0:
    tap.ok(True, "account: a program that sleeps # SKIP this kernel loads none")
else:
    refused("account: a program that sleeps", account(("program", sleeping)),
            errno.EINVAL, "cannot run here", "program")
# From 6.13 on those may have stacks of their own that need some.
if tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) < (6, 13):
    tap.ok(True, "account: a program with a stack of its own # SKIP this kernel has none")
else:
    deep = program(RAW_TRACEPOINT, STACK_128, ZERO, EXIT)
    refused("account: a program with a stack of its own", account(("program", deep)),
            errno.EINVAL, "too much stack", "program")
family.do("account", [("ifindex", device), ("program", good)])
refused("account: a second program", account(("program", good)), errno.EBUSY,
        "has a program already")

# --- ports ---

refused("port-get: no port", do("port-get", ("ifindex", device)), errno.EINVAL, "missing")
refused("port-get: port without ifindex", do("port-get", ("ifindex", device), ("port", {})),
        errno.EINVAL, "missing")
refused("port-get: not a port", do("port-get", ("ifindex", device),
                                   ("port", {"ifindex": loopback})),
        errno.ENODEV, "Not a port", "port.ifindex")
refused("port-set: nothing to set", do("port-set", ("ifindex", device),
                                       ("port", {"ifindex": port})), errno.EINVAL, "Neither")
refused("port-set: a class that does not exist",
        do("port-set", ("ifindex", device), ("port", {"ifindex": port, "xdp-classes": 8})),
        errno.EINVAL, "", "port.xdp-classes")
refused("port-set: not a port", do("port-set", ("ifindex", device),
                                   ("port", {"ifindex": loopback, "tx-ifindex": 0})),
        errno.ENODEV, "No such port", "port.ifindex")
refused("port-set: no such transmit device",
        do("port-set", ("ifindex", device), ("port", {"ifindex": port, "tx-ifindex": 99999})),
        errno.ENODEV, "")

# Attributes of replies, which the policy knows.
NOT_TAKEN = (errno.EINVAL, "does not take")
for name, value in (("ifname", "eth9"), ("tx-ifname", "eth9"), ("live", True), ("left", True),
                    ("counters", {}), ("xdp-error", 1)):
    for operation in ("port-get", "port-set"):
        refused(f"{operation}: {name}", do(operation, ("ifindex", device), (
            "port", {"ifindex": port, "tx-ifindex": 0, name: value}
            if operation == "port-set" else {"ifindex": port, name: value})),
                *NOT_TAKEN, f"port.{name}")
refused("port-get: tx-ifindex", do("port-get", ("ifindex", device),
                                   ("port", {"ifindex": port, "tx-ifindex": 0})),
        *NOT_TAKEN, "port.tx-ifindex")

# --- without a stage ---

for operation in ("stage-add", "stage-prepare", "abort"):
    refused(f"{operation}: no stage", do(operation, ("ifindex", device)),
            errno.ENOENT, "No stage")
refused("commit: no stage", do("commit", ("ifindex", device), ("base-generation", 1)),
        errno.ENOENT, "No stage")
for operation in ("route-get", "group-get"):
    refused(f"{operation}: dump of no stage",
            lambda: family.dump(operation, {"ifindex": device, "staged": True}),
            errno.ENOENT, "No stage", ANY)

# --- groups ---

family.do("stage-new", ON)
family.do("stage-add", {"ifindex": device, "group": [{"id": 1, "nexthop": [HOP]}],
                        "route": [{"dst": "10.9.0.1", "group": 1}]})
NEXTHOP = "group.nexthop"
refused("group without id", add(("group", [("nexthop", HOP)])), errno.EINVAL,
        "without id", "group")
refused("group without next hop", add(group()), errno.EINVAL, "without next hop", "group")
refused("group that is there", add(group(HOP, id=1)), errno.EEXIST, "already", "group.id")
refused("the same group twice in a message", add(group(HOP), group(HOP)), errno.EEXIST,
        "already", "group.id")
refused("group of backups", add(group(dict(HOP, backup=True))), errno.EINVAL,
        "nothing but backups", "group")
refused("group of alternates", add(group(dict(HOP, ingress=other))), errno.EINVAL,
        "nothing but backups and alternates", "group")
refused("too many next hops", add(group(*({"port": port, "mac": f"02:00:00:00:00:{i:02x}"}
                                          for i in range(33)))),
        errno.EINVAL, "Too many next hops", NEXTHOP)
refused("next hop without port", add(group({"mac": MAC})), errno.EINVAL, "without port", NEXTHOP)
refused("next hop without MAC", add(group({"port": port})), errno.EINVAL, "without MAC", NEXTHOP)
refused("next hop through no port", add(group({"port": loopback, "mac": MAC})),
        errno.ENODEV, "Not a port", NEXTHOP + ".port")
refused("next hop through no interface", add(group({"port": 99999, "mac": MAC})),
        errno.ENODEV, "Not a port", NEXTHOP + ".port")
refused("next hop at the zero MAC", add(group({"port": port, "mac": bytes(6)})),
        errno.EINVAL, "not unicast", NEXTHOP + ".mac")
refused("next hop at a multicast MAC", add(group({"port": port, "mac": "01:00:5e:00:00:01"})),
        errno.EINVAL, "not unicast", NEXTHOP + ".mac")
refused("next hop at a short MAC", add(group({"port": port, "mac": bytes(5)})),
        errno.ERANGE, "", NEXTHOP + ".mac")
refused("next hop at a long MAC", add(group({"port": port, "mac": bytes(7)})),
        errno.ERANGE, "", NEXTHOP + ".mac")
refused("next hop without weight", add(group(dict(HOP, weight=0))), errno.ERANGE, "",
        NEXTHOP + ".weight")
refused("next hop of too little weight", add(group(
    dict(HOP, weight=1), {"port": other, "mac": MAC, "weight": 300})),
        errno.EINVAL, "below 1/256", "group")
refused("backup of too little weight", add(group(
    HOP, dict(HOP, backup=True, mac="02:00:00:00:00:08"),
    {"port": other, "mac": MAC, "weight": 300, "backup": True})),
        errno.EINVAL, "below 1/256", "group")
refused("the same next hop twice", add(group(HOP, HOP)), errno.EINVAL, "twice", NEXTHOP)
BACK = {"port": other, "mac": MAC, "ingress": port}
refused("two alternates for one port", add(group(HOP, BACK, dict(HOP, ingress=port))),
        errno.EINVAL, "Two alternates for one ingress", NEXTHOP)
refused("alternate with a weight", add(group(HOP, dict(BACK, weight=1))), errno.EINVAL,
        "An alternate has no weight", NEXTHOP + ".weight")
refused("alternate that is a backup", add(group(HOP, dict(BACK, backup=True))),
        errno.EINVAL, "is no backup", NEXTHOP + ".backup")
for ingress in (loopback, 99999, 0):
    refused(f"alternate for {ingress}, which is no port",
            add(group(HOP, dict(BACK, ingress=ingress))),
            errno.ENODEV, "Not a port", NEXTHOP + ".ingress")
refused("alternate with half an ingress", add(group(HOP, dict(HOP, ingress=bytes(2)))),
        errno.EINVAL, "length", NEXTHOP + ".ingress")
refused("too many next hops beside an alternate", add(group(BACK, *(
    {"port": port, "mac": f"02:00:00:00:00:{i:02x}"} for i in range(33)))),
        errno.EINVAL, "Too many next hops", NEXTHOP)
refused("next hop that says it is live", add(group(dict(HOP, live=True))), *NOT_TAKEN,
        NEXTHOP + ".live")
refused("group that says it is on backups", add(("group", [
    ("id", 9), ("nexthop", HOP), ("backup-in-use", True)])), *NOT_TAKEN, "group.backup-in-use")
refused("unknown attribute of a next hop", add(group([("port", port), (99, b"")])),
        errno.EINVAL, "(?i)unknown|unsupported", NEXTHOP + ".99")

# --- routes ---

refused("route without dst", add(route(group=1)), errno.EINVAL, "without dst", "route")
for length in (0, 3, 5, 15):
    refused(f"dst of {length} bytes", add(route(dst=bytes(length), group=1)),
            errno.EINVAL, "4 nor 16", "route.dst")
refused("dst of 17 bytes", add(route(dst=bytes(17), group=1)), errno.EINVAL, "4 nor 16",
        "route.dst")
refused("IPv4 prefix of 33", add(route(dst="10.9.0.0", dst_len=33, group=1)),
        errno.EINVAL, "longer than", "route.dst-len")
refused("IPv6 prefix of 129", add(route(dst="fd00::", dst_len=129, group=1)),
        errno.ERANGE, "", "route.dst-len")
refused("bits beyond the prefix", add(route(dst="10.9.0.1", dst_len=24, group=1)),
        errno.EINVAL, "beyond its prefix", "route.dst")
refused("bits beyond an odd prefix", add(route(dst="fd00::1:0", dst_len=111, group=1)),
        errno.EINVAL, "beyond its prefix", "route.dst")
for dst in ("224.0.0.5", "255.255.255.255", "127.0.0.1", "ff02::1", "::1"):
    refused(f"route to {dst}", add(route(dst=dst, group=1)), errno.EINVAL, "not unicast",
            "route.dst")
refused("source of another family", add(route(dst="10.9.0.2", src="fd00::1", group=1)),
        errno.EINVAL, "another family", "route.src")
refused("bits beyond the source prefix",
        add(route(dst="10.9.0.2", src="10.9.0.3", src_len=31, group=1)), errno.EINVAL,
        "beyond its prefix", "route.src")
refused("source prefix of 33", add(route(dst="10.9.0.2", src="10.9.0.4", src_len=33, group=1)),
        errno.EINVAL, "longer than", "route.src-len")
refused("source prefix of 0", add(route(dst="10.9.0.2", src="0.0.0.0", src_len=0, group=1)),
        errno.EINVAL, "Source prefix", "route.src-len")
refused("source prefix without source", add(route(dst="10.9.0.2", src_len=32, group=1)),
        errno.EINVAL, "Source prefix", "route.src-len")
refused("unknown type", add(route(dst="10.9.0.2", type=3)), errno.ERANGE, "", "route.type")
refused("unicast without group", add(route(dst="10.9.0.2")), errno.EINVAL, "without group",
        "route")
refused("unknown group", add(route(dst="10.9.0.2", group=77)), errno.ENOENT, "no such group",
        "route.group")
refused("node with a group", add(route(dst="10.9.0.2", type="node", group=1)),
        errno.EINVAL, "Only unicast and local", "route.group")
refused("local with an unknown group", add(route(dst="10.9.0.2", type="local", group=77)),
        errno.ENOENT, "no such group", "route.group")
refused("all or nothing: a bad route after good ones",
        add(group(HOP, id=2), route(dst="10.9.0.2", group=2), route(dst="fd00::2", group=2),
            route(dst="10.9.0.3", group=78)), errno.ENOENT, "no such group", "route.group")
family.do("stage-add", {"ifindex": device, "group": [{"id": 2, "nexthop": [HOP]}]})
tap.ok(family.do("dev-get", ON)["staged-groups"] == 2,
       "what an error rolled back can be added again")

# --- stages ---

stranger = genl.Family()
refused("second stage", do("stage-new", ("ifindex", device)), errno.EBUSY, "Another stage")
for operation in ("stage-add", "stage-prepare", "abort"):
    refused(f"{operation}: stage of another socket", lambda: stranger.do(operation, ON),
            errno.EBUSY, "another socket")
refused("commit: stage of another socket",
        lambda: stranger.do("commit", {"ifindex": device, "base-generation": 1}),
        errno.EBUSY, "another socket")
refused("lookup in a stage that is not prepared", do(
    "route-get", ("ifindex", device), ("staged", True), ("route", {"dst": "10.9.0.1"})),
        errno.EBUSY, "not prepared")

generation = family.do("dev-get", ON)["generation"]
refused("commit without base-generation", do("commit", ("ifindex", device)), errno.EINVAL,
        "missing", missing=family.sets["device"]["base-generation"]["value"])
for base in (generation - 1, generation + 1):
    refused(f"commit on generation {base - generation:+d}",
            do("commit", ("ifindex", device), ("base-generation", base)), errno.ESTALE,
            "became active", "base-generation")
for new in (generation, 0):
    refused(f"commit of generation {new}",
            do("commit", ("ifindex", device), ("base-generation", generation),
               ("generation", new)), errno.EINVAL, "must grow", "generation")

for new in (1 << 63, (1 << 64) - 1):
    refused(f"commit of generation {new}",
            do("commit", ("ifindex", device), ("base-generation", generation),
               ("generation", new)), errno.ERANGE, "above 2.63 - 1", "generation")

family.do("stage-add", {"ifindex": device, "route": [{"dst": "10.9.0.1", "group": 2}]})
refused("prepare with two equal routes", do("stage-prepare", ("ifindex", device)),
        errno.EEXIST, "Equal routes")
refused("commit with two equal routes",
        do("commit", ("ifindex", device), ("base-generation", generation)), errno.EEXIST,
        "Equal routes")
family.do("abort", ON)
family.do("stage-new", ON)
family.do("stage-add", {"ifindex": device, "group": [{"id": 1, "nexthop": [HOP]}],
                        "route": [{"dst": "10.9.0.1", "src": "10.9.0.2", "group": 1}] * 2})
refused("prepare with two equal routes of a source", do("stage-prepare", ("ifindex", device)),
        errno.EEXIST, "Equal routes")
family.do("abort", ON)

family.do("stage-new", ON)
family.do("stage-add", {"ifindex": device, "group": [{"id": 1, "nexthop": [HOP]}],
                        "route": [{"dst": "10.9.0.1", "group": 1}]})
family.do("stage-prepare", ON)
refused("adding to a prepared stage", add(route(dst="10.9.0.2", group=1)), errno.EBUSY,
        "prepared stage")
refused("new stage while one is prepared", do("stage-new", ("ifindex", device)),
        errno.EBUSY, "prepared stage")

# --- lookups ---

refused("route-get: no route given", do("route-get", ("ifindex", device)), errno.EINVAL,
        "missing")
refused("route-get: no dst", do("route-get", ("ifindex", device), ("route", {})),
        errno.EINVAL, "missing", "route")
for name in ("type", "group", "server"):
    refused(f"route-get: {name}", do("route-get", ("ifindex", device),
                                     ("route", {"dst": "10.9.0.1", name: 1})),
            *NOT_TAKEN, f"route.{name}")
refused("group-get: next hop", do("group-get", ("ifindex", device),
                                  ("group", {"id": 1, "nexthop": HOP})),
        *NOT_TAKEN, "group.nexthop")
refused("route-get: prefix", do("route-get", ("ifindex", device),
                                ("route", {"dst": "10.9.0.0", "dst-len": 24})),
        errno.EINVAL, "not prefixes", "route.dst-len")
refused("route-get: two families", do("route-get", ("ifindex", device),
                                      ("route", {"dst": "10.9.0.1", "src": "fd00::1"})),
        errno.EINVAL, "4 nor 16", "route.src")
refused("route-get: dst of 3 bytes", do("route-get", ("ifindex", device),
                                        ("route", {"dst": bytes(3)})),
        errno.EINVAL, "4 nor 16", "route.dst")
refused("route-get: no route", do("route-get", ("ifindex", device),
                                  ("route", {"dst": "203.0.113.1"})),
        errno.ENETUNREACH, "No route", "route")
refused("group-get: no group given", do("group-get", ("ifindex", device)), errno.EINVAL,
        "missing")
refused("group-get: no id", do("group-get", ("ifindex", device), ("group", {})),
        errno.EINVAL, "missing", "group")
refused("group-get: unknown group", do("group-get", ("ifindex", device),
                                       ("group", {"id": 4711})),
        errno.ENOENT, "No such group", "group.id")
family.do("abort", ON)

# --- privilege ---

if os.fork() == 0:
    os.setgroups([])
    os.setuid(65534)
    for operation in ("stage-new", "stage-add", "stage-prepare", "commit", "abort", "port-set",
                      "account"):
        refused(f"{operation}: without CAP_NET_ADMIN", do(operation, ("ifindex", device)),
                errno.EPERM, "")
    tap.ok(family.do("dev-get", ON)["ifindex"] == device, "reading needs no privilege")
    os._exit(1 if tap.failed else 0)
tap.count += 8
_, status = os.wait()
tap.failed += bool(status)
tap.done()
