#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl status of a ring of four whose agents say what the test has them say."""

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
SCHEMA = json.load(open("Documentation/schemas/status.schema.json", encoding="utf-8"))
COUNTERS = ("miss-packets", "backup-packets", "drop-header", "drop-ttl", "drop-tx")
RATE = 200e9	# bits/s of a port
AGENT = """while IFS= read -r request; do
	echo "$request" >>DIR/requests
	id=${request##*'"id":'}; id=${id%%[,\\}]*}
	sed "s/ID/$id/" "DIR/$1" || exit
done
"""

tmp = tempfile.TemporaryDirectory()
DIR = tmp.name
PLAN = f"{DIR}/plan.json"
subprocess.run((TOCTL, "plan", "--cluster", RING + "cluster.json", "--job", RING + "job.json",
                "--fixed", "-o", PLAN), check=True, stdout=subprocess.DEVNULL)
with open(f"{DIR}/agent", "w", encoding="utf-8") as file:
    file.write(AGENT.replace("DIR", DIR))


class Server:
    """What one agent says of itself; an hour after its start."""

    def __init__(self, name):
        self.name, self.time, self.dark = name, 3600.0, ()
        self.bytes = {"eth0": [1000, 1000], "eth1": [1000, 1000]}	# received, sent
        self.counters = dict.fromkeys(COUNTERS, 7)
        self.misses = {"eth0": 7, "eth1": 7}
        self.mtu = {}
        self.link = {port: dict.fromkeys(("rx_packets", "tx_packets", "missed", "errors",
                                          "carrier_changes"), 1000) for port in self.bytes}
        self.more = {"ok": True, "protocol": 2, "features": ["checks"], "generation": 5, "staged": False, "device": 9, "backups": 0}

    def say(self):
        ports = [{"name": port, "live": port not in self.dark, "rx_bytes": rx, "tx_bytes": tx,
                  "link": self.link[port], "counters": {"miss-packets": self.misses[port]}} for port, (rx, tx) in self.bytes.items()]
        for port in ports:
            if port["name"] in self.mtu:
                port["mtu"] = self.mtu[port["name"]]
        reply = self.more | {"id": "ID", "time_ns": int(self.time * 1e9), "ports": ports,
                             "counters": self.counters,
                             "live": [p["name"] for p in ports if p["live"]]}
        with open(f"{DIR}/{self.name}", "w", encoding="utf-8") as file:
            file.write(json.dumps(reply).replace('"ID"', "ID") + "\n")


def fabric():
    return {f"s{i}": Server(f"s{i}") for i in range(4)}


def status(servers, *options, forget=False, plan=PLAN):
    """Text, JSON and exit status of looks at servers; the text is a look of its own."""
    state = f"{DIR}/state/ring-4/look.json"
    if forget and os.path.exists(state):
        os.unlink(state)
    for server in servers.values():
        server.say()
    before = open(state, encoding="utf-8").read() if os.path.exists(state) else None
    results = []
    for extra in ((), ("--json",)):
        if before:
            open(state, "w", encoding="utf-8").write(before)
        elif os.path.exists(state):
            os.unlink(state)
        results.append(subprocess.run(
            (TOCTL, "status", plan, "--set", f"agents.command=bash {DIR}/agent {{}}", *options, *extra),
            capture_output=True, text=True, check=False,
            env=os.environ | {"TOPOOPT_STATE": f"{DIR}/state"}))
    text, said = results
    document = json.loads(said.stdout) if said.stdout else None
    if document:
        jsonschema.validate(document, SCHEMA)
    return text.stdout, document, text.returncode, text.stderr


def pass_time(servers, seconds):
    for server in servers.values():
        server.time += seconds


def checks(document):
    return [f"{c['subject']} {c['check']}" for c in document["checks"]]


def planned(servers, document, unit):
    """Let links carry what the plan gives them, in parts of so many bytes."""
    for link in document["links"]:
        size = round(unit * link["planned"])
        for end, way in (link["from"], 1), (link["to"], 0):
            if ":" in end:  # else a packet switch, which counts nothing
                server, port = end.split(":")
                servers[server].bytes[port][way] += size


servers = fabric()
text, first, code, err = status(servers, forget=True)
report(code == 0 and text.endswith("status: healthy\n") and not err and first["health"] == "healthy" and
       "seconds" not in first and "run it again" in text,
       "a first look at a healthy fabric, whatever its counters", text + err)
