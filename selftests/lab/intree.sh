#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Lay the module out as the kernel's own tree would have it, in build/intree, and
# build it in the tree of tree.sh: as a module and built in, with W=1 and sparse, and
# with its KUnit tests. Then checkpatch.
#
#	intree.sh [KERNEL]	default: 7.2
#
# Nothing is translated but the TOPOOPT_HAVE_* of older kernels, which scripts/unifdef
# takes out. The module's symbols are held against those that Debian's kernel exports.
# What is built in is not linked to a vmlinux, which would take an hour of processor
# time. Needs root (or sudo) and the packages of `deps.sh lab lint`.

set -euo pipefail
. "$(dirname "$(realpath "$0")")/common.sh"

kernel=${1:-7.2}
layout=$lab_src/build/intree
tests=tools/testing/selftests/drivers/net/topoopt
lab_check_kernel "$kernel"
lab_use_kernel "$kernel"
boot=$("$lab_dir/tree.sh" "$kernel")
tree=$boot/tree

put() { # DIRECTORY FILE...: into the layout
	mkdir -p "$layout/$1"
	cp "${@:2}" "$layout/$1"
}

insert() { # FILE BEFORE <TEXT: in front of the first line that begins with BEFORE
	mkdir -p "$layout/$(dirname "$1")"
	awk -v before="$2" -v text="$(cat)" \
		'!done && index($0, before) == 1 { print text; done = 1 } { print } END { exit !done }' \
		"$tree/$1" >"$layout/$1" || lab_die "$1 has no line '$2'"
}

rm -rf "$layout"
put drivers/net/topoopt "$lab_src"/kmod/*.[ch] "$lab_src"/kmod/{Kconfig,Makefile,.kunitconfig} \
	"$lab_src/selftests/module/table_test.c"
put include/uapi/linux "$lab_src"/uapi/linux/topoopt*.h
put Documentation/netlink/specs "$lab_src/Documentation/netlink/specs/topoopt.yaml"
put Documentation/networking "$lab_src/Documentation/networking/topoopt.rst"
put "$tests" "$lab_src"/selftests/intree/*
insert drivers/net/Kconfig "config EQUALIZER" <<<$'source "drivers/net/topoopt/Kconfig"\n'
insert drivers/net/Makefile 'obj-$(CONFIG_EQUALIZER)' <<<'obj-$(CONFIG_TOPOOPT) += topoopt/'
insert Documentation/networking/index.rst "   tuntap" <<<"   topoopt"
insert tools/testing/selftests/Makefile "TARGETS += drivers/net/virtio_net" \
	<<<"TARGETS += drivers/net/topoopt"
insert MAINTAINERS "TOPSTAR LAPTOP" <<<"$(cat "$lab_src/kmod/MAINTAINERS")"$'\n'

# What is built stays in memory, over the tree. A line of output is a complaint.
# shellcheck disable=SC2016
inside='
	set -eu
	cd /src/build/intree/drivers/net/topoopt
	known=$(cat *.[ch] | grep -o "TOPOOPT_HAVE_[A-Z_]*" | sort -u)
	for file in *.[ch]; do
		/mnt/scripts/unifdef $(printf -- "-D%s " $known) -UNETIF_F_LLTX $file >../new || [ $? = 1 ]
		cat ../new >$file
	done
	rm ../new
	mkdir /tmp/new /tmp/work
	mount -t overlay -o lowerdir=/src/build/intree:/mnt,upperdir=/tmp/new,workdir=/tmp/work overlay /mnt
	cd /mnt
	ln -s /usr/bin/busybox /tmp/bc
	PATH=$PATH:/tmp
	make="make -s -j $(nproc) CC=gcc-14 HOSTCC=gcc-14 W=1 KCFLAGS=-Werror C=1 CF=-Wsparse-error"
	cat >/tmp/sparse.h
	build() { # NAME CONFIGURATION TARGET...
		scripts/config $2
		$make olddefconfig
		name=$1
		shift 2
		start=$(date +%s)
		$make CHECK="sparse -include /tmp/sparse.h" "$@"
		echo "  $name ($(($(date +%s) - start)) s)" >&2
	}
	build "as a module" "-m TOPOOPT -d KUNIT" drivers/net/topoopt/
	echo drivers/net/topoopt/topoopt_fwd.o >/tmp/order
	scripts/mod/modpost -M -W -i Module.symvers -T /tmp/order -o /tmp/symvers
	build "built in, with KUnit tests" "-e TOPOOPT -e KUNIT -e TOPOOPT_KUNIT_TEST" drivers/net/topoopt/
	ls drivers/net/topoopt/built-in.a >/dev/null
'
# Debian 13 has a sparse that is older than this kernel: it knows no
# __typeof_unqual__(), and takes the length of a literal for no constant.
lab_in_root "$root" sh -c "$inside" sh <<-'EOT'
	#define __typeof_unqual__(x) __typeof__(_Generic((x), _Bool: (_Bool)0, char: (char)0,	\
		unsigned char: (unsigned char)0, signed char: (signed char)0,			\
		unsigned short: (unsigned short)0, short: (short)0,				\
		unsigned int: (unsigned int)0, int: (int)0, unsigned long: (unsigned long)0,	\
		long: (long)0, unsigned long long: (unsigned long long)0,			\
		long long: (long long)0, default: (x)))
	#define __builtin_strlen(x) (sizeof(x) - 1)
EOT

# What checkpatch is not to look for, and why.
ignore=(
	OPEN_ENDED_LINE		# TRACE_EVENT() is laid out that way
	PARENTHESIS_ALIGNMENT	# the same
	UNCOMMENTED_DEFINITION	# kernel-doc above the struct says what a lock is for
	ALLOC_WITH_SIZEOF	# older kernels have no kzalloc_obj()
	AVOID_EXTERNS		# how BPF programs declare kfuncs
)
(
	cd "$layout"
	# shellcheck disable=SC2046
	perl "$tree/scripts/checkpatch.pl" --no-tree --strict --terse --show-types -q --no-summary \
		--ignore "$(IFS=,; echo "${ignore[*]}")" -f drivers/net/topoopt/{*.[ch],Kconfig,Makefile} \
		include/uapi/linux/topoopt*.h "$tests"/*
)
