#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl doctor --all of a ring of four whose agents say what the test has them say."""

import json
import os
import subprocess
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")  # RefResolver, in versions after Debian 12's
import jsonschema

sys.path.insert(0, "selftests/unit")
from tap import done, report  # noqa: E402

TOCTL = os.environ.get("TOCTL", "build/toctl")
RING = "examples/ring-4/"
SCHEMA = json.load(open("Documentation/schemas/doctor.schema.json", encoding="utf-8"))
GOOD = {"verdict": "ok", "check": "mtu", "subject": "eth0", "text": "4200", "fix": ""}
BAD = {"verdict": "FAIL", "check": "device", "subject": "topo0", "text": "down\x1b[31m", "fix": "up"}

tmp = tempfile.TemporaryDirectory()
DIR = tmp.name
PLAN = f"{DIR}/plan.json"
subprocess.run((TOCTL, "plan", "--cluster", RING + "cluster.json", "--job", RING + "job.json",
                "--fixed", "-o", PLAN), check=True, stdout=subprocess.DEVNULL)
with open(PLAN, encoding="utf-8") as file:
    plan = json.load(file)
addresses = {f"{server['name']}:{port['name']}": port["ipv4"]
             for server in plan["servers"] for port in server["ports"]}

AGENT = r"""
import json, os, sys
name = sys.argv[1]
world = json.load(open(os.environ["WORLD"]))
for line in sys.stdin:
    request = json.loads(line)
    with open(os.environ["WORLD"] + "." + name, "a") as file:
        file.write(line)
    reply = {"id": request["id"], "ok": True, "generation": 1, "staged": False, "live": []}
    if request["op"] == "doctor":
        reply["checks"] = world["checks"][name]
    elif request["op"] == "load":
        reply["load"] = []
        for cable in request["cables"]:
            for own, peer in (("first", "second"), ("second", "first")):
                if cable[own] in world["own"][name]:
                    reply["load"].append({"address": cable[own], "peer": cable[peer],
                                          **world["load"].get(cable[own], {"received": [cable["rate"]] * 3})})
    elif request["op"] != "hello":
        reply |= {"ok": False, "error": f"no request is called \"{request['op']}\""}
    if name in world["old"] and request["op"] in ("doctor", "load"):
        reply = {"id": request["id"], "ok": False, "error": f"no request is called \"{request['op']}\""}
    print(json.dumps(reply), flush=True)
"""
with open(f"{DIR}/agent.py", "w", encoding="utf-8") as file:
    file.write(AGENT)


def doctor(*options, checks=(), load=(), old=()):
    """Text, JSON, exit status, and what each server was asked."""
    names = [server["name"] for server in plan["servers"]]
    world = {"checks": {name: [GOOD] for name in names} | dict(checks), "load": dict(load),
             "old": list(old),
             "own": {name: [ip for port, ip in addresses.items() if port.startswith(name + ":")]
                     for name in names}}
    with open(f"{DIR}/world", "w", encoding="utf-8") as state:
        json.dump(world, state)
    results = []
    for extra in ((), ("--json",)):
        for name in names:
            if os.path.exists(f"{DIR}/world.{name}"):
                os.unlink(f"{DIR}/world.{name}")
        results.append(subprocess.run(
            (TOCTL, "doctor", "--all", PLAN, "--set",
             f"agents.command=/usr/bin/python3 {DIR}/agent.py {{}}", *options, *extra),
            capture_output=True, text=True, check=False, env=os.environ | {"WORLD": f"{DIR}/world"}))
    text, said = results
    document = json.loads(said.stdout) if said.stdout else None
    if document:
        jsonschema.validate(document, SCHEMA)
    asked = {name: [json.loads(line) for line in open(f"{DIR}/world.{name}", encoding="utf-8")]
             for name in names}
    return text.stdout + text.stderr, document, text.returncode, asked


def cable(document, sender, receiver):
    return [c for c in document["cables"] if (c["from"], c["to"]) == (sender, receiver)][0]


text, said, code, asked = doctor()
report(code == 0 and not said["failed"] and text.count("1 of 1 checks ok") == 4 and
       said["cables"] == [], "four servers are well", text)
report(all([r["op"] for r in requests] == ["doctor"] for requests in asked.values()) and
       json.loads(asked["s2"][0]["table"])["server"] == "s2",
       "each gets its part of the plan, and is asked for nothing else")

text, said, code, _ = doctor(checks={"s1": [GOOD, BAD]})
report(code == 1 and said["failed"] and "s1: 1 of 2 checks ok\nFAIL s1: topo0: device: down\\x1b[31m\n     fix: up" in text,
       "one server fails", text)

text, said, code, _ = doctor(old=["s3"])
report(code == 1 and "FAIL s3: agent: no request is called \"doctor\"" in text and
       said["servers"][3]["checks"] == [], "an agent of an older version", text)

text, said, code, asked = doctor("--load", "--rate", "40G")
rounds = [request["cables"] for request in asked["s0"] if request["op"] == "load"]
home = {ip: port.split(":")[0] for port, ip in addresses.items()}
busy = [[home[cable[end]] for cable in cables for end in ("first", "second")] for cables in rounds]
report(code == 0 and len(said["cables"]) == 8 and sum(map(len, rounds)) == 4 and
       all(len(set(names)) == len(names) for names in busy),
       "all cables are loaded, one at a time at each server", f"{text}{rounds}")
report({c["rate"] for c in said["cables"]} == {40 * 10 ** 9} and
       "ok   s0:eth0 to s1:eth1: load: 40 Gbit/s, 40 while both ends send, of 40\n" in text,
       "at the rate that was asked for", text)

link = plan["links"][0]
first, second = link["a"], link["b"]
load = {addresses[second]: {"received": [40e9, 0, 20e9]}}
text, said, code, _ = doctor("--load", "--rate", "40G", load=load)
report(code == 1 and cable(said, first, second)["verdict"] == "FAIL" and
       cable(said, second, first)["verdict"] == "ok" and
       f"FAIL {first} to {second}: load: 40 Gbit/s, 20 while both ends send, of 40: passes less while both ends send" in text,
       "a cable that passes half both ways", text)
load = {addresses[second]: {"received": [40e9, 0, 32.1e9]}, addresses[first]: {"received": [0, 31e9, 31e9]}}
text, said, code, _ = doctor("--load", "--rate", "40G", load=load)
report(code == 0 and cable(said, first, second)["verdict"] == "ok" and
       cable(said, second, first)["verdict"] == "warn" and "of 40: passes less than was offered" in text,
       "four fifths are enough both ways; less than was offered is a warning", text)
load = {addresses[second]: {"received": [0, 0, 0], "error": "no connection with the other end in 3 s"}}
text, said, code, _ = doctor("--load", "--rate", "40G", load=load, old=["s3"])
report(code == 1 and f"FAIL {first} to {second}: load: not loaded: no connection with the other end in 3 s" in text and
       "not loaded: no request is called \"load\"" in text, "cables that could not be loaded", text)

for words, wrong in ((("--load",), "--load needs --all"), (("--rate", "1G"), "--rate needs --load"),
                     (("--all",), "--all needs PLAN"),
                     (("--all", PLAN, "--node", "s0"), "--all cannot be combined with")):
    said = subprocess.run((TOCTL, "doctor", *words), capture_output=True, text=True, check=False)
    report(said.returncode == 2 and wrong in said.stderr, f"refused: {' '.join(words[:1])}", said.stderr)
done()
