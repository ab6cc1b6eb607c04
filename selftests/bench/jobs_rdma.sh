#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# UCX, and OpenMPI over it, by RDMA (rdma_rxe) on a ring of four: all pairs of NICs, by the
# cable or over relays, and collectives that a client cannot do on a ring without a relay.
# Run by jobs.sh.

. "$(dirname "$(realpath "$0")")/jobs_common.sh"

job_fabric /src/examples/ring-4/job.json --cluster /src/examples/ring-4/cluster.json --fixed
rdma_up "UCX"

# Two ranks of ucx_perftest, which speak TCP to each other besides.
cat >"$tmp/perftest" <<'END'
#!/bin/bash
devices=("${@:2:2}")
exec ucx_perftest -t am_lat -x "$1" -d "${devices[OMPI_COMM_WORLD_RANK]}:1" -n 20 -w 2 -T 1
END
# A rank with its server's own environment.
cat >"$tmp/rank" <<END
#!/bin/bash
# shellcheck disable=SC2046
export \$(toctl job env "$plan" --node "\$(hostname)" --for ucx 2>/dev/null)
exec "\$@"
END
chmod +x "$tmp/perftest" "$tmp/rank"

# shellcheck disable=SC2054 # lists of OpenMPI's
tcp=(--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include topo0 --mca coll ^han
	--prtemca prte_if_include topo0)
uct() { # SECONDS TRANSPORT SERVER PORT SERVER PORT [OPTION...]
	printf '%s slots=1\n' "$3" "$5" >"$tmp/pair"
	PRTE_MCA_prte_default_hostfile=$tmp/pair timeout "$1" "$tmp/mpirun" -n 2 "${tcp[@]}" \
		-x UCX_IB_GID_INDEX="$(lib_gid "$3" "$4")" "${@:7}" \
		"$tmp/perftest" "$2" "$3-$4" "$5-$6" >"$tmp/said" 2>&1
}

# --- all pairs of NICs ---------------------------------------------------------------

for transport in rc_verbs ud_verbs; do
	passed=0
	for pair in "s0 s1" "s0 s2" "s0 s3" "s1 s2" "s1 s3" "s2 s3"; do
		for ports in "eth0 eth0" "eth0 eth1" "eth1 eth0" "eth1 eth1"; do
			if uct 120 "$transport" "${pair% *}" "${ports% *}" "${pair#* }" "${ports#* }" \
				-x UCX_UD_VERBS_ETH_DGID_CHECK=n; then
				((++passed))
			else
				echo "# $transport fails from ${pair% *}:${ports% *} to ${pair#* }:${ports#* }"
				sed 's/^/# /' "$tmp/said"
			fi
		done
	done
	is "UCX $transport: pairs of NICs, by a cable, the wrong port or a relay" "$passed" 24
done
# By a cable, no relay on the way: what is received is not what UCX 1.18 expects.
uct 30 ud_verbs s0 eth0 s1 eth1
echo "# UCX ud_verbs with its check of the destination: status $? (124: time is up), $(ucx_info -v | head -n 1)"

# --- OpenMPI over UCX ----------------------------------------------------------------

sent() { # bytes that all RDMA devices have sent
	rdma -j statistic show | jq '[.[].sent_bytes // 0] | add'
}
relayed_bytes() {
	local server n=0

	for server in "${servers[@]}"; do
		((n += $(ethtool_counter "$server" topo0 relay_tx_bytes)))
	done
	echo "$n"
}

for algorithm in 2:tree 4:ring; do
	name="OpenMPI over UCX, ${algorithm#*:} AllReduce"
	rdma=$(sent) relays=$(relayed_bytes)
	OMPI_MCA_coll_tuned_allreduce_algorithm=${algorithm%:*} job_run --mca pml ucx \
		"$tmp/rank" python3 /src/selftests/bench/jobs_collectives.py 1024 65536 1048576 >"$tmp/results"
	is "$name: ends" "$?" 0 || sed 's/^/# /' "$tmp/said"
	is "$name: results are right" "$(grep -c '^ok' "$tmp/results")" 12
	rdma=$(($(sent) - rdma)) relays=$(($(relayed_bytes) - relays))
	echo "# $name: $rdma bytes sent by RDMA devices, $relays relayed, counted at each relay"
	check_below "$name: it went by RDMA" 10000000 "$rdma"
	check_below "$name: and over relays" 1000000 "$relays"
done

done_testing
