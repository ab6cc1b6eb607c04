# SPDX-License-Identifier: GPL-2.0-or-later
"""Clusters that tests of shards share; imported, never run."""


def grouped(cluster, sizes):
    """The cluster with other servers, of four ports: groups of these sizes, each on an
    optical switch of its own."""
    servers = []
    for g, n in enumerate(sizes):
        for i in range(n):
            at = len(servers)
            servers.append({"name": f"g{g}-{i}", "ipv4": f"10.200.1.{at + 1}", "ports": [
                {"name": f"eth{q}", "mac": f"02:54:4f:0{q}:01:{at:02x}", "ipv4": f"10.20{q + 1}.1.{at + 1}",
                 "bandwidth": 100000000000, "optical_switch": f"ocs{g}",
                 "optical_port": 4 * i + q + 1} for q in range(4)]})
    return {**cluster, "servers": servers,
            "optical_switches": [{"name": f"ocs{g}", "ports": 32} for g in range(len(sizes))]}