report(set(open(f"{DIR}/requests", encoding="utf-8").read().split('"op":"')[1:]) and
       all('"op":"look"' in line for line in open(f"{DIR}/requests", encoding="utf-8")),
       "agents are asked for nothing but a look", open(f"{DIR}/requests", encoding="utf-8").read())

with open(f"{DIR}/requests", encoding="utf-8") as file:
    requests = [json.loads(line) for line in file]
tables = [json.loads(r["table"])["server"] for r in requests if "table" in r]
report(len(requests) == 16 and sorted(tables) == sorted([*servers] * 2),
       "each gets its part of the plan once, to compare with it", tables)

pass_time(servers, 2)
planned(servers, first, 8e9)
text, said, code, _ = status(servers)
busiest = max(said["links"], key=lambda link: link["bytes"])
report(code == 0 and said["seconds"] == 2 and said["bytes"] == sum(
    link["bytes"] for link in said["links"]) and said["off_plan"] < 1e-6 and
    abs(busiest["utilisation"] - busiest["bytes"] * 8 / 2 / RATE) < 1e-9 and
    f"{busiest['utilisation'] * 100:.1f} %" in text and "0.0 % of these bytes" in text,
    "traffic as planned: bytes, utilisation, nothing off plan", text)

pass_time(servers, 1)
servers["s2"].bytes["eth0"][1] += 10 ** 9
text, said, code, _ = status(servers)
share = [link["planned"] for link in said["links"] if link["from"] == "s2:eth0"][0]
report(code == 0 and abs(said["off_plan"] - (1 - share)) < 1e-6,
       "all bytes on one link: all are off plan but what it has by the plan", text)

pass_time(servers, 1)
for server in servers.values():
    server.counters["drop-tx"] += 100
    server.counters["drop-ttl"] += 3
    server.counters["miss-packets"] += 1
text, said, code, _ = status(servers)
report(code == 0 and said["congested"] == 400 and said["expired"] == 12 and said["drops"] == 0 and
       "400 at full queues, 12 by TTL" in text, "full queues, traceroute and multicast of the stack are healthy", text)

pass_time(servers, 1)
servers["s1"].counters["miss-packets"] += 15
servers["s1"].misses["eth1"] += 5
servers["s3"].counters["drop-header"] += 6
text, said, code, _ = status(servers)
report(code == 4 and checks(said) == ["s1 misses", "s3 drops"] and text.endswith("status: degraded\n") and
       said["misses"] == 5 and said["drops"] == 6 and
       "FAIL s1: misses: 5 packets without a route in 1 s" in text, "misses and drops", text)
pass_time(servers, 1)
_, said, code, _ = status(servers)
report(code == 0 and said["misses"] == 0, "they are those since the last look")

pass_time(servers, 1)
servers["s1"].dark = ("eth0",)
servers["s1"].more["backups"] = 3
text, said, code, _ = status(servers)
report(code == 4 and checks(said) == ["s1 backups", "s1:eth0 carrier"] and said["lit"] == 7 and
       [link["from"] for link in said["links"] if not link["lit"]] == ["s1:eth0", "s2:eth1"],
       "a port without light, backups in use", text)

servers = fabric()
servers["s3"].more["generation"] = 4
servers["s0"].more["staged"] = True
text, said, code, _ = status(servers, forget=True)
report(code == 1 and said["generation"] == 0 and
       checks(said) == ["s0 stage", "s3 generation"] and "4, most servers run 5" in text,
       "another generation, a stage that was left", text)

servers = fabric()
servers["s2"].more |= {"generation": 0}
for key in ("device", "backups"):
    del servers["s2"].more[key]
servers["s2"].bytes = {}
text, said, code, _ = status(servers, forget=True)
report(code == 1 and checks(said) == ["s2 plan"], "a server without a plan: nothing else of it", text)

servers = fabric()
status(servers, forget=True)
pass_time(servers, 1)
servers["s0"].more["device"] = 10
servers["s0"].misses["eth0"] = 3
servers["s1"].time = 5.0
servers["s1"].bytes["eth0"][1] = 5
text, said, code, _ = status(servers)
report(code == 0 and said["off_plan"] is None and
       [s["server"] for s in said["servers"] if "misses" not in s] == ["s0", "s1"] and
       all("bytes" in link for link in said["links"] if "s2:" in link["from"] + link["to"]),
       "a device made anew and a server that booted: neither is counted", text)

