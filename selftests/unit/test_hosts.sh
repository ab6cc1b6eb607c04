#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Which server of a plan a host is, by the names that hosts and plans have.

. selftests/unit/cli.sh

unshare --user --map-root-user --uts true 2>/dev/null || {
	echo "1..0 # SKIP no right to make a namespace of host names"
	exit
}
run 0 plan --cluster examples/ring-4/cluster.json --job examples/ring-4/job.json --fixed -o "$tmp/short.json"
called() { # FILE NAME...: the plan with its servers called so
	python3 - "$tmp/short.json" "$tmp/$1" "${@:2}" <<-'END'
	import re, sys
	text = open(sys.argv[1]).read()
	for i, name in enumerate(sys.argv[3:]):
	    text = re.sub(rf'"s{i}(:[^"]*)?"', lambda m: f'"{name}{m[1] or ""}"', text)
	open(sys.argv[2], "w").write(text)
	END
}
called full.json s{0..3}.lab.example
called mixed.json s0.lab.example s0.rack2.example s2 s3
called addresses.json 10.6.42.{209,210,211,212}
on_host() { # HOST PLAN: where toctl route thinks that it is
	unshare --user --map-root-user --uts sh -c 'hostname "$1" && exec "$2" route "$3" --plan "$4" --json' \
		sh "$1" "$toctl" "$(jq -r '.servers[3].ipv4' "$tmp/$2")" "$tmp/$2" >"$tmp/out" 2>"$tmp/err"
}
is_server() { # HOST PLAN SERVER
	on_host "$1" "$2" && grep -q "\"$3\"" "$tmp/out"
	result $? "host $1, plan $2: $3"
}
is_none() { # HOST PLAN ERROR
	! on_host "$1" "$2" && grep -qF -- "$3" "$tmp/err" && grep -q -- "--node" "$tmp/err"
	result $? "host $1, plan $2: none"
}

is_server s0 short.json s0
is_server s0.lab.example short.json s0
is_server s1 full.json s1.lab.example
is_server s1.local full.json s1.lab.example
is_server s0.rack2.example mixed.json s0.rack2.example
is_server s0.lab.example mixed.json s0.lab.example
is_none s0 mixed.json "s0, this host's name, may be several servers of this plan (s0.lab.example, s0.rack2.example);"
is_none s7.lab.example short.json "no server s7.lab.example, this host's name,"
is_server 10.6.42.209 addresses.json 10.6.42.209
is_none 10.6.42.3 addresses.json "no server 10.6.42.3"
is_none 10 addresses.json "no server 10,"

# --- systemd and Kubernetes give the host's name as --node ---

node() { # NAME PLAN
	"$toctl" route "$(jq -r '.servers[3].ipv4' "$tmp/$2")" --plan "$tmp/$2" --node "$1" --json >"$tmp/out" 2>"$tmp/err"
}
node s0.lab.example short.json && grep -q '"s0"' "$tmp/out"
result $? "--node with a domain that the plan's name has not"
node s1 full.json && grep -q '"s1.lab.example"' "$tmp/out"
result $? "--node without the domain of the plan's name"
! node s0 mixed.json && grep -qF "s0 may be several servers of this plan (s0.lab.example, s0.rack2.example); name one with --node" "$tmp/err"
result $? "--node that fits two"

# --- NCCL's logs have host names up to the first dot ---

log() { # HOST...
	local host rank=0

	for host; do
		echo "$host:42:42 [0] NCCL INFO ncclCommInitRank comm 0x1 rank $rank nranks 4 cudaDev 0 nvmlDev 0 busId 1000 commId 0x1 - Init COMPLETE"
		rank=$((rank + 1))
	done >"$tmp/nccl.log"
}
log s0 s1 s2 s3
for plan in short full; do
	"$toctl" job check "$tmp/$plan.json" --nccl-log "$tmp/nccl.log" >"$tmp/out" 2>"$tmp/err"
	! grep -q "of the plan" "$tmp/err"
	result $? "a log of short names, plan $plan.json"
done
log s0 s1 s2 s9
! "$toctl" job check "$tmp/full.json" --nccl-log "$tmp/nccl.log" >"$tmp/out" 2>"$tmp/err" &&
	grep -q "nccl.log:4: s9 is no server of the plan" "$tmp/err"
result $? "a log of a stranger"

# --- servers that discover and init are given ---

inventory='{"format": "topoopt-inventory", "version": 1, "host": "%s", "addresses": ["192.0.2.%s"], "nics": [
  {"name": "eth0", "mac": "02:00:00:00:0%s:00", "up": true, "carrier": true, "mtu": 9000, "bandwidth": 1000000000,
   "rdma": "", "not_a_port": "", "answers": [{"ipv4": "192.0.2.%s", "mac": "02:00:00:00:0%s:00"}]}]}'
mkdir "$tmp/inventories"
# shellcheck disable=SC2059
for i in 1 2; do
	printf "$inventory" "spark$i" $i $i $((3 - i)) $((3 - i)) >"$tmp/inventories/10.6.42.$i"
	cp "$tmp/inventories/10.6.42.$i" "$tmp/inventories/nvidia@spark$i"
	cp "$tmp/inventories/10.6.42.$i" "$tmp/inventories/spark$i.local"
done
cat >"$tmp/agent" <<'END'
#!/bin/sh
while read -r request; do
	id=$(printf %s "$request" | sed 's/.*"id": *\([0-9]*\).*/\1/')
	printf '{"ok": true, "id": %s, "inventory": %s}\n' "$id" "$(tr '\n' ' ' <"$1")"
done
END
chmod +x "$tmp/agent"
names() { # SERVER...: as cluster.json has them
	"$toctl" discover "$@" --set "agents.command=$tmp/agent $tmp/inventories/{}" -o "$tmp/c.json" \
		>"$tmp/out" 2>"$tmp/err" && jq -r '.servers[].name' "$tmp/c.json" | paste -sd' '
}
[[ $(names 10.6.42.1 10.6.42.2) == "spark1 spark2" ]]
result $? "servers given by address are called as they call themselves"
[[ $(names nvidia@spark1 nvidia@spark2) == "spark1 spark2" ]]
result $? "USER@HOST names the host"
[[ $(names spark1.local spark2.local) == "spark1.local spark2.local" ]]
result $? "names stay as they are given: ssh knows them"
cp "$tmp/inventories/10.6.42.1" "$tmp/inventories/10.6.42.3"
sed 's/"spark2"/"spark1"/' "$tmp/inventories/10.6.42.2" >"$tmp/inventories/10.6.42.4"
[[ $(names 10.6.42.3 10.6.42.4) == "10.6.42.3 10.6.42.4" ]]
result $? "two that call themselves alike keep their addresses"
for own in localhost localhost.localdomain; do
	sed "s/\"spark1\"/\"$own\"/" "$tmp/inventories/10.6.42.1" >"$tmp/inventories/10.6.42.3"
	[[ $(names 10.6.42.3 10.6.42.2) == "10.6.42.3 spark2" ]]
	result $? "one that calls itself $own, as all may, keeps its address"
done
run 1 discover a@spark1 b@spark1 --set "agents.command=false" &&
	grep -q "server spark1 is there twice" "$tmp/err"
result $? "a host twice"
for odd in @spark1 a@ "a b@spark1" a@b@c -x@spark1 a@-spark1; do
	run 2 discover -- "$odd" spark2
	result $? "no server: $odd"
done

echo "1..$count"
exit $((failed > 0))
