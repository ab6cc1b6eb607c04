# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows on links by tosim simulate and by SimGrid, for tests and benchmarks.

A flow is (from, to, bytes, directed links), links are {(a, b): Gbit/s}, duplex. SimGrid's
model is CM02 with all factors 1: max-min fair rates, no window.
"""

import json
import os
import subprocess

TOSIM = os.environ.get("TOSIM", "build/tosim")
CXX = os.environ.get("CXX", "g++")
MODEL = ["network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
         "network/bandwidth-factor:1", "network/latency-factor:1", "network/weight-S:0"]


def installed():
    return not subprocess.run([*CXX.split(), "-x", "c++", "-E", "-"], input=b"#include <simgrid/s4u.hpp>",
                              capture_output=True, check=False).returncode


def build(tmp):
    """The program that SimGrid's side is; its path."""
    subprocess.run([*CXX.split(), "-std=gnu++17", "-O2", "selftests/unit/simgrid.cpp", "-lsimgrid",
                    "-Wl,--allow-shlib-undefined", "-o", f"{tmp}/simgrid"], check=True)
    return f"{tmp}/simgrid"


def command(program):
    return [program, *(f"--cfg={setting}" for setting in MODEL), "--log=root.thresh:error"]


class Flows:
    """Of several graphs at once, which know nothing of each other."""

    def __init__(self):
        self.text, self.links = [], 0

    def add(self, links, flows):
        numbers = {}
        for (a, b), rate in links.items():
            for ends in (a, b), (b, a):
                numbers[ends] = self.links
                self.links += 1
                self.text.append(f"l {rate * 1e9 / 8}")
        for _, _, size, path in flows:
            self.text.append(f"f {size} {len(path)} " + " ".join(str(numbers[ends]) for ends in path))

    def input(self):
        return "\n".join(self.text) + "\n"


def ends(output):
    """Seconds of each flow, by its number, of what the program has printed."""
    return {int(line.split()[0]): float(line.split()[1]) for line in output.splitlines()}


def write(tmp, servers, switches, links, flows):
    """The same as files; arguments of tosim that simulates them, all to f"{tmp}/out.json"."""
    with open(f"{tmp}/net.json", "w", encoding="utf-8") as file:
        json.dump({"format": "topoopt-network", "version": 1, "servers": servers,
                   "packet_switches": switches,
                   "links": [{"ends": pair, "bandwidth": f"{rate}G"}
                             for pair, rate in links.items()]}, file)
    with open(f"{tmp}/job.json", "w", encoding="utf-8") as file:
        json.dump({"name": "flows", "servers": len(servers), "allreduce": [],
                   "mp": [{"from": src[1:], "to": dst[1:], "bytes": size}
                          for src, dst, size, _ in flows]}, file)
    return ["simulate", "--fabric", f"{tmp}/net.json", "--job", f"{tmp}/job.json",
            "--latency", "0", "--relay-latency", "0", "--step-latency", "0", "--iterations", "1", "-o", f"{tmp}/out.json"]


def times(tmp):
    """Seconds of each flow, by (from, to), of what tosim has written."""
    with open(f"{tmp}/out.json", encoding="utf-8") as file:
        return {(t["from"], t["to"]): t["finish_s"] for t in json.load(file)["transfers"]}