servers = fabric()
del servers["s3"]
os.unlink(f"{DIR}/s3")
text, said, code, _ = status(servers, forget=True)
report(code == 1 and checks(said) == ["s3 agent"] and "3 of 4 reached" in text,
       "a server that does not answer", text)

for name in fabric():
    if os.path.exists(f"{DIR}/{name}"):
        os.unlink(f"{DIR}/{name}")
text, said, code, _ = status({}, forget=True)
report(code == 3 and len(checks(said)) == 4 and "0 of 4 reached" in text, "no server answers", text)

servers = fabric()
servers["s1"].more |= {"ok": False, "error": "no request is called \"look\""}
text, said, code, _ = status(servers, forget=True)
report(code == 1 and checks(said) == ["s1 agent"] and 'no request is called "look"' in text,
       "an agent of an older version says so", text)

# --- continuity checks ---

RING_LINKS = [[end.split(":") for end in (link["a"], link["b"])]
              for link in json.load(open(PLAN, encoding="utf-8"))["links"]]


def checked(**wrong):
    """A fabric whose neighbours hear each other, but for those named as SERVER_PORT."""
    servers = fabric()
    for server in servers.values():
        server.more["peers"] = []
        server.more["up"] = True
    for ends in RING_LINKS:
        for (server, port), (peer, peer_port) in (ends, ends[::-1]):
            said = {"port": port, "server": peer, "server_port": peer_port, "index": int(peer[1:]),
                    "mac": "02:00:00:00:00:01", "reason": "heard", "transit": True, "local": True,
                    "silence_ms": 40, "received": 1000, "missing": 0, "generation": 5}
            said |= wrong.get(f"{server}_{port}", {})
            servers[server].more["peers"].append(said)
    return servers


def dead(reason, **more):
    return {"reason": reason, "transit": False, "local": False} | more


def end_of(server, port):
    """The other end of a link, as SERVER, PORT."""
    return next(ends[not k] for ends in RING_LINKS for k in (0, 1) if ends[k] == [server, port])


conflict = checked()
conflict["s1"].more["deviations"] = [{
    "kind": "conflict", "fault": True, "text": "10.0.0.3: route 10.0.0.3/32 dev other wins",
    "fix": "ip route del 10.0.0.3/32 dev other table main"}]
text, said, code, _ = status(conflict, forget=True)
report(code == 4 and checks(said) == ["s1 conflict"] and
       said["checks"][0]["fix"] == "ip route del 10.0.0.3/32 dev other table main" and
       "FAIL s1: conflict: 10.0.0.3: route 10.0.0.3/32 dev other wins\n"
       "     fix: ip route del 10.0.0.3/32 dev other table main\n" in text,
       "a route of somebody else, with the command that removes it", text)

text, said, code, _ = status(checked(), forget=True)
report(code == 0 and said["health"] == "healthy" and said["heard"] == 8 == said["neighbours"] and
       said["pairs"] == 12 and said["apart"] == 0 and
       "8 of 8 neighbours are heard; only the highest traffic class is checked\n" in text and
       "12 of 12 are reached" in text, "all neighbours hear each other", text)

far, far_port = end_of("s1", "eth0")
both = checked(**{"s1_eth0": dead("silent"), f"{far}_{far_port}": dead("silent")})
text, said, code, _ = status(both, forget=True)
report(code == 4 and checks(said) == ["s1:eth0 link"] and said["apart"] == 0 and said["heard"] == 6 and
       f"has light, but nothing passes to or from {far}:{far_port}" in text,
       "light without frames, both ways: backups reach all", text)
one = checked(**{"s1_eth0": dead("silent"), f"{far}_{far_port}": dead("unheard")})
text, said, code, _ = status(one, forget=True)
report(code == 4 and checks(said) == [f"{far}:{far_port} link"] and
       "nothing passes from here to s1:eth0: one way is dead" in text, "one way is dead", text)

far1, far_port1 = end_of("s1", "eth1")
alone = checked(**{"s1_eth0": dead("silent"), f"{far}_{far_port}": dead("silent"),
                   "s1_eth1": dead("silent"), f"{far1}_{far_port1}": dead("silent")})
text, said, code, _ = status(alone, forget=True)
report(code == 1 and said["health"] == "broken" and said["apart"] == 6 and
       checks(said) == [f"{':'.join(ends[0])} link" for ends in RING_LINKS
                        if "s1" in (ends[0][0], ends[1][0])] and
       "6 of 12 are reached; s1 does not reach s0" in text and
       text.endswith("status: broken\n"), "both links of a server: pairs are apart", text)

