#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands without privilege, and across namespaces; see privilege.sh.

    privilege.py DEVICE OTHER-NETNS DEVICE-THERE PORT
"""

import ctypes
import errno
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import genl

device, other, device_there, port_name = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
port = genl.ifindex(port_name)
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
tap = genl.Tap()
setup = genl.Family()

# What every command that a spec may ever have has to get here: a new one without
# a request is a failure of this test.
REQUESTS = {
    "dev-get": {}, "stage-new": {}, "stage-prepare": {}, "abort": {},
    "port-get": {"port": {"ifindex": port}},
    "port-set": {"port": {"ifindex": port, "tx-ifindex": 0}},
    "stage-add": {"route": {"dst": "10.0.0.1", "type": "local"}},
    "commit": {"base-generation": 1},
    "route-get": {"route": {"dst": "10.0.0.9"}},
    "group-get": {"group": {"id": 1}},
    "account": {"program": 0}, "module-get": {},
}
WITHOUT_DEVICE = {"module-get"}


def fill(family, ifindex, address):
    """A table of one group and one route, and a prepared stage of the same."""
    on = ("ifindex", ifindex)
    for last in ("commit", "stage-prepare"):
        family.do("stage-new", [on])
        family.do("stage-add", [on,
                                ("group", {"id": 1, "nexthop": [{"port": port,
                                                                 "mac": "02:00:00:00:00:01"}]}),
                                ("route", {"dst": address, "group": 1})])
        family.do(last, [on] + ([("base-generation", 0)] if last == "commit" else []))


def child(function):
    """What the function returns in a process of its own, as text."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            result = str(function())
        except BaseException as error:  # the parent shows it
            result = f"{type(error).__name__}: {error}"
        os.write(writer, result.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        text = stream.read()
    os.waitpid(pid, 0)
    return text


def unshare(flags):
    if libc.unshare(flags):
        raise OSError(ctypes.get_errno(), "unshare")


def answer(family, operation, ifindex):
    try:
        on = {} if operation in WITHOUT_DEVICE else {"ifindex": ifindex}
        family.do(operation, dict(on, **REQUESTS[operation]))
    except genl.Error as error:
        return errno.errorcode[error.errno]
    return "OK"


def state():
    device_state = setup.do("dev-get", {"ifindex": device})
    device_state.pop("counters")
    return device_state, setup.dump("route-get", {"ifindex": device})


def unprivileged():
    """An ordinary user."""
    os.setgid(65534)
    os.setuid(65534)


def own_user_namespace():
    """Root of a user namespace of one's own, in a network namespace that is not."""
    unprivileged()
    unshare(CLONE_NEWUSER)


fill(setup, device, "10.0.0.9")
operations = [op for op in setup.operations.values() if "do" in op]
NONE_THERE = ["OK" if op["name"] in WITHOUT_DEVICE else "ENODEV" for op in operations]
tap.ok({op["name"] for op in operations} == set(REQUESTS), "the test knows every command",
       str({op["name"] for op in operations} ^ set(REQUESTS)))

for who in (unprivileged, own_user_namespace):
    before, name = state(), who.__doc__.lower().rstrip(".")
    for op in operations:
        def attempt():
            who()
            return answer(genl.Family(), op["name"], device)
        got = child(attempt)
        wanted = "EPERM" if "uns-admin-perm" in op.get("flags", ()) else "OK"
        tap.ok(got == wanted, f"{op['name']}: {name} gets {wanted}", got)
    tap.ok(state() == before, f"nothing changed: {name}", f"{state()} {before}")


def inherited():
    """A socket that root opened is worth no more in other hands."""
    family = genl.Family()
    unprivileged()
    return answer(family, "abort", device)


# The opener's privilege and the sender's both count, so that no program that
# runs with privileges can be made to write to somebody's socket.
tap.ok(child(inherited) == "EPERM", inherited.__doc__.lower().rstrip("."), child(inherited))


def own_network():
    """Root of one's own user and network namespace may do all, there."""
    unprivileged()
    unshare(CLONE_NEWUSER | CLONE_NEWNET)
    family = genl.Family()
    return [answer(family, op["name"], device) for op in operations], family.dump("dev-get")


wanted = str((NONE_THERE, []))
got = child(own_network)
tap.ok(got == wanted, "in a namespace of one's own no command finds another's device", got)


def elsewhere():
    """As root of another namespace that has a device of its own."""
    with open(f"/run/netns/{other}", encoding="ascii") as there:
        if libc.setns(there.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
    family = genl.Family()
    answers = [answer(family, op["name"], device) for op in operations]
    return answers, [d["ifindex"] for d in family.dump("dev-get")]


wanted = str((NONE_THERE, [device_there]))
got = child(elsewhere)
tap.ok(got == wanted, "nor does root from another namespace, who sees only the own one", got)

listener = genl.Family(groups=["events"])


def commit_elsewhere():
    """Commit there."""
    with open(f"/run/netns/{other}", encoding="ascii") as there:
        libc.setns(there.fileno(), CLONE_NEWNET)
    family = genl.Family()
    on = ("ifindex", device_there)
    family.do("stage-new", [on])
    return family.do("commit", [on, ("base-generation", 0)])["generation"]


tap.ok(child(commit_elsewhere) == "1", "a table can be committed there")
event = listener.event(1)
tap.ok(event is None, "its event is not heard here", str(event))
tap.done()
