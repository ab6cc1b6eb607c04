#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 600
"""toctl switch against emulated optical switches that keep the rules of real
ones, with faults: after each, a switch has its old cross-connects or one line
says that it has not."""

import base64
import contextlib
import http.server
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, "selftests/unit")
from ocs import Device, Restconf, Scpi, Server  # noqa: E402
from tap import done, report  # noqa: E402

TOCTL = os.path.abspath(os.environ.get("TOCTL", "build/toctl"))
OCS = os.path.abspath("selftests/unit/ocs.py")
PORTS = 10

ALLOW = None	# the file that allows plans all that they want


DIFFERS = 4     # exit status of toctl switch show


def toctl(*args, status=0, allow=None):
    """Output of toctl, or its one line on standard error."""
    run = subprocess.run((TOCTL, *args, "--set", f"switches.allow={allow or ALLOW}"),
                         capture_output=True, text=True, check=False, timeout=60)
    if run.returncode != status:
        return f"status {run.returncode} instead of {status}: {run.stdout}{run.stderr}"
    return run.stderr if status not in (0, DIFFERS) else run.stdout


def plan(path, switches, cross_connects, mode="duplex", ports=4, no_links=False):
    """A plan in a file: server sN has port N of every switch."""
    by_number = {(sw, n): (f"s{n}", f"eth{i}") for i, sw in enumerate(switches)
                 for n in range(1, ports + 1)}
    servers = [{"name": f"s{n}", "ipv4": f"10.0.0.{n}", "ports": [
        {"name": f"eth{i}", "mac": f"02:00:00:00:{i:02x}:{n:02x}", "bandwidth": 10**9,
         "optical_switch": sw, "optical_port": n} for i, sw in enumerate(switches)]}
               for n in range(1, ports + 1)]
    links = [{"a": ":".join(by_number[sw, a]), "b": ":".join(by_number[sw, b]), "use": "mp"}
             for sw, a, b in cross_connects]
    if no_links:
        links = []
    document = {
        "format": "topoopt-plan", "version": 1, "job": "test", "seed": 1, "link_mode": mode,
        "demand": {"servers": ports}, "tables": [{"server": f"s{n}", "groups": [], "routes": [], "pairs": []}
                   for n in range(1, ports + 1)],
        "optical_switches": [{"name": name, "ports": PORTS} |
                             ({"control": control} if control else {})
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
    report(got == expected, name, f"got      {got!r}\nexpected {expected!r}")


def shell(script):
    """A command that is a script."""
    return f"sh -c {shlex.quote(script)}"


def on_command(tmp):
    device = Device.make(f"{tmp}/device", PORTS, [(1, 2), (3, 4), (9, 10)])
    control = {"driver": "command", "command": f"{OCS} {tmp}/device", "timeout_ms": 20000}
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
    report("done in" in out, "apply", out)
    differs(device.joined(), [(1, 3), (2, 4), (9, 10)], "apply leaves other ports alone")
    differs(toctl("switch", "apply", cross),
            "nothing to do: the optical switches are as planned\n", "apply again: nothing to do")
    differs(device.changes(), 1, "apply again asks for no change")
    out = json.loads(toctl("switch", "show", ring, "--json", status=DIFFERS))
    differs(out, {"differs": True, "switches": [{
        "name": "ocs0", "has": [[1, 3], [2, 4], [9, 10]], "remove": [[1, 3], [2, 4]],
        "add": [[1, 2], [3, 4]]}]}, "show --json")


def program_ends(tmp):
    """A program is at its end when it ends, whoever else has its outputs open or not."""
    device = Device.make(f"{tmp}/ends", PORTS, [(1, 2), (3, 4)])
    # more than a pipe holds
    answer = f"head -c 300000 /dev/zero | tr '\\0' ' '; {OCS} {device.path}"
    for what, left in (("standard error", "sleep 60 >/dev/null"),
                       ("standard output", "sleep 60 2>/dev/null"), ("both", "sleep 60"),
                       ("what is written", "sh -c 'while echo more; do :; done' >&2")):
        ring = plan(f"{tmp}/ends.json", {"ocs0": {
            "driver": "command", "timeout_ms": 20000,
            "command": shell(f"setsid {left} </dev/null & echo $! >{tmp}/left; {answer}")}}, RING)
        differs(toctl("switch", "show", ring),
                "  ocs0 1-2  s1:eth0 - s2:eth0\n  ocs0 3-4  s3:eth0 - s4:eth0\n",
                f"a program that ended: {what} is left to another")
        with open(f"{tmp}/left", encoding="utf-8") as file, \
                contextlib.suppress(ProcessLookupError):
            os.kill(int(file.read()), signal.SIGKILL)
    ring = plan(f"{tmp}/ends.json", {"ocs0": {
        "driver": "command", "timeout_ms": 300,
        "command": shell("exec >/dev/null 2>&1; sleep 30")}}, RING)
    differs(toctl("switch", "show", ring, status=3),
            "toctl switch show: optical switch ocs0: no answer in 0.3 s\n",
            "a program that closed its outputs and goes on")


class Kind:
    """One kind of switch under test: how its plans and pairs are made."""

    def __init__(self, name, tmp, timeout, control, sides, offset=0, steps=1, **more):
        self.name, self.tmp, self.timeout = name, tmp, timeout
        self.sides, self.offset, self.steps = sides, offset, steps
        self.device = Device.make(f"{tmp}/{name}", PORTS, sides=sides, offset=offset, **more)
        self.control = {"timeout_ms": timeout} | control(self.device)
        self.ring = plan(f"{tmp}/{name}-ring.json", {"ocs0": self.control}, RING)
        self.cross = plan(f"{tmp}/{name}-cross.json", {"ocs0": self.control}, CROSS)

    def pairs(self, cross_connects):
        """What the device has of duplex cross-connects, beside one of others."""
        return self.joined([(a, b) for _, a, b in cross_connects] + [(9, 10)])

    def joined(self, pairs):
        """Duplex cross-connects as the device has them."""
        if self.sides:
            pairs = pairs + [(b, a) for a, b in pairs]
        return sorted((a, b + self.offset) for a, b in pairs)

    def reset(self, **more):
        with self.device.state() as state:
            state.update({"joined": self.pairs(RING), "faults": [], "read_faults": [], "delay": 0,
                          "meanwhile": [], "tagged": False} | more)

    def fails(self, what, *says, back=True):
        line = toctl("switch", "apply", self.cross, status=1)
        tail = "; all switches have their old cross-connects\n" if back else "NOT BACK at the old"
        report(line.startswith("toctl switch apply: optical switch ocs0: ") and
               line.count("\n") == 1 and all(text in line for text in says + (tail,)),
               f"{self.name}: {what}: one line", line)
        if back:
            differs(self.device.joined(), self.pairs(RING), f"{self.name}: {what}: switched back")

    def faults(self, fault, **more):
        """The fault hits the last step of the change."""
        self.reset(faults=[""] * (self.steps - 1) + [fault], **more)


def no_answer_in_time(kind):
    """The change is lost or late; what comes late is undone."""
    told = f"no answer in {kind.timeout / 1000:.3g} s"

    if kind.steps > 1:
        kind.faults("silent", delay=3 * kind.timeout / 1000)
        kind.fails("no answer to the last step in time", told)
    kind.reset(faults=["silent"], delay=3 * kind.timeout / 1000)
    kind.fails("no answer in time", told, "cross-connects: optical switch ocs0 may yet make a "
               "change that it did not answer in time\n", back=False)
    differs(kind.device.joined(), kind.pairs(RING), f"{kind.name}: no answer in time: unchanged")
    kind.reset(faults=["late"], delay=1.5 * kind.timeout / 1000, log=[])
    kind.fails("a late change", told)
    deadline = time.monotonic() + kind.timeout / 1000 + 20
    while "late" not in kind.device.log() and time.monotonic() < deadline:
        time.sleep(0.1)
    report("late" in kind.device.log(), f"{kind.name}: a late change: came", kind.device.log())
    differs(kind.device.joined(), kind.pairs(RING), f"{kind.name}: a late change: undone")


def on_all(kind):
    kind.reset()
    out = toctl("switch", "apply", kind.cross)
    report("done in" in out, f"{kind.name}: apply", out)
    differs(kind.device.joined(), kind.pairs(CROSS), f"{kind.name}: as planned, others left alone")
    out = json.loads(toctl("switch", "show", kind.ring, "--json", status=DIFFERS))["switches"][0]
    differs(out["has"], [[1, 3], [2, 4], [9, 10]], f"{kind.name}: show")

    kind.faults("slow", delay=0.2)
    out = toctl("switch", "apply", kind.cross)
    report("done in" in out, f"{kind.name}: a slow answer is waited for", out)

    kind.faults("refuse")
    kind.fails("refusal", "mirror calibration in progress", "port 1 is not joined to port 3")
    kind.faults("partial")
    kind.fails("partial application", "mirror driver failed", "is not joined to port")
    kind.faults("lie")
    kind.fails("a switch that lies", "it said that the change was done, but reads back that port "
               "1 is not joined to port 3")
    kind.faults("swap")
    kind.fails("wrong ports joined", "it said that the change was done, but reads back that port")
    no_answer_in_time(kind)
    if kind.name.startswith("polatis"):
        kind.faults("reset")
        with kind.device.state() as state:  # curl asks a second time
            state["faults"] += ["reset"] * kind.name.startswith("polatis-restconf")
        kind.fails("connection reset", "port 1 is not joined to port 3")
    with kind.device.state() as state:
        before = state["log"].count("change")
    for fault in ("refuse", "garbage"):
        kind.reset(read_faults=[fault])
        line = toctl("switch", "apply", kind.cross, status=1)
        report(line.startswith("toctl switch apply: optical switch ocs0: ") and
               line.count("\n") == 1, f"{kind.name}: cannot be read ({fault}): one line", line)
    differs(kind.device.changes(), before, f"{kind.name}: and asked for nothing")
    kind.reset(faults=[""] * (kind.steps - 1) + ["partial"] + ["refuse"] * 4)
    kind.fails("no way back", "mirror driver failed", "mirror calibration in progress", back=False)


OTHERS = [(5, 6), (9, 10)]	# another job makes the first and ends the second


def others_meanwhile(kind):
    """Another job changes ports of its own between the steps of a change."""
    ring, cross = ([(a, b) for _, a, b in plan] + OTHERS[:1] for plan in (RING, CROSS))
    others = kind.joined(OTHERS)
    name = f"{kind.name}: another job meanwhile"

    kind.reset(meanwhile=[others])
    out = toctl("switch", "apply", kind.cross)
    report("done in" in out, f"{name}: apply", out)
    differs(kind.device.joined(), kind.joined(cross), f"{name}: both are as planned")
    for fault in ("partial", "lie", "swap"):
        kind.faults(fault, meanwhile=[others])
        line = toctl("switch", "apply", kind.cross, status=1)
        report(line.endswith("; all switches have their old cross-connects\n"),
               f"{name}: {fault}: one goes back", line)
        differs(kind.device.joined(), kind.joined(ring), f"{name}: {fault}: the other stays")
    kind.reset(joined=[], meanwhile=[kind.joined(OTHERS[:1])])
    toctl("switch", "apply", kind.ring)
    differs(kind.device.joined(), kind.joined(ring), f"{name}: both from nothing")
    kind.reset(joined=kind.joined([(a, b) for _, a, b in RING]),
               meanwhile=[kind.joined(OTHERS[:1])])
    toctl("switch", "apply", plan(f"{kind.tmp}/dark.json", {"ocs0": kind.control}, ()))
    differs(kind.device.joined(), kind.joined(OTHERS[:1]), f"{name}: one to nothing")


def entity_tags(kind):
    """Between GET and PUT, too, another job's change is not lost."""
    others = kind.joined(OTHERS)

    kind.reset(tagged=True, meanwhile=[[], others, others])
    out = toctl("switch", "apply", kind.cross)
    report("done in" in out, f"{kind.name}: what is refused as changed is read again", out)
    differs(kind.device.joined(), kind.pairs(CROSS), f"{kind.name}: and both are as planned")
    kind.reset(tagged=True, meanwhile=[[]] + [others] * 20)
    line = toctl("switch", "apply", kind.cross, status=1)
    report("HTTP status 412: somebody else was here" in line and
           line.endswith("; all switches have their old cross-connects\n"),
           f"{kind.name}: but not for ever", line)


def from_and_to_nothing(kind):
    """The first cross-connect and the last one: SONiC holds no empty tables."""
    kind.reset(joined=[])
    toctl("switch", "apply", kind.ring)
    joined = [pair for pair in kind.pairs(RING) if pair[0] < 9]
    differs(kind.device.joined(), joined, f"{kind.name}: from nothing")
    toctl("switch", "apply", plan(f"{kind.tmp}/dark.json", {"ocs0": kind.control}, ()))
    differs(kind.device.joined(), [], f"{kind.name}: to nothing")


def restconf(device):
    os.environ["OCS_PASSWORD"] = "secret"
    # nobody listens there: passwords go to switches, not to a proxy
    os.environ["http_proxy"] = "http://127.0.0.1:1"
    return {"driver": "polatis-restconf", "address": f"http://{Server(Restconf, device).address}",
            "user": "admin", "password_env": "OCS_PASSWORD"}


class Recorder(http.server.BaseHTTPRequestHandler):
    """Answers each request with 302 to the address in its server, and keeps its headers."""

    def do_GET(self):
        self.server.seen.append(dict(self.headers))
        self.send_response(302)
        self.send_header("Location", self.server.location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


def record(location="http://127.0.0.1:1"):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    server.seen, server.location = [], location
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


def passwords_stay(tmp):
    """A password of RESTCONF goes to its switch: not to a proxy, a redirect or from ~/.netrc."""
    proxy, proxied = record()
    other, location = record()
    there, address = record(location)
    with open(f"{tmp}/.netrc", "w", encoding="utf-8") as file:
        file.write("machine 127.0.0.1 login admin password of-netrc\n")
    os.chmod(f"{tmp}/.netrc", 0o600)
    before = dict(os.environ)
    os.environ.update({name: proxied for name in ("http_proxy", "https_proxy", "HTTPS_PROXY",
                                                  "all_proxy", "ALL_PROXY")},
                      HOME=tmp, OCS_PASSWORD="secret")
    os.environ.pop("no_proxy", None)
    control = {"driver": "polatis-restconf", "address": address}
    path = plan(f"{tmp}/netrc.json", {"ocs0": control}, RING)
    toctl("switch", "show", path, status=3)
    report(there.seen and not any("Authorization" in seen for seen in there.seen),
           "no password of ~/.netrc", there.seen)
    path = plan(f"{tmp}/redirect.json", {"ocs0": control | {"user": "admin", "password_env": "OCS_PASSWORD"}}, RING)
    said = toctl("switch", "show", path, status=3)
    report("HTTP status 302" in said, "a redirect is an error", said)
    want = "Basic " + base64.b64encode(b"admin:secret").decode()
    report(there.seen and there.seen[-1].get("Authorization") == want, "the switch gets its password", there.seen)
    report(not other.seen, "where a redirect leads gets nothing", other.seen)
    report(not proxy.seen, "a proxy gets nothing", proxy.seen)
    path = plan(f"{tmp}/scheme.json", {"ocs0": {"driver": "polatis-restconf", "address": f"file://{tmp}"}}, RING)
    said = toctl("switch", "show", path, status=3)
    report("status 3" not in said and "cross-connects" not in said, "no other scheme is used", said)
    os.environ.clear()
    os.environ.update(before)


def clean_environment(tmp):
    """A command gets no password of the environment, and all else."""
    before = dict(os.environ)
    os.environ.update(OCS_PASSWORD="secret", TOPOOPT_ETCD_PASSWORD="secret",
                      TOPOOPT_COLLECTIVE_TOKEN="secret", SSH_AUTH_SOCK="/agent")
    path = plan(f"{tmp}/env.json", {
        "ocs0": {"driver": "command", "command": f"sh -c 'env >{tmp}/env; echo no >&2; exit 1'"},
        "ocs1": {"driver": "polatis-restconf", "address": "http://127.0.0.1:1", "user": "admin",
                 "password_env": "OCS_PASSWORD"}}, RING)
    toctl("switch", "show", path, status=3)
    os.environ.clear()
    os.environ.update(before)
    with open(f"{tmp}/env", encoding="utf-8") as file:
        found = file.read()
    report("secret" not in found, "a command gets no secret", found)
    report("\nSSH_AUTH_SOCK=/agent\n" in found and "\nHOME=" in "\n" + found and "PATH=" in found,
           "and what ssh needs", found)


def sonic(device):
    """Programs with SONiC's names, and sh in the place of ssh."""
    there = device.path + ".bin"
    os.mkdir(there)
    for name, text in (("sudo", 'exec "$@"'), ("config", f'exec {OCS} {device.path} config "$@"'),
                       ("sonic-db-dump", f'exec {OCS} {device.path} sonic-db-dump "$@"')):
        with open(f"{there}/{name}", "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(f"{there}/{name}", 0o755)
    return {"driver": "sonic", "command": f"env PATH={there}:{os.environ['PATH']} sh -c"}


def refuses(tmp, name, switches, cross_connects, says, mode="duplex", **more):
    path = plan(f"{tmp}/bad.json", switches, cross_connects, mode, **more)
    for verb in ("show", "apply"):
        differs(toctl("switch", verb, path, status=3 if verb == "show" else 1), f"toctl switch {verb}: {says}\n",
                f"{name}: {verb}")


def bad_input(tmp):
    """Plans and controls that do not fit: one line, nothing asked for."""
    device = Device.make(f"{tmp}/small", 4, sides=True, offset=4)
    small = Server(Scpi, device).address
    secret = Server(Restconf, device)
    url = f"http://{secret.address}"

    refuses(tmp, "too few ports", {"ocs0": {"driver": "polatis-scpi", "address": small,
                                            "egress_offset": PORTS}}, RING,
            "optical switch ocs0: it has the inputs 1 to 4 and the outputs 5 to 8, too few for "
            f"{PORTS} ports with \"egress_offset\" {PORTS}")
    refuses(tmp, "colliding cross-connects", {"ocs0": {"driver": "polatis-restconf",
                                                       "address": url, "user": "admin",
                                                       "password_env": "OCS_PASSWORD"}},
            (("ocs0", 1, 2), ("ocs0", 2, 3)),
            "the plan's cross-connects collide: port 2 or 3 of optical switch ocs0 is on two",
            no_links=True)
    refuses(tmp, "set by hand", {"ocs0": None}, RING,
            'optical switch ocs0 has no "control": it is set by hand')
    refuses(tmp, "no such password", {"ocs0": {
        "driver": "polatis-restconf", "address": url, "user": "admin",
        "password_env": "NO_SUCH_PASSWORD"}}, RING, "optical switch ocs0: NO_SUCH_PASSWORD, its "
            "password, is not in the environment")
    with open(f"{tmp}/password", "w", encoding="utf-8") as file:
        file.write("guess\n")
    control = {"driver": "polatis-restconf", "address": url, "user": "admin",
               "password_file": f"{tmp}/password"}
    refuses(tmp, "wrong password", {"ocs0": control}, RING,
            "optical switch ocs0: HTTP status 401: who are you?")
    with open(f"{tmp}/password", "w", encoding="utf-8") as file:
        file.write("secret\nnot the first line\n")
    report(json.loads(toctl("switch", "show", f"{tmp}/bad.json", "--json", status=DIFFERS))["differs"],
           "the password is the first line of its file")
    secret.shutdown()
    secret.server_close()
    refuses(tmp, "nobody listens", {"ocs0": {"driver": "polatis-scpi",
                                             "address": secret.address}}, RING,
            f"optical switch ocs0: {secret.address}: Connection refused")
    differs(device.changes(), 0, "bad input: no switch was asked to change")


def permission(tmp):
    """A plan is a program that only the administrator lets run."""
    device = Device.make(f"{tmp}/permission", PORTS, [(1, 2), (3, 4)])
    allow, secret = f"{tmp}/allowed", f"{tmp}/secret"
    ran = f"{tmp}/ran"
    command = f"sh -c 'touch {ran}; exec {OCS} {device.path}'"
    with open(secret, "w", encoding="utf-8") as file:
        file.write("secret\n")
    server = Server(Restconf, Device.make(f"{tmp}/permission-url", PORTS, [(1, 2), (3, 4)]))
    url = f"http://{server.address}"
    host = f"root@127.0.0.1:{server.address.rsplit(':', 1)[1]}"
    by_file = {"driver": "polatis-restconf", "address": url, "user": "admin",
               "password_file": secret}
    by_env = {"driver": "polatis-restconf", "address": url, "user": "admin",
              "password_env": "OCS_PASSWORD"}
    plain = {"driver": "polatis-restconf", "address": server.address}

    def allows(*lines, mode=0o644):
        with open(allow, "w", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))
        os.chmod(allow, mode)

    def missing(name, control, line, *lines):
        allows(*lines)
        path = plan(f"{tmp}/permission.json", {"ocs0": control}, CROSS)
        for verb in ("show", "apply", "flip"):
            differs(toctl("switch", verb, path, status=3 if verb == "show" else 1, allow=allow), f"toctl switch {verb}: "
                    "optical switch ocs0: not allowed; where the plan is to be trusted with it, "
                    f"add to {allow}: {line}\n", f"{name}: {verb}")

    program = {"driver": "command", "command": command, "timeout_ms": 20000}
    missing("a command", program, f"command {command}", "# none", "", "command other", f"http {url}")
    missing("SONiC's command", {"driver": "sonic", "address": host, "command": command},
            f"command {command}", f"command {command} -v", "command touch *")
    missing("a password in a file", by_file, f"password-file {secret} {url}", f"http {url}",
            f"password-file {secret} https://other", f"password-file {tmp}/other {url}")
    missing("a password in the environment", by_env, f"password-env OCS_PASSWORD {url}",
            f"http {url}", "password-env OCS_PASSWORD https://other")
    missing("HTTP without TLS", by_file, f"http {url}", f"password-file {secret} {url}")
    missing("an address without scheme", plain, f"http {server.address}", f"http {url}")
    missing("a network namespace", {"driver": "netns"}, "netns ocs", "netns other")
    report(not os.path.exists(ran), "nothing was run")
    differs(device.changes(), 0, "and no switch asked to change")

    for lines in ((f"command {command}",), ("", "# any", "command *  ")):
        allows(*lines)
        path = plan(f"{tmp}/permission.json", {"ocs0": program}, CROSS)
        report(json.loads(toctl("switch", "show", path, "--json", status=DIFFERS, allow=allow))["differs"],
               f"allowed by {lines}")
    differs(device.changes(), 0, "show changes nothing")
    for control, line in ((by_file, f"password-file {secret} {url}"),
                          (by_env, f"password-env OCS_PASSWORD {url}")):
        allows(line, f"http {url}")
        path = plan(f"{tmp}/permission.json", {"ocs0": control}, CROSS)
        report(json.loads(toctl("switch", "show", path, "--json", status=DIFFERS, allow=allow))["differs"],
               f"allowed by {line.split()[0]} and http")

    path = plan(f"{tmp}/permission.json", {"ocs0": program | {"command": "echo " + 300 * "x"}}, CROSS)
    allows()
    differs(toctl("switch", "show", path, status=3, allow=allow), "toctl switch show: optical "
            f"switch ocs0: not allowed by {allow}: a \"command\" that is long or has control "
            "characters\n", "a long command is not told")
    for what, text, says in (
            ("two lines", "echo\ncommand *", "a control character in the value"),
            ("shell", "echo; echo", "; is for a shell, and none runs the command: quote it, or "
             "use sh -c '...'"),
            ("half a quote", "echo 'a", "a ' without another one that ends the quote")):
        bad = plan(f"{tmp}/refused.json", {"ocs0": program | {"command": text}}, CROSS)
        said = toctl("switch", "show", bad, status=3, allow=allow)
        report(said.endswith(f" optical_switches[0].control.command: {says}\n"),
               f"a command is refused: {what}", said)
    for line, name in (("commands x", "a word"), ("command", "nothing allowed")):
        allows("command a", line)
        differs(toctl("switch", "show", path, status=3, allow=allow), "toctl switch show: "
                f'{allow}:2: expected "command", "password-file", "password-env", "http" or '
                '"netns" and what is allowed\n', f"a line that means nothing: {name}")
    allows("command *", mode=0o664)
    differs(toctl("switch", "show", path, status=3, allow=allow), "toctl switch show: "
            f"{allow}: others may write to it; it must be root's or yours alone\n",
            "a file that others may write to")


def two_switches(tmp):
    """Simplex links on two switches; the second refuses, the first goes back."""
    controls, devices = {}, []
    for name in ("ocs0", "ocs1"):
        device = Device.make(f"{tmp}/two-{name}", PORTS, [(1, 2), (2, 3), (3, 1)], sides=True)
        controls[name] = {"driver": "command", "command": f"{OCS} {device.path}",
                          "timeout_ms": 20000}
        devices.append(device)
    other = plan(f"{tmp}/two.json", controls,
                 [(sw, a, b) for sw in controls for a, b in ((1, 3), (3, 2), (2, 1))], "simplex", 3)
    differs(toctl("switch", "apply", other, "--dry-run").splitlines()[0],
            "- ocs0 1>2  s1:eth0 > s2:eth0", "two switches: simplex cross-connects have a direction")
    with devices[1].state() as state:
        state["faults"] = ["refuse"]
    line = toctl("switch", "apply", other, status=1)
    report(line.startswith("toctl switch apply: optical switch ocs1: ocs: mirror calibration") and
           line.endswith("; all switches have their old cross-connects\n"),
           "two switches: the one that failed is named", line)
    for device in devices:
        differs(device.joined(), [(1, 2), (2, 3), (3, 1)], "two switches: both as they were")
    differs(devices[0].changes(), 2, "two switches: the other was switched back")
    toctl("switch", "apply", other)
    differs([device.joined() for device in devices], [[(1, 3), (2, 1), (3, 2)]] * 2,
            "two switches: both as planned")


def idle(tmp):
    """A switch that hangs up on who says nothing, beside two that are slow to read."""
    devices = {name: Device.make(f"{tmp}/idle-{name}", PORTS, [(1, 2), (3, 4)])
               for name in ("ocs0", "ocs1", "ocs2")}
    controls = {name: {"driver": "command", "command": f"{OCS} {device.path}",
                       "timeout_ms": 20000} for name, device in devices.items()}
    controls["ocs1"] = {"driver": "polatis-scpi",
                        "address": Server(Scpi, devices["ocs1"]).address}
    for name, more in (("ocs0", {"read_faults": ["slow"], "delay": 1}), ("ocs1", {"patience": 0.5}),
                       ("ocs2", {"read_faults": ["slow"], "delay": 1})):
        with devices[name].state() as state:
            state.update(more)
    out = toctl("switch", "apply", plan(f"{tmp}/idle.json", controls, [
        (name, a, b) for name in controls for _, a, b in CROSS]))
    report("done in" in out, "idle: a switch that hangs up is called again", out)
    differs([device.changes() for device in devices.values()], [1, 2, 1],
            "idle: nothing is sent twice")


def look_ahead(tmp):
    """The next job's cross-connects on ocs1 while ocs0 carries the present one's."""
    first, second = ([(n, 4 + end * 4 + n) for n in range(1, 5)] for end in (0, 1))
    devices = {"ocs0": Device.make(f"{tmp}/ahead-ocs0", PORTS, [(1, 2), (3, 4)]),
               "ocs1": Device.make(f"{tmp}/ahead-ocs1", PORTS, [(9, 10)]),
               "flip": Device.make(f"{tmp}/ahead-flip", 12, first)}
    controls = {name: {"driver": "command", "command": f"{OCS} {device.path}",
                       "timeout_ms": 20000} for name, device in devices.items()}

    def ahead_plan(name, cross_connects, without=None):
        path = plan(f"{tmp}/{name}.json", {"ocs0": controls["ocs0"]}, cross_connects)
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        document["optical_switches"] = [{"name": name, "ports": 12 if name == "flip" else PORTS,
                                         "control": control} for name, control in controls.items()]
        for n, server in enumerate(document["servers"], 1):
            if server["name"] != without:
                server["ports"][0]["look_ahead"] = {
                    "optical_switch": "ocs1", "optical_port": n, "selector": "flip",
                    "common": n, "ends": [4 + n, 8 + n]}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        return path

    def asked(*names):
        return [devices[name].changes() for name in names]

    ring, cross = ahead_plan("ahead-ring", RING), ahead_plan("ahead-cross", CROSS)
    differs(toctl("switch", "flip", cross, status=1), "toctl switch flip: the look-ahead ports do "
            "not have the plan's cross-connects: prepare them first\n", "flip before prepare")
    differs(toctl("switch", "apply", ring, "--dry-run"),
            "nothing to do: the optical switches are as planned\n", "the active ports count")
    differs(toctl("switch", "apply", cross, "--prepare", "--dry-run"),
            "+ ocs1 1-3  s1:eth0 - s3:eth0\n+ ocs1 2-4  s2:eth0 - s4:eth0\n", "apply --prepare")
    toctl("switch", "apply", cross, "--prepare")
    differs(devices["ocs1"].joined(), [(1, 3), (2, 4), (9, 10)], "prepared on the look-ahead ports")
    differs(asked("ocs0", "flip"), [0, 0], "and the active ones were left alone")

    with devices["flip"].state() as state:
        state["faults"] = ["partial"]
    line = toctl("switch", "flip", cross, status=1)
    report("optical switch flip: ocs: mirror driver failed" in line and line.endswith(
        "; all switches have their old cross-connects\n"), "a flip that fails half way", line)
    differs(devices["flip"].joined(), first, "is flipped back")
    before = asked("ocs0", "ocs1")
    out = toctl("switch", "flip", cross)
    report(out.startswith("- flip 1-5  s1:eth0 - s1:eth0\n") and "done in" in out, "flip", out)
    differs(devices["flip"].joined(), second, "all 1x2 switches are at their other ends")
    differs(asked("ocs0", "ocs1"), before, "no cross-connect moved")
    report(not json.loads(toctl("switch", "show", cross, "--json"))["differs"],
           "the plan's cross-connects are where the active ports lead")

    out = toctl("switch", "apply", ring, "--prepare")
    differs(out, "nothing to do: the optical switches are as planned\n", "the old job is still there")
    toctl("switch", "flip", ring)
    differs(devices["flip"].joined(), first, "and back")
    differs(toctl("switch", "apply", ahead_plan("ahead-bad", CROSS, "s3"), "--prepare", status=1),
            "toctl switch apply: s3:eth0 has no look-ahead port\n", "a port with one fibre")
    with devices["flip"].state() as state:
        state["joined"].remove([1, 5])
    differs(toctl("switch", "show", ring, status=3), "toctl switch show: optical switch flip: the "
            "1x2 switch of s1:eth0 is at neither end\n", "a 1x2 switch that is nowhere")


def kinds(tmp):
    """Programs take long to start on a busy machine, servers do not."""
    yield Kind("command", tmp, 10000, lambda device: {
        "driver": "command", "command": f"{OCS} {device.path}"}, False)
    yield Kind("polatis-scpi", tmp, 2500, lambda device: {
        "driver": "polatis-scpi", "address": Server(Scpi, device).address,
        "egress_offset": PORTS}, True, PORTS, steps=2)
    yield Kind("polatis-scpi-one-sided", tmp, 2500, lambda device: {
        "driver": "polatis-scpi", "address": Server(Scpi, device).address}, False, steps=2)
    yield Kind("polatis-restconf", tmp, 2500, lambda device: restconf(device) | {
        "egress_offset": PORTS}, True, PORTS)
    yield Kind("polatis-restconf-one-sided", tmp, 2500, restconf, False, backwards=True)
    yield Kind("sonic", tmp, 10000, sonic, True)


with tempfile.TemporaryDirectory() as directory:
    ALLOW = f"{directory}/allow"
    with open(ALLOW, "w", encoding="utf-8") as allow_file:
        allow_file.write("command *\npassword-file *\npassword-env *\nhttp *\nnetns *\n")
    on_command(directory)
    program_ends(directory)
    for each in kinds(directory):
        on_all(each)
        from_and_to_nothing(each)
        others_meanwhile(each)
        if each.name.startswith("polatis-restconf"):
            entity_tags(each)
    passwords_stay(directory)
    clean_environment(directory)
    permission(directory)
    bad_input(directory)
    two_switches(directory)
    idle(directory)
    look_ahead(directory)
done()
