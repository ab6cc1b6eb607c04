#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Stock clients on a fabric, with nothing changed in them: their results have to be
# right, and their traffic has to be where the plan has it. Prints TAP and figures.
#
#	jobs.sh [-k KERNEL] [PART...]
#
#	mpi	OpenMPI over TCP: collectives, AllReduce on one ring and on all of them
#	rdma	UCX over rdma_rxe, and OpenMPI over that
#	torch	PyTorch over gloo: DDP and a DLRM; a plan for what was recorded
#	latency	round trips of MPI over relays and over kernel forwarding, in instructions
#	slurm	jobs that examples/slurm gives a fabric
#
# Fetches some 300 MB the first time (lab/jobs.sh).

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
. selftests/lab/common.sh
kernel=7.2 parts=(mpi rdma torch latency slurm)
while getopts k:h option; do
	case $option in
	k) kernel=$OPTARG; lab_check_kernel "$kernel" ;;
	*) sed -n '3,/^$/s/^#[[:space:]]\?//p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
for part; do
	[[ " ${parts[*]} " == *" $part "* ]] || lab_die "no part '$part': one of ${parts[*]}"
done
(($#)) || set -- "${parts[@]}"

status=0
for part; do
	echo "== jobs: $part, kernel $kernel"
	count=()
	[[ $part != latency ]] || count=(-i)
	selftests/lab/guest -k "$kernel" -j "${count[@]}" -m 4096 -t 3600 -- "/src/selftests/bench/jobs_$part.sh" ||
		status=$?
done
exit "$status"
