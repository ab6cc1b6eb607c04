#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""1000 hostile names through every input that carries names, to every output.

Every name goes through every reader of a file or a reply, in one process (hostile.c), and
through one run of toctl for each kind of input. None is executed, none is printed raw, and
none is accepted that is not of the alphabet of its kind, or that the kernel refuses.
"""

import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, "selftests/unit")
from chakra_trace import ALL_REDUCE, collective, encode  # noqa: E402
from tap import done, report  # noqa: E402

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
TOCTL = os.path.abspath(os.environ.get("TOCTL", f"{BUILD}/toctl"))
FORMATS = "selftests/unit/formats/"
NAMES = 1000
NAME = re.compile(rb"[A-Za-z0-9_][A-Za-z0-9._-]{0,62}")
HIDDEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
PWN = ">pwn", ";>pwn;", "$(>pwn)", "`>pwn`", "';>pwn;'", '";>pwn;"', "|>pwn", "&>pwn&", "\n>pwn\n"
PIECES = (*PWN, "\x1b[2J", "\x1b]0;x\x07", "\x9b31m", "\x7f", "\r", "\n", "\t", "\0", " ", "  ",
          *map(chr, (*range(0x202a, 0x202f), *range(0x2066, 0x206a), 0x200e, 0x200f, 0x61c, 0x2028)),
          "../", "/", "/etc/passwd", "-", "-oProxyCommand=id", "--help", "'", '"', "\\", "{}", "%s%n", "*",
          "~", "#", "!", "=", ",", ":", "<script>", "</script>", "&amp;", "é", "eth0", "s0", "a", ".", "..")


def make_names():
    """Bytes, which need not be UTF-8."""
    seed, names = random.Random(1), [b"", b".", b"..", b"-", b"255" * 85, b"\xff", b"\xc2", b"a\xed\xa0\x80", b"a" * 64]
    names += [piece.encode() for piece in PIECES]
    while len(names) < NAMES:
        name = b"".join(seed.choice(PIECES).encode() for _ in range(seed.randint(1, 4)))
        if seed.random() < .05:
            name += bytes(seed.choices(range(128, 256), k=2))
        elif seed.random() < .05:
            name = (name * 255)[:255]
        elif seed.random() < .3:
            name = name[:seed.randint(1, 15)]
        names.append(name)
    return names


def is_name(name):
    return NAME.fullmatch(name) is not None


def is_interface(name):
    return is_name(name) and len(name) < 16


def is_label(name):
    with contextlib.suppress(UnicodeDecodeError):
        return 0 < len(name) < 64 and not re.search("[\t\n]", name.decode()) and not HIDDEN.search(name.decode())
    return False


def is_label_or_none(name):
    return not name or is_label(name)


def is_address(name):
    return re.fullmatch(rb"[A-Za-z0-9._~:/\[\]@%][A-Za-z0-9._~:/\[\]@%-]{0,254}", name) is not None


def kernel_takes(name):
    """dev_valid_name() of Linux."""
    return 0 < len(name) < 16 and name not in (b".", b"..") and not re.search(rb"[/:\s\0]", name)


def quoted(name):
    """In JSON; invalid UTF-8 stays."""
    out = b""
    for byte in name:
        out += b"\\u%04x" % byte if byte < 32 or byte in b'"\\' else bytes([byte])
    return b'"' + out + b'"'


def document(template, name):
    return template.replace(b'"@"', quoted(name)).replace(b"@:", quoted(name)[1:-1] + b":")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def swapped(path, *pairs):
    text = read(path)
    for old, new in pairs:
        assert old in text, (path, old)
        text = text.replace(old, new)
    return text


INVENTORY = {"format": "topoopt-inventory", "version": 1, "addresses": ["10.0.0.1"], "nics": [
    {"name": "eth0", "mac": "02:00:00:00:00:01", "up": True, "carrier": True, "mtu": 1500,
     "bandwidth": 0, "rdma": "mlx5_0", "not_a_port": "no", "lldp": "tor1", "answers": []}]}


def inventory(key, value="@"):
    return json.dumps(INVENTORY | {"nics": [INVENTORY["nics"][0] | {key: value}]}).encode()


CLUSTER, CARDS, JOB, PLAN, TM, TM_SERVER = (FORMATS + name + ".json" for name in (
    "cluster", "cluster-cards", "job", "plan", "tm", "tm-server"))
CONTROL = b'"reconfiguration_ns": 10000000, "control": { "driver": "%s", "%s": "@" }'
# input: format, document with "@" in the place of the name, names that it takes
READERS = {
    "cluster: server": ("cluster", swapped(CLUSTER, (b'"name": "c"', b'"name": "@"'), (b'"c:eth0"', b'"@:eth0"')), is_name),
    "cluster: interface": ("cluster", swapped(CLUSTER, (b'"eth1f1"', b'"@"')), is_interface),
    "cluster: switch": ("cluster", swapped(CLUSTER, (b'"ocs0"', b'"@"')), is_name),
    "cluster: address": ("cluster", swapped(CLUSTER, (b'"reconfiguration_ns": 10000000',
                                                      CONTROL % (b"netns", b"address"))), is_address),
    "cluster: cable": ("cluster", swapped(CARDS, (b'"cable": "p0"', b'"cable": "@"')), is_interface),
    "cluster: card": ("cluster", swapped(CARDS, (b'"cx7"', b'"@"')), is_interface),
    "cluster: PCIe link": ("cluster", swapped(CARDS, (b'"pcie": "x4b"', b'"pcie": "x4a"'),
                                                       (b'"x4b"', b'"@"')), is_interface),
    "job: name": ("job", swapped(JOB, (b'"a job"', b'"@"')), is_label),
    "job: server": ("job", swapped(JOB, (b'"c", "d"]', b'"c", "@"]')), is_name),
    "plan: job": ("plan", re.sub(rb'"job": "[^"]*"', b'"job": "@"', read(PLAN), count=1), is_label),
    "tm: job": ("tm", swapped(TM, (b'"chain"', b'"@"')), is_label),
    "tm: server": ("tm", swapped(TM, (b'"b", "c"]', b'"b", "@"]'), (b'"missing": ["c"]', b'"missing": []')), is_name),
    "tm: port": ("tm", swapped(TM, (b'"a:eth0"', b'"a:@"')).replace(b"a:@", b"a:%PORT%"), is_interface),
    "trace: job": ("trace", re.sub(rb'("jobs": \[.*?"name": )"[^"]*"', rb'\1"@"', read(FORMATS + "trace.json"),
                                   count=1, flags=re.S), is_label),
    "inventory: interface": ("inventory", inventory("name"), is_interface),
    "inventory: RDMA device": ("inventory", inventory("rdma"), lambda name: not name or is_name(name)),
    "inventory: reason": ("inventory", inventory("not_a_port"), is_label_or_none),
    "inventory: LLDP": ("inventory", inventory("lldp"), is_label_or_none),
    "inventory: card": ("inventory", inventory("card"), is_label_or_none),
    "inventory: connector": ("inventory", inventory("connector"), lambda name: is_label_or_none(name) and len(name) < 16),
    "inventory: PCIe link": ("inventory", inventory("pcie", [{"name": "@", "rate": 1}]), is_interface),
}


def fill(template, name):
    return document(template, name).replace(b"%PORT%", quoted(name)[1:-1])


def hidden(text):
    """Bytes of an output that are not UTF-8, or not to be printed."""
    try:
        found = HIDDEN.search(text.decode())
    except UnicodeDecodeError as error:
        return f"no UTF-8: {error}"
    return found and f"{found.group()!r} in {text[:300]!r}"


def readers(names):
    """All names through all readers, in one process."""
    wanted, feed = [], []
    for what, (form, template, takes) in READERS.items():
        assert b'"@"' in template or b"%PORT%" in template, what
        for name in names:
            text = fill(template, name)
            feed.append(b"%s %d\n%s" % (form.encode(), len(text), text))
            wanted.append((what, name, takes(name)))
    said = subprocess.run((f"{BUILD}/selftests/hostile",), input=b"".join(feed), stdout=subprocess.PIPE,
                          check=True).stdout.split(b"\n")
    report(len(said) == len(wanted) + 1, f"{len(wanted)} documents are read", len(said))
    wrong, raw = {}, []
    for (what, name, takes), line in zip(wanted, said):
        accepted = line == b"accepted"
        if accepted and "interface" in what and not kernel_takes(name):
            raw.append(f"the kernel has no {name!r}")
        # names that are there already, as "a"
        if accepted != takes and not (takes and re.search(rb"also called|no server|no port|twice|already|not on", line)):
            wrong.setdefault(what, []).append(f"{name!r}: {line.decode(errors='replace')}")
        if hidden(line):
            raw.append(f"{what}: {hidden(line)}")
    for what in READERS:
        report(what not in wrong, f"{what}: accepted are names of its kind alone", "\n".join(wrong.get(what, ())[:5]))
    report(not raw, "errors have no name raw", "\n".join(raw[:10]))


class Runs:
    """Runs of toctl in a directory, and what they leave and say."""

    def __init__(self, directory):
        self.dir, self.wrong, self.count = directory, {}, 0
        self.tags = {}	# of scripts in a page

    def path(self, name):
        return f"{self.dir}/{name}"

    def put(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text)
        return name

    def __call__(self, what, *arguments, outputs=()):
        self.count += 1
        said = subprocess.run((TOCTL, *arguments), cwd=self.dir, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)
        texts = [said.stdout, said.stderr]
        for output in outputs:
            if os.path.exists(self.path(output)):
                texts.append(read(self.path(output)))
                os.unlink(self.path(output))
        problem = next((hidden(text) for text in texts if hidden(text)), None)
        if said.returncode < 0:
            problem = f"signal {-said.returncode}"
        for text in texts[2:]:
            # the first name of each input is plain
            tags = len(re.findall(rb"</?script", text))
            if b"</" in text and self.tags.setdefault((what, arguments[0]), tags) != tags:
                problem = "markup"
        if os.path.exists(self.path("pwn")):
            os.unlink(self.path("pwn"))
            problem = "executed"
        if problem:
            self.wrong.setdefault(what, []).append(f"{problem}: {arguments}")
        return said

    def judge(self, what):
        report(what not in self.wrong, f"{what}: nothing is executed, nothing printed raw",
               "\n".join(self.wrong.get(what, ())[:5]))


AGENT = r"""read -r request
id=${request##*'"id":'}
cat "$1-$2"
echo "${id%%[,\}]*}}"
"""
SWITCH = r"""cat error >&2
exit 1
"""


def answers(run, server, text):
    """What the agent of a server replies, without its id, which ends it."""
    run.put(f"reply-{server}", text.rstrip().removesuffix(b"}") + b', "id": ')


def toctl_runs(run, names):
    """A kind of input after another, each with names of its own so that all are used."""
    agents = ("--set", "agents.command=sh agent reply {}", "--set", "agents.timeout=5s")
    run.put("agent", AGENT.encode())
    run.put("switch", SWITCH.encode())
    run.put("allow", b"command *\n")
    kinds = 12
    share = [names[i::kinds] for i in range(kinds)]

    for name in share[0]:
        run.put("cluster.json", fill(READERS["cluster: interface"][1], name))
        run("cluster.json", "discover", "--cluster", "cluster.json", *agents)
    for name in share[1]:
        run.put("job.json", fill(READERS["job: name"][1], name))
        run("job.json", "heatmap", "job.json", "-o", "page.html", outputs=("page.html",))
    for name in share[2]:
        run.put("plan.json", fill(READERS["plan: job"][1], name))
        run("plan.json", "report", "plan.json", "-o", "page.html", outputs=("page.html",))
        run("plan.json", "job", "ranks", "plan.json", "--json")
    for name in share[3]:
        run.put("tm.json", fill(READERS["tm: job"][1], name))
        run("tm.json", "tm", "demand", "tm.json", "-o", "job.out", outputs=("job.out",))
    answers(run, "s1", b'{"ok": true, "inventory": ' + json.dumps(INVENTORY).encode())
    for i, name in enumerate(share[4]):
        key = ("name", "rdma", "not_a_port", "lldp", "connector")[i % 5]
        answers(run, "s0", b'{"ok": true, "inventory": ' + fill(inventory(key), name))
        run("inventories", "discover", "s0", "s1", "-o", "made.json", *agents, outputs=("made.json",))
    shutil.copy(PLAN, run.path("good.json"))
    servers = [server["name"] for server in json.loads(read(PLAN))["servers"]]
    for i, name in enumerate(share[5]):
        for server in servers:
            answers(run, server, b'{"ok": false, "error": ' + quoted(name) if i % 2 else
                    b'{"ok": true, "generation": 7, "staged": false, "live": [%s], "ports": [{"name": %s}]' % (
                        quoted(name), quoted(name)))
        run("agents' replies", "status", "good.json", *agents, *(("--json",) if i % 3 else ()))
    shards = read(run.path("shards/shards.json"))
    for i, name in enumerate(share[6]):
        run.put("shards/shards.json", re.sub(rb'"drained":\s*\[[^]]*\]|"shards":\s*\[\]', lambda found: (
            b'"drained": [%s]' if b"drained" in found.group() else
            b'"shards": [{"name": %s, "state": "active", "generation": 1}]') % quoted(name), shards))
        run("shards' state", "shard", "show", "--set", f"shards.state={run.path('shards')}", *(("--json",) if i % 2 else ()))
    head = servers[0].encode() + b":1:2 [0] NCCL INFO "
    for name in share[7][:30]:
        run.put("nccl.log", name + b":1:2 [0] NCCL INFO NET/IB : Using [0]x\n")
        run("NCCL logs", "job", "check", "good.json", "--nccl-log", "nccl.log")
    for option in (), ("--json",):
        run.put("nccl.log", b"".join(head + b"NCCL_N%d set by environment to %s\n" % (i, name) +
                                     head + b"NET/IB : Using [0]%s:1/RoCE\n" % name for i, name in enumerate(names)
                                     if b"\0" not in name))
        run("NCCL logs", "job", "check", "good.json", "--nccl-log", "nccl.log", *option)
    for name in share[8]:
        trace = encode([collective(ALL_REDUCE, 4096, name.decode(errors="ignore").replace("\0", ""))] * 2)
        file = name.replace(b"/", b"").replace(b"\0", b"")[:200] or b"x"
        paths = [os.path.join(run.dir.encode(), file + b".%d.et" % rank) for rank in (0, 1)]
        for path in paths:
            with open(path, "wb") as out:
                out.write(trace)
        run("Chakra traces", "chakra", "-o", "job.out", "--", *(os.path.basename(path) for path in paths),
            outputs=("job.out",))
        for path in paths:
            os.unlink(path)
    control = b'"control": {"driver": "command", "command": "sh switch"}'
    run.put("switch.json", re.sub(rb'"control": *\{[^}]*\}', control, read(PLAN)))
    for name in share[9]:
        run.put("error", name)
        run("switch replies", "switch", "show", "switch.json", "--set", "switches.allow=allow")
    for name in share[10]:
        word = name.replace(b"\0", b"") or b"x"
        run("operands", "init", "ring", "--ports", "eth0,eth1", "--offline", "-o", "made.json", "--", b"a", b"b", word,
            outputs=("made.json",))
    for name in share[11]:
        run.put("cluster.json", fill(READERS["cluster: address"][1].replace(b'"netns"', b'"sonic"'), name))
        run("cluster.json", "discover", "--cluster", "cluster.json", *agents)
    for what in ("cluster.json", "job.json", "plan.json", "tm.json", "inventories", "agents' replies", "shards' state",
                 "NCCL logs", "Chakra traces", "switch replies", "operands"):
        run.judge(what)
    report(run.count > NAMES, f"{run.count} runs")


def main():
    names = make_names()
    readers(names)
    with tempfile.TemporaryDirectory() as directory:
        run = Runs(directory)
        subprocess.run((TOCTL, "shard", "init", "examples/panel-6/cluster.json", "--set",
                        f"shards.state={directory}/shards"), check=True, stdout=subprocess.DEVNULL)
        toctl_runs(run, names)
    done()


main()
