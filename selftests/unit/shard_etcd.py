# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl shard with its state in a real etcd, behind a proxy that loses answers, waits and
kills."""

import atexit
import base64
import http.client
import http.server
import json
import subprocess
import tempfile
import threading

from cluster import TOCTL, Etcd
from fakes import save

CLUSTER = "examples/panel-6/cluster.json"
PREFIX = "/topoopt/shards/"
tmp = tempfile.TemporaryDirectory()
DIR = tmp.name

for n in range(2, 5):
    save(f"{DIR}/{n}.json", {"format": "topoopt-job", "version": 1, "name": "job", "servers": n,
                             "allreduce": [{"group": "all", "bytes": 1 << 30}]})


class Handler(http.server.BaseHTTPRequestHandler):
    """One request."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        keys = []
        if self.path == "/v3/kv/txn":
            keys = [base64.b64decode(x["request_put"]["key"]).decode().removeprefix(PREFIX)
                    for x in json.loads(body)["success"] if "request_put" in x]
        hook = self.server.hook if keys else None
        if hook:
            hook(keys, False)
        to = http.client.HTTPConnection(self.server.to)
        to.request("POST", self.path, body, {"Content-Type": "application/json"})
        answer = to.getresponse()
        lost = hook and hook(keys, True)
        try:
            self.send_response(503 if lost else answer.status)
            self.end_headers()
            while (data := answer.read1()) and not lost:
                self.wfile.write(data)
                self.wfile.flush()
        except (OSError, http.client.HTTPException):
            pass


class Proxy(http.server.ThreadingHTTPServer):
    """Hands on; hook(keys that are put, whether etcd has done it), True: the answer is lost"""

    daemon_threads = True
    hook = None

    def __init__(self, to):
        super().__init__(("127.0.0.1", 0), Handler)
        self.to = to.removeprefix("http://")
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class State:
    """The cluster in etcd, and what toctl shard does with it."""

    def __init__(self):
        self.etcd = Etcd(DIR, 1)
        atexit.register(self.etcd.stop)
        self.url = self.etcd.clients[0]
        self.proxy = Proxy(self.url)
        self.login = ()

    def start(self, verb, *arguments, url=None):
        return subprocess.Popen(
            (TOCTL, "shard", verb, "--set", "shards.state=etcd", "--set",
             f"etcd.endpoints={url or self.url}", *self.login, *arguments),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)

    def __call__(self, verb, *arguments, url=None):
        run = self.start(verb, *arguments, url=url)
        run.out, run.err = run.communicate(timeout=120)
        return run

    def add(self, name, servers, *arguments, url=None):
        return self("add", name, "--job", f"{DIR}/{servers}.json", "--effort", "1", *arguments, url=url)

    def show(self, *arguments):
        return json.loads(self("show", "--json", *arguments).out)

    def names(self):
        return [shard["name"] for shard in self.show()["shards"]]

    def delete(self, key, end=None):
        """@key, or all from it to before @end"""
        span = {"key": key} | ({"range_end": end} if end else {})
        self.etcd.ask(self.url, "/v3/kv/deleterange",
                      {name: base64.b64encode(text.encode()).decode() for name, text in span.items()})

    def unlock(self):
        """As if the leases of who was killed had ended."""
        self.delete(f"{PREFIX}lock")
        self.delete("/topoopt/controller")

    def forget(self):
        """All of the cluster."""
        self.delete(PREFIX, f"{PREFIX[:-1]}0")

    def keys(self):
        """What is kept, without the numbers of its states."""
        return sorted(key.removeprefix(PREFIX) if "/index/" not in key else "index"
                      for key in self.etcd.keys(PREFIX))
