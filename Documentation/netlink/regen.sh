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

# A genl_ops entry has one policy for do and dump, and the generator knows
# that only when the spec lists no request for the dump. So a dump must not
# take what the do does not.
ynl_spec() {
	python3 - "$src/$spec" <<-'EOF'
	import sys, yaml

	with open(sys.argv[1]) as stream:
	    print(stream.readline(), end='')
	    spec = yaml.safe_load(stream)
	for op in spec['operations']['list']:
	    request = op.get('dump', {}).pop('request', None)
	    if request:
	        more = set(request['attributes']) - set(op['do']['request']['attributes'])
	        if more:
	            sys.exit(f"{sys.argv[1]}: {op['name']}: only the dump takes {more}")
	yaml.safe_dump(spec, sys.stdout, sort_keys=False)
	EOF
}

ynl_generate() { # MODE PART FILE
	local out=$tree/${3##*/}

	python3 "$tree/tools/net/ynl/ynl-gen-c.py" --spec "$tree/$spec" \
		--mode "$1" "--$2" -o "$out"
	# Inside the kernel tree uapi headers have another prefix. The static
	# multicast groups are of no use without the family, which the
	# generator writes for split operations only.
	sed -i -e 's,<uapi/linux/,<linux/,' \
		-e '/^static const struct genl_multicast_group/,/^};/d' "$out"
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
ynl_spec > "$tree/$spec"

status=0
ynl_generate uapi header uapi/linux/topoopt.h || status=1
ynl_generate kernel header kmod/netlink_policy.h || status=1
ynl_generate kernel source kmod/netlink_policy.c || status=1
exit $status
