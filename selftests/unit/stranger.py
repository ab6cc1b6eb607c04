# SPDX-License-Identifier: GPL-2.0-or-later
"""Who reaches etcd without a user, or with the user of a server that was taken over: it prolongs
the leases of others, ends them, attaches keys to them, and grants leases without end."""

import base64
import collections
import http.client
import json
import threading

DEEDS = ("keep", "attach", "end", "grant")
SERVER = "s9"	# its agent's user is the stranger's


def text(value):
    return base64.b64encode(value.encode()).decode()


class Member:
    """A connection to a member of etcd, which is made anew when it breaks."""

    def __init__(self, url):
        self.to, self.connection, self.headers = url.removeprefix("http://"), None, {}

    def ask(self, path, document):
        """Return: the reply, {} when there is none."""
        try:
            if not self.connection:
                self.connection = http.client.HTTPConnection(self.to, timeout=5)
            self.connection.request("POST", path, json.dumps(document), self.headers)
            return json.load(self.connection.getresponse())
        except (OSError, ValueError, http.client.HTTPException):
            self.connection = None
            return {}

    def login(self, user, password):
        self.headers = {}
        reply = self.ask("/v3/auth/authenticate", {"name": user, "password": password})
        self.headers = {"Authorization": reply.get("token", "")}

    def leases(self):
        return [lease["ID"] for lease in self.ask("/v3/lease/leases", {}).get("leases", [])]


class Stranger:
    """Does what @deeds name, each in a thread with a @pause between two rounds, until it is
    stopped. @done counts what etcd did for it."""

    def __init__(self, etcd, password, deeds, pause):
        self.etcd, self.password, self.pause = etcd, password, pause
        self.done = collections.Counter()
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(deed, i), daemon=True)
                        for i, deed in enumerate(deeds)]
        for thread in self.threads:
            thread.start()

    def work(self, deed, i):
        member = Member(self.etcd.clients[i % len(self.etcd.clients)])
        act = getattr(self, deed)(member)
        while not self.stopped.wait(self.pause):
            next(act)

    def keep(self, member):
        """The leases of all, of the dead as of the living."""
        while True:
            for lease in member.leases():
                self.done["keep"] += bool(member.ask("/v3/lease/keepalive", {"ID": lease}))
            yield

    def end(self, member):
        """etcd does so where no key is attached yet."""
        known = set()
        while True:
            for lease in set(member.leases()) - known:
                known.add(lease)
                self.done["end"] += "message" not in member.ask("/v3/lease/revoke", {"ID": lease})
            yield

    def attach(self, member):
        """A put would be refused; then their owner may not end them."""
        attached = set()
        while True:
            for lease in set(member.leases()) - attached:
                reply = member.ask("/v3/kv/txn", {"success": [{"request_put": {
                    "key": text(f"/topoopt/samples/{SERVER}/{lease}"), "lease": lease}}]})
                if reply.get("succeeded"):
                    attached.add(lease)
                    self.done["attach"] += 1
                elif not member.headers or "token" in reply.get("message", ""):
                    member.login(f"topoopt/agents/{SERVER}", self.password)
            yield

    def grant(self, member):
        while True:
            self.done["grant"] += "ID" in member.ask("/v3/lease/grant", {"TTL": 5})
            yield

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()
