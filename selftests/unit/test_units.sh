#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How far units confine what they start, as systemd-analyze counts it. They are started, and
# do their work so, in deb/check.sh.

. selftests/unit/cli.sh

most=39		# below 4.0 of 10

command -v systemd-analyze >/dev/null || { echo "1..0 # SKIP no systemd-analyze here"; exit; }
for unit in tools/systemd/*.service; do
	# a template is looked at as one of its units
	file=$tmp/$(basename "${unit/@./@job.}")
	cp "$unit" "$file"
	systemd-analyze security --offline=true --threshold=$most "$file" >"$tmp/out" 2>"$tmp/err"
	result $? "${file##*/} is exposed by less than 4"
	sed -n 's/.*\(Overall exposure level for .*\)/# \1/p' "$tmp/out"
done
for unit in agent run@; do
	grep -q '^MemoryMax=[0-9]*%$' "tools/systemd/topoopt-$unit.service"
	result $? "topoopt-$unit has a bound of memory"
done

echo "1..$count"
((!failed))
