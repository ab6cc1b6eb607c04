# SPDX-License-Identifier: GPL-2.0-or-later
"""An agent of a server of examples/ring-4, for tests of what looks at a fabric.

    ring_agent.py PATH NAME

Each look finds the server a second later, and 10 GB more sent by eth0 of s1 in that time.
Counted are 40 Gbit/s from s1 to s2, and 10 from s0 to s3. While PATH.dark-NAME is there
eth0 has no light; with PATH.gone-NAME the agent ends.
"""

import json
import os
import sys
import time

path, name = sys.argv[1:]
number, looks, knows = int(name[1:]), 0, False


def sample(request):
    end, interval = request["until_ns"], request["interval_ns"]
    time.sleep(max(0, end - time.time_ns()) / 1e9)
    sent = {1: (2, 40e9), 0: (3, 10e9)}.get(number)
    flows = [[-1, 0, number, sent[0], 0, 1, int(sent[1] / 8 * interval / 1e9)]] if sent else []
    return json.dumps({
        "format": "topoopt-tm", "version": 1, "job": "ring-4", "plan": "0" * 16,
        "interval_ns": interval, "classes": ["roce", "tcp", "other"],
        "servers": [f"s{i}" for i in range(4)], "server": name, "generation": 7,
        "ports": [{"name": "eth0", "to": None, "from": None}],
        "samples": [{"start_ns": end - interval, "end_ns": end, "elapsed_ns": interval,
                     "lost": [0, 0], "flows": flows, "ports": [[0, 0, 0, 0]]}]})


for line in sys.stdin:
    request = json.loads(line)
    if os.path.exists(f"{path}.gone-{name}"):
        break
    reply = {"id": request["id"], "ok": True, "protocol": 2, "generation": 7, "staged": False,
             "live": ["eth0", "eth1"]}
    if request["op"] == "look":
        looks += 1
        dark = os.path.exists(f"{path}.dark-{name}")
        sent = looks * 10**10 if number == 1 else looks
        reply |= {"time_ns": looks * 10**9, "device": 4, "backups": 0, "counters": {}, "ports": [
            {"name": "eth0", "live": not dark, "rx_bytes": 1, "tx_bytes": sent, "counters": {}},
            {"name": "eth1", "live": True, "rx_bytes": 1, "tx_bytes": looks, "counters": {}}]}
    elif request["op"] == "assume":
        knows = True
    elif request["op"] == "sample" and not knows:
        reply |= {"ok": False, "error": "no plan"}
    elif request["op"] == "sample":
        reply["tm"] = sample(request)
    print(json.dumps(reply | {"plan": knows}), flush=True)
