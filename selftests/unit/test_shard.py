#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl shard: several jobs on one cluster, on a panel that people move and on an optical
switch and agents that are fakes: nobody gets what another has, whoever is killed when."""

import fcntl
import json
import os
import subprocess
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")  # RefResolver, in versions after Debian 12's
import jsonschema

sys.path.insert(0, "selftests/unit")
from clusters import grouped  # noqa: E402
from fabric import FAKES, TOCTL  # noqa: E402
from fakes import load, save  # noqa: E402
from ocs import Device  # noqa: E402
from tap import done, report  # noqa: E402

CLUSTER = "examples/panel-6/cluster.json"
tmp = tempfile.TemporaryDirectory()
DIR = tmp.name
SCHEMAS = {s["$id"]: s for s in (load(f"Documentation/schemas/{name}.schema.json")
                                 for name in ("shards", "shard-show", "replan"))}


def wrong(name, document):
    """What the schema says against it."""
    schema = SCHEMAS[f"{name}.schema.json"]
    validator = jsonschema.Draft202012Validator(
        schema, resolver=jsonschema.RefResolver(schema["$id"], schema, SCHEMAS))
    return "; ".join(error.message for error in validator.iter_errors(document))


for n in range(2, 6):
    save(f"{DIR}/{n}.json", {"format": "topoopt-job", "version": 1, "name": "job", "servers": n,
                             "allreduce": [{"group": "all", "bytes": 1 << 30}]})


class Cluster:
    """The state of one, and what toctl shard does with it."""

    def __init__(self, name, cluster=CLUSTER, shared=True):
        self.dir = f"{DIR}/{name}"
        self.cluster = cluster
        self.how = ()
        if shared:
            self("init", cluster)

    def __call__(self, verb, *arguments, how=()):
        return subprocess.run((TOCTL, "shard", verb, "--set", f"shards.state={self.dir}", *arguments, *how),
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)

    def add(self, name, servers, *arguments, how=()):
        return self("add", name, "--job", f"{DIR}/{servers}.json", "--effort", "1", *arguments, how=how)

    def show(self, *arguments):
        return json.loads(self("show", "--json", *arguments).stdout)

    def servers(self, name):
        return self.show(name)["servers"]

    def plan(self, name):
        return load(self.show(name)["plan"])

    def bytes(self):
        """All that is kept, but for the lock."""
        found = {}
        for folder, _, files in os.walk(self.dir):
            for file in files:
                if file != "lock":
                    with open(f"{folder}/{file}", "rb") as data:
                        found[f"{folder}/{file}"] = data.read()
        return found


def owned(shard):
    """Optical ports of a shard's cross-connects."""
    return {(x["optical_switch"], x[end]) for x in shard["cross_connects"] for end in "ab"}


def refused(name, said, text, *kept, status=1):
    """It failed in one line with the text, and what it should keep is the same."""
    report(said.returncode == status and text in said.stderr and said.stderr.count("\n") == 1 and
           all(before == after for before, after in kept), name,
           f"{said.returncode} {said.stdout}{said.stderr}")


# --- people move the fibres ---

panel = Cluster("panel", shared=False)
refused("no cluster is shared yet", panel("show"), "toctl shard init", status=3)
said = panel("init", CLUSTER)
report(said.returncode == 0 and "6 servers, 0 links in place, 0 shards" in said.stdout, "init",
       said.stderr)
before = panel.bytes()
said = panel.add("a", 3, "--dry-run")
report(said.returncode == 0 and "make panel" in said.stdout and panel.bytes() == before,
       "a dry run prints the moves and takes nothing", said.stderr)
said = panel.add("a", 3)
lines = {tuple(line.split()[1:]) for line in said.stdout.splitlines() if line.startswith("make ")}
shard = panel.show("a")
made = {(x["optical_switch"], str(x["a"]), str(x["b"])) for x in shard["moves"]["made"]}
report(said.returncode == 0 and lines == made and len(lines) == 6 and shard["state"] == "planned",
       "a shard of three: six fibres to make", said.stderr + said.stdout)
