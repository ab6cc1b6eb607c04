#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run each libFuzzer target (fuzz/NAME.c) for a number of inputs, mutated from
# what is in fuzz/NAME/, and say how many there were and how fast. What a target
# dies of is left in build/fuzz/.
#
#	fuzz.sh [RUNS]		default: 100000

set -uo pipefail
here=$(dirname "$(realpath "$0")")
out=$(realpath "$here/../../build/fuzz")
runs=${1:-100000}
log=$(mktemp) corpus=$(mktemp -d)
trap 'rm -rf "$log" "$corpus"' EXIT

stat() { # NAME
	sed -n "s/^stat::$1: *//p" "$log"
}

failed=0
for source in "$here"/*.c; do
	name=$(basename "$source" .c)
	rm -rf "${corpus:?}"/*
	if "$out/$name" -seed=1 -runs="$runs" -max_len=8192 -timeout=10 -rss_limit_mb=1024 \
		-use_value_profile=1 -print_final_stats=1 -artifact_prefix="$out/$name-" \
		"$corpus" "$here/$name" >"$log" 2>&1; then
		echo "  ok   $name: $(stat number_of_executed_units) inputs," \
			"$(stat average_exec_per_sec) a second," \
			"$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1) edges"
	else
		echo " FAIL  $name"
		grep -vE '^#[0-9]+|^INFO|^stat' "$log" | sed 's/^/        /'
		failed=1
	fi
done
exit "$failed"
