#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# OpenMPI over the topoopt device: 12 servers with the prototype's plan. Run by jobs.sh.

. "$(dirname "$(realpath "$0")")/jobs_common.sh"

job_fabric /src/examples/prototype-12/job.json --degree 4

# --- right results -------------------------------------------------------------

job_run python3 /src/selftests/bench/jobs_collectives.py 1024 65536 1048576 8388608 >"$tmp/results"
is "MPI: collectives end" "$?" 0 || cat "$tmp/said"
while read -r verdict; do
	case $verdict in
	ok*) ok "MPI: ${verdict#ok }: right" ;;
	*) not_ok "MPI: ${verdict#not ok }: right" ;;
	esac
done < <(grep -E '^(not )?ok ' "$tmp/results")
is "MPI: all of them" "$(grep -c '^ok' "$tmp/results")" 16

# --- one ring ------------------------------------------------------------------

must toctl job ranks "$plan" --format json -o "$tmp/ranks.json"
one() { # job_run|job_run_shuffled
	"$1" python3 "$training/ring_allreduce.py" "$tmp/ranks.json" --only one --bytes 16777216 >"$tmp/results"
}
check "one ring: AllReduce of 16 MiB, ranks in its order" one job_run
sed 's/^/# /' "$tmp/results" "$tmp/said"
check_below "one ring: less than 1 % is relayed" "$(relayed)" 1
check_below "one ring: less than 1 % strays" "$(strayed)" 1
check "shuffled: AllReduce of 16 MiB" one job_run_shuffled
sed 's/^/# /' "$tmp/results" "$tmp/said"
check_below "shuffled: more than 10 % is relayed" 10 "$(relayed)"
check "shuffled: toctl job run says that it strays" \
	grep -q 'went between servers that are no neighbours' "$tmp/said"

# --- all rings at once, link by link ---------------------------------------------

all() {
	job_run python3 "$training/ring_allreduce.py" "$tmp/ranks.json" --only all >"$tmp/results"
}
check "all rings: AllReduce of 64 MiB" recorded all
sed 's/^/# /' "$tmp/results" "$tmp/said"
check "all rings: it stays on their links" toctl job check "$plan" --tm "$tmp/fabric.tm"
# A ring AllReduce sends 2 (n - 1) / n of a ring's share to the next server.
read -r least most < <(jq -r --slurpfile ranks "$tmp/ranks.json" --argjson bytes $((64 << 20)) '
	($ranks[0].servers | length) as $n
	| (reduce ($ranks[0].rings[] | . as {$order, $share} | range($n)
		| {hop: "\($order[.]) \($order[(. + 1) % $n])", $share}) as $at ({}; .[$at.hop] += $at.share)) as $shares
	| [.links[] | "\(.from) \(.to)" | gsub(":[^ ]*"; "")] as $hops
	| [[.samples[].links] | transpose | to_entries[]
		| $hops[.key] as $hop
		| (.value | map(.[0]) | add) * ([$hops[] | select(. == $hop)] | length)
			/ (2 * ($n - 1) / $n * $bytes * $shares[$hop])]
	| "\(min) \(max)"' "$tmp/fabric.tm")
echo "# bytes on links, of those planned: $least to $most"
check_below "all rings: 95 % of the planned bytes or more on every link" 0.95 "$least"
check_below "all rings: 105 % or less" "$most" 1.05

done_testing
