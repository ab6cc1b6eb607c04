# SPDX-License-Identifier: GPL-2.0-or-later
"""Client of the netlink family "topoopt" that knows nothing but its spec.

    family = Family()
    family.do("dev-get", {"ifindex": 3})            # the reply, as a dict
    family.dump("route-get", {"ifindex": 3})        # replies, a list of dicts

Attributes are dicts, or lists of (name, value) where order or repetition
matters. A value of bytes goes out as it is, so that nothing is beyond it: wrong
lengths, unknown types (a name may be a number), messages of any shape (raw()). Flags are
a list of names.
"""

import errno
import functools
import os
import socket
import struct

import yaml

SPEC = os.path.join(os.path.dirname(os.path.realpath(__file__)),
                    "../Documentation/netlink/specs/topoopt.yaml")
SOL_NETLINK, ADD_MEMBERSHIP, CAP_ACK, EXT_ACK, STRICT = 270, 1, 10, 11, 12
NLMSG_ERROR, NLMSG_DONE = 2, 3
REQUEST, MULTI, ACK, INTERRUPTED, DUMP = 1, 2, 4, 0x10, 0x300
NESTED = 0x8000
GETFAMILY, GETPOLICY = 3, 10
CTRL = 16   # also the protocol, NETLINK_GENERIC


class Error(Exception):
    """The kernel's refusal: errno, its text, the path of the attribute it
    blames, and the type of one it misses."""

    def __init__(self, code, text, attribute, missing):
        super().__init__(f"{os.strerror(code)}: {text} [{attribute}]")
        self.errno, self.text = code, text
        self.attribute, self.missing = attribute, missing


def attributes(data):
    """(type, offset of the attribute, payload) of each."""
    offset = 0
    while offset + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, offset)
        if length < 4 or offset + length > len(data):
            break
        yield kind & 0x3fff, offset, data[offset + 4:offset + length]
        offset += (length + 3) & ~3


def attribute(kind, payload, nested=False):
    data = struct.pack("=HH", 4 + len(payload), kind | (NESTED if nested else 0))
    return data + payload + bytes(-len(payload) % 4)


@functools.cache
def read_spec(path):
    """What the file says. Slow in an emulated machine, hence once, and by C."""
    with open(path, encoding="utf-8") as stream:
        return yaml.load(stream, yaml.CSafeLoader)


