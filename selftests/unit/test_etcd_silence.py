#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Connections to etcd that die without a word: agents and toctl run notice by themselves
and go on. First behind a proxy that falls silent, as a load balancer does; then agents
in a network namespace of their own, whose address changes under their connections."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, "selftests/unit")
from tap import done, report  # noqa: E402
from test_fabric import AGENTS, SERVERS, TOCTL, Agents, Etcd, apply_all, make_plans, \
    wait_for  # noqa: E402

HERE = os.path.abspath(__file__)


class Proxy:
    """Passes bytes on; freeze() keeps the connections that there are, and passes nothing."""

    def __init__(self, url):
        self.to = int(url.rsplit(":", 1)[1])
        self.server = socket.create_server(("127.0.0.1", 0))
        self.clients = [f"http://127.0.0.1:{self.server.getsockname()[1]}"]
        self.frozen, self.number = 0, 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.server.accept()
            etcd = socket.create_connection(("127.0.0.1", self.to))
            self.number += 1
            for a, b in ((client, etcd), (etcd, client)):
                threading.Thread(target=self.carry, args=(self.number, a, b),
                                 daemon=True).start()

    def carry(self, number, a, b):
        data = b"-"
        while data:
            try:
                data = a.recv(65536)
                if number > self.frozen:
                    b.sendall(data)
            except OSError:
                data = b""
        if number > self.frozen:
            for end in (a, b):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass	# by the other direction

    def freeze(self):
        self.frozen = self.number


def tables(agents):
    return {server: table for server, (_, table) in agents.state().items()}


def present(etcd):
    keys = etcd.ctl("get", "--prefix", "--keys-only", "/topoopt/agents/").stdout
    return keys.count("/state") == len(SERVERS)


def end(run):
    """Its exit status; one that does not end is killed."""
    run.terminate()
    try:
        return run.wait(30)
    except subprocess.TimeoutExpired:
        run.kill()
        return run.wait()


