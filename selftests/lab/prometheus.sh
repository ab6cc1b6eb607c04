#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Put Debian's prometheus and promtool into build/prometheus, where guests see them, by way of
# the cache. As a package, it would start a service.

set -euo pipefail
. "$(dirname "$(realpath "$0")")/common.sh"

dir=$lab_cache/prometheus
if [[ ! -x $dir/promtool ]]; then
	mkdir -p "$lab_cache"
	new=$(mktemp -d "$lab_cache/new-XXXXXX")
	trap 'rm -rf "$new"' EXIT
	(
		cd "$new"
		apt-get -qq -o APT::Sandbox::User=root download prometheus >&2
		dpkg-deb -x prometheus_*.deb .
	)
	rm -rf "$dir"
	mv -T "$new/usr/bin" "$dir"
fi
mkdir -p "$lab_src/build/prometheus"
cp -u "$dir"/prom* "$lab_src/build/prometheus"