report(panel.plan("a")["job"] == "a", "its plan has its name")
panel.add("b", 2)
before = panel.bytes()
said = panel("show", "a", "-o", f"{panel.dir}/shards.json")
report(said.returncode == 2 and "directory of the shards' state" in said.stderr and
       panel.bytes() == before, "a plan is not written into the state", said.stderr)
whole = panel.show()
a, b = whole["shards"]
report(set(a["servers"] + b["servers"] + whole["free"]) == {f"s{i}" for i in range(6)} and
       len(whole["free"]) == 1 and not owned(a) & owned(b),
       "a second one has other servers and other optical ports", whole)
report(not wrong("shard-show", whole) and not wrong("shard-show", a) and
       not wrong("shards", load(f"{panel.dir}/shards.json")), "as the schemas say",
       wrong("shard-show", whole) + wrong("shards", load(f"{panel.dir}/shards.json")))
before = panel.bytes()
refused("more servers than are free", panel.add("c", 2), "2 servers are needed, 1 of 6 are free",
        (before, panel.bytes()))
refused("a name that is taken", panel.add("a", 2), "there is a shard a", (before, panel.bytes()))
refused("a server that is taken", panel.add("c", 2, "--on", "s5,s0"), "server s0 is taken by shard a",
        (before, panel.bytes()))
refused("a server that is not there", panel.add("c", 2, "--on", "s5,s9"),
        "server s9 is not in the cluster", (before, panel.bytes()))
refused("another number of names", panel.add("c", 2, "--on", "s5"),
        "the job has 2 servers, --on names 1", (before, panel.bytes()))
refused("no such shard", panel("remove", "c"), "no shard is called c", (before, panel.bytes()))

with open(f"{panel.dir}/lock", "r+", encoding="ascii") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    lock.truncate()
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    refused("two at once: one is told of the other", panel("remove", "b"),
            f"another toctl (process {os.getpid()}) is changing the cluster", (before, panel.bytes()))
    report(panel.show() == whole, "and whoever only looks waits for nobody")

panel("remove", "b")
before = panel.bytes()
refused("nobody can apply what people have to move", panel.add("b", 2, "--apply"),
        "4 cross-connects of panel are moved by hand: first without --apply", (before, panel.bytes()))

# --- agents, and an optical switch that a program sets ---

ALLOW = f"{DIR}/allow"
with open(ALLOW, "w", encoding="ascii") as file:
    file.write("command *\n")
ALLOWED = ("--set", f"switches.allow={ALLOW}")


class Fabric(Cluster):
    """Agents and an optical switch. A file stop-switch or stop-SERVER kills who asks it."""

    def __init__(self, name):
        super().__init__(name, shared=False)
        os.mkdir(self.dir)
        self.switch = Device.make(f"{self.dir}-ocs", 24)
        cluster = load(CLUSTER)
        stop = f"{self.dir}-stop"
        cluster["optical_switches"][0]["control"] = {
            "driver": "command",
            "command": f"sh -c 'request=$(cat); case $request in *change*) [ ! -e {stop}-switch ] || {{ kill -9 $PPID; exit 1; }};; esac; "
                       f"echo \"$request\" | python3 selftests/unit/ocs.py {self.dir}-ocs'"}
        save(f"{self.dir}-cluster", cluster)
        self.agents = f"{self.dir}-agents"
        os.mkdir(self.agents)
        save(f"{self.agents}/ports", {f"s{i}": {f"eth{q}": 4 * i + q + 1 for q in range(4)}
                                      for i in range(6)})
        save(f"{self.agents}/light", [])
        agent = f"{FAKES} agent {self.agents} \"$0\""
        self.fabric = ("--set",
                       f"agents.command=sh -c '[ ! -e {stop}-$0 ] || {{ kill -9 $PPID; exit 1; }}; exec {agent}' {{}}")
        self.how = (*ALLOWED, *self.fabric)
        self("init", f"{self.dir}-cluster")

    def tables(self):
        """Kernel of every server that has a table."""
        kernels = {f"s{i}": load(f"{self.agents}/kernel-s{i}") for i in range(6)}
        return {name: kernel["active"] for name, kernel in kernels.items()
                if kernel and kernel["active"]["table"]}

    def stop(self, what):
        open(f"{self.dir}-stop-{what}", "w", encoding="ascii").close()

    def go_on(self, what):
        os.unlink(f"{self.dir}-stop-{what}")

    def joined(self):
        return {frozenset(pair) for pair in self.switch.joined()}

    def crosses(self, name):
        return {frozenset((x["a"], x["b"])) for x in self.show(name)["cross_connects"]}


