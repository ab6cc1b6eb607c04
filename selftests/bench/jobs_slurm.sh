#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Slurm gives its jobs a fabric by examples/slurm: four servers, all ports on one optical
# switch. Run by jobs.sh.

. "$(dirname "$(realpath "$0")")/../lib.sh"

# --- four servers, dark, and a network for Slurm ---------------------------------

jq -n '{format: "topoopt-cluster", version: 1, link_mode: "duplex",
	optical_switches: [{name: "ocs0", ports: 8, reconfiguration_ns: 10000000, control: {driver: "netns"}}],
	servers: [range(4) as $i | {name: "s\($i)", ipv4: "10.200.0.\($i + 1)", ports: [range(2)
		| {name: "eth\(.)", mac: "02:54:4f:0\(.):00:0\($i + 1)", ipv4: "10.201.\(.).\($i + 1)",
		   bandwidth: 100000000000, optical_switch: "ocs0", optical_port: (2 * $i + . + 1)}]}]}' \
	>"$tmp/cluster.json"
jobfile() { # SERVERS FILE
	jq -n --argjson n "$1" '{format: "topoopt-job", version: 1, name: "job-\($n)", servers: $n,
		allreduce: [{group: "all", bytes: 1000000}]}' >"$2"
}
for n in 2 3 4; do
	jobfile "$n" "$tmp/$n.json"
done
must toctl plan --cluster "$tmp/cluster.json" --job "$tmp/4.json" -o "$tmp/plan.json" >/dev/null
fabric_up "$tmp/plan.json" --no-apply
mkdir -p /etc/topoopt
echo "netns ocs" >/etc/topoopt/allow

must ip link add mgmt type bridge
must ip link set mgmt up
must ip address add 192.0.2.1/24 dev mgmt
cp /etc/hosts "$tmp/hosts.before"
for i in 0 1 2 3; do
	must ip link add "mgmt-s$i" type veth peer name mgmt0 netns "s$i"
	must ip link set "mgmt-s$i" master mgmt up
	must ip -n "s$i" address add "192.0.2.1$i/24" dev mgmt0
	must ip -n "s$i" link set mgmt0 up
	must ip -n "s$i" link set lo up
	echo "192.0.2.1$i s$i"
done >>/etc/hosts

# --- Slurm -----------------------------------------------------------------------

cat >/etc/slurm/slurm.conf <<END
ClusterName=lab
SlurmctldHost=$(hostname)(192.0.2.1)
AuthType=auth/munge
SlurmUser=root
StateSaveLocation=$tmp/slurm
SlurmdSpoolDir=$tmp/slurmd-%n
SlurmctldPidFile=$tmp/slurmctld.pid
SlurmdPidFile=$tmp/slurmd-%n.pid
SlurmctldLogFile=$tmp/slurmctld.log
SlurmdLogFile=$tmp/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
PrologSlurmctld=$tmp/scripts/prolog.sh
EpilogSlurmctld=$tmp/scripts/epilog.sh
$(printf 'NodeName=s%s NodeAddr=192.0.2.1%s CPUs=1 State=UNKNOWN\n' 0 0 1 1 2 2 3 3)
PartitionName=all Nodes=ALL Default=YES OverSubscribe=EXCLUSIVE
END
echo CgroupPlugin=disabled >/etc/slurm/cgroup.conf

# An agent of a server that is down does not answer.
cat >"$tmp/reach" <<END
#!/bin/bash
if grep -qsx "\$1" "$tmp/down"; then
	echo "connect to host \$1: No route to host" >&2
	exit 255
fi
exec ip netns exec "\$1" toctl agent --stdio
END
chmod +x "$tmp/reach"
chmod 755 "$tmp"
mkdir "$tmp/state" "$tmp/slurm"
cp -r /src/examples/slurm "$tmp/scripts"
cat >"$tmp/scripts/topoopt.conf" <<END
STATE=$tmp/state SLOTS=1 TOPOOPT_JOB= PLAN_OPTIONS=() TIMEOUT=600 READ_TIMEOUT=60
export PATH=$PATH
END
cat >/etc/topoopt/fabric.conf <<END
[agents]
command = $tmp/reach {}
timeout = 120s
[shards]
state = $tmp/shards
END
must toctl shard init "$tmp/cluster.json" >/dev/null

mkdir -p /run/munge
chown munge:munge /run/munge
must runuser -u munge -- munged --force
must slurmctld
for server in "${servers[@]}"; do
	ip netns exec "$server" unshare -u sh -c "hostname $server; exec slurmd -D" 2>/dev/null &
done
idle() { # N
	[[ $(sinfo -h -t idle -o %D) == "$1" ]]
}
must wait_for 300 idle 4

# --- a job of three -----------------------------------------------------------------

cat >"$tmp/job" <<'END'
#!/bin/bash
export SLURM_HOSTFILE=$STATE/$SLURM_JOB_ID/hosts
cp "$STATE/$SLURM_JOB_ID"/{hosts,plan.json} "$OUT"
srun --distribution=arbitrary sh -c 'echo "$SLURM_PROCID $(hostname)"' >"$OUT/ranks"
touch "$OUT/runs"
until [ -e "$OUT/go" ]; do sleep 0.2; done
END

