#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Commit the active table of servers again and again; see chaos.sh.

    chaos_commit.py PER-SECOND SERVER...

Prints a line for each commit that fails, and the number of the others when it is
told to terminate.
"""

import os
import signal
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import genl

PER_MESSAGE = 100
ended = threading.Event()
committed = {}


def messages(family, device, operation, name):
    """Requests that stage what the dump says."""
    found = [entry for message in family.dump(operation, device)
             for entry in message.get(name, ())]
    for first in range(0, len(found), PER_MESSAGE):
        yield family.header("stage-add") + family.encode(
            dict(device, **{name: found[first:first + PER_MESSAGE]}))


def commit(server, pause):
    committed[server] = 0
    with open(f"/run/netns/{server}", encoding="ascii") as namespace:
        os.setns(namespace.fileno(), os.CLONE_NEWNET)
    family = genl.Family()
    device = {"ifindex": genl.ifindex("topo0")}
    requests = [*messages(family, device, "group-get", "group"),
                *messages(family, device, "route-get", "route")]
    generation = family.do("dev-get", device)["generation"]
    while not ended.wait(pause):
        try:
            family.do("stage-new", device)
            for request in requests:
                family.raw(request)
            generation = family.do(
                "commit", dict(device, **{"base-generation": generation}))["generation"]
            committed[server] += 1
        except genl.Error as error:
            print(error, flush=True)
            family.do("abort", device)


signal.signal(signal.SIGTERM, lambda *_: ended.set())
threads = [threading.Thread(target=commit, args=(server, (len(sys.argv) - 2) / int(sys.argv[1])))
           for server in sys.argv[2:]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sum(committed.values()))
