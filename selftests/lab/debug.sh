#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Build a debug kernel of the lab in the cache unless it is there: Debian's
# linux-source, compiled in the lab's root with debug/guest.config and
# debug/FLAVOUR.config over tinyconfig. Prints its directory:
#
#	vmlinuz initrd release	as the image's boot/KERNEL has them
#	modules/		for /lib/modules, to build the module against
#	tree/			for /mnt, what modules/RELEASE/build points to
#
#	debug.sh 6.12-kasan
#
# Takes some 20 minutes of processor time. Needs root (or sudo) and deps.sh.

set -euo pipefail
# shellcheck source=selftests/lab/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

kernel=${1:?}
lab_check_kernel "$kernel"
version=${kernel%-*} flavour=${kernel#*-}
result=$(lab_boot "$kernel")
if [[ -e $result ]]; then
	echo "$result"
	exit
fi

if ((EUID)); then
	command -v sudo >/dev/null || lab_die "building a debug kernel needs root or sudo"
	exec sudo TOPOOPT_CACHE="$lab_cache" TOPOOPT_MIRROR="${TOPOOPT_MIRROR:-}" "$0" "$kernel"
fi

# In a throw-away layer over the lab's root, with the configuration in /mnt.
# shellcheck disable=SC2016
inside='
	set -e
	version=$1 flavour=$2
	export DEBIAN_FRONTEND=noninteractive
	apt-get -qq -o APT::Sandbox::User=root update
	apt-get -qq -y -o APT::Sandbox::User=root -o Dpkg::Use-Pty=0 --no-install-recommends \
		install "linux-source-$version" flex bison bc >/dev/null
	cd /mnt
	tar -x --strip-components=1 -f "/usr/src/linux-source-$version.tar.xz"
	make="make -s CC=gcc-14 HOSTCC=gcc-14 LOCALVERSION=-$flavour KBUILD_BUILD_HOST=lab"
	if [ "$flavour" = kcsan ]; then
		# It watches one access in some hundreds: only the module is instrumented, so
		# that it is one of its. What follows the reading of a seqcount KCSAN takes for
		# atomic, up to 1000 accesses of that processor; elsewhere the kernel is soon
		# through with them, here they would be all that the module does in softirq.
		make="$make KCSAN_SANITIZE=n"
		sed -i "s/^\(#define KCSAN_SEQLOCK_REGION_MAX\) .*/\1 0/" include/linux/seqlock.h
		grep -q "KCSAN_SEQLOCK_REGION_MAX 0" include/linux/seqlock.h
	fi
	$make tinyconfig
	scripts/kconfig/merge_config.sh -m .config config/guest.config "config/$flavour.config" >/dev/null
	$make olddefconfig
	if missing=$(cat config/guest.config "config/$flavour.config" | grep CONFIG_ | grep -vxFf .config); then
		echo "debug.sh: the configuration lost:" $missing >&2
		exit 1
	fi
	$make -j "$(nproc)" bzImage modules
	$make modules_install INSTALL_MOD_PATH=/mnt/install >/dev/null
	cp arch/x86/boot/bzImage vmlinuz
	cat include/config/kernel.release >release
'
# The second argument is the layer, which ends with this mount namespace.
# shellcheck disable=SC2016
enter='
	set -e
	root=$1/root
	mount -t overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" overlay "$root"
	mount --bind "$1/tree" "$root/mnt"
	mount -t proc proc "$root/proc"
	mount -t devtmpfs dev "$root/dev" 2>/dev/null || mount --rbind /dev "$root/dev"
	cp /etc/resolv.conf "$root/etc/"
	apt-config dump --no-empty --format "%F \"%v\";%n" Acquire | grep -i ::proxy \
		>"$root/etc/apt/apt.conf.d/proxy" || :
	exec chroot "$root" sh -c "$3" sh "$4" "$5"
'

# What builds of modules and their BTF need stays.
slim_tree() { # TREE
	find "$1" -name '*.[oa]' -not -path '*/scripts/*' -not -path '*/tools/*' -delete
	find "$1" -name '*.cmd' -delete
	rm -rf "$1"/{drivers,sound,fs,samples,Documentation,install,config,vmlinuz,release}
}

make_initrd() { # FILE: everything is built in
	local tree=$new/initramfs

	mkdir -p "$tree"/{bin,proc,sys,dev,lower,rw,new,modules}
	cp "$image/root/usr/bin/busybox" "$tree/bin/"
	install -m 755 "$lab_dir/initramfs" "$tree/init"
	touch "$tree/modules/order"
	(cd "$tree" && find . | cpio --quiet -o -H newc) | gzip -1 >"$1"
}

lab_use_image
mkdir -p "$lab_cache"
exec 9>"$lab_cache/lock-$kernel"
flock -n 9 || { lab_note "kernel $kernel: waiting for another build of it"; flock 9; }
if [[ ! -e $result ]]; then
	start=$SECONDS
	lab_note "kernel $kernel: building, once; some 20 minutes of processor time"
	new=$(mktemp -d "$lab_cache/new-XXXXXX")
	trap 'rm -rf "$new"' EXIT
	mkdir -p "$new"/{root,upper,work,tree/config,result/modules}
	cp "$lab_dir"/debug/*.config "$new/tree/config/"
	unshare --mount --pid --fork sh -c "$enter" sh "$new" "$image/root" "$inside" \
		"$version" "$flavour"

	release=$(cat "$new/tree/release")
	mv "$new/tree"/{vmlinuz,release} "$new/result/"
	mv "$new/tree/install/lib/modules/$release" "$new/result/modules/"
	ln -sfn /mnt "$new/result/modules/$release/build"
	mkdir "$new/result/modules/$release/updates"
	ln -s "/src/build/kmod-$release/topoopt_fwd.ko" "$new/result/modules/$release/updates/"
	slim_tree "$new/tree"
	mv "$new/tree" "$new/result/"
	make_initrd "$new/result/initrd"
	chmod 755 "$new/result"
	rm -rf "$lab_cache/$kernel"-*
	mv "$new/result" "$result"
	lab_note "kernel $kernel: ready after $((SECONDS - start)) s"
fi
echo "$result"
