#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tools of the kernel's source, out of Debian's linux-source-6.12 and kept in
# the cache: those for netlink specs, checkpatch, Coccinelle's semantic patches.
# Prints the directory.

set -euo pipefail
. "$(dirname "$(realpath "$0")")/common.sh"

package=linux-source-6.12
parts=(tools/net/ynl Documentation/netlink MAINTAINERS scripts/checkpatch.pl
	scripts/spelling.txt scripts/const_structs.checkpatch scripts/coccinelle)
tree=$lab_cache/source-6.12

if [[ ! -d $tree ]]; then
	lab_note "fetching $package"
	mkdir -p "$lab_cache"
	work=$(mktemp -d "$lab_cache/source.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	(cd "$work" && apt-get -qq -o APT::Sandbox::User=root download "$package")
	dpkg-deb --fsys-tarfile "$work"/*.deb | tar -xO "./usr/src/$package.tar.xz" |
		tar -xJ -C "$work" "${parts[@]/#/$package/}"
	mv -T "$work/$package" "$tree" 2>/dev/null || [[ -d $tree ]]
fi
echo "$tree"
