# SPDX-License-Identifier: GPL-2.0-or-later
"""The client of large.sh."""

import errno
import os
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import genl

ROUTES = int(os.environ.get("TEST_ROUTES", 150000))
PART = 65536    # of a request, see kmod/stage.c
on = {"ifindex": genl.ifindex("topo0")}
tap = genl.Tap()


def stage(family, extra=()):
    """One next hop; 10.0.0.0 and up, then the extra ones."""
    names = family.sets["route"]
    group = genl.attribute(names["group"]["value"], struct.pack("=I", 0))
    kind = family.sets["device"]["route"]["value"]
    family.do("stage-new", on)
    family.do("stage-add", dict(on, group=[{"id": 0, "nexthop": [
        {"port": genl.ifindex("eth0"), "mac": "02:00:00:00:00:01"}]}]))
    numbers = [*range(ROUTES), *extra]
    for first in range(0, len(numbers), 2000):
        routes = b"".join(
            genl.attribute(kind, genl.attribute(
                names["dst"]["value"], struct.pack("!I", (10 << 24) + i)) + group, True)
            for i in numbers[first:first + 2000])
        family.raw(family.header("stage-add") + family.encode(on) + routes)


def once(family, operation, **values):
    """Error of one request, 0 if there is none, and the kernel's words."""
    try:
        family.do_once(operation, dict(on, **values))
    except genl.Error as error:
        return error.errno, error.text
    return 0, ""


def until_done(family, operation, **values):
    """Number of requests it takes, and how the last ends."""
    longest = 0
    for requests in range(1, 1000):
        begin = time.monotonic()
        code, text = once(family, operation, **values)
        longest = max(longest, time.monotonic() - begin)
        if code != errno.EINPROGRESS:
            break
    print(f"# other families wait {1000 * longest:.1f} ms at most")
    return requests, code, text


def device(family):
    return family.do("dev-get", on)


family, other = genl.Family(), genl.Family()
commit = {"base-generation": 0}

stage(family)
code, text = once(family, "commit", **commit)
tap.ok(code == errno.EINPROGRESS, "a request makes a part of a large table", (code, text))
if subprocess.run(["modinfo", "psample"], check=False, capture_output=True).returncode:
    tap.skip("meanwhile another family is registered", "this kernel has no psample")
else:
    tap.ok(subprocess.run(["modprobe", "psample"], check=False).returncode == 0,
           "meanwhile another family is registered")
    reply = other._exchange(genl.CTRL, 0, struct.pack("=BBH", genl.GETFAMILY, 1, 0) +
                            genl.attribute(2, b"psample\0"))
    tap.ok(len(reply) == 1, "and answered for")
state = device(other)
tap.ok(state["staged-routes"] == ROUTES and "staged-prepared" not in state and
       state["generation"] == 0, "the stage is there, not yet prepared", state)
code, text = once(family, "stage-add", route=[{"dst": "11.0.0.1", "group": 0}])
tap.ok(code == errno.EBUSY and "being prepared" in text, "nothing can be added any more", text)
code, text = once(other, "commit", **commit)
tap.ok(code == errno.EBUSY and "another socket" in text, "nobody else can go on with it", text)
done = until_done(family, "commit", **commit)
tap.ok(done[0] >= ROUTES // PART and not done[1], "its owner can", done)
state = device(other)
tap.ok(state["generation"] == 1 and state["routes"] == ROUTES, "the table is active", state)
for i in 0, PART - 1, PART, ROUTES - 1:
    found = family.do("route-get", dict(on, route={"dst": genl.text(
        struct.pack("!I", (10 << 24) + i))}))["route"]
    tap.ok(len(found) == 1, f"with route {i}", found)

stage(family)
tap.ok(once(family, "stage-prepare")[0] == errno.EINPROGRESS, "a stage is prepared in parts")
tap.ok(once(family, "abort")[0] == 0 and "staged-routes" not in device(other),
       "an abort ends that")

stage(family, [7])
done = until_done(family, "stage-prepare")
tap.ok(done[0] > 1 and done[1] == errno.EEXIST, "equal routes are found in the last part", done)
tap.ok(once(family, "stage-add", route=[{"dst": "11.0.0.1", "group": 0}])[0] == 0,
       "and leave the stage as it was")
tap.ok(once(family, "stage-prepare")[0] == errno.EINPROGRESS, "from the beginning again")
family.close()
tap.ok("staged-routes" not in device(other), "the end of its socket ends it")

family = genl.Family()
stage(family)
tap.ok(once(family, "commit", **{"base-generation": 1})[0] == errno.EINPROGRESS,
       "a table for a device that goes")
subprocess.run(["ip", "link", "delete", "topo0"], check=True)
tap.ok(once(family, "commit", **{"base-generation": 1})[0] == errno.ENODEV, "is not made")
tap.done()