lab = Fabric("lab")
said = lab.add("a", 3, "--apply", how=lab.how)
report(said.returncode == 0 and lab.show("a")["state"] == "active" and
       set(lab.tables()) == set(lab.servers("a")) and lab.joined() == lab.crosses("a"),
       "add --apply: its switch and tables are set, nobody else's", said.stderr)
a_tables, a_crosses = lab.tables(), lab.crosses("a")
said = lab.add("b", 2)
report(said.returncode == 0 and lab.tables() == a_tables and lab.joined() == a_crosses,
       "what is planned changes nothing", said.stderr)
said = lab("apply", "b", how=lab.how)
report(said.returncode == 0 and lab.joined() == a_crosses | lab.crosses("b") and
       {name: lab.tables()[name] for name in a_tables} == a_tables and
       set(lab.tables()) == set(a_tables) | set(lab.servers("b")),
       "a second one beside it: its cross-connects, tables and generations stay", said.stderr)
moves = lab.switch.changes()
said = lab("apply", "b", how=lab.how)
report(said.returncode == 0 and lab.switch.changes() == moves, "applied again, nothing changes",
       said.stderr)

lab("remove", "b", how=lab.fabric)
report(lab.tables() == a_tables and [s["name"] for s in lab.show()["shards"]] == ["a"],
       "removed: its tables are gone")
said = lab.add("again", 2, "--apply", how=lab.how)
report(said.returncode == 0 and lab.switch.changes() == moves,
       "the next one of two takes what is left in place: nothing moves", said.stderr + said.stdout)

# a fibre that somebody moved by hand
lab("remove", "again", how=lab.fabric)
port = next(iter(next(iter(a_crosses))))
with lab.switch.state() as state:
    free = 4 * int(lab.show()["free"][0][1:]) + 1
    state["joined"] = [p for p in state["joined"] if port not in p and free not in p] + [[port, free]]
lab.add("b", 2)
before, joined = lab.bytes(), lab.joined()
refused("a cross-connect to another shard's server", lab("apply", "b", how=lab.how),
        "which shard a has", (before, lab.bytes()), (joined, lab.joined()), (lab.tables(), a_tables))
with lab.switch.state() as state:
    state["joined"] = [sorted(pair) for pair in a_crosses]

# --- a plan that is not what it was ---

path = lab.show("b")["plan"]
plan = load(path)


def spoilt(name, text, change):
    document = json.loads(json.dumps(plan))
    change(document)
    save(path, document)
    before = lab.bytes()
    refused(name, lab("apply", "b", how=lab.how), text, (before, lab.bytes()),
            (lab.joined(), a_crosses), (lab.tables(), a_tables))
    save(path, plan)


def other_mac(document):
    document["servers"][0]["ports"][0]["mac"] = "02:54:4f:77:77:77"


def others_server(document):
    taken = lab.servers("a")[0]
    text = json.dumps(document).replace(f'"{document["servers"][0]["name"]}', f'"{taken}')
    document.clear()
    document.update(json.loads(text))


spoilt("a plan with another address than the cluster", "has other addresses, ports or PCIe links", other_mac)
spoilt("a plan with a server of another shard", "is in shard", others_server)

a_path = lab.show("a")["plan"]
a_plan, index = load(a_path), load(f"{lab.dir}/shards.json")
other = plan["servers"][0]["ports"][0]["optical_port"]
save(a_path, a_plan | {"cross_connects": [a_plan["cross_connects"][0] | {"a": other}] +
                       a_plan["cross_connects"][1:]})
refused("a cross-connect of another shard to its server", lab("apply", "b", how=lab.how),
        f"port {other} is of shard b", (lab.joined(), a_crosses), (lab.tables(), a_tables))
save(a_path, a_plan)
save(f"{lab.dir}/shards.json", index | {"links": index["links"][1:]})
refused("a link of another shard that is not in place", lab("apply", "b", how=lab.how),
        "1 of its 6 links are not in place", (lab.joined(), a_crosses), (lab.tables(), a_tables))
