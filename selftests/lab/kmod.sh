#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Build the module for guest kernels, inside the lab's root with the compiler
# that fits each; the result is build/kmod-<release>/topoopt_fwd.ko, and the
# module that tests parts of it (selftests/module) in test/. For an arm64 kernel
# also toctl, tosim and the programs of tests, in build/aarch64/.
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

# The third argument onwards: what make gets besides.
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

# init puts them in the place of the host's, in guests.
arm64_programs() {
	local out=/src/build/aarch64
	local -a make=(make -s -j "$(nproc)" "BUILD=$out" BPF=/src/build/bpf "CC=$compiler"
		PKG_CONFIG=aarch64-linux-gnu-pkg-config)

	lab_in_root "$root" "${make[@]}" -C /src/tools "$out/toctl" "$out/tosim"
	lab_in_root "$root" "${make[@]}" -C /src/selftests programs BPF_PROGRAMS=
}

for kernel in "${kernels[@]}"; do
	lab_use_kernel "$kernel"
	release=$(cat "$boot/release")
	compiler=gcc-14 target=()
	case $kernel in
	6.1) compiler=gcc-12 ;;
	*-arm64)
		root=$boot/cross compiler=aarch64-linux-gnu-gcc-14
		target=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-)
		arm64_programs
		;;
	esac
	make -s -C "$lab_src" shadow RELEASE="$release"
	lab_in_root "$root" sh -c "$inside" sh "$release" "$compiler" "${target[@]}" "${arguments[@]}"
done
