#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel's tools for netlink specs, out of Debian's linux-source-6.12:
# prints the directory that has tools/net/ynl, which is kept in the cache.
#
#	ynl.sh [COPY]
#
# COPY is a directory to copy it to, unless that is there already.

set -euo pipefail

cache=${TOPOOPT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/topoopt_fwd}
package=linux-source-6.12
tree=$cache/ynl-6.12

if [[ ! -d $tree ]]; then
	echo "  fetching $package" >&2
	mkdir -p "$cache"
	work=$(mktemp -d "$cache/ynl.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	(cd "$work" && apt-get -qq -o APT::Sandbox::User=root download "$package")
	dpkg-deb --fsys-tarfile "$work"/*.deb | tar -xO "./usr/src/$package.tar.xz" |
		tar -xJ -C "$work" "$package"/{tools/net/ynl,Documentation/netlink,MAINTAINERS}
	mv -T "$work/$package" "$tree" 2>/dev/null || [[ -d $tree ]]
fi
if (($#)) && [[ ! -d $1 ]]; then
	mkdir -p "$(dirname "$1")"
	cp -r "$tree" "$1"
fi
echo "$tree"
