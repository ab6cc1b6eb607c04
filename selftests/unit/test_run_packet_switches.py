#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl run where ports share packet switches: other traffic gets other routes, a port and a
switch that die are planned around, also by the next controller, and come back."""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "selftests/unit")
from fabric import FAKES, TOCTL, Fabric  # noqa: E402
from fakes import BUFFER, HOT, load, save  # noqa: E402
from tap import done, report  # noqa: E402

HOT_PAIRS = [[0, 1], [3, 5]]	# each on one switch


def bcube():
    with tempfile.TemporaryDirectory() as directory:
        save(f"{directory}/job.json", {
            "name": "test", "servers": 9, "allreduce": [{"group": "all", "bytes": BUFFER}],
            "mp": [{"from": "0", "to": "4", "bytes": HOT}, {"from": "4", "to": "0", "bytes": HOT}]})
        subprocess.run((TOCTL, "plan", "--job", f"{directory}/job.json", "--topology", "bcube:3,2",
                        "--bandwidth", "100M", "-o", f"{directory}/plan.json"),
                       check=True, capture_output=True)
        return load(f"{directory}/plan.json")


def tor():
    """A ring of four servers on cables, eth0 to eth1 of the next, and eth2 of all on one switch."""
    ports = [{"name": "eth0"}, {"name": "eth1"}, {"name": "eth2", "packet_switch": "tor0"}]
    with tempfile.TemporaryDirectory() as directory:
        save(f"{directory}/cluster.json", {
            "format": "topoopt-cluster", "version": 1,
            "packet_switches": [{"name": "tor0", "ports": 4}],
            "servers": [{"name": f"s{i}", "ipv4": f"10.0.0.{i + 1}", "ports": [
                port | {"mac": f"02:00:00:00:{q:02}:{i:02}", "ipv4": f"10.{q + 1}.0.{i + 1}",
                        "bandwidth": 100_000_000} for q, port in enumerate(ports)]} for i in range(4)],
            "links": [{"a": f"s{i}:eth0", "b": f"s{(i + 1) % 4}:eth1"} for i in range(4)]})
        save(f"{directory}/job.json", {"name": "test", "servers": 4,
                                       "allreduce": [{"group": "all", "bytes": BUFFER}]})
        subprocess.run((TOCTL, "plan", "--fixed", "--job", f"{directory}/job.json", "--cluster",
                        f"{directory}/cluster.json", "-o", f"{directory}/plan.json"),
                       check=True, capture_output=True)
        return load(f"{directory}/plan.json")


def tables(fabric):
    return {f"s{i}": json.loads(load(f"{fabric.dir}/kernel-s{i}")["active"]["table"])
            for i in range(len(load(f"{fabric.dir}/ports")))}


def uses(fabric, ports):
    """Next hops through, or to, these ports of a plan where port l is on a switch of level l."""
    return [(server, hop) for server, table in tables(fabric).items() for group in table["groups"]
            for hop in group if f"{server}:{hop['port']}" in ports or
            f"{hop.get('peer')}:{hop['port']}" in ports]


def darken(fabric, ports):
    """These and no others."""
    save(f"{fabric.dir}/light", [[number] for server, names in load(f"{fabric.dir}/ports").items()
                                 for name, number in names.items() if f"{server}:{name}" not in ports])


def repairs(fabric, what, ports):
    before = len(fabric.lines("changed"))
    darken(fabric, ports)
    if not fabric.wait("changed", what, lambda line: len(fabric.lines("changed")) > before):
        return
    line = fabric.lines("changed")[before]
    report(line["action"] == "repair", f"{what}: it is planned around", line)
    report(not uses(fabric, ports), f"{what}: no table uses it", uses(fabric, ports)[:3])
    report(load(f"{fabric.plan}.repair")["down"] == ports, f"{what}: the plan says what is down",
           load(f"{fabric.plan}.repair")["down"])


def main():
    fabric = Fabric(bcube(), phase=[[0, 4]],
                    options=("--change-cost", "10ms", "--repair-after", "200ms", "--repair-hold", "1s"))
    report(not fabric.wrong(fabric.plan), "the start brings the fabric to the plan",
           fabric.wrong(fabric.plan))
    links = load(fabric.plan)["links"]
    fabric.traffic(HOT_PAIRS)
    if fabric.wait("changed", "other traffic"):
        report(fabric.lines("changed")[0]["action"] == "reroute", "other traffic: other routes",
               fabric.story())
    ends = [[link["a"], link["b"]] for link in load(fabric.plan)["links"]]
    report(ends == [[link["a"], link["b"]] for link in links] and not fabric.wrong(fabric.plan),
           "other traffic: on the same links", fabric.wrong(fabric.plan))
    repairs(fabric, "a port", ["s0:eth0"])
    fabric.end()
    fabric.start()
    report(not fabric.lines("restored")[0]["changed"] and not uses(fabric, ["s0:eth0"]),
           "another controller goes on without the port", fabric.story())
    repairs(fabric, "a switch", ["s0:eth0", "s1:eth0", "s2:eth0"])
    darken(fabric, [])
    fabric.wait("changed", "the light is back", lambda line: line["action"] == "return")
    status, out = fabric.end()
    report(status == 0 and not fabric.wrong(fabric.plan) and
           not os.path.exists(f"{fabric.plan}.repair"),
           "the light is back: so is the plan", [out, fabric.wrong(fabric.plan)])
    fabric.traffic(0, 0)
    ran = subprocess.run((TOCTL, "job", "run", fabric.plan, "--set",
                          f"agents.command={FAKES} agent {fabric.dir} {{}}",
                          "--set", "agents.timeout=60s", "--interval", "50ms", "--", "sleep", "0.3"),
                         capture_output=True, text=True, check=False)
    report(ran.returncode == 0 and "ring 0: " in ran.stderr and ", by packet switches, " in ran.stderr,
           "a job runs there, and is told what its rings carried", ran.stderr)


def server_dies():
    """Its cables show it, though the switch does not."""
    fabric = Fabric(tor(), phase=0, options=("--repair-after", "200ms", "--repair-hold", "1s"))
    fabric.harm("s2", "die", "sample", 1)
    darken(fabric, ["s1:eth0", "s3:eth1"])
    if fabric.wait("changed", "a server", lambda line: line["action"] == "repair" and
                   os.path.exists(f"{fabric.plan}.repair") and
                   "s2" in load(f"{fabric.plan}.repair")["down"], 30):
        used = [hop for table in [tables(fabric)[f"s{i}"] for i in (0, 1, 3)]
                for group in table["groups"] for hop in group if hop.get("peer") == "s2"]
        report(not used, "a server on cables and a switch: no table uses it", used)
    fabric.end()


main()
server_dies()
done()
