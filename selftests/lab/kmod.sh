#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Build the module for guest kernels, inside the lab's root with the compiler
# that fits each; the result is build/kmod-<release>/topoopt_fwd.ko, and the
# module that tests parts of it (selftests/module) in test/.
#
#	kmod.sh [KERNEL...] [MAKE-ARGUMENT...]
#
#	kmod.sh			all guest kernels
#	kmod.sh 6.12 W=1 C=2	one, with more warnings and sparse

set -euo pipefail
. "$(dirname "$(realpath "$0")")/common.sh"

kernels=() arguments=()
for word; do
	if [[ $word == [0-9]* ]]; then
		lab_check_kernel "$word"
		kernels+=("$word")
	else
		arguments+=("$word")
	fi
done
((${#kernels[@]})) || kernels=("${lab_kernels[@]}")

mapping=()
((EUID == 0)) || mapping=(--map-root-user)

# Inside the root the source tree is at /src, as in a guest. The second argument
# of chroot's shell onwards: what make gets besides. A debug kernel brings its
# own /lib/modules and the tree that points to.
inside='
	set -e
	tree=/src/build/kmod-$1 release=$1 compiler=$2
	shift 2
	make="make -s -j $(nproc) -C /lib/modules/$release/build CC=$compiler"
	$make "M=$tree" "$@" modules
	$make "M=$tree/test" "$@" modules
	mkdir -p "$tree/index"
	depmod -o "$tree/index" "$release"
'
enter='
	set -e
	mount --rbind "$2" "$1/src"
	mount -t proc proc "$1/proc"
	if [ -d "$3/modules" ]; then
		mount --bind "$3/modules" "$1/usr/lib/modules"
		mount --bind "$3/tree" "$1/mnt"
	fi
	shift 3
	exec chroot "$@"
'
for kernel in "${kernels[@]}"; do
	lab_use_kernel "$kernel"
	release=$(cat "$boot/release")
	compiler=gcc-14
	[[ $kernel != 6.1 ]] || compiler=gcc-12
	make -s -C "$lab_src" shadow RELEASE="$release"
	unshare "${mapping[@]}" --mount --pid --fork sh -c "$enter" sh "$image/root" "$lab_src" \
		"$boot" "$image/root" sh -c "$inside" sh "$release" "$compiler" "${arguments[@]}"
done
