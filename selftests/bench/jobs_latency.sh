#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Round trips of OpenMPI over TCP, through 0 to 3 relays, beside kernel forwarding on
# the same links. Run by jobs.sh, where an instruction of the one processor that all
# servers share takes a nanosecond: only ratios mean anything.

. "$(dirname "$(realpath "$0")")/jobs_common.sh"

die() {
	echo "latency: $*" >&2
	exit 1
}

. "$lib_dir/bench/chain.sh"

sizes=(8 1024)

# Lines "PATH RELAYS SIZE MICROSECONDS".
round_trips() { # PATH NODE-ADDRESSES
	local relays server

	{
		cat "$tmp/hosts.before"
		for server in "${servers[@]}"; do
			echo "${address[$server]} $server"
		done
	} >/etc/hosts
	for relays in 0 1 2 3; do
		printf '%s slots=1\n' A "${servers[relays + 1]}" >"$tmp/pair"
		PRTE_MCA_prte_default_hostfile=$tmp/pair PRTE_MCA_prte_if_include=$2 \
			OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self \
			OMPI_MCA_btl_tcp_if_include=$2 timeout 600 "$tmp/mpirun" -n 2 \
			python3 "$lib_dir/bench/jobs_latency.py" "${sizes[@]}" >"$tmp/times" 2>"$tmp/said" ||
			die "$1, $relays relays: $(cat "$tmp/said")"
		sed "s/^/$1 $relays /" "$tmp/times"
	done
}

modprobe topoopt_fwd || die "no module"
forward_up
round_trips kernel 10.200.0.0/24 >"$tmp/all"
wires_down
topoopt_up >/dev/null
must wait_for 60 on A ping -c 1 -W 1 "${address[E]}"
round_trips topoopt topo0 >>"$tmp/all"

echo "# fastest round trip in microseconds, instructions / 1000"
{
	echo "bytes relays kernel topoopt ratio"
	awk '{ time[$3 " " $2, $1] = $4; if ($1 == "kernel") order[n++] = $3 " " $2 }
		END { for (i = 0; i < n; i++) { key = order[i]; print key, time[key, "kernel"],
			time[key, "topoopt"], time[key, "topoopt"] / time[key, "kernel"] } }' "$tmp/all" | sort -n -k1,1 -k2,2
} | column -t | sed 's/^/# /'

# What a relay adds to a round trip is less than what the kernel's forwarding adds.
added() { # PATH
	awk -v path="$1" '$1 == path && $3 == 8 { time[$2] = $4 } END { print (time[3] - time[0]) / 3 }' "$tmp/all"
}
check_below "a relay adds less to a round trip of 8 bytes than kernel forwarding does" \
	"$(added topoopt)" "$(added kernel)"
echo "# a relay adds $(added topoopt) us, kernel forwarding $(added kernel)"

done_testing
