#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Make a guest kernel's source tree in the cache, ready to build modules in it,
# unless it is there: Debian's linux-source with the configuration of Debian's
# kernel, KUnit as a module besides. Prints the directory:
#
#	tree/		for /mnt, see lab_in_root
#
#	tree.sh 7.2
#
# Takes a minute or so, and 1.5 GB. Needs root (or sudo) and deps.sh.

set -euo pipefail
# shellcheck source=selftests/lab/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

kernel=${1:?}
lab_check_kernel "$kernel"
lab_use_image
release=$(cat "$(lab_boot "$kernel")/release")
result=$lab_cache/tree-$kernel-$(cat "$lab_dir/tree.sh" <(echo "$release") |
	sha256sum | cut -c1-12)
if [[ -e $result ]]; then
	echo "$result"
	exit
fi

if ((EUID)); then
	command -v sudo >/dev/null || lab_die "a kernel's source tree needs root or sudo"
	exec sudo TOPOOPT_CACHE="$lab_cache" TOPOOPT_MIRROR="${TOPOOPT_MIRROR:-}" "$0" "$kernel"
fi

# In a throw-away layer over the lab's root, with the tree in /mnt. The source may be a
# stable release newer than the kernel.
# shellcheck disable=SC2016
inside='
	set -e
	kernel=$1 release=$2
	export DEBIAN_FRONTEND=noninteractive
	apt="apt-get -qq -o APT::Sandbox::User=root -o Acquire::Languages=none -o Dpkg::Use-Pty=0"
	$apt update
	$apt -y --no-install-recommends install flex bison bc libssl-dev >/dev/null
	cd /tmp
	$apt download "linux-source-$kernel"
	dpkg-deb --fsys-tarfile linux-source-*.deb | tar -xO "./usr/src/linux-source-$kernel.tar.xz" |
		tar -xJ -C /mnt --strip-components=1
	cd /mnt
	cp "/lib/modules/$release/config" .config
	cp "/lib/modules/$release/build/Module.symvers" .
	make="make -s CC=gcc-14 HOSTCC=gcc-14"
	scripts/config -m KUNIT
	$make olddefconfig
	$make -j "$(nproc)" prepare scripts_unifdef
'
# The second argument is the layer, which ends with this mount namespace.
# shellcheck disable=SC2016
enter='
	set -e
	root=$1/root
	mount -t overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" overlay "$root"
	mount --bind "$1/tree" "$root/mnt"
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev"
	cp /etc/resolv.conf "$root/etc/"
	apt-config dump --no-empty --format "%F \"%v\";%n" Acquire | grep -i ::proxy \
		>"$root/etc/apt/apt.conf.d/proxy" || :
	exec chroot "$root" sh -c "$3" sh "$4" "$5"
'

exec 9>"$lab_cache/lock-tree-$kernel"
flock -n 9 || { lab_note "source tree of $kernel: waiting for another build of it"; flock 9; }
if [[ ! -e $result ]]; then
	start=$SECONDS
	new=$(mktemp -d "$lab_cache/new-XXXXXX")
	trap 'rm -rf "$new"' EXIT
	mkdir -p "$new"/{root,upper,work,result/tree}
	ln -s result/tree "$new/tree"
	unshare --mount --pid --fork sh -c "$enter" sh "$new" "$image/root" "$inside" \
		"$kernel" "$release"
	rm -rf "$lab_cache/tree-$kernel"-*
	mv "$new/result" "$result"
	lab_note "source tree of $kernel: ready after $((SECONDS - start)) s"
fi
echo "$result"
