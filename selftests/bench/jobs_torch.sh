#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# PyTorch over gloo on 4 and 8 servers: a DLRM, whose DDP buckets go round all rings and
# whose embeddings go all-to-all; then a plan for what was recorded meanwhile. Run by jobs.sh.

. "$(dirname "$(realpath "$0")")/jobs_common.sh"
# Wires so slow that they are what a step takes its time for, not the emulated processors.
phases_rate=500k
. "$lib_dir/lab/phases.sh"

command=(python3 "$training/train_dlrm.py" --double --steps 4)

# The same losses to 1e-6 as one process has with the same batch.
same_losses() { # FILE FILE
	paste -d ' ' <(awk '$1 == "step" { print $4 }' "$1") <(awk '$1 == "step" { print $4 }' "$2") |
		awk '{ d = $1 - $2; if (NF != 2 || d < -1e-6 || d > 1e-6) bad = 1; n++ } END { exit bad || n != 4 }'
}

seconds() { # FILE: of a step but the first
	awk '$1 == "step" && $2 { s += $6; n++ } END { printf "%.3f", n ? s / n : 0 }' "$1"
}

planned() {
	job_run "${command[@]}" >"$tmp/planned"
}

# Every second server first: hops of two on a ring.
apart() {
	toctl job ranks "$plan" | awk 'NR % 2 { print; next } { rest = rest $0 "\n" } END { printf "%s", rest }' \
		>"$tmp/apart"
	PRTE_MCA_prte_default_hostfile=$tmp/apart job_run "${command[@]}" >"$tmp/apart-run"
}

replan() {
	toctl replan "$plan" --tm "$tmp/fabric.tm" --json -o "$tmp/next.json" >"$tmp/replan.json"
}

"${command[@]}" >"$tmp/alone" 2>/dev/null
sed 's/^/# one process: /' "$tmp/alone"
for n in 4 8; do
	name="DLRM on $n servers"
	if ((n == 4)); then
		job_fabric /src/examples/ring-4/job.json --cluster /src/examples/ring-4/cluster.json --fixed
	else
		cat >"$tmp/job.json" <<-END
			{"format": "topoopt-job", "version": 1, "name": "train-8", "servers": 8,
			 "allreduce": [{"group": "all", "bytes": 4000000}],
			 "mp": [{"from": "all", "to": "all", "bytes": 20000}]}
		END
		job_fabric "$tmp/job.json" --degree 4
	fi
	must phases_shape sfq limit 24 depth 8
	check "$name: ends" recorded planned
	sed 's/^/# /' "$tmp/said"
	check "$name: has the loss of one process" same_losses "$tmp/alone" "$tmp/planned" ||
		sed 's/^/# /' "$tmp/planned"
	toctl job check "$plan" --tm "$tmp/fabric.tm" --json >"$tmp/check.json"
	is "$name: toctl job check has the bytes of the matrix" "$(jq .bytes "$tmp/check.json")" \
		"$(jq '[.samples[].pairs[] | select(.[0] != .[1]) | .[4]] | add' "$tmp/fabric.tm")"

	check "$name: what was recorded is a job" \
		toctl tm demand "$tmp/fabric.tm" -o "$tmp/measured.json"
	check "$name: which can be planned" \
		toctl plan --job "$tmp/measured.json" --degree 2 -o "$tmp/other.json"
	check "$name: toctl replan" replan
	check "$name: keeps the plan or finds a better one" jq -e '(.choices[] | select(.chosen)
		| .comm_time_s) <= .choices[0].comm_time_s' "$tmp/replan.json"
	jq -r '.reason, (.choices[] | "\(.source): \(.comm_time_s * 1e7 | round / 10) us")' "$tmp/replan.json" | sed 's/^/# /'

	apart
	is "$name: ends with every second server first" "$?" 0
	sed 's/^/# /' "$tmp/said"
	check "$name: and has that loss" same_losses "$tmp/alone" "$tmp/apart-run"
	echo "# $name: $(seconds "$tmp/planned") s a step as planned," \
		"$(seconds "$tmp/apart-run") s with every second server first"
done

done_testing