swap = checked(**{"s1_eth0": dead("stranger", stranger="s3", stranger_port="eth1")})
text, said, code, _ = status(swap, forget=True)
report(code == 4 and checks(said) == ["s1:eth0 cabling"] and
       f"s1:eth0 hears s3:eth1; the plan says {far}:{far_port}" in text, "a cable in a wrong port", text)

down = checked(**{f"{peer}_{port}": dead("down") for peer, port in (end_of("s2", "eth0"), end_of("s2", "eth1"))})
down["s2"].more["up"] = False
text, said, code, _ = status(down, forget=True)
report(code == 1 and checks(said) == ["s2 device"] and said["apart"] == 6,
       "a topoopt device that is down", text)
del down["s2"]
os.unlink(f"{DIR}/s2")
text, said, code, _ = status(down, forget=True)
report(code == 1 and checks(said) == ["s2 agent", "s2 device"],
       "its neighbours tell, if its agent does not", text)

away = checked()
del away["s2"]
text, said, code, _ = status(away, forget=True)
report(code == 4 and checks(said) == ["s2 agent"] and said["apart"] == 0,
       "an agent is away, and its server is heard to relay", text)

hung = checked(**{f"{peer}_{port}": dead("silent") for peer, port in (end_of("s2", "eth0"), end_of("s2", "eth1"))})
del hung["s2"]
text, said, code, _ = status(hung, forget=True)
report(code == 1 and checks(said) == ["s2 agent", "s2 server"] and "no neighbour hears it" in text,
       "a server that hangs with its light on", text)

mixed = checked()
del mixed["s3"].more["peers"]
mixed["s3"].more["features"] = []
text, said, code, _ = status(mixed, forget=True)
report(code == 0 and said["neighbours"] == 6 and "no checks, links follow light: s3\n" in text and
       [s["unable"] for s in said["servers"]] == [False] * 3 + [True] and "older" not in text,
       "a server whose module has no checks is named", text)
for key in ("protocol", "features", "up"):
    del mixed["s3"].more[key]
text, said, code, _ = status(mixed, forget=True)
report(code == 0 and "no checks, links follow light: s3\n" in text and
       "agents     older than this toctl: s3; update toctl there\n" in text and
       [s["old"] for s in said["servers"]] == [False] * 3 + [True],
       "a server whose agent is older is named", text)

mtus = checked(s1_eth0={"largest": 1514})
mtus["s1"].mtu = {"eth0": 9000}
text, said, code, _ = status(mtus, forget=True)
report(code == 4 and checks(said) == ["s1:eth0 mtu"] and
       f"9000, but {far}:{far_port} never got a frame of more than 1514 bytes" in text,
       "a path that takes less than its ends", text)
mtus[far].mtu = {far_port: 1500}
text, said, code, _ = status(mtus, forget=True)
report(code == 4 and checks(said) == [f"{far}:{far_port} mtu"] and "1500, while s1:eth0 has 9000" in text,
       "one end with a smaller MTU", text)

off = json.load(open(PLAN, encoding="utf-8")) | {"checks": {"interval": "off"}}
OFF = f"{DIR}/off.json"
with open(OFF, "w", encoding="utf-8") as file:
    json.dump(off, file)
servers = checked()
for server in servers.values():
    server.more["peers"] = []
text, said, code, _ = status(servers, forget=True, plan=OFF)
report(code == 0 and "off by the plan: links follow light" in text, "checks are off by the plan", text)

# --- links that lose packets while they have light ---


def later(servers, seconds):
    """Let the observer's clock go on, too: its last look becomes older."""
    pass_time(servers, seconds)
    path = f"{DIR}/state/ring-4/look.json"
    look = json.load(open(path, encoding="utf-8"))
    look["end_ns"] -= seconds * 10 ** 9
    with open(path, "w", encoding="utf-8") as state:
        json.dump(look, state)


def carry(servers, way, sent, lost=0, **more):
    """Let a direction carry packets, of which some are lost; and what else the receiver counts."""
    (sender, out), (receiver, into) = [end.split(":") for end in way]
    servers[sender].link[out]["tx_packets"] += sent
    servers[receiver].link[into]["rx_packets"] += sent - lost
    for name, value in more.items():
        servers[receiver].link[into][name] += value


def loss(document, way):
    return [link["loss"] for link in document["links"] if (link["from"], link["to"]) == way][0]


