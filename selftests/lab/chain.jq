# SPDX-License-Identifier: GPL-2.0-or-later
# Plan of $n servers in a row, named A, B, C ... plus $suffix, written down
# without toctl's optimiser so that tests of the kernel do not depend on it:
#
#	A eth1 == eth0 B eth1 == eth0 C ...
#
# Everything to the left leaves by eth0, to the right by eth1; a port address
# can be reached only from its own side.

def set($from; $to): if $from > $to then "" elif $from == $to then "\($from)" else "\($from)-\($to)" end;
def hex: . as $n | "0123456789abcdef" | .[$n / 16 | floor:][:1] + .[$n % 16:][:1];

def server: "ABCDEFGHIJKLMNOP"[.:. + 1] + $suffix;

{
  format: "topoopt-plan", version: 1, job: "chain", seed: 1, link_mode: "duplex",
  servers: [range($n) | . as $i | {
    name: server, ipv4: "10.200.0.\($i + 1)", ipv6: "fd00:746f::\($i + 1)",
    ports: [range(2) | {
      name: "eth\(.)", mac: "02:54:4f:00:\($i | hex):\(. | hex)",
      ipv4: "10.201.\($i + 1).\(. + 1)", ipv6: "fd00:746f:\($i + 1)::\(. + 1)",
      bandwidth: 100000000000}]}],
  optical_switches: [],
  links: [range($n - 1) | {a: "\(server):eth1", b: "\(. + 1 | server):eth0", use: "fixed"}],
  rings: [], cross_connects: [],
  demand: {servers: $n, allreduce: [], mp: []},
  tables: [range($n) | . as $i | {
    server: server,
    groups: ([if $i > 0 then [{port: "eth0"}] else empty end]
	     + [if $i < $n - 1 then [{port: "eth1"}] else empty end]),
    routes: ([if $i > 0 then {nodes: set(0; $i - 1), ports: ["", set(0; $i - 1)]} else empty end,
	      if $i < $n - 1 then {nodes: set($i + 1; $n - 1), ports: [set($i + 1; $n - 1), ""]} else empty end]
	     | to_entries | map({group: .key} + .value)),
    pairs: []}],
  predictions: {}
}