save(f"{lab.dir}/shards.json", index)

# --- killed ---

for what in ("switch", lab.servers("b")[1]):
    lab.stop(what)
    said = lab("apply", "b", how=lab.how)
    report(said.returncode == -9 and lab.show("b")["state"] == "changing" and
           {name: lab.tables()[name] for name in a_tables} == a_tables,
           f"killed at {what}: the other shard is as it was", said.stderr)
    report([lab("show", *names).returncode for names in ((), ("b",), ("a",))] == [4, 4, 0],
           "show: a change that did not end is degraded")
    lab.go_on(what)
    said = lab("apply", "b", how=lab.how)
    report(said.returncode == 0 and lab.joined() == a_crosses | lab.crosses("b") and
           lab.show("b")["state"] == "active", "the same again completes it", said.stderr)
    lab("remove", "b", how=lab.fabric)
    lab.add("b", 2)
    with lab.switch.state() as state:
        state["joined"] = [sorted(pair) for pair in a_crosses]
lab.stop("switch")
lab("apply", "b", how=lab.how)
lab.go_on("switch")
said = lab("remove", "b", how=lab.fabric)
report(said.returncode == 0 and lab.tables() == a_tables and
       [s["name"] for s in lab.show()["shards"]] == ["a"], "or remove undoes it", said.stderr)
lab.add("b", 2, "--apply", how=lab.how)
server = lab.servers("b")[0]
lab.stop(server)
said = lab("remove", "b", how=lab.fabric)
report(said.returncode == -9 and lab.show("b")["state"] == "removing",
       "killed in remove: its servers stay taken", said.stderr)
refused("and it cannot be applied", lab("apply", "b", how=lab.how), "is being removed")
refused("a server that does not answer", lab("remove", "b", "--set", "agents.command=false {}"),
        "clear failed on 2 of 2 servers")
lab.go_on(server)
said = lab("remove", "b", how=lab.fabric)
report(said.returncode == 0 and lab.tables() == a_tables, "the same again removes it", said.stderr)
with open(f"{lab.dir}/plans/left.9.json", "w", encoding="ascii"):
    pass
lab.add("b", 2)
report(sorted(os.listdir(f"{lab.dir}/plans")) ==
       sorted(os.path.basename(s["plan"]) for s in lab.show()["shards"]),
       "a plan that was written before a kill is swept up", os.listdir(f"{lab.dir}/plans"))

# --- what is left in place between servers of two shards ---

halves = Fabric("halves")
halves.add("whole", 4, "--apply", how=halves.how)
first, *others = halves.servers("whole")
whole = halves.crosses("whole")
halves("remove", "whole", how=halves.fabric)
ends = {(port - 1) // 4 for cross in whole for port in cross if f"s{(port - 1) // 4}" != first and
        any(f"s{(other - 1) // 4}" == first for other in cross)}
halves.add("left", 2, "--on", f"{first},s5")
halves.add("right", 2, "--on", f"s{min(ends)},s4")
said = [halves("apply", name, how=halves.how) for name in ("left", "right")]
report(not any(s.returncode for s in said) and
       halves.crosses("left") | halves.crosses("right") <= halves.joined() and
       not any({f"s{(port - 1) // 4}" for port in cross} == {first, f"s{min(ends)}"}
               for cross in halves.joined()),
       "both were only planned: what joins them is cut", "".join(s.stderr for s in said))

spare = halves.show()["free"][0]
halves("remove", "left", how=halves.fabric)
halves("resize", "right", "--job", f"{DIR}/3.json", "--effort", "1", "--on",
       ",".join([*halves.servers("right"), "s5"]))
halves.add("left", 2, "--on", f"{first},{spare}")
said = halves("apply", "left", how=halves.how)
report(said.returncode == 0 and halves.crosses("left") <= halves.joined(),
       "so is what joins one that another is to have next", said.stderr)

# --- another cluster.json ---

cluster = load(f"{lab.dir}-cluster")
cluster["servers"][0]["ports"][0]["mac"] = "02:54:4f:77:77:77"
save(f"{DIR}/changed", cluster)
before = lab.bytes()
refused("a server of a shard that changed", lab("init", f"{DIR}/changed"),
        "server s0 has other addresses, ports or PCIe links", (before, lab.bytes()))
