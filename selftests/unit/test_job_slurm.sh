#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What examples/slurm does at the beginning and the end of a job, without Slurm, agents
# and optical switches: these write down what they were asked.

set -u
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
toctl=${TOCTL:-$PWD/build/toctl}
number=0 failed=0

is() { # NAME GOT EXPECTED
	if [[ $2 == "$3" ]]; then
		echo "ok $((++number)) - $1"
	else
		echo "not ok $((++number)) - $1"
		printf 'got:      %s\nexpected: %s\n' "$2" "$3" | sed 's/^/# /'
		failed=1
	fi
}

# --- Slurm, agents, six servers on one optical switch -------------------------------

mkdir "$tmp/bin" "$tmp/state" "$tmp/tables"
cp -r examples/slurm "$tmp/scripts"
jq '.optical_switches[0].control = {driver: "command", command: "none"}' \
	examples/panel-6/cluster.json >"$tmp/cluster.json"
cat >"$tmp/scripts/topoopt.conf" <<END
CLUSTER=$tmp/cluster.json STATE=$tmp/state SLOTS=2 TOPOOPT_JOB= PLAN_OPTIONS=(--degree 2)
FABRIC_OPTIONS=(--timeout 7s)
END
# "scontrol show hostnames s1,s2", and what it updates
cat >"$tmp/bin/scontrol" <<END
#!/bin/bash
case \$1 in
show) tr , '\n' <<<"\$3" ;;
update) echo "\$2 \$3" >>"$tmp/updates" ;;
esac
END
cat >"$tmp/bin/toctl" <<END
#!/bin/bash
[[ \$1 =~ ^(apply|clear|switch)$ ]] || exec "$toctl" "\$@"
echo "\${@:1:\$#-1} \$(basename "\$(dirname "\${@: -1}")")" >>"$tmp/asked"
servers=\$(jq -r '.servers[].name' "\${@: -1}")
for server in \$servers; do
	if grep -qsx "\$1 \$server" "$tmp/down"; then
		echo "toctl \$1: \$server: No route to host" >&2
		exit 1
	fi
done
for server in \$servers; do
	case \$1 in
	apply) cp "\${@: -1}" "$tmp/tables/\$server" ;;
	clear) rm -f "$tmp/tables/\$server" ;;
	esac
done
END
chmod +x "$tmp/bin"/*
for n in 2 3; do
	jq -n --argjson n "$n" '{format: "topoopt-job", version: 1, name: "job", servers: $n,
		allreduce: [{group: "all", bytes: 1000000}]}' >"$tmp/$n.json"
done

jq '.allreduce[0].group = "0,5"' "$tmp/2.json" >"$tmp/bad.json"

script() { # prolog|epilog ID SERVERS COMMENT; sets status
	: >"$tmp/asked"
	PATH=$tmp/bin:$PATH SLURM_JOB_ID=$2 SLURM_JOB_NODELIST=$3 SLURM_JOB_COMMENT=$4 \
		"$tmp/scripts/$1.sh" >"$tmp/out" 2>&1
	status=$?
}
tables() { find "$tmp/tables" -type f -printf '%f\n' | sort | paste -sd ' '; }
state() { find "$tmp/state" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort | paste -sd ' '; }

# --- a job -------------------------------------------------------------------------

script prolog 1 s1,s2,s4 "topoopt=$tmp/3.json"
is "a job of three: its prolog succeeds" "$status $(cat "$tmp/out")" "0 "
is "its servers have tables, no other" "$(tables)" "s1 s2 s4"
is "the switch first, then all tables at once" "$(cat "$tmp/asked")" \
	"switch apply 1"$'\n'"apply --all --timeout 7s 1"
is "its plan has its servers and their ports" \
	"$(jq -c '[.servers[] | [.name, .ports[].optical_port]]' "$tmp/state/1/plan.json")" \
	'[["s1",5,6],["s2",9,10],["s4",17,18]]'
is "a line for each rank, in the order of the ring" "$(cat "$tmp/state/1/hosts")" \
	"$("$toctl" job ranks "$tmp/state/1/plan.json" --slots 2 --format slurm)"
is "and all rings as JSON" "$(jq -r .format "$tmp/state/1/ranks.json")" topoopt-ranks

script prolog 2 s0,s3 "topoopt=$tmp/2.json"
is "a job beside it" "$status $(tables)" "0 s0 s1 s2 s3 s4"
is "clears nobody's tables" "$(grep -c clear "$tmp/asked")" 0
script epilog 2 s0,s3 ""
is "its epilog clears its own" "$status $(tables) $(cat "$tmp/asked")" \
	"0 s1 s2 s4 clear --all --timeout 7s 2"
is "and removes its directory" "$(state)" 1

script prolog 3 s2,s5 "topoopt=$tmp/2.json"
is "a job on a server of one whose epilog has not run" "$status $(tables)" "0 s2 s5"
script epilog 1 s1,s2,s4 ""
is "that epilog then leaves the tables" "$status $(tables) $(state)" "0 s2 s5 3"
script epilog 3 s2,s5 ""

# --- none ----------------------------------------------------------------------------

script prolog 4 s0,s1 "something else"
is "a job that asks for nothing gets nothing" "$status $(tables) $(state) $(cat "$tmp/asked")" "0   "
script epilog 4 s0,s1 "something else"
is "and its epilog does nothing" "$status $(cat "$tmp/asked")" "0 "

# --- failures --------------------------------------------------------------------------

fails() { # NAME SERVERS COMMENT REASON
	: >"$tmp/updates"
	script prolog 5 "$2" "$3"
	is "$1: the prolog fails" "$((status > 0))" 1
	is "$1: the job says why" "$(cat "$tmp/updates")" "JobId=5 AdminComment=topoopt: $4"
	is "$1: and nothing is left" "$(tables) $(state)" " "
}
fails "another number of servers" s0,s1,s2 "topoopt=$tmp/2.json" \
	"$tmp/2.json: the job has 2 servers, the allocation 3"
fails "no such file" s0,s1 "topoopt=$tmp/none.json" \
	"jq: error: Could not open file $tmp/none.json: No such file or directory"
fails "unknown servers" s0,s8,s9 "topoopt=$tmp/2.json" "$tmp/cluster.json: no server s8, s9"
fails "a job that cannot be planned" s0,s1 "topoopt=$tmp/bad.json" \
	"toctl plan: $tmp/bad.json:8: allreduce[0].group: index 5 is outside 0 to 1"
echo "apply s1" >"$tmp/down"
fails "a server that is down" s0,s1 "topoopt=$tmp/2.json" "toctl apply: s1: No route to host"
rm "$tmp/down"
script prolog 5 s0,s1 "topoopt=$tmp/2.json"
is "requeued, it gets its plan" "$status $(tables)" "0 s0 s1"
echo "clear s1" >"$tmp/down"
script epilog 5 s0,s1 ""
is "a server that cannot be cleared fails the epilog" "$status" 1
is "which the log names" "$(tail -n 1 "$tmp/state/log" | cut -d ' ' -f 2-)" \
	"job 5: toctl clear: s1: No route to host"

echo "1..$number"
exit "$failed"
