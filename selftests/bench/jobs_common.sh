# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Shared by the parts of jobs.sh, which run in a guest; sourced first.

. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../lib.sh"

# shellcheck disable=SC2034 # for the parts
training=/src/examples/training
agents='ip netns exec {} toctl agent --stdio'

# A server is a namespace; MPI takes servers apart by their host names. mpirun starts on
# the first server of its hostfile, and the daemons of the others by "agent".
cat >"$tmp/agent" <<'END'
#!/bin/bash
while [[ $1 == -* ]]; do shift; done
server=$1
shift
exec ip netns exec "$server" unshare -u sh -c "hostname $server; $*"
END
cat >"$tmp/mpirun" <<END
#!/bin/bash
first=\$(head -n 1 "\$PRTE_MCA_prte_default_hostfile" | cut -d ' ' -f 1)
exec ip netns exec "\$first" unshare -u sh -c 'hostname "\$0"; exec "\$@"' "\$first" \\
	mpirun --allow-run-as-root --prtemca plm_ssh_agent "$tmp/agent" \\
	-x GLOO_SOCKET_IFNAME=topo0 -x TOPOOPT_RANKS \\
	-x MASTER_ADDR="\$(awk -v first="\$first" '\$2 == first { print \$1 }' /etc/hosts)" "\$@"
END
chmod +x "$tmp/agent" "$tmp/mpirun"
touch /etc/hosts
cp /etc/hosts "$tmp/hosts.before"

job_fabric() { # JOB OPTIONS-OF-TOCTL-PLAN...
	"$fabric" down
	must toctl plan --job "$1" "${@:2}" -o "$tmp/plan.json" >/dev/null
	fabric_up "$tmp/plan.json"
	{
		cat "$tmp/hosts.before"
		for server in "${servers[@]}"; do
			echo "$(node "$server") $server"
		done
	} >/etc/hosts
}

# toctl job run; what it prints of the rings is in $tmp/said.
job_run() { # COMMAND...
	toctl job run "$plan" --set "agents.command=$agents" --set agents.timeout=120s -- \
		"$tmp/mpirun" -n "${#servers[@]}" "$@" 2>"$tmp/said"
}

# The same with the ranks in another order.
job_run_shuffled() { # COMMAND...
	toctl job ranks "$plan" | shuf --random-source=/bin/sh >"$tmp/shuffled"
	PRTE_MCA_prte_default_hostfile=$tmp/shuffled job_run "$@"
}

# What went between no neighbours and what was relayed, in percent; nothing if it was not said.
strayed() { sed -n 's/.*servers: \([0-9.]*\) % between those.*/\1/p' "$tmp/said"; }
relayed() { sed -n 's/.*; \([0-9.]*\) % relayed$/\1/p' "$tmp/said"; }

# One test: ok when the first number is the smaller one.
check_below() { # NAME NUMBER NUMBER
	if awk -v a="$2" -v b="$3" 'BEGIN { exit !(a != "" && b != "" && a + 0 < b + 0) }'; then
		ok "$1"
	else
		not_ok "$1" "'$2' is not below '$3':"$'\n'"$(cat "$tmp/said")"
	fi
}

# Record all servers while a command runs, into $tmp/fabric.tm.
recorded() { # COMMAND...
	local server status recorders=() recordings=()

	for server in "${servers[@]}"; do
		ip netns exec "$server" toctl tm record "$plan" --node "$server" --count 0 \
			--interval 1s -o "$tmp/$server.tm" 2>"$tmp/$server.log" &
		recorders+=($!) recordings+=("$tmp/$server.tm")
	done
	for server in "${servers[@]}"; do
		must wait_for 120 grep -q recording "$tmp/$server.log"
	done
	"$@"
	status=$?
	kill -INT "${recorders[@]}"
	wait "${recorders[@]}"
	toctl tm merge -o "$tmp/fabric.tm" "${recordings[@]}" >/dev/null || return
	return "$status"
}
