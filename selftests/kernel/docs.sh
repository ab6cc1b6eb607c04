#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12
# Commands that the documentation shows for a server work as shown, on each
# server of examples/ring-4, which finds its name in the host name.

. "$(dirname "$(realpath "$0")")/../lib.sh"

example=$lib_dir/../examples/ring-4
must toctl plan --cluster "$example/cluster.json" --job "$example/job.json" \
	--fixed -o "$tmp/plan.json" >/dev/null
fabric_up "$tmp/plan.json" --no-apply >/dev/null

mapfile -d '' -t blocks < <("$lib_dir/doc_commands.py" guest \
	"$lib_dir"/../README.md "$lib_dir"/../Documentation/*.md)
is "there are such commands" "$((${#blocks[@]} > 0))" 1
cd "$tmp" || exit
for block in "${blocks[@]}"; do
	name=${block%%$'\n'*}
	for server in "${servers[@]}"; do
		check "${name##*/} on $server" on "$server" unshare --uts bash -eu -c \
			"hostname $server; $block"
	done
done
check "s0 reaches s2 then" on s0 ping -c 1 -W 30 "$(node s2)"
done_testing
