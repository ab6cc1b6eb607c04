# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Shared by the unit tests that run toctl; they start at the top of the tree.

set -u
toctl=${TOCTL:-build/toctl}
tosim=${TOSIM:-build/tosim}
tmp=$(mktemp -d)
# Not the file of whoever runs the tests; toctl takes none that a group may write.
umask 022
export TOPOOPT_FABRIC=$tmp/fabric.conf
: >"$TOPOOPT_FABRIC"
trap 'rm -rf "$tmp"' EXIT
count=0 failed=0

result() { # STATUS NAME
	if (($1)); then
		echo "not ok $((++count)) - $2"
		sed 's/^/# /' "$tmp/err" "$tmp/out" | head -n 20
		((++failed))
	else
		echo "ok $((++count)) - $2"
	fi
}

# Run a program; its output is in $tmp/out and $tmp/err.
run_program() { # PROGRAM STATUS ARGUMENTS...
	local status=0

	"$1" "${@:3}" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	[[ $status == "$2" ]] || echo "status $status instead of $2" >>"$tmp/err"
	[[ $status == "$2" ]]
}

run() { run_program "$toctl" "$@"; } # STATUS ARGUMENTS...
run_tosim() { run_program "$tosim" "$@"; } # STATUS ARGUMENTS...
