#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# HTML of this directory, with the manual pages and the netlink family's
# reference, which the kernel's own generator makes of the spec.
#
#	docs.sh BUILD		into BUILD/docs/html; BUILD has the manual pages

set -euo pipefail
here=$(dirname "$(realpath "$0")")
build=$(realpath "$1")
tree=$build/docs/source

rm -rf "$build/docs"
mkdir -p "$tree/man"
cp "$here"/{*.md,*.svg,conf.py} "$tree"
# its links to pages lead into this directory, those to files nowhere
sed -E 's/\]\(Documentation\//](/g' "$here/../README.md" >"$tree/quick-start.md"
python3 "$("$here/netlink/ynl.sh")/tools/net/ynl/ynl-gen-rst.py" \
	-i "$here/netlink/specs/topoopt.yaml" -o "$tree/netlink.rst"
for page in "$here"/man/*.[1-8] "$build"/*.[1-8] "$build"/man/*.[1-8]; do
	name=$(basename "$page")
	{
		printf '# %s(%s)\n\n```\n' "${name%.*}" "${name##*.}"
		MANWIDTH=79 man --no-hyphenation -l "$page" | col -bx
		echo '```'
	} >"$tree/man/$name.md"
done
sphinx-build -q -W --keep-going -b html "$tree" "$build/docs/html"
echo "$build/docs/html/index.html"
