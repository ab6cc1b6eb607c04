#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# toctl verify --down: what it says of failures, and what people get wrong.

. selftests/unit/cli.sh

said() { # NAME PYTHON, with the JSON as d and that of its down as w
	python3 - "$tmp/out" "$2" 2>>"$tmp/err" <<'END'
import json, sys, jsonschema
d = json.load(open(sys.argv[1]))
jsonschema.validate(d, json.load(open("Documentation/schemas/verify.schema.json")))
w = d.get("down")
exec(sys.argv[2])
END
	result $? "$1"
}

run 0 plan --cluster examples/ring-4/cluster.json --job examples/ring-4/job.json \
	--fixed -o "$tmp/plan.json" && run 0 verify --json "$tmp/plan.json"
said "nothing is said to be down" \
	'assert d["verdict"] == "protected" and w is None and not d["failures"]["uncovered"], d'

run 0 verify --json --down s0:eth0 "$tmp/plan.json"
said "a port: its link, its NICs, and where packets go" 'assert w == w | {
"down": ["s0:eth0"], "dark": [{"a": "s0:eth0", "b": "s1:eth1"}], "pairs": 36,
"rdma_ports": ["s0:eth0", "s1:eth1"], "uncovered": 0, "disconnected": 0, "looping": 0,
"left_out_bytes": 0} and w["covered"] and w["comm_time_s"] > d["comm_time_s"], w'

run 0 verify --json --down s3 "$tmp/plan.json"
said "a server, with its demand" 'assert w == w | {"down": ["s3"], "uncovered": 0,
"rdma_ports": ["s0:eth1", "s2:eth0"]} and len(w["dark"]) == 2 and w["left_out_bytes"] > 0, w'

run 0 verify --json --down s0:eth0 --down s2:eth0 "$tmp/plan.json"
said "two that part the ring: packets end with their TTL" \
	'assert w["disconnected"] and w["looping"] and not w["uncovered"], w'

run 0 verify --down s0:eth0 "$tmp/plan.json" && grep -qx 'with s0:eth0 down:' "$tmp/out" &&
	grep -qx '  dark: s0:eth0 - s1:eth1' "$tmp/out" &&
	grep -qx '  RDMA NICs that go dark with it: s0:eth0 s1:eth1' "$tmp/out" &&
	grep -q 'NCCL_IB_HCA' "$tmp/out" &&
	grep -q '^ *10 that the kernel leads around it$' "$tmp/out" &&
	! grep -q 'LOSE' "$tmp/out"
result $? "the same as text"

run 0 verify -v "$tmp/plan.json" &&
	grep -qx '  any one link down: 40 of 40 cases covered; in 24 more the address is of a port that goes dark, as does its RDMA NIC' "$tmp/out"
result $? "without --down, the sum of all links"

# two functions of one PCI domain on each server, whose RDMA engines take all RoCEv2
python3 - "$tmp/pcie.json" <<'END'
import json, sys
cluster = json.load(open("examples/ring-4/cluster.json"))
for server in cluster["servers"]:
    server["pcie"] = [{"name": "x4a", "rate": "126G", "to_host": "109G", "from_host": "109G"}]
    for port in server["ports"]:
        port |= {"bandwidth": "100G", "pcie": "x4a", "card": "cx7", "transit": "none"}
json.dump(cluster, open(sys.argv[1], "w"))
END
printf '%s' '{"name": "ring", "servers": 4, "allreduce": [{"group": "all", "bytes": 1073741824}]}' \
	>"$tmp/ring.json"
run 0 plan --cluster "$tmp/pcie.json" --job "$tmp/ring.json" --fixed -o "$tmp/pcie.plan.json" &&
	grep -qx '  PCIe             s0:x4a, from host, 13.6 GB/s: binds AllReduce' "$tmp/out" &&
	grep -qx '  RDMA pairs       8 of 24, of a server and a port; TCP alone reaches the other 16, by relays' "$tmp/out"
result $? "plan says which PCIe link binds, and that RDMA has no relays"

run 0 verify --json --down s0:eth0 "$tmp/pcie.plan.json"
said "so does verify, as JSON" 'assert d["rdma_pairs"] == {"pairs": 24, "reached": 8}, d
assert d["pcie"]["allreduce"] == d["pcie"]["communication"] == {"server": "s0", "link": "x4a",
	"direction": "from_host", "rate_bps": 109e9, "binds": True, "busy_s": d["allreduce_time_s"]}, d
assert w["busiest_pcie"]["link"] == "x4a", w'
run 0 verify --down s0:eth0 "$tmp/pcie.plan.json" &&
	grep -q '^  busiest then: PCIe of s[0-3]:x4a, \(from\|to\) host$' "$tmp/out"
result $? "a failure may leave a PCIe link the busiest"

# without backups and alternates
python3 - "$tmp/plan.json" "$tmp/weak.json" <<'END'
import json, sys
plan = json.load(open(sys.argv[1]))
for table in plan["tables"]:
    table["groups"] = [[hop for hop in group if not hop.get("backup") and "ingress" not in hop]
                       for group in table["groups"]]
json.dump(plan, open(sys.argv[2], "w"))
END
run 0 verify -v "$tmp/weak.json" && grep -q 'NOT PROTECTED' "$tmp/out" &&
	grep -q '^    s. > s.* while s.:eth. - s.:eth. is dark$' "$tmp/out"
result $? "pairs that are not protected are named"
run 0 verify --json --down s0:eth0 "$tmp/weak.json"
said "and those that lose packets now" 'assert d["verdict"] == "unprotected" and w["uncovered"] and \
len(w["unprotected"]) == w["uncovered"] and "s0 > s1" in w["unprotected"], w'
run 0 verify --down s0:eth0 "$tmp/weak.json" && grep -q 'can LOSE packets' "$tmp/out" &&
	sed -n '/^with/,$p' "$tmp/out" | grep -qx '    s0 > s1'
result $? "also as text"

run 1 verify --down s9 "$tmp/plan.json" &&
	grep -qxF "toctl verify: $tmp/plan.json: no server is called \"s9\"" "$tmp/err" && [[ ! -s $tmp/out ]]
result $? "an unknown server"
run 1 verify --down s0 --down s1:eth7 "$tmp/plan.json" &&
	grep -qxF "toctl verify: $tmp/plan.json: server \"s1\" has no port \"eth7\"" "$tmp/err"
result $? "an unknown port"

jq '.tables[3].routes |= map(del(.nodes))' "$tmp/plan.json" >"$tmp/broken.json"
run 1 verify --json --down s0:eth0 "$tmp/broken.json"
said "of a plan that is not valid it tells nothing" 'assert d["verdict"] == "invalid" and w is None'

echo "1..$count"
((!failed))