class Family:
    FORMATS = {"u8": "=B", "u16": "=H", "u32": "=I", "u64": "=Q"}

    def __init__(self, spec=SPEC, groups=(), room=1 << 20):
        """@room: bytes of one receive; the kernel makes the parts of a dump no larger."""
        self.spec = read_spec(spec)
        self.room = room
        self.sets = {}
        for entry in self.spec["attribute-sets"]:
            self.sets[entry["name"]] = {
                a["name"]: dict(a, value=i)
                for i, a in enumerate(entry["attributes"], 1)}
        self.operations = {op["name"]: dict(op, value=i) for i, op in
                           enumerate(self.spec["operations"]["list"], 1)}
        self.enums = {d["name"]: [e if isinstance(e, str) else e["name"]
                                  for e in d["entries"]]
                      for d in self.spec["definitions"] if d["type"] == "enum"}
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW,
                                    CTRL)
        for option in (CAP_ACK, EXT_ACK, STRICT):
            self.socket.setsockopt(SOL_NETLINK, option, 1)
        self.socket.bind((0, 0))
        self.sequence = 0
        self.interrupted = False
        self._find(groups)

    def close(self):
        self.socket.close()

    def _find(self, groups):
        name = self.spec["name"].encode() + b"\0"
        reply, = self._exchange(CTRL, 0, struct.pack("=BBH", GETFAMILY, 1, 0) +
                                attribute(2, name))
        found = {kind: data for kind, _, data in attributes(reply[4:])}
        self.id, = struct.unpack("=H", found[1])
        self.groups = {}
        for _, _, group in attributes(found.get(7, b"")):
            group = {kind: data for kind, _, data in attributes(group)}
            self.groups[group[1].rstrip(b"\0").decode()], = \
                struct.unpack("=I", group[2])
        for group in groups:
            self.socket.setsockopt(SOL_NETLINK, ADD_MEMBERSHIP,
                                   self.groups[group])

    # --- attributes ---

    def encode(self, values, space="device"):
        data = b""
        for name, value in (values.items() if isinstance(values, dict) else values):
            if isinstance(name, int):
                data += attribute(name, value)
                continue
            spec = self.sets[space][name]
            many = (spec.get("multi-attr") and isinstance(value, list) and
                    not (value and isinstance(value[0], tuple)))
            for one in value if many else [value]:
                data += self._encode_one(spec, one)
        return data

    def _encode_one(self, spec, value):
        kind = spec["value"]
        if isinstance(value, bytes):
            return attribute(kind, value, spec["type"] == "nest")
        if spec["type"] == "nest":
            return attribute(kind, self.encode(value, spec["nested-attributes"]), True)
        if spec["type"] == "flag":
            return attribute(kind, b"") if value else b""
        if spec["type"] == "string":
            return attribute(kind, value.encode() + b"\0")
        if spec["type"] == "binary":
            return attribute(kind, address(value))
        if isinstance(value, str):
            value = self.enums[spec["enum"]].index(value)
        if isinstance(value, list):
            value = sum(1 << self.enums[spec["enum"]].index(name) for name in value)
        return attribute(kind, struct.pack(self.FORMATS[spec["type"]], value))

    def decode(self, data, space="device"):
        names = {a["value"]: a for a in self.sets[space].values()}
        values = {}
        for kind, _, payload in attributes(data):
            spec = names[kind]
            name = spec["name"]
            if spec["type"] == "nest":
                value = self.decode(payload, spec["nested-attributes"])
            elif spec["type"] == "flag":
                value = True
            elif spec["type"] == "string":
                value = payload.rstrip(b"\0").decode()
            elif spec["type"] == "binary":
                value = text(payload)
            elif spec["type"] == "pad":
                continue
            else:
                value, = struct.unpack(self.FORMATS[spec["type"]], payload)
                if spec.get("enum-as-flags"):
                    value = [n for i, n in enumerate(self.enums[spec["enum"]]) if value >> i & 1]
                elif "enum" in spec:
                    value = self.enums[spec["enum"]][value]
            if spec.get("multi-attr"):
                values.setdefault(name, []).append(value)
            else:
                values[name] = value
        return values

    def _path(self, data, at, space="device"):
        """Name of the attribute that begins at this offset, with its nests."""
        names = {a["value"]: a for a in self.sets[space].values()}
        for kind, offset, payload in attributes(data):
            spec = names.get(kind, {"name": str(kind)})
            if offset == at:
                return spec["name"]
            if offset < at < offset + 4 + len(payload) and "nested-attributes" in spec:
                inner = self._path(payload, at - offset - 4, spec["nested-attributes"])
                return inner and f"{spec['name']}.{inner}"
        return None

    # --- messages ---

    def _send(self, kind, flags, payload):
        self.sequence += 1
        self.socket.send(struct.pack("=IHHII", 16 + len(payload), kind,
                                     flags | REQUEST, self.sequence, 0) + payload)

    def _exchange(self, kind, flags, payload):
        flags |= 0 if flags & DUMP else ACK
        self._send(kind, flags, payload)
        return self._receive(payload)

    def _receive(self, payload):
        replies = []
        self.interrupted = False
        while True:
            datagram = self.socket.recv(self.room)
            offset = 0
            while offset < len(datagram):
                length, got, gflags, sequence, _ = struct.unpack_from(
                    "=IHHII", datagram, offset)
                data = datagram[offset + 16:offset + length]
                offset += (length + 3) & ~3
                if sequence != self.sequence:
                    continue
                self.interrupted |= bool(gflags & INTERRUPTED)
                if got in (NLMSG_ERROR, NLMSG_DONE):
                    code, = struct.unpack_from("=i", data)
                    if code:
                        skip = 4 if got == NLMSG_DONE else 20
                        self._refuse(-code, data[skip:], payload)
                    return replies
                replies.append(data)

    def _refuse(self, code, data, request):
        found = {kind: value for kind, _, value in attributes(data)}
        path = missing = None
        if 2 in found:
            at, = struct.unpack("=I", found[2])
            path = self._path(request[4:], at - 20)
        if 5 in found:
            missing, = struct.unpack("=I", found[5])
        raise Error(code, found.get(1, b"").rstrip(b"\0").decode(), path, missing)

    def header(self, operation):
        return struct.pack("=BBH", self.operations[operation]["value"], 1, 0)

    def raw(self, data, flags=0):
        return self._exchange(self.id, flags, data)

    def do(self, operation, values=()):
        while True:
            try:
                return self.do_once(operation, values)
            except Error as error:
                # a large table takes several requests
                if error.errno != errno.EINPROGRESS:
                    raise

    def do_once(self, operation, values=()):
        replies = self.raw(self.header(operation) + self.encode(values or {}))
        return self.decode(replies[0][4:]) if replies else None

    def dump(self, operation, values=()):
        return [self.decode(reply[4:]) for reply in
                self.raw(self.header(operation) + self.encode(values or {}), DUMP)]

    def table_groups(self, on):
        """The groups of the active table, as a stage takes them."""
        groups = [g for reply in self.dump("group-get", on) for g in reply["group"]]
        for group in groups:
            group.pop("backup-in-use", None)
            for nexthop in group["nexthop"]:
                nexthop.pop("live", None)
        return groups

    def dump_begin(self, operation, values=()):
        """Request a dump. The kernel makes the first part, the others when that is read."""
        payload = self.header(operation) + self.encode(values or {})
        self._send(self.id, DUMP, payload)
        return payload

    def dump_end(self, payload):
        """The replies to dump_begin(); self.interrupted has the mark."""
        return [self.decode(reply[4:]) for reply in self._receive(payload)]

    def event(self, timeout):
        """The next event, as (operation, attributes), or None."""
        names = {op["value"]: name for name, op in self.operations.items()}
        self.socket.settimeout(timeout)
        try:
            data = self.socket.recv(1 << 20)
        except TimeoutError:
            return None
        finally:
            self.socket.settimeout(None)
        return names[data[16]], self.decode(data[20:])


def address(value):
    """Bytes of an IPv4, IPv6 or MAC address."""
    if value.count(":") == 5 and "::" not in value:
        return bytes.fromhex(value.replace(":", ""))
    family = socket.AF_INET6 if ":" in value else socket.AF_INET
    return socket.inet_pton(family, value)


def text(value):
    if len(value) == 4:
        return socket.inet_ntop(socket.AF_INET, value)
    if len(value) == 16:
        return socket.inet_ntop(socket.AF_INET6, value)
    return value.hex(":")


def ifindex(name):
    return socket.if_nametoindex(name)


class Tap:
    """Test results in the format that run.sh reads."""

    def __init__(self):
        self.count = self.failed = 0

    def ok(self, passed, name, reason=""):
        self.count += 1
        print(f"{'ok' if passed else 'not ok'} {self.count} - {name}", flush=True)
        if not passed:
            self.failed += 1
            print(f"# {reason}", flush=True)
        return passed

    def skip(self, name, reason):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}", flush=True)

    def done(self):
        print(f"1..{self.count}", flush=True)
        raise SystemExit(1 if self.failed else 0)
