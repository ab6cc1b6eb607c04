#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl switch against emulated optical switches that keep the rules of real
ones, with faults: after each, a switch has its old cross-connects or one line
says that it has not."""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "selftests/unit")
from ocs import Device  # noqa: E402

TOCTL = os.path.abspath(os.environ.get("TOCTL", "build/toctl"))
OCS = os.path.abspath("selftests/unit/ocs.py")
PORTS = 10

results = []


def result(passed, name, reason=""):
    results.append(passed)
    print(f"{'ok' if passed else 'not ok'} {len(results)} - {name}", flush=True)
    if not passed:
        print("\n".join("# " + line for line in str(reason).splitlines()[:20]), flush=True)


def toctl(*args, status=0):
    """Output of toctl, or its one line on standard error."""
    run = subprocess.run((TOCTL, *args), capture_output=True, text=True, check=False, timeout=60)
    if run.returncode != status:
        return f"status {run.returncode} instead of {status}: {run.stdout}{run.stderr}"
    return run.stderr if status else run.stdout


def plan(path, switches, cross_connects, mode="duplex", ports=4):
    """Servers a and b on each switch in turn; links follow the cross-connects."""
    by_number = {(sw, n): (f"s{n}", f"eth{i}") for i, sw in enumerate(switches)
                 for n in range(1, ports + 1)}
    servers = [{"name": f"s{n}", "ipv4": f"10.0.0.{n}", "ports": [
        {"name": f"eth{i}", "mac": f"02:00:00:00:{i:02x}:{n:02x}", "bandwidth": 10**9,
         "optical_switch": sw, "optical_port": n} for i, sw in enumerate(switches)]}
               for n in range(1, ports + 1)]
    links = [{"a": ":".join(by_number[sw, a]), "b": ":".join(by_number[sw, b]), "use": "mp"}
             for sw, a, b in cross_connects if (sw, a) in by_number and (sw, b) in by_number]
    document = {
        "format": "topoopt-plan", "version": 1, "job": "test", "seed": 1, "link_mode": mode,
        "demand": {"servers": ports}, "tables": [{"server": f"s{n}", "groups": [], "routes": [], "pairs": []}
                   for n in range(1, ports + 1)],
        "optical_switches": [{"name": name, "ports": PORTS, "control": control}
                             for name, control in switches.items()],
        "servers": servers, "links": links,
        "cross_connects": [{"optical_switch": sw, "a": a, "b": b} for sw, a, b in cross_connects],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    return path


RING = (("ocs0", 1, 2), ("ocs0", 3, 4))
CROSS = (("ocs0", 1, 3), ("ocs0", 2, 4))


def differs(got, expected, name):
    result(got == expected, name, f"got      {got!r}\nexpected {expected!r}")


def on_command(tmp):
    device = Device.make(f"{tmp}/state", PORTS, [(1, 2), (3, 4), (9, 10)])
    control = {"driver": "command", "command": f"{OCS} {tmp}/state", "timeout_ms": 20000}
    ring = plan(f"{tmp}/ring.json", {"ocs0": control}, RING)
    cross = plan(f"{tmp}/cross.json", {"ocs0": control}, CROSS)

    differs(toctl("switch", "show", ring),
            "  ocs0 1-2  s1:eth0 - s2:eth0\n  ocs0 3-4  s3:eth0 - s4:eth0\n"
            "  ocs0 9-10  not in the plan - not in the plan\n", "show: as planned")
    differs(toctl("switch", "apply", cross, "--dry-run"),
            "- ocs0 1-2  s1:eth0 - s2:eth0\n- ocs0 3-4  s3:eth0 - s4:eth0\n"
            "+ ocs0 1-3  s1:eth0 - s3:eth0\n+ ocs0 2-4  s2:eth0 - s4:eth0\n", "apply --dry-run")
    differs(device.changes(), 0, "apply --dry-run changes nothing")
    out = toctl("switch", "apply", cross)
    result("done in" in out, "apply", out)
    differs(device.joined(), [(1, 3), (2, 4), (9, 10)], "apply leaves other ports alone")
    differs(toctl("switch", "apply", cross),
            "nothing to do: the optical switches are as planned\n", "apply again: nothing to do")
    differs(device.changes(), 1, "apply again asks for no change")


with tempfile.TemporaryDirectory() as directory:
    on_command(directory)
print(f"1..{len(results)}")
sys.exit(not all(results))