servers = fabric()
_, first, _, _ = status(servers, forget=True)
ways = [(link["from"], link["to"]) for link in first["links"]]
bad = ("s1:eth0", "s2:eth1")
later(servers, 100)
for way in ways:
    carry(servers, way, 100000, 5000 if way == bad else 0)
text, said, code, _ = status(servers)
report(code == 4 and checks(said) == ["s1:eth0 loss"] and "lossy" == loss(said, bad)["verdict"] and
       loss(said, bad)["lost"] == 5000 and 100 <= loss(said, bad)["error"] < 2500 and
       "to s2:eth1: loses 5 % of 100000 packets (off by" in text and
       "1 directions lossy, 7 clean, 0 carried too little to tell" in text,
       "5 % are lost in one direction", text)

later(servers, 100)
for way in ways:
    carry(servers, way, 50)
text, said, code, _ = status(servers)
report(code == 0 and {loss(said, way)["verdict"] for way in ways} == {"unproven"},
       "50 packets prove nothing", text)

later(servers, 100)
carry(servers, ("s0:eth0", "s1:eth1"), 100000, 10000, missed=10000)
carry(servers, bad, 100000, 50, errors=50)
servers["s2"].link["eth0"]["carrier_changes"] += 6
servers["s3"].link["eth1"]["carrier_changes"] += 2
text, said, code, _ = status(servers)
report(code == 4 and checks(said) == ["s1:eth0 damage", "s2:eth0 flaps"] and
       loss(said, ("s0:eth0", "s1:eth1"))["missed"] == 10000 and
       "to s2:eth1: 50 packets arrived damaged in 1" in text and
       "carrier with s3:eth1 changed 8 times in 1" in text,
       "a receiver without buffers is no lossy link; damaged packets, a carrier that flaps", text)

later(servers, 10)
servers["s1"].more["peers"] = [{"port": "eth1", "server": "s0", "server_port": "eth0",
                                "received": 500, "missing": 5}]
status(servers, forget=False)
later(servers, 3)
servers["s1"].more["peers"] = [{"port": "eth1", "server": "s0", "server_port": "eth0",
                                "received": 525, "missing": 10}]
text, said, code, _ = status(servers)
report(code == 4 and checks(said) == ["s0:eth0 loss"] and
       "to s1:eth1: loses 5 of 30 checks" in text, "checks that never came", text)
del servers["s1"].link["eth1"]["missed"]
text, said, code, _ = status(servers)
report(code == 0 and not [link for link in said["links"] if link["from"] == "s0:eth0" and "loss" in link],
       "counters that an agent does not tell", text)

# --- packet switches ---

RAIL = f"{DIR}/rail.json"
with open(f"{DIR}/job.json", "w", encoding="utf-8") as file:
    json.dump({"name": "ring-4", "servers": 4, "allreduce": [{"group": "all", "bytes": 10 ** 9}],
               "mp": [{"from": "0", "to": "2", "bytes": 10 ** 9}]}, file)
subprocess.run((TOCTL, "plan", "--job", f"{DIR}/job.json", "--topology", "rail:2", "-o", RAIL),
               check=True, stdout=subprocess.DEVNULL)
servers = fabric()
text, first, code, err = status(servers, forget=True, plan=RAIL)
ends = sorted((link["from"], link["to"]) for link in first["links"])
report(code == 0 and first["ports"] == 8 == first["lit"] and ends == sorted(
    way for s in range(4) for p in range(2) for way in (
        (f"s{s}:eth{p}", f"rail{p}"), (f"rail{p}", f"s{s}:eth{p}"))),
       "a port on a packet switch: a link there and one back", text + err)

pass_time(servers, 2)
planned(servers, first, 8e9)
text, said, code, _ = status(servers, plan=RAIL)
busiest = max(said["links"], key=lambda link: link["utilisation"])
report(code == 0 and said["off_plan"] < 1e-6 and
       abs(busiest["utilisation"] - busiest["bytes"] * 8 / 2 / 100e9) < 1e-9 and
       f"busiest {busiest['from']} to {busiest['to']}, {busiest['utilisation'] * 100:.1f} %" in text,
       "each is counted by its port", text)

pass_time(servers, 1)
servers["s1"].dark = ("eth1",)
text, said, code, _ = status(servers, plan=RAIL)
report(code == 4 and checks(said) == ["s1:eth1 carrier"] and said["lit"] == 7 and
       sorted(link["from"] for link in said["links"] if not link["lit"]) == ["rail1", "s1:eth1"],
       "a port on a packet switch without light", text)