cluster = load(f"{lab.dir}-cluster")
del cluster["servers"][0]
save(f"{DIR}/changed", cluster)
refused("a server of a shard that is gone", lab("init", f"{DIR}/changed"), "s0", (before, lab.bytes()))
cluster = load(f"{lab.dir}-cluster")
free = lab.show()["free"][0]
cluster["servers"] = [s for s in cluster["servers"] if s["name"] != free]
save(f"{DIR}/changed", cluster)
said = lab("init", f"{DIR}/changed")
report(said.returncode == 0 and not lab.show()["free"] and len(lab.show()["shards"]) == 2,
       "a free one can go", said.stderr)

# --- which servers ---

# three groups of servers on switches of their own: of 5, 3 and 4
save(f"{DIR}/groups.json", grouped(load(CLUSTER), (5, 3, 4)))
rooms = Cluster("groups", f"{DIR}/groups.json")
rooms.add("a", 3)
rooms.add("b", 2)
rooms.add("c", 5)
report(rooms.servers("a") == ["g1-0", "g1-1", "g1-2"] and rooms.servers("b") == ["g2-0", "g2-1"] and
       rooms.servers("c") == [f"g0-{i}" for i in range(5)],
       "out of the smallest group that has enough, so that the large one stays whole", rooms.show())

# s1 and s4 are linked already, by as many fibres as a job of two wants
linked = load(CLUSTER)
linked["links"] = [{"a": f"s1:eth{q}", "b": f"s4:eth{q}"} for q in range(4)]
save(f"{DIR}/linked.json", linked)
left = Cluster("left", f"{DIR}/linked.json")
left.add("a", 2)
report(left.servers("a") == ["s1", "s4"] and left.show("a")["moves"] == {"cut": [], "made": []},
       "servers that are linked already, when that moves fewer fibres", left.show())
left("remove", "a")
left.add("b", 2, "--on", "s0,s1")
moves = left.show("b")["moves"]
report(len(moves["cut"]) == 4 and len(moves["made"]) == 4,
       "links left over by others are cut", moves)

# cables that nobody moves
ring = Cluster("ring", "examples/ring-4/cluster.json")
refused("cables on no optical switch", ring.add("a", 2), "plan with --fixed")
said = ring.add("a", 2, "--fixed")
report(said.returncode == 0 and ring.show("a")["moves"] == {"cut": [], "made": []} and
       len(ring.plan("a")["links"]) == 1, "are kept with --fixed", said.stderr)
said = ring.add("b", 2, "--fixed")
report(said.returncode == 0 and not ring.show()["free"] and
       ring("apply", "b", "--set", f"agents.command={FAKES} agent {lab.agents} {{}}").returncode == 0,
       "and the rest of them by the next", said.stderr)

# --- a broken server out, a spare in ---

shop = Fabric("shop")
shop.add("a", 2, "--apply", how=shop.how)
shop.add("b", 3, "--apply", how=shop.how)
a_tables, a_crosses, b_crosses = shop.tables(), shop.crosses("a"), shop.crosses("b")
a_tables = {name: a_tables[name] for name in shop.servers("a")}
out, *stay = shop.servers("b")
(spare,) = shop.show()["free"]
before, old = shop.bytes(), shop.plan("b")
refused("a server of no shard", shop("replace", spare), f"no shard has server {spare}",
        (before, shop.bytes()))
said = shop("replace", out)
shard = shop.show("b")
moves = {kind: {frozenset((x["a"], x["b"])) for x in shard["next"]["moves"][kind]}
         for kind in ("cut", "made")}
