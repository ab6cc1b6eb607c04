# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster for unit tests: real members of etcd, an agent without a kernel for each server
(bench/agents.c), plans, and toctl apply --all."""

import base64
import glob
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
TOCTL = os.path.join(BUILD, "toctl")
AGENTS = os.path.join(BUILD, "bench/agents")
SERVERS = [f"s{i}" for i in range(4)]


def free_ports(n):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Etcd:
    """Some members, which clients find at @address."""

    def __init__(self, directory, n=3, address="127.0.0.1"):
        ports = free_ports(2 * n)
        self.directory = directory
        self.clients = [f"http://{address}:{p}" for p in ports[:n]]
        self.peers = [f"http://127.0.0.1:{p}" for p in ports[n:]]
        self.members = [None] * n
        for i in range(n):
            self.start(i)
        self.wait()

    def start(self, i):
        cluster = ",".join(f"m{k}={url}" for k, url in enumerate(self.peers))
        with open(f"{self.directory}/m{i}.log", "ab") as log:
            self.members[i] = subprocess.Popen(
                ["etcd", "--name", f"m{i}", "--data-dir", f"{self.directory}/m{i}",
                 "--listen-client-urls", self.clients[i],
                 "--advertise-client-urls", self.clients[i],
                 "--listen-peer-urls", self.peers[i],
                 "--initial-advertise-peer-urls", self.peers[i],
                 "--initial-cluster", cluster, "--unsafe-no-fsync"],
                stdout=log, stderr=log, env=dict(os.environ, ETCD_UNSUPPORTED_ARCH="arm64"))

    def ctl(self, *args):
        return subprocess.run(["etcdctl", "--endpoints", ",".join(self.clients),
                               "--command-timeout=30s", "--dial-timeout=10s", *args],
                              capture_output=True, text=True, check=False, timeout=60,
                              env=dict(os.environ, ETCDCTL_API="3"))

    def revision(self, *args):
        """Of the whole store, after the command."""
        return json.loads(self.ctl(*args, "-w", "json").stdout)["header"]["revision"]

    def ask(self, url, path, document=None):
        """What a member says over HTTP, {} if it says nothing; etcdctl takes longer to start."""
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
        try:
            connection.request("POST" if document else "GET", path,
                               document and json.dumps(document))
            return json.load(connection.getresponse())
        except (OSError, ValueError, http.client.HTTPException):
            return {}
        finally:
            connection.close()

    def range(self, key, prefix=False):
        """The reply of the first member that answers, {} if none does."""
        end = key[:-1] + chr(ord(key[-1]) + 1) if prefix else ""
        document = {name: base64.b64encode(value.encode()).decode()
                    for name, value in (("key", key), ("range_end", end))}
        return next(filter(None, (self.ask(url, "/v3/kv/range", document)
                                  for url in self.clients)), {})

    def keys(self, prefix):
        return [base64.b64decode(kv["key"]).decode()
                for kv in self.range(prefix, True).get("kvs", [])]

    def value(self, key):
        """ "" if there is none"""
        return "".join(base64.b64decode(kv["value"]).decode()
                       for kv in self.range(key).get("kvs", []))

    def present(self):
        """Servers whose agents are there."""
        return sum(key.endswith("/state") for key in self.keys("/topoopt/agents/"))

    def wait(self):
        deadline = time.monotonic() + 60
        while not all(self.ask(url, "/health").get("health") == "true" for url in self.clients):
            if time.monotonic() > deadline:
                sys.exit("Bail out! etcd does not start")
            time.sleep(0.2)

    def leader(self):
        for line in json.loads(self.ctl("endpoint", "status", "-w", "json").stdout):
            if line["Status"]["leader"] == line["Status"]["header"]["member_id"]:
                return self.clients.index(line["Endpoint"])
        return 0

    def mend(self):
        for i, member in enumerate(self.members):
            if member.poll() is not None:
                self.start(i)
        self.wait()

    def stop(self):
        for member in self.members:
            member.kill()
            member.wait()


class Owner:
    """A process on another machine, which owns @key and answers newcomers until it ends, in a
    with statement. @ctl: etcdctl, as Etcd.ctl()"""

    def __init__(self, ctl, key):
        self.ctl, self.key = ctl, key
        self.ended, self.thread = threading.Event(), None

    def __enter__(self):
        self.thread = threading.Thread(target=self.work, args=(self.put(0),))
        self.thread.start()
        return self

    def put(self, answers):
        """Return: the revision."""
        value = json.dumps({"pid": 1, "host": "elsewhere", "place": "another machine", "ttl": 8,
                            "answers": answers})
        return json.loads(self.ctl("put", self.key, value, "-w", "json").stdout)["header"]["revision"]

    def work(self, mine):
        answers = 0
        while not self.ended.wait(0.2):
            kvs = json.loads(self.ctl("get", self.key, "-w", "json").stdout).get("kvs")
            if kvs and kvs[0]["mod_revision"] != mine:
                answers += 1
                mine = self.put(answers)

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.ctl("del", self.key)


class Agents:
    """One process for each server; its state is a file, which outlives it."""

    def __init__(self, etcd, directory):
        self.urls, self.directory = ",".join(etcd.clients), directory
        self.running = [None] * len(SERVERS)
        self.mend()

    def mend(self):
        for i, agent in enumerate(self.running):
            if agent is None or agent.poll() is not None:
                self.running[i] = self.start(i)

    def start(self, i, enter=(), stderr=None, **environment):
        """@enter: a command that runs it"""
        return subprocess.Popen([*enter, AGENTS, self.urls, self.directory, str(i), "1"],
                                stderr=stderr, env=dict(os.environ, **environment))

    def stop(self):
        for agent in self.running:
            agent.kill()
            agent.wait()

    def harm(self, server, step, command):
        with open(f"{self.directory}/harm-{server}-{step}", "w", encoding="ascii") as file:
            file.write(command)

    def unharm(self):
        for file in glob.glob(f"{self.directory}/harm-*"):
            os.unlink(file)

    def state(self):
        """Generation and table of each server."""
        found = {}
        for server in SERVERS:
            found[server] = (0, "")
            if os.path.exists(f"{self.directory}/{server}"):
                with open(f"{self.directory}/{server}", encoding="ascii") as file:
                    generation, table = file.read().split()
                found[server] = (int(generation), table)
        return found


def apply_all(urls, plan, directory, *more):
    run = subprocess.Popen([TOCTL, "apply", "--all", "--set", f"etcd.endpoints={urls}", plan, *more],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with open(f"{directory}/controller", "w", encoding="ascii") as file:
        file.write(str(run.pid))
    out, err = run.communicate(timeout=120)
    return run.returncode, out + err


def end(run):
    """Its exit status; one that does not end is killed."""
    run.terminate()
    try:
        return run.wait(30)
    except subprocess.TimeoutExpired:
        run.kill()
        return run.wait()


def make_plan(directory, name, like, weight):
    path = f"{directory}/{name}.json"
    with open(like, encoding="ascii") as file:
        plan = json.load(file)
    for table in plan["tables"]:
        for group in table["groups"]:
            group[0]["weight"] = weight
    with open(path, "w", encoding="ascii") as file:
        json.dump(plan, file)
    return path


def make_plans(directory):
    one = f"{directory}/one.json"
    subprocess.run([TOCTL, "plan", "--cluster", "examples/ring-4/cluster.json", "--job",
                    "examples/ring-4/job.json", "-o", one], check=True, capture_output=True)
    return one, make_plan(directory, "two", one, 3)