subprocess.run((TOCTL, "replan", "--down", "s1:eth1", RAIL, "-o", RAIL + ".repair"),
               check=True, stdout=subprocess.DEVNULL)
text, said, code, _ = status(servers, plan=RAIL)
report(code == 4 and said["ports"] == 8 and said["lit"] == 7 and
       checks(said) == ["all servers repair", "s1:eth1 carrier"] and
       not [link for link in said["links"] if "s1:eth1" in (link["from"], link["to"])],
       "a plan without it is in force, and health is judged by the operator's", text)

# --- functions that share a cable ---

with open(RING + "cluster.json", encoding="utf-8") as file:
    cluster = json.load(file)
for server in cluster["servers"]:
    for port in server["ports"]:
        port["cable"] = "p0"
# two servers, two links on one cable
cluster["servers"] = cluster["servers"][:2]
cluster["links"] = [{"a": "s0:eth0", "b": "s1:eth1"}, {"a": "s0:eth1", "b": "s1:eth0"}]
with open(f"{DIR}/shared.json", "w", encoding="utf-8") as file:
    json.dump(cluster, file)
with open(f"{DIR}/job.json", "w", encoding="utf-8") as file:
    json.dump({"name": "ring-4", "servers": 2, "allreduce": [{"group": "all", "bytes": 10 ** 9}], "mp": []}, file)
SHARED = f"{DIR}/shared-plan.json"
subprocess.run((TOCTL, "plan", "--job", f"{DIR}/job.json", "--cluster", f"{DIR}/shared.json", "--fixed",
                "-o", SHARED), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
servers = {name: server for name, server in fabric().items() if name in ("s0", "s1")}
servers["s0"].dark = ("eth1",)
text, said, code, _ = status(servers, forget=True, plan=SHARED)
report(code == 4 and checks(said) == ["s0:eth1 carrier"] and
       said["checks"][0]["text"] == "down, while eth0 has light on the same cable",
       "a function that is down alone", text)
for name, server in servers.items():
    server.dark = ("eth0", "eth1")
text, said, code, _ = status(servers, plan=SHARED)
report(code == 1 and len(checks(said)) == 4 and {c["text"] for c in said["checks"]} == {"no light"},
       "the only cable is cut", text)

# --- the loop ---

servers = fabric()
with open(f"{DIR}/log", "w", encoding="utf-8") as file:
    for line in ({"time": 1.0, "event": "decision", "action": "rewire", "reason": "old"},
                 {"time": 2.0, "event": "refused", "error": "too \x1b[31mdark"},
                 {"time": 3.0, "event": "shift"}):
        file.write(json.dumps(line) + "\n")
    file.write('{"time": 4.0, "event": "deci')
open(PLAN + ".next", "w", encoding="utf-8").close()
text, said, code, _ = status(servers, "--log", f"{DIR}/log", forget=True)
report(code == 0 and said["loop"]["decision"]["event"] == "refused" and said["loop"]["change"] and
       not said["loop"]["running"] and "refused: too \\x1b[31mdark" in text and
       "a change was interrupted" in text, "the last decision of a log, a change that ended early", text)
os.unlink(PLAN + ".next")

replan = subprocess.run((TOCTL, "replan", "--down", "s0:eth0", PLAN, "-o",
                         PLAN + ".repair"), capture_output=True, text=True, check=False)
servers["s0"].dark, servers["s1"].dark = ("eth0",), ("eth1",)
text, said, code, _ = status(servers, forget=True)
report(code == 4 and said["loop"]["repair"] and said["ports"] == 8 and said["lit"] == 6 and
       said["apart"] == 0 and text.endswith("status: degraded\n") and
       checks(said) == ["all servers repair", "s0:eth0 carrier", "s1:eth1 carrier"] and
       "a plan without s0:eth0 is in force" in text,
       "a repaired fabric lacks something of the operator's plan", text + replan.stderr)
os.unlink(PLAN + ".repair")

# --- trouble ---

for what, options, plan, line in (
        ("a plan that is not there", (), f"{DIR}/none.json", f"{DIR}/none.json: No such file"),
        ("a log that is not there", ("--log", f"{DIR}/none"), PLAN, f"{DIR}/none: No such file")):
    text, said, code, err = status({}, *options, plan=plan)
    report(code == 3 and not text and f"toctl status: {line}" in err and err.count("\n") == 1,
           f"{what}: status 3", err)

done()
