#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What toctl run begins with when its state is not there, was damaged, or does not fit
# on the disk, which is a file system of some pages here.

alone=(unshare -m)
((!EUID)) || alone=(unshare -rm)
if [[ ${1-} != alone ]]; then
	"${alone[@]}" true 2>/dev/null && exec "${alone[@]}" "$0" alone
	echo "1..0 # SKIP no right to make a mount namespace"
	exit
fi

. selftests/unit/cli.sh
initial=examples/chain-3/plan.json
mkdir "$tmp/state"
mount -t tmpfs -o size=16k state "$tmp/state" || exit 1
trap 'umount "$tmp/state"; rm -rf "$tmp"' EXIT
plan=$tmp/state/plan.json

# Until the loop has tried to bring the fabric, which has no agents, to the plan.
begin() {
	local i pid

	rm -f "$tmp/log"
	"$toctl" run "$plan" --initial "$initial" -o "$tmp/log" \
		--set 'agents.command=false {}' >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		logged .event restored && break
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	kill "$pid" 2>/dev/null
	wait "$pid"
}
logged() { # FILTER VALUE
	jq -r "$1" "$tmp/log" 2>/dev/null | grep -qF -- "$2"
}
is_initial() {
	"$toctl" --json verify "$plan" >"$tmp/out" 2>"$tmp/err" &&
		[[ $(jq -r .demand.name "$plan") == "$(jq -r .demand.name "$initial")" ]]
}

begin
is_initial && logged 'select(.event == "initial").plan' "$initial"
result $? "no state: the initial plan is copied"
sed -i 's/"seed": *[0-9]*/"seed": 77/' "$plan"
cp "$plan" "$tmp/kept"
begin
cmp -s "$plan" "$tmp/kept" && ! logged .event initial
result $? "a state that is a plan stays"
: >"$plan"
begin
is_initial && logged 'select(.event == "initial").error' 'the file ends early'
result $? "an empty one is replaced, and a line says so"
echo '{"format": "topoopt-plan"' >"$plan"
begin
is_initial && grep -q topoopt-plan "$plan.damaged"
result $? "half of one is replaced, and kept as plan.json.damaged"
rm -f "$plan"*
head -c 1M /dev/zero >"$tmp/state/filler" 2>/dev/null
begin
grep -q 'No space left on device' "$tmp/err" && [[ ! -e $plan ]]
result $? "a full disk: it ends, and leaves no half of a plan"
rm "$tmp/state/filler"
begin
is_initial
result $? "it begins when there is room again"
echo '{' >"$plan"
initial=$plan.none
begin
grep -q 'plan.json.none: No such file' "$tmp/err" && [[ $(cat "$plan") == '{' ]]
result $? "without the initial plan either, nothing is touched"
echo "1..$count"
((!failed))
