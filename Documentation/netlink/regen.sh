#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Generates the uapi header and the kernel's policies from the netlink spec,
# with the kernel's own generator (ynl.sh); needs python3-yaml and
# python3-jsonschema.
#
#	regen.sh		write the generated files
#	regen.sh --check	only compare; status 1 when they are out of date

set -euo pipefail

src=$(realpath "$(dirname "$0")/../..")
spec=Documentation/netlink/specs/topoopt.yaml

ynl_generate() { # MODE PART FILE
	local out=$tree/${3##*/}

	python3 "$tree/tools/net/ynl/ynl-gen-c.py" --spec "$tree/$spec" \
		--mode "$1" "--$2" -o "$out"
	# Inside the kernel tree uapi headers have another prefix.
	sed -i 's,<uapi/linux/,<linux/,' "$out"
	if [[ $check ]]; then
		diff -u --label "$3" --label "$3 (from the spec)" "$src/$3" "$out"
	else
		mkdir -p "$(dirname "$src/$3")"
		cmp -s "$out" "$src/$3" || cp "$out" "$src/$3"
	fi
}

check=
case ${1-} in
--check) check=y ;;
'') ;;
*) echo "usage: ${0##*/} [--check]" >&2; exit 2 ;;
esac

tree=$(mktemp -d)
trap 'rm -r "$tree"' EXIT
cp -r "$("$src/Documentation/netlink/ynl.sh")"/. "$tree"
cp "$src/$spec" "$tree/$spec"
# The schema of genetlink lacks a flag that the generator and kernels know.
sed -i 's/enum: \[ admin-perm \]/enum: [ admin-perm, uns-admin-perm ]/' \
	"$tree/Documentation/netlink/genetlink.yaml"

status=0
ynl_generate uapi header uapi/linux/topoopt.h || status=1
ynl_generate kernel header kmod/netlink_policy.h || status=1
ynl_generate kernel source kmod/netlink_policy.c || status=1
exit $status
