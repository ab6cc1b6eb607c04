#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cache lines that the relay touches and writes for a packet.

    lines.py --structs      names of the structs whose layout is needed
    pahole -C ... | lines.py

ACCESSES says what kmod/fast.c and kmod/xdp.c read and write for an IPv4 packet without tag,
whose route depends on the destination alone and has one next hop, while nobody counts. The
layout says in which lines that is. What the driver and the kernel's queues touch is not in
it. A member that a struct no longer has is an error.
"""
import re
import sys

LINE = 64

# What, struct, members read, members written; by the skb path and by XDP. None: no struct of
# its own.
ACCESSES = (
    ("packet: Ethernet, IP and UDP header", None, (1, 1), (1, 1)),
    ("sk_buff", "sk_buff",
     ("dev protocol pkt_type cloned users len data_len data head end vlan_all destructor",
      "data len mac_header dev priority ip_summed tstamp"), None),
    ("skb_shared_info", "skb_shared_info", ("gso_size", ""), None),
    ("xdp_buff, on the driver's stack", "xdp_buff",
     None, ("data data_end rxq flags", "")),
    ("receive queue, xdp_rxq_info", "xdp_rxq_info", None, ("dev", "")),
    ("ingress NIC, net_device", "net_device",
     ("rx_handler_data", ""), ("rx_handler rx_handler_data dev_addr", "")),
    ("its MAC address", None, None, (1, 0)),
    ("ingress port", "topoopt_port", ("tdev stats", ""), ("tdev stats xdp", "")),
    ("topoopt device, private part", "topoopt_dev", ("table", ""), ("table", "")),
    ("its slot of the egress port", None, (1, 0), (1, 0)),
    ("table", "topoopt_table", ("family", ""), ("family", "")),
    ("hash of the routes' prefix length", "topoopt_tuple",
     ("slots size seed mask", ""), ("slots size seed mask", "")),
    ("slot of the destination", None, (1, 0), (1, 0)),
    ("group and its next hop, MAC address included", "topoopt_group+topoopt_nexthop",
     ("direct nexthop+slot nexthop+ifindex nexthop+mac", ""),
     ("direct nexthop+slot nexthop+ifindex nexthop+mac", "")),
    ("egress port", "topoopt_port",
     ("relay_ifindex tx stats", ""), ("xdp_ifindex tx stats", "")),
    ("egress NIC, net_device", "net_device",
     ("state mtu hard_header_len needed_headroom dev_addr", ""),
     ("state mtu ifindex dev_addr", "")),
    ("its MAC address", None, (1, 0), (1, 0)),
    ("ingress counters of this processor", "topoopt_stats",
     ("", "counter:TOPOOPT_RELAY_RX_PACKETS counter:TOPOOPT_RELAY_RX_BYTES"),
     ("", "counter:TOPOOPT_RELAY_XDP_PACKETS counter:TOPOOPT_RELAY_RX_BYTES")),
    ("egress counters of this processor", "topoopt_stats",
     ("", "counter:TOPOOPT_RELAY_TX_PACKETS counter:TOPOOPT_RELAY_TX_BYTES"),
     ("", "counter:TOPOOPT_RELAY_TX_PACKETS counter:TOPOOPT_RELAY_TX_BYTES")),
    ("depth of nested sends, of this processor", None, (1, 1), None),
)
HEADER = "kmod/topoopt.h"


def layouts(text):
    """Of each struct of pahole's output, the offset and size of each member."""
    found, name, members = {}, None, {}
    for line in text.splitlines():
        if match := re.match(r"struct (\w+) \{", line):
            name, members = match[1], {}
        elif re.match(r"\}", line) and name:
            found[name] = members
            name = None
        elif match := re.search(r"(?:\(\*(\w+)\)\(.*\)|(\w+)(?:\[[^;]*\])?)(?::\d+)?"
                                r"(?:\s+__attribute__\S+)?;\s*/\*\s*(\d+)(?::\s*\d+)?\s+(\d+)",
                                line):
            members.setdefault(match[1] or match[2], (int(match[3]), int(match[4])))
    return found


def counters():
    with open(HEADER, encoding="utf-8") as file:
        body = re.search(r"enum topoopt_counter \{(.*?)\}", file.read(), re.DOTALL)[1]
    return re.findall(r"(TOPOOPT_\w+)", re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL))


def place(member, struct, layout):
    """First and last byte of a member: "of a struct in the last one", element of an array."""
    outer = struct.split("+")[0]
    name, _, inner = member.partition("+")
    name, _, element = name.partition(":")
    offset, size = layout[outer][name]
    if inner:
        more, size = layout[struct.split("+")[1]][inner]
        offset += more
    if element:
        offset, size = offset + 8 * counters().index(element), 8
    if name == "family":    # .dst.begin of IPv4
        size = 8
    return range(offset // LINE, (offset + max(size, 1) - 1) // LINE + 1)


def lines(access, struct, layout):
    """Lines touched and written; an access is their numbers, where there is no struct."""
    if access is None:
        return set(), set()
    if struct is None:
        return set(range(access[0])), set(range(access[1]))
    written = {n for member in access[1].split() for n in place(member, struct, layout)}
    return written | {n for member in access[0].split()
                      for n in place(member, struct, layout)}, written


def cell(touched, written):
    return f"{len(touched)}, {len(written)}" if written else f"{len(touched) or ''}"


def main():
    structs = {name for access in ACCESSES if access[1] for name in access[1].split("+")}
    if sys.argv[1:] == ["--structs"]:
        print(",".join(sorted(structs)))
        return
    layout = layouts(sys.stdin.read())
    total = [[0, 0], [0, 0]]
    print("| cache lines touched, written | skb | XDP |\n|---|---|---|")
    for what, struct, *accesses in ACCESSES:
        cells = []
        for path, access in enumerate(accesses):
            touched, written = lines(access, struct, layout)
            total[path][0] += len(touched)
            total[path][1] += len(written)
            cells.append(cell(touched, written))
        print(f"| {what} | {cells[0]} | {cells[1]} |")
    print("| **all** | " + " | ".join(f"**{t}, {w}**" for t, w in total) + " |")


main()