its = {cross for cross in b_crosses if any((port - 1) // 4 == int(out[1:]) for port in cross)}
report(said.returncode == 0 and moves["cut"] == its and len(moves["made"]) == len(its) and
       shard["next"]["servers"] == [spare, *stay] and shop.show()["drained"] == [out] and
       shop.joined() == a_crosses | b_crosses and not wrong("shard-show", shop.show()),
       "replace: only the links of the broken one move", said.stderr + str(shard["next"]["moves"]))
new = load(shard["next"]["plan"])
ranks = [json.loads(subprocess.run((TOCTL, "job", "ranks", "--format", "json", path), check=True,
                                   capture_output=True, text=True).stdout.replace(out, spare))
         for path in (shard["plan"], shard["next"]["plan"])]
report(new["tables"] == json.loads(json.dumps(old["tables"]).replace(f'"{out}"', f'"{spare}"')) and
       ranks[0]["rings"] == ranks[1]["rings"],
       "routes and ranks of the others stay", ranks)
said = shop("undo", "b", how=shop.fabric)
report(said.returncode == 0 and "next" not in shop.show("b") and shop.show()["free"] == [spare],
       "undo: the spare is free again", said.stderr)
refused("not even by name", shop.add("c", 2, "--on", f"{spare},{out}"), f"server {out} is drained")
broken = (*ALLOWED, "--set",
          f"agents.command=sh -c '[ $0 != {out} ] || exit 1; exec {FAKES} agent {shop.agents} $0' {{}}")
said = shop("replace", out, "--by", spare, "--apply", how=broken)
report(f"warning: clear: {out}: " in said.stderr,
       "that the broken one does not answer is a warning", said.stderr)
os.unlink(f"{shop.agents}/kernel-{out}")
now = shop.tables()
report(said.returncode == 0 and shop.servers("b") == [spare, *stay] and
       shop.joined() == a_crosses | shop.crosses("b") and
       set(now) == set(a_tables) | {spare, *stay} and
       {name: now[name] for name in a_tables} == a_tables,
       "replace --apply: the spare has its links and its table, the other shard its own", said.stderr)
report(not shop.show()["free"] and shop.show()["drained"] == [out],
       "the broken one stays drained")
refused("and is given to nobody", shop.add("c", 2), "2 servers are needed, 0 of 6 are free")
said = shop("drain", "--end", out)
report(said.returncode == 0 and shop.show()["free"] == [out] and not shop.show()["drained"],
       "until somebody says that it is well", said.stderr)

# --- more servers, fewer servers ---

said = shop("resize", "b", "--job", f"{DIR}/4.json", "--effort", "1", "--apply", how=shop.how)
now = shop.tables()
report(said.returncode == 0 and shop.servers("b") == [spare, *stay, out] and
       shop.joined() == a_crosses | shop.crosses("b") and set(now) == {f"s{i}" for i in range(6)} and
       {name: now[name] for name in a_tables} == a_tables, "resize: one more", said.stderr)
said = shop("resize", "b", "--job", f"{DIR}/2.json", "--effort", "1")
report(said.returncode == 0 and shop.show("b")["next"]["servers"] == [spare, stay[0]] and
       not shop.show()["free"] and shop.tables() == now,
       "two fewer: until that is applied, it keeps all", said.stderr)
for what in ("switch", stay[1]):
    shop.stop(what)
    said = shop("apply", "b", how=shop.how)
    report(said.returncode == -9 and shop.show("b")["state"] == "changing" and
           {name: shop.tables()[name] for name in a_tables} == a_tables,
           f"killed at {what}: the other shard is as it was", said.stderr)
    shop.go_on(what)
refused("nothing else can be planned meanwhile",
        shop("resize", "b", "--job", f"{DIR}/3.json"), "shard b is changing: complete that first")
said = shop("apply", "b", how=shop.how)
report(said.returncode == 0 and set(shop.tables()) == set(a_tables) | {spare, stay[0]} and
       sorted(shop.show()["free"]) == sorted([stay[1], out]) and
       shop.crosses("b") | a_crosses <= shop.joined(),
       "applied: the others have no table and are free", said.stderr)
refused("more than there are", shop("resize", "b", "--job", f"{DIR}/5.json"),
        "3 more servers are needed, 2 are free")
shop("resize", "b", "--job", f"{DIR}/3.json", "--effort", "1")
b_servers = shop.show("b")["next"]["servers"]
shop.stop(b_servers[2])
shop("apply", "b", how=shop.how)
shop.go_on(b_servers[2])
shop("undo", "b", how=shop.fabric)
said = shop("apply", "b", how=shop.how)
report(said.returncode == 0 and shop.servers("b") == b_servers[:2] and
       set(shop.tables()) == set(a_tables) | set(b_servers[:2]) and
       shop.joined() >= a_crosses | shop.crosses("b"),
       "undo and apply: back to the plan before", said.stderr)

# --- the next job on look-ahead ports ---

ahead = Cluster("ahead", shared=False)
os.mkdir(ahead.dir)
cluster = load("examples/look-ahead-4/cluster.json")
devices = {}
for optical in cluster["optical_switches"]:
    devices[optical["name"]] = Device.make(f"{ahead.dir}-{optical['name']}", optical["ports"], [
        (port, 8 + port) for port in range(1, 9)] if optical["name"] == "flip" else ())
    optical["control"] = {"driver": "command", "command":
                          f"python3 selftests/unit/ocs.py {ahead.dir}-{optical['name']}"}
save(f"{ahead.dir}-cluster", cluster)
agents = f"{ahead.dir}-agents"
os.mkdir(agents)
save(f"{agents}/ports", {f"s{i}": {"eth0": 2 * i + 1, "eth1": 2 * i + 2} for i in range(4)})
save(f"{agents}/light", [])
fabric = ("--set", f"agents.command={FAKES} agent {agents} {{}}")
how = (*ALLOWED, *fabric)
ahead("init", f"{ahead.dir}-cluster")
for name in "ab":
    said = ahead.add(name, 2, "--apply", how=how)


def tables():
    return {i: load(f"{agents}/kernel-s{i}")["active"] for i in range(4)}


def joined(name):
    return {frozenset(pair) for pair in devices[name].joined()}


report(said.returncode == 0 and len(joined("panel0")) == 4 and not joined("panel1"),
       "two shards with look-ahead ports", said.stderr)
before = tables()
lit, flips = joined("panel0"), joined("flip")
refused("flip before anything is ready", ahead("flip", "a", *how),
        "shard a has no next plan")
prepare = ("prepare", "a", "--job", f"{DIR}/2.json", "--effort", "1", *ALLOWED)
said = ahead(*prepare)
ours = {frozenset(pair) for pair in ([1, 3], [1, 4], [2, 3], [2, 4])}
report(said.returncode == 0 and joined("panel0") == lit and joined("flip") == flips and
       tables() == before and len(joined("panel1")) == 2 and joined("panel1") <= ours and
       ahead.show("a")["state"] == "active" and "next" in ahead.show("a"),
       "prepare: cross-connects between look-ahead ports alone", said.stderr)
refused("another number of servers", ahead("prepare", "a", "--job", f"{DIR}/3.json", *ALLOWED),
        "the job has 3 servers, shard a 2")
said = ahead("flip", "a", *how)
b_flips = {frozenset((port, port + 8)) for port in range(5, 9)}
report(said.returncode == 0 and joined("flip") == b_flips | {frozenset((p, p + 16)) for p in range(1, 5)} and
       joined("panel0") == lit and {i: tables()[i] for i in (2, 3)} == {i: before[i] for i in (2, 3)} and
       "next" not in ahead.show("a"), "flip: its 1x2 switches, and no other's", said.stderr)

# --- 1x2 switches that are not at one end ---

# as after a flip that a kill cut short: one is dark, one at the other end, where nothing is
with devices["flip"].state() as state:
    state["joined"] = [pair for pair in state["joined"] if not {1, 2} & set(pair)] + [[2, 10]]
with devices["panel0"].state() as state:
    state["joined"] = [pair for pair in state["joined"] if min(pair) > 4]
lit = joined("panel0"), joined("panel1")
said = ahead("apply", "a", *how)
report(said.returncode == 0 and (joined("panel0"), joined("panel1")) == lit and
       joined("flip") == b_flips | {frozenset((p, p + 16)) for p in range(1, 5)},
       "all of the shard go to the end where its plan is in place", said.stderr)

# s0 and s1 were flipped, s2 and s3 not
for name in "ab":
    ahead("remove", name, *fabric)
said = ahead.add("c", 2, "--on", "s1,s2", "--apply", how=how)
report(said.returncode == 0 and {end for pair in joined("flip") for end in pair if end > 8} >=
       {11, 12, 13, 14}, "a shard of servers at both ends has them at one", said.stderr)

done()