# Its output is in $tmp/NAME; sets $id.
submit() { # NAME NODES COMMENT
	mkdir "$tmp/$1"
	id=$(sbatch --parsable -N "$2" -n "$2" --comment="$3" --export="ALL,STATE=$tmp/state,OUT=$tmp/$1" \
		-o "$tmp/$1/log" "$tmp/job")
}
field() { # ID NAME
	scontrol show job "$1" | sed -n "s/^ *\(.* \)\?$2=//p" | sed 's/ [A-Z][A-Za-z]*=.*//; s/ *$//'
}
state_is() { # ID STATE
	[[ $(field "$1" JobState) == "$2" ]]
}
tables() { # how many of these servers have one: SERVER...
	local server n=0

	for server; do
		! on "$server" toctl show --json 2>/dev/null | jq -e '.routes > 0' >/dev/null || ((++n))
	done
	echo "$n"
}
tables_are() { # N SERVER...
	[[ $(tables "${@:2}") == "$1" ]]
}
light() { "$fabric" links | sort; }
planned() { # PLAN
	jq -r '.links[] | "\(.a) \(.b)", "\(.b) \(.a)"' "$1" | sort
}

submit three 3 "topoopt=$tmp/3.json"
if ! check "a job of three starts" wait_for 300 test -e "$tmp/three/runs"; then
	sed 's/^/# /' "$tmp/state/log" "$tmp/slurmctld.log" "$tmp/three/log"
	scontrol show job | sed 's/^/# /'
fi
is "with its ranks in the order of the plan's ring" "$(sort -n "$tmp/three/ranks" | cut -d ' ' -f 2)" \
	"$(toctl job ranks "$tmp/three/plan.json" --format slurm)"
mapfile -t three <"$tmp/three/hosts"
is "its servers have tables" "$(tables "${three[@]}")" 3
is "and no other" "$(tables "${servers[@]}")" 3
is "their light is the plan's" "$(comm -13 <(light) <(planned "$tmp/three/plan.json"))" ""
check "TCP passes between them" on "${three[0]}" ping -c 1 -W 30 "$(node "${three[2]}")"
touch "$tmp/three/go"
check "it completes" wait_for 300 state_is "$id" COMPLETED
check "its tables are gone afterwards" wait_for 300 tables_are 0 "${servers[@]}"
check "and its directory" wait_for 300 test ! -e "$tmp/state/$id"

# --- two jobs, each on its own ports ---------------------------------------------

must wait_for 300 idle 4
submit a 2 "topoopt=$tmp/2.json"

must wait_for 300 test -e "$tmp/a/runs"
mapfile -t ours <"$tmp/a/hosts"
before=$(light | grep -E "^(${ours[0]}|${ours[1]}):")
submit b 2 "topoopt=$tmp/2.json"
check "a second job beside it starts" wait_for 300 test -e "$tmp/b/runs"
is "the first one's light has not changed" "$(light | grep -E "^(${ours[0]}|${ours[1]}):")" "$before"
is "both have tables" "$(tables "${servers[@]}")" 4
touch "$tmp/b/go"
check "its end leaves the first one's tables" wait_for 300 tables_are 2 "${servers[@]}"
is "which are those of its servers" "$(tables "${ours[@]}")" 2
touch "$tmp/a/go"
must wait_for 300 tables_are 0 "${servers[@]}"

# --- failures ----------------------------------------------------------------------

must wait_for 300 idle 4
requeued() { # ID
	[[ $(field "$1" Restarts) == 1 && $(field "$1" AdminComment) == topoopt:* ]]
}
submit wrong 3 "topoopt=$tmp/4.json"
check "a job of another size is requeued" wait_for 300 requeued "$id"
is "and says why" "$(field "$id" AdminComment)" \
	"topoopt: toctl shard add: $tmp/4.json: the job has 4 servers, --on names 3"
scancel "$id"

must wait_for 300 idle 4
mkfifo -m 666 "$tmp/fifo"
echo hunter2 >"$tmp/secret"
chmod 600 "$tmp/secret"
for name in fifo secret; do
	# the user who submits is not SlurmUser
	id=$(runuser -u nobody -- sbatch --parsable -N 2 --comment="topoopt=$tmp/$name" -D / -o /dev/null "$tmp/job")
	check "$name: a job that may not have it read is requeued" wait_for 300 requeued "$id"
	echo "# $(field "$id" AdminComment)"
	check "$name: and says why" grep -qE "toctl job read: $tmp/$name: (not a regular file|Permission denied)" \
		<(field "$id" AdminComment)
	scancel "$id"
	must wait_for 300 idle 4
done

echo s1 >"$tmp/down"
submit late 4 "topoopt=$tmp/4.json"
check "a job with a server that is down is requeued" wait_for 300 requeued "$id"
check "which names itself" grep -q 's1: .*No route to host' <(field "$id" AdminComment)
echo "# $(field "$id" AdminComment)"
is "nobody has tables" "$(tables "${servers[@]}")" 0
rm "$tmp/down"
touch "$tmp/late/go"
must wait_for 300 idle 4
must scontrol update "JobId=$id" StartTime=now
check "it runs when the server is back" wait_for 300 state_is "$id" COMPLETED

done_testing
