#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Connections to etcd that die without a word: agents and toctl run notice by themselves
and go on. First behind a proxy that falls silent, as a load balancer does; then agents
in a network namespace of their own, the routes from and to which drop packets."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, "selftests/unit")
from cluster import SERVERS, TOCTL, Agents, Etcd, apply_all, end, make_plans  # noqa: E402
from tap import done, report, wait_for  # noqa: E402

HERE = os.path.abspath(__file__)
LEASE = 5	# seconds, of bench/agents.c
BUSY = 20	# seconds that this machine may take for it


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


def present(etcd, n=len(SERVERS)):
    return etcd.present() == n


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
        apply_all(url, one, directory, "--set", "agents.timeout=30s")
        plan_one = tables(agents)
        out = subprocess.run(["ss", "-tnoH", f"dport = :{near.clients[0].rsplit(':', 1)[1]}"],
                             capture_output=True, text=True, check=False).stdout.splitlines()
        report(len(out) >= 2 * len(SERVERS) and
               all("timer:(keepalive" in line or "timer:(on" in line for line in out),
               "all connections of agents are kept alive", out)

        near.freeze()
        status, text = apply_all(url, two, directory, "--set", "agents.timeout=30s")
        report(status == 0 and tables(agents) != plan_one,
               "connections of agents fall silent: they follow the next decision", text)

        with open(log, "w", encoding="ascii"):
            pass
        run = subprocess.Popen([TOCTL, "run", one, "--set", f"etcd.endpoints={far.clients[0]}",
                                "--interval", "500ms", "-o", log],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            def errors():
                with open(log, encoding="ascii") as file:
                    return [json.loads(line).get("error") or "" for line in file
                            if line.endswith("\n")]

            report(wait_for(lambda: any("no server has counted" in e for e in errors())),
                   "toctl run measures", errors())
            far.freeze()

            def revision():
                return int(etcd.range("/topoopt/request/query")["header"]["revision"])

            before = revision()
            report(wait_for(lambda: revision() > before + 20),
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
    """Agents in a network namespace of their own, which @enter enters; what they note is kept."""

    def __init__(self, enter, etcd, directory):
        self.enter = enter
        super().__init__(etcd, directory)

    def start(self, i):
        with open(f"{self.directory}/notes-{i}", "w", encoding="utf-8") as notes:
            return super().start(i, self.enter, notes, AGENTS_VERBOSE="1")

    def notes(self):
        """Of each agent, a list of lines."""
        found = []
        for i in range(len(self.running)):
            with open(f"{self.directory}/notes-{i}", encoding="utf-8") as notes:
                found.append(notes.read().splitlines())
        return found


def ip(*args, enter=()):
    subprocess.run([*enter, "ip", *args], check=True)


def cut(what, etcd, agents, plans, route):
    """@route: of ip, and where, drops what is sent until the leases have ended."""
    before = [len(notes) for notes in agents.notes()]
    tables_before = tables(agents)

    def said(text):
        return all(any(text in note for note in notes[n:])
                   for notes, n in zip(agents.notes(), before))

    ip("route", "replace", "blackhole", route[0], enter=route[1])
    report(wait_for(lambda: said("etcd http://192.0.2.1:"), LEASE + BUSY),
           f"{what}: all agents say so within a lease", agents.notes())
    report(wait_for(lambda: present(etcd, 0)), f"{what}: their leases end", agents.notes())
    ip("route", "del", "blackhole", route[0], enter=route[1])
    report(wait_for(lambda: said("etcd answers again")) and wait_for(lambda: present(etcd)),
           f"{what}, and come again: the agents are there by themselves", agents.notes())
    status, text = apply_all(etcd.clients[0], plans, agents.directory, "--set", "agents.timeout=30s")
    report(status == 0 and tables(agents) != tables_before,
           f"{what}, and come again: they follow the next decision", text)


def in_namespaces(directory):
    """etcd at 192.0.2.1; the agents at 192.0.2.2. Neither is told that packets are dropped,
    so connections stay as they are: half open."""
    ip("link", "set", "lo", "up")
    with subprocess.Popen(["unshare", "-n", "cat"], stdin=subprocess.PIPE) as holder:
        wait_for(lambda: os.readlink(f"/proc/{holder.pid}/ns/net") !=
                 os.readlink("/proc/self/ns/net"))
        enter = ("nsenter", "-t", str(holder.pid), "-n")
        ip("link", "add", "name", "near0", "type", "veth", "peer", "name", "far0")
        ip("link", "set", "far0", "netns", str(holder.pid))
        ip("address", "add", "192.0.2.1/24", "dev", "near0")
        ip("link", "set", "near0", "up")
        ip("address", "add", "192.0.2.2/24", "dev", "far0", enter=enter)
        ip("link", "set", "far0", "up", enter=enter)
        etcd = Etcd(directory, 1, "192.0.2.1")
        agents = Elsewhere(enter, etcd, directory)
        try:
            one, two = make_plans(directory)
            report(wait_for(lambda: present(etcd)), "agents in another namespace", "")
            apply_all(etcd.clients[0], one, directory, "--set", "agents.timeout=30s")
            cut("etcd's answers are dropped", etcd, agents, two, ("192.0.2.2", ()))
            cut("the agents' requests are dropped", etcd, agents, one, ("192.0.2.1", enter))
        finally:
            agents.stop()
            etcd.stop()
            holder.stdin.close()


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
    if sys.argv[1:2] == ["namespaces"]:
        os.mkdir(f"{sys.argv[2]}/2")
        in_namespaces(f"{sys.argv[2]}/2")
        done()
    else:
        main()
