#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A server writes its key faster than a controller can read: the controller goes on when
it has waited long enough. etcd is a few lines, which tell of the key without end."""

import base64
import http.server
import json
import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, "selftests/unit")
from tap import done, report  # noqa: E402

TOCTL = os.path.join(os.path.abspath(os.environ.get("BUILD", "build")), "toctl")
PLAN = "examples/chain-3/plan.json"
ANSWERS = {
    "/v3/lease/grant": {"ID": "7", "TTL": "8"},
    "/v3/lease/keepalive": {"result": {"TTL": "8"}},
    "/v3/kv/txn": {"header": {"revision": "5"}, "succeeded": True},
}


def text(value):
    return base64.b64encode(value.encode()).decode()


STATE = {"key": text("/topoopt/agents/s1/state"), "value": text('{"id": 1}'), "mod_revision": "5"}
FLOOD = (json.dumps({"result": {"events": [{"kv": STATE}]}}) + "\n").encode() * 1000


def answer(path, request):
    if path == "/v3/kv/range":
        found = [STATE] if request["key"] == text("/topoopt/agents/") else []
        return {"header": {"revision": "5"}, "kvs": found}
    return ANSWERS.get(path, {})


class Etcd(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/v3/watch":
            self.send_response(200)
            self.send_header("Connection", "close")
            self.end_headers()
            try:
                while True:
                    self.wfile.write(FLOOD)
            except OSError:
                return
        reply = json.dumps(answer(self.path, request)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


def main():
    etcd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Etcd)
    etcd.daemon_threads = True
    threading.Thread(target=etcd.serve_forever, daemon=True).start()
    started = time.monotonic()
    try:
        ran = subprocess.run(
            [TOCTL, "apply", "--all", "--set", f"etcd.endpoints=http://127.0.0.1:{etcd.server_port}",
             "--set", "agents.timeout=1s", PLAN], capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        report(False, "the controller goes on")
        done()
    print(f"# after {time.monotonic() - started:.1f} s")
    report(ran.returncode == 1, "the controller goes on", ran)
    report("s1: its agent does not answer" in ran.stderr and
           "s0: no agent of it is there" in ran.stderr, "and says who does not answer", ran.stderr)
    done()


if __name__ == "__main__":
    main()
