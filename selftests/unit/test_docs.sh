#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Commands that the documentation shows work as shown: those marked "test:
# host", those of a page one after the other in a directory with the examples,
# and with what the pages call cluster.json and job.json.

set -u
umask 022
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
PATH=$(dirname "$(realpath "${TOCTL:-build/toctl}")"):$PATH

page() { # FILE: its directory
	local dir=$tmp/${1//\//-}

	if [[ ! -d $dir ]]; then
		mkdir "$dir"
		ln -s "$PWD/examples" "$dir"
		cp examples/panel-6/{cluster,job}.json "$dir"
	fi
	echo "$dir"
}

mapfile -d '' -t blocks < <(selftests/doc_commands.py host README.md Documentation/*.md)
echo "1..$((${#blocks[@]} + 1))"
status=0 number=0
for block in "${blocks[@]}"; do
	name=${block%%$'\n'*}
	name=${name#\# }
	if output=$(cd "$(page "${name%:*}")" && bash -eu -o pipefail -c "$block" 2>&1); then
		echo "ok $((++number)) - $name"
	else
		echo "not ok $((++number)) - $name"
		printf '%s\n' "$block" "$output" | sed 's/^/# /'
		status=1
	fi
done
if ((number >= 4)); then
	echo "ok $((++number)) - there are such commands"
else
	echo "not ok $((++number)) - there are such commands"
	status=1
fi
exit "$status"
