#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12
# Timeout: 600
# README's commands from cables to a working fabric, for four servers that nobody has
# configured, and what toctl discover says of wrong cables. ssh leads into the servers'
# network namespaces; each has the address of a management network.

. "$(dirname "$(realpath "$0")")/../lib.sh"

examples=$lib_dir/../examples
must toctl plan --cluster "$examples/ring-4/cluster.json" --job "$examples/ring-4/job.json" \
	--fixed -o "$tmp/planned.json" >/dev/null
# only the cables: the lab would give the ports addresses that discover gives to others
must jq 'del(.servers[] | .ipv4, .ipv6, (.ports[] | .ipv4, .ipv6))' "$tmp/planned.json" >"$tmp/cables.json"
fabric_up "$tmp/cables.json" --no-apply >/dev/null
number=0
for server in "${servers[@]}"; do
	ip -n "$server" link set lo up
	ip -n "$server" addr add "192.0.2.$((++number))/32" dev lo
done

ssh_to_namespaces
cd "$tmp" || exit
export TOPOOPT_STATE=$tmp/state TOPOOPT_FABRIC=$tmp/fabric.conf
printf '%s\n' "[agents]" "timeout = 60s" >"$TOPOOPT_FABRIC"
ln -s "$examples" examples

# --- from cables to traffic ---

mapfile -d '' -t blocks < <("$lib_dir/doc_commands.py" fabric "$lib_dir/../README.md")
is "README has one such block" "${#blocks[@]}" 1
must bash -eu -c "${blocks[0]}" >"$tmp/out"
is "README's last command" "$(tail -n 1 "$tmp/out")" "status: healthy"
is "the links are the cables" \
	"$(jq -c '[.links[] | [.a, .b] | sort] | sort' cluster.json)" \
	"$(jq -c '[.links[] | [.a, .b] | sort] | sort' "$examples/ring-4/cluster.json")"
plan=$tmp/plan.json
lib_read_plan
is "TCP over all 12 pairs, IPv4 and IPv6" "$(tcp_pairs)" 24

# --- how it is ---

check "healthy after traffic" toctl status --json
toctl status --json plan.json >later
is "the links' bytes are counted since the last look" \
	"$(jq '[.health == "healthy", .seconds > 0, all(.links[]; has("bytes"))] | all' later)" true
must ip -n s1 link set eth0 down
degraded() { # SUBJECT...: what a look names, which is kept in later
	toctl status >later
	(($? == 4)) && [[ $(sed -n 's/^[a-zA-Z]* *\(s[0-9a-z:]*: [a-z-]*\): .*/\1/p' later | sort) == "$(printf '%s\n' "$@")" ]]
}
check "a port is down: it is named, and the backups of both ends" \
	wait_for 60 degraded 's1: backups' 's1: port-down' 's1:eth0: carrier' 's2: backups' || cat later
is "the last line" "$(tail -n 1 later)" "status: degraded"
must ip -n s1 link set eth0 up
check "it is up: what apply made there is not" wait_for 60 degraded 's1: lost' || cat later
must toctl apply --all plan.json >/dev/null
check "applied again: healthy" wait_for 60 toctl status
jq '.tables[3].groups[0][0].weight = 7' plan.json >other.json
# the generations of all, too, go on alike
for server in "${servers[@]}"; do
	on "$server" toctl clear >/dev/null
	[[ $server == s3 ]] && table=other.json || table=plan.json
	must on "$server" toctl apply "$table" --node "$server" >/dev/null
done
toctl status >later
is "another table of the same generation: exit status" $? 1
is "its server is named" "$(sed -n 's/^FAIL *\(s[0-9a-z:]*: table\): .*/\1/p' later)" "s3: table"
is "and how many are right" "$(grep -c 'tables *as planned on 3 of 4 servers' later)" 1
must toctl apply --all plan.json >/dev/null
# Neighbours of who had no table time and again are trusted after 1280 checks at most.
check "the plan again: healthy" wait_for 240 toctl status || toctl status

# --- from words ---

must toctl init ring "${servers[@]}" --ports eth0,eth1 -o words.json >"$tmp/out"
is "the cables to plug" "$(sed -n 2p "$tmp/out")" "s0 eth0 -- eth1 s1"
check "init asks servers for MAC addresses, and its ring is the one that is cabled" \
	toctl discover --cluster words.json

# --- on a fabric in use ---

check "the cables are as in the file" toctl discover --cluster cluster.json

# --- cables that are wrong ---

said() { # SUBJECT: what the last discovery said of it
	jq -r --arg subject "$1" '.[] | select(.subject == $subject and .check == "cabling").text' out
}

swapped=$(plan_edit '(.links[] | select(.a == "s0:eth0")).b = "s3:eth1"
	| (.links[] | select(.a == "s2:eth0")).b = "s1:eth1"')
must "$fabric" reconfigure "$swapped" --latency 1ms
toctl discover --cluster cluster.json --json >out
is "two cables swapped: exit status" $? 1
is "each end is named" "$(said s0:eth0), $(said s3:eth1)" \
	"leads to s3:eth1, the file says s1:eth1, leads to s0:eth0, the file says s2:eth0"

must "$fabric" reconfigure "$plan" --latency 1ms
tc -n ocs filter del dev "$(awk '$1 == "s1:eth0" { print $2 }' /run/topoopt-fabric/ports)" ingress
toctl discover "${servers[@]}" --ports 'eth?' --json -o broken.json >out
is "a fibre of one direction: exit status" $? 1
is "it is named at the end that hears" "$(said s1:eth0)" \
	"hears s2:eth1, which does not hear it"
is "it is no link" "$(jq -c '[.links[] | select(.a == "s1:eth0" or .b == "s1:eth0")]' broken.json)" "[]"

# --- one server ---

is "interfaces that are no ports say why" \
	"$(on_sysfs s0 toctl discover --json | jq -r '.nics[] | select(.name == "eth0").not_a_port')" \
	"is of kind veth"
cat >"$tmp/bin/lldpctl" <<'END'
#!/bin/sh
echo '{"lldp":[{"interface":[{"name":"eth0","chassis":[{"name":[{"value":"tor1"}]}],"port":[{"id":[{"value":"Ethernet12"}]}]}]}]}'
END
chmod +x "$tmp/bin/lldpctl"
is "who says to be at the other end is told" \
	"$(on_sysfs s0 toctl discover --json | jq -r '.nics[] | select(.name == "eth0").lldp')" \
	"tor1 Ethernet12"
is "an address that is none" "$(on_sysfs s0 toctl agent --stdio \
	<<<'{"op": "inventory", "ask": "192.0.2.2,nobody", "id": 7}' | jq -c '[.ok, .id, .error]')" \
	'[false,7,"ask: \"nobody\" is no IPv4 address"]'
ip -n s3 addr del 192.0.2.4/32 dev lo
toctl discover "${servers[@]}" --ports eth0,eth1 -o none.json 2>"$tmp/err"
is "a server that cannot be asked for" "$(cat "$tmp/err")" \
	"toctl discover: s3: no IPv4 address that no other server has: others cannot ask for it"
check "no file is written then" test ! -e none.json
done_testing
