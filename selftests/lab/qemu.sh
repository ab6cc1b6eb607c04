#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Fetch Debian 13's QEMU, which has more NICs than Debian 12's, into the cache unless it is there, and
# print the name of a program that runs it here. Needs root (or sudo) and deps.sh.
#
#	LAB_QEMU=$(selftests/lab/qemu.sh) selftests/bench/nic.sh igb

set -euo pipefail
# shellcheck source=selftests/lab/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"

lab_use_image
result=$lab_cache/qemu-$(cat "$lab_dir/qemu.sh" <(echo "$image") | sha256sum | cut -c1-12)
if [[ -e $result ]]; then
	echo "$result/qemu"
	exit
fi

if ((EUID)); then
	command -v sudo >/dev/null || lab_die "fetching QEMU needs root or sudo"
	exec sudo TOPOOPT_CACHE="$lab_cache" TOPOOPT_MIRROR="${TOPOOPT_MIRROR:-}" "$0"
fi

# In a layer over the lab's root; what is new stays.
# shellcheck disable=SC2016
inside='
	set -e
	root=$1/root
	mount -t overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" overlay "$root"
	mount -t proc proc "$root/proc"
	cp /etc/resolv.conf "$root/etc/"
	apt-config dump --no-empty --format "%F \"%v\";%n" Acquire | grep -i ::proxy \
		>"$root/etc/apt/apt.conf.d/proxy" || :
	export DEBIAN_FRONTEND=noninteractive
	options="-qq -o APT::Sandbox::User=root -o Dpkg::Use-Pty=0"
	chroot "$root" apt-get $options update
	chroot "$root" apt-get $options -y --no-install-recommends install qemu-system-x86 >/dev/null
'

exec 9>"$lab_cache/lock-qemu"
flock -n 9 || { lab_note "QEMU: waiting for another fetch"; flock 9; }
if [[ ! -e $result ]]; then
	new=$(mktemp -d "$lab_cache/new-XXXXXX")
	trap 'rm -rf "$new"' EXIT
	mkdir "$new"/{root,upper,work}
	unshare --mount --pid --fork sh -c "$inside" sh "$new" "$image/root"
	mkdir "$new/result"
	mv "$new/upper/usr" "$new/result/"
	usr=$result/usr libraries=lib/x86_64-linux-gnu
	# With the libraries that it was built with. Its modules it finds in one place only.
	cat >"$new/result/qemu" <<-END
		#!/bin/sh
		[ "\$(id -u)" = 0 ] || map=--map-root-user
		exec unshare --mount \$map sh -c 'mount --bind $usr/$libraries/qemu /usr/$libraries/qemu &&
			exec $image/root/lib64/ld-linux-x86-64.so.2 \\
			--library-path $usr/$libraries:$image/root/usr/$libraries \\
			$usr/bin/qemu-system-x86_64 -L $usr/share/qemu -L $usr/share/seabios "\$@"' sh "\$@"
	END
	chmod 755 "$new/result" "$new/result/qemu"
	rm -rf "$lab_cache"/qemu-*
	mv "$new/result" "$result"
fi
echo "$result/qemu"