def behind_proxies(directory):
    """Three members; agents behind one proxy, the controller behind another."""
    etcd = Etcd(directory)
    near, far = Proxy(etcd.clients[0]), Proxy(etcd.clients[1])
    agents = Agents(near, directory)
    log = f"{directory}/run.log"
    try:
        one, two = make_plans(directory)
        wait_for(lambda: present(etcd))
        url = ",".join(etcd.clients)
        apply_all(url, one, directory, "--timeout", "30s")
        plan_one = tables(agents)
        out = subprocess.run(["ss", "-tnoH", f"dport = :{near.clients[0].rsplit(':', 1)[1]}"],
                             capture_output=True, text=True, check=False).stdout.splitlines()
        report(len(out) >= 2 * len(SERVERS) and
               all("timer:(keepalive" in line or "timer:(on" in line for line in out),
               "all connections of agents are kept alive", out)

        near.freeze()
        status, text = apply_all(url, two, directory, "--timeout", "30s")
        report(status == 0 and tables(agents) != plan_one,
               "connections of agents fall silent: they follow the next decision", text)

        with open(log, "w", encoding="ascii"):
            pass
        run = subprocess.Popen([TOCTL, "run", "--plan", one, "--etcd", far.clients[0],
                                "--interval", "500ms", "--log", log],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            def errors():
                with open(log, encoding="ascii") as file:
                    return [json.loads(line).get("error") or "" for line in file
                            if line.endswith("\n")]

            report(wait_for(lambda: any("no server has counted" in e for e in errors())),
                   "toctl run measures", errors())
            far.freeze()
            before = etcd.revision("get", "/topoopt/request/query")
            report(wait_for(lambda: etcd.revision("get", "/topoopt/request/query") > before + 20),
                   "its connections fall silent: it goes on asking", errors())
            report(wait_for(lambda: "no server has counted" in ([""] + errors())[-1]),
                   "and hears all agents", errors())
        finally:
            status = end(run)
        report(status == 0, "and ends well")
    finally:
        agents.stop()
        etcd.stop()


class Elsewhere(Agents):
    """Agents in the network namespace of process @pid."""

    def __init__(self, pid, etcd, directory):
        self.enter = ["nsenter", "-t", str(pid), "-n"]
        super().__init__(etcd, directory)

    def mend(self):
        for i, agent in enumerate(self.running):
            if agent is None:
                self.running[i] = subprocess.Popen(
                    self.enter + [AGENTS, self.urls, self.directory, str(i), "1"])


class Reached:
    """Where agents find etcd."""

    def __init__(self, url):
        self.clients = [url]


def in_namespaces(directory):
    """etcd at 192.0.2.1; the agents at 192.0.2.2, then at 192.0.2.3."""
    def ip(*args, enter=()):
        subprocess.run([*enter, "ip", *args], check=True)

    ip("link", "set", "lo", "up")
    etcd = Etcd(directory)
    with subprocess.Popen(["unshare", "-n", "cat"], stdin=subprocess.PIPE) as holder:
        wait_for(lambda: os.readlink(f"/proc/{holder.pid}/ns/net") !=
                 os.readlink("/proc/self/ns/net"))
        ip("link", "add", "name", "near0", "type", "veth", "peer", "name", "far0")
        ip("link", "set", "far0", "netns", str(holder.pid))
        ip("address", "add", "192.0.2.1/24", "dev", "near0")
        ip("link", "set", "near0", "up")
        enter = ("nsenter", "-t", str(holder.pid), "-n")
        ip("address", "add", "192.0.2.2/24", "dev", "far0", enter=enter)
        ip("link", "set", "far0", "up", enter=enter)
        port = int(etcd.clients[0].rsplit(":", 1)[1])
        relay = subprocess.Popen([sys.executable, HERE, "relay", str(port)])
        agents = Elsewhere(holder.pid, Reached(f"http://192.0.2.1:{port}"), directory)
        try:
            one, two = make_plans(directory)
            url = ",".join(etcd.clients)
            report(wait_for(lambda: present(etcd)), "agents in another namespace", "")
            apply_all(url, one, directory, "--timeout", "30s")
            plan_one = tables(agents)
            ip("address", "del", "192.0.2.2/24", "dev", "far0", enter=enter)
            ip("address", "add", "192.0.2.3/24", "dev", "far0", enter=enter)
            status, text = apply_all(url, two, directory, "--timeout", "30s")
            report(status == 0 and tables(agents) != plan_one,
                   "their old address is dropped: they follow the next decision", text)
        finally:
            agents.stop()
            relay.kill()
            relay.wait()
            etcd.stop()
            holder.stdin.close()


def relay_to(port):
    """etcd listens on the loopback only; this does at 192.0.2.1."""
    proxy = Proxy(f"http://127.0.0.1:{port}")
    proxy.server.close()
    proxy.server = socket.create_server(("192.0.2.1", port))
    proxy.accept()


def main():
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(f"{directory}/1")
        behind_proxies(f"{directory}/1")
        inside = ["unshare", "-Urn", sys.executable, HERE, "namespaces", directory]
        probe = subprocess.run(["unshare", "-Urn", "true"], capture_output=True, check=False)
        if not shutil.which("nsenter") or probe.returncode:
            print("ok # SKIP no network namespaces here")
        else:
            run = subprocess.run(inside, capture_output=True, text=True, check=False)
            report(run.returncode == 0, "in namespaces, too", run.stdout + run.stderr)
    done()


if __name__ == "__main__":
    if sys.argv[1:2] == ["relay"]:
        relay_to(int(sys.argv[2]))
    elif sys.argv[1:2] == ["namespaces"]:
        os.mkdir(f"{sys.argv[2]}/2")
        in_namespaces(f"{sys.argv[2]}/2")
        done()
    else:
        main()
