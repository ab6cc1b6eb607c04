# SPDX-License-Identifier: GPL-2.0-or-later
"""Chakra execution traces, encoded by hand.

Numbers of fields and types are those of Chakra's et_def.proto, read apart from the tool's own
copy of them.
"""

METADATA, COMP, SEND, RECV, COLL = 1, 4, 5, 6, 7
(ALL_REDUCE, REDUCE, ALL_GATHER, GATHER, SCATTER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER,
 REDUCE_SCATTER_BLOCK, BARRIER) = range(10)
# a field that Chakra does not have: what a node waits for is said
SAID = b"\xf8\x3f\x01"


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def attribute(name, value, field=None):
    """An int64 unless @field says which integer; or a string, bool or bools."""
    if isinstance(value, bool):
        body = number(27, value)
    elif isinstance(value, list):
        body = text(28, text(1, bytes(value)))
    elif isinstance(value, str):
        body = text(29, value)
    elif field in (15, 17):     # sint: zigzag
        body = number(field, value << 1)
    elif field in (19, 23):     # fixed32
        body = varint(field << 3 | 5) + value.to_bytes(4, "little")
    elif field in (21, 25):     # fixed64
        body = varint(field << 3 | 1) + value.to_bytes(8, "little")
    else:
        body = number(field or 9, value)
    return text(10, text(1, name) + body)


def node(kind, name, attributes=(), micros=0, inputs=None):
    """All of a node but its id."""
    body = text(2, name) + number(3, kind) + number(7, micros)
    if inputs is not None:
        body += text(8, text(1, inputs) + text(2, "shapes"))
    for item in attributes:
        body += attribute(*item)
    return body


def collective(kind, size, name="nccl", **more):
    return node(COLL, name, [("comm_type", kind), ("comm_size", size), *more.items()])


def send(dst, size, tag=0, name="send"):
    return node(SEND, name, [("comm_dst", dst, 7), ("comm_size", size), ("comm_tag", tag, 7)])


def receive(src, size, tag=0, name="receive"):
    return node(RECV, name, [("comm_src", src, 7), ("comm_size", size), ("comm_tag", tag, 7)])


def encode(nodes):
    """The bytes of a trace; each node waits for the one before it (data_deps), unless it says."""
    messages = [text(1, "0.0.4") + attribute("schema", "1.0.2")]
    messages += [number(1, i) + body + (number(5, i - 1) if i and not body.endswith(SAID) else b"")
                 for i, body in enumerate(nodes)]
    return b"".join(varint(len(m)) + m for m in messages)


def after(body, *data, ctrl=()):
    """A node that waits for these."""
    return (body + b"".join(number(5, i) for i in data) + b"".join(number(4, i) for i in ctrl)
            + SAID)
