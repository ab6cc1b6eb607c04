#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""toctl collective run among strangers: four servers of a ring are four processes in one
network namespace. Whoever reaches their ports without the token of the run ends nothing,
delays nothing and blames nobody."""

import json
import os
import resource
import socket
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, "selftests/unit")
from tap import done, report, wait_for  # noqa: E402

HERE = os.path.abspath(__file__)
TOCTL = os.environ.get("TOCTL", "build/toctl")
PORT = 7471
N = 4
FLOOD = 1000
TOKEN = "a-token-that-all-servers-have"
CHALLENGE = 32
HELLO = 8 + 3 * 4 + 32 + 32
WELCOME = 8 + 32
HERE_LANE = 2 ** 32 - 1
NODES = [f"10.200.0.{i + 1}" for i in range(N)]


def alone():
    """Go on in a network namespace of one's own, which has the addresses of all servers."""
    unshare = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-Urn"]
    probe = subprocess.run(unshare + ["ip", "link", "add", "type", "veth"],
                           capture_output=True, text=True, check=False)
    if probe.returncode:
        print(f"1..0 # SKIP no network namespace with a veth: {probe.stderr.strip()}")
        sys.exit(0)
    os.execvp(unshare[0], unshare + [sys.executable, HERE, "inside"])


def make_plan(directory):
    servers = [{"name": f"s{i}", "ipv4": NODES[i], "ports": [
        {"name": f"s{i}p{p}", "mac": f"02:54:4f:0{p}:00:0{i}", "bandwidth": 10 ** 9,
         "ipv4": f"10.201.{(i - p) % N + 1}.{p + 1}"} for p in range(2)]} for i in range(N)]
    with open(f"{directory}/cluster.json", "w") as out:
        json.dump({"format": "topoopt-cluster", "version": 1, "link_mode": "duplex",
                   "servers": servers,
                   "links": [{"a": f"s{i}:s{i}p0", "b": f"s{(i + 1) % N}:s{(i + 1) % N}p1"}
                             for i in range(N)]}, out)
    with open(f"{directory}/job.json", "w") as out:
        json.dump({"format": "topoopt-job", "version": 1, "name": "all", "servers": N,
                   "allreduce": [{"group": "all", "bytes": 1 << 20}]}, out)
    subprocess.run([TOCTL, "plan", "-c", f"{directory}/cluster.json", "-j", f"{directory}/job.json",
                    "--fixed", "-e", "1", "-o", f"{directory}/plan.json"], check=True,
                   stdout=subprocess.DEVNULL)
    for server in servers:
        names = [port["name"] for port in server["ports"]]
        subprocess.run(["ip", "link", "add", names[0], "type", "veth", "peer", names[1]], check=True)
        for port in server["ports"]:
            subprocess.run(["ip", "addr", "add", port["ipv4"] + "/32", "dev", port["name"]], check=True)
            subprocess.run(["ip", "link", "set", port["name"], "up"], check=True)
        subprocess.run(["ip", "addr", "add", server["ipv4"] + "/32", "dev", "lo"], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    return f"{directory}/plan.json", {s["name"]: [s["ipv4"]] + [p["ipv4"] for p in s["ports"]]
                                      for s in servers}


class Member:
    """toctl collective run of one server."""

    def __init__(self, i, *options, size="1MB", timeout="60s", token=TOKEN):
        env = dict(os.environ, TOPOOPT_COLLECTIVE_TOKEN=token)
        self.child = subprocess.Popen(
            [TOCTL, "--json", "collective", "run", plan, "--node", f"s{i}", "--size", size,
             "--timeout", timeout, *options], env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(self):
        self.out, self.err = self.child.communicate()
        return self.child.returncode


def listeners(path="/proc/net/tcp"):
    """Addresses that listen at the port of collectives."""
    with open(path) as table:
        rows = [line.split() for line in table][1:]
    ends = [row[1].split(":") for row in rows if row[3] == "0A"]
    return {address for address, port in ends if int(port, 16) == PORT}


def dotted(address):
    return socket.inet_ntoa(struct.pack("=I", int(address, 16)))


def listening(i):
    return wait_for(lambda: {dotted(a) for a in listeners()} & set(addresses[f"s{i}"]) or
                    listeners("/proc/net/tcp6"))


def connect(i=0):
    return socket.create_connection((NODES[i], PORT), timeout=20)


def receive(conn, size):
    data = b""
    while len(data) < size:
        more = conn.recv(size - len(data))
        if not more:
            break
        data += more
    return data


def refused(conn):
    """Nothing but the end follows."""
    try:
        return conn.recv(1) == b""
    except ConnectionResetError:
        return True


def complete(members, name, expected=0):
    """All members end well, and the first one reports right sums of all."""
    codes = [m.end() for m in members]
    result = json.loads(members[0].out) if codes[0] == 0 else {}
    report(codes == [expected] * N and result.get("sums_right") == N, name,
           f"{codes}\n" + "".join(m.err for m in members))


def record_hello():
    """What server 1 says to whoever has taken the place of server 0, with a nonce of ours."""
    with socket.create_server((NODES[0], PORT)) as place:
        member = Member(1, timeout="1s")
        place.settimeout(20)
        for _ in range(2 * N):
            conn, _ = place.accept()
            with conn:
                conn.settimeout(20)
                conn.sendall(bytes(CHALLENGE))
                hello = receive(conn, HELLO)
                if len(hello) == HELLO:
                    conn.sendall(bytes(WELCOME))
                    refused(conn)
                    break
        member.end()
    return hello, member


if sys.argv[1:] != ["inside"]:
    alone()
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
tmp = tempfile.TemporaryDirectory()
plan, addresses = make_plan(tmp.name)

# Among themselves, and where they listen.
first = Member(0)
listening(0)
found = {dotted(a) for a in listeners()}
report(NODES[0] in found and found <= set(addresses["s0"]) and not listeners("/proc/net/tcp6"),
       "a server listens at its own addresses only", (found, listeners("/proc/net/tcp6")))
complete([first] + [Member(i) for i in range(1, N)], "four servers do an AllReduce")

# Strangers that say nothing.
first = Member(0, timeout="30s")
listening(0)
silent = [connect() for _ in range(10)]
complete([first] + [Member(i, timeout="30s") for i in range(1, N)], "ten silent connections")
for conn in silent:
    conn.close()

# A stranger that speaks for server 2, in the words of earlier versions and in today's.
first = Member(0)
listening(0)
with connect() as old:
    old.sendall(struct.pack(">QII", 1, HERE_LANE, 2))
    old.shutdown(socket.SHUT_WR)
    report(len(receive(old, CHALLENGE)) == CHALLENGE and refused(old), "a hello of 16 bytes is refused")
with connect() as forged:
    receive(forged, CHALLENGE)
    forged.sendall(struct.pack(">QIII", 1, 2, 0, HERE_LANE) + bytes(64))
    report(refused(forged), "a hello without a proof is refused")
complete([first] + [Member(i) for i in range(1, N)], "a hello that blames a server")

# A stranger that has heard a hello of server 1 before.
hello, fooled = record_hello()
report(len(hello) == HELLO and struct.unpack(">II", hello[8:16]) == (1, 0) and
       fooled.child.returncode == 3 and "s0: does not prove to have the token" in fooled.err,
       "a stranger in the place of server 0 gets a hello and no more", fooled.err)
first = Member(0)
listening(0)
with connect() as replayed:
    report(receive(replayed, CHALLENGE) != bytes(CHALLENGE), "each challenge is new")
    replayed.sendall(hello)
    report(refused(replayed), "a recorded hello is refused")
complete([first] + [Member(i) for i in range(1, N)], "a recorded hello")

# More strangers than a server keeps waiting.
first = Member(0, timeout="15s")
listening(0)
flood = [connect() for _ in range(FLOOD)]
complete([first] + [Member(i, timeout="15s") for i in range(1, N)], f"{FLOOD} connections")
for conn in flood:
    conn.close()

# A server of the group with another token is a stranger until it has the right one.
members = [Member(i) for i in (0, 1, 3)]
stranger = Member(2, token="another-token-of-somebody", timeout="1s")
report(stranger.end() == 3 and ("does not prove to have the token" in stranger.err),
       "a server with another token: status 3", stranger.err)
members.append(Member(2))
complete(members, "a server comes again with the right token")

# Only a server with the token is believed to run something else.
members = [Member(i, timeout="10s") for i in (0, 1, 3)]
for i in (0, 1, 3):
    listening(i)
members.append(Member(2, size="2MB", timeout="10s"))
codes = [m.end() for m in members]
report(any("s2: runs another plan, algorithm or size" in m.err for m in members) and 1 in codes,
       "a server of another size is named", "".join(m.err for m in members))

# Where the token comes from.
path = f"{tmp.name}/token"
with open(path, "w") as out:
    print(TOKEN, file=out)
os.chmod(path, 0o600)


def run(*options, **env):
    return subprocess.run([TOCTL, "collective", "run", plan, "--node", "s0", "--size", "1MB",
                           "--timeout", "100ms", *options], capture_output=True, text=True,
                          env={**{k: v for k, v in os.environ.items()
                                  if k != "TOPOOPT_COLLECTIVE_TOKEN"}, **env}, check=False)


members = [Member(0, "--token-file", path, token="the file has another token")] + \
          [Member(i) for i in range(1, N)]
complete(members, "--token-file names a file")
none = run()
report(none.returncode == 2 and "--token-file" in none.stderr, "no token: status 2", none.stderr)
short = run(TOPOOPT_COLLECTIVE_TOKEN="guess")
report(short.returncode == 1 and "16 characters or more" in short.stderr, "a short token is refused",
       short.stderr)
os.chmod(path, 0o644)
readable = run("--token-file", path)
report(readable.returncode == 1 and "others may read" in readable.stderr,
       "a token that others may read is refused", readable.stderr)
done()
