#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel's tools for netlink specs: prints the directory that has
# tools/net/ynl, which is kept in the cache.
#
#	ynl.sh [COPY]
#
# COPY is a directory to copy it to, unless that is there already.

set -euo pipefail

tree=$("$(dirname "$(realpath "$0")")/../../selftests/lab/source.sh")
if (($#)) && [[ ! -d $1 ]]; then
	mkdir -p "$(dirname "$1")"
	cp -r "$tree" "$1"
fi
echo "$tree"
