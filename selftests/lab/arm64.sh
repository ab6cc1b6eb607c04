#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Make what Debian's arm64 kernel is tested with in the cache unless it is there,
# and print its directory:
#
#	vmlinuz initrd release	as the image's boot/KERNEL has them
#	root/			Debian 13 for arm64, the guest's root
#	cross/			Debian 13 for amd64, which compiles for arm64
#
#	arm64.sh
#
# Nothing of arm64 runs here: packages are unpacked, and what their maintainer
# scripts would do is done below, as far as tests need it. Needs root (or sudo).

set -euo pipefail
# shellcheck source=selftests/lab/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"
# shellcheck source=selftests/lab/bootstrap.sh
. "$lab_dir/bootstrap.sh"

"$lab_dir/deps.sh" lab arm64
kernel=6.12-arm64
result=$(lab_boot "$kernel")
if [[ -e $result ]]; then
	echo "$result"
	exit
fi

if ((EUID)); then
	command -v sudo >/dev/null || lab_die "making the arm64 guest needs root or sudo"
	exec sudo TOPOOPT_CACHE="$lab_cache" TOPOOPT_MIRROR="${TOPOOPT_MIRROR:-}" "$0"
fi

# As in the image, without what builds, what benchmarks compare with, and etcd.
guest=(
	procps kmod bsdextrautils iproute2 less file strace jq
	python3 python3-yaml binutils busybox-static
	iputils-ping iputils-tracepath traceroute iperf3 ethtool tcpdump socat
	netcat-openbsd nftables bpftool bpftrace python3-prometheus-client
	rdma-core ibverbs-utils ibverbs-providers rdmacm-utils perftest
	libmnl0 libjansson4 libinih1 libprotobuf-c1 libbpf1 libelf1t64 zlib1g libmicrohttpd12t64
	libcurl4t64
)

# qemu-user: programs print their own manuals
cross=(
	build-essential crossbuild-essential-arm64 pahole kmod libelf-dev qemu-user python3-yaml
	debhelper dh-dkms clang llvm bpftool jq protobuf-c-compiler scdoc
	lib{mnl,bpf,inih,jansson,protobuf-c,microhttpd,curl4-openssl,ncurses}-dev:arm64 zlib1g-dev:arm64
)

# Kernel modules that no test loads.
unused=(sound drivers/{gpu,media,iio,hid,input,scsi,staging,usb,mmc,mtd,ata}
	drivers/{bluetooth,clk,hwmon,leds,nfc,power,rtc,video} drivers/net/{wireless,can,usb}
	fs/{xfs,btrfs,ocfs2,gfs2,nfs,nfsd,smb,ceph,bcachefs,f2fs})

make_root() { # ROOT
	lab_bootstrap "$1" trixie "${guest[*]}" --architectures=arm64 --variant=extract \
		--include='?essential'
	cp "$1/usr/share/base-passwd/passwd.master" "$1/etc/passwd"
	cp "$1/usr/share/base-passwd/group.master" "$1/etc/group"
	echo tcpdump:x:999:999::/nonexistent:/usr/sbin/nologin >>"$1/etc/passwd"
	echo tcpdump:x:999: >>"$1/etc/group"
	cp "$1/usr/share/libc-bin/nsswitch.conf" "$1/etc/"
	ln -s mawk "$1/usr/bin/awk"
	ln -s nc.openbsd "$1/usr/bin/nc"
	ln -s traceroute.db "$1/usr/bin/traceroute"
	mkdir -p "$1"/{src,out}
}

make_cross() { # ROOT
	lab_bootstrap "$1" trixie "${cross[*]}" --architectures=amd64,arm64 --skip=cleanup/apt
	mkdir "$1/src"
}

# Modules and headers, in the cross root; the headers' programs are those for amd64.
unpack_kernel() { # ROOT; prints the release
	local release version deb

	release=$(chroot "$1" apt-cache depends linux-image-arm64:arm64 |
		sed -n 's/.*Depends: linux-image-\([^:]*\).*/\1/p')
	version=${release%-arm64}
	chroot "$1" sh -c 'cd /var/cache/apt/archives && exec apt-get -qq -o APT::Sandbox::User=root download "$@"' \
		sh "linux-image-$release:arm64" "linux-headers-$release:arm64" \
		"linux-headers-$version-common" "linux-kbuild-$version"
	for deb in "$1"/var/cache/apt/archives/linux-{image,headers,kbuild}-*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$1" --keep-directory-symlink \
			--exclude='./usr/share/doc' "${unused[@]/#/--exclude=*/kernel/}"
	done
	chroot "$1" depmod "$release"
	mkdir "$1/usr/lib/modules/$release/updates"
	ln -s "/src/build/kmod-$release/topoopt_fwd.ko" "$1/usr/lib/modules/$release/updates/"
	echo "$release"
}

make_initrd() { # CROSS-ROOT RELEASE BUSYBOX FILE
	local tree=$new/initramfs path module

	mkdir -p "$tree"/{bin,proc,sys,dev,lower,rw,new,modules}
	cp "$3" "$tree/bin/"
	install -m 755 "$lab_dir/initramfs" "$tree/init"
	for module in 9pnet_virtio 9p overlay; do
		chroot "$1" modprobe -S "$2" -D "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r path; do
		module=$(basename "$path" .xz)
		xz -dc "$1$path" >"$tree/modules/$module"
		echo "$module" >>"$tree/modules/order"
	done
	(cd "$tree" && find . | cpio --quiet -o -H newc) | gzip -1 >"$4"
}

mkdir -p "$lab_cache"
exec 9>"$lab_cache/lock-$kernel"
flock -n 9 || { lab_note "kernel $kernel: waiting for another build of it"; flock 9; }
if [[ ! -e $result ]]; then
	start=$SECONDS
	lab_note "kernel $kernel: Debian 13 roots, one that runs and one that builds"
	new=$(mktemp -d "$lab_cache/new-XXXXXX")
	trap 'rm -rf "$new"' EXIT
	mkdir "$new/result"
	make_root "$new/result/root"
	make_cross "$new/result/cross"
	release=$(unpack_kernel "$new/result/cross")
	make_initrd "$new/result/cross" "$release" "$new/result/root/usr/bin/busybox" \
		"$new/result/initrd"
	echo "$release" >"$new/result/release"
	mv "$new/result/cross/boot/vmlinuz-$release" "$new/result/vmlinuz"
	cp -al "$new/result/cross/usr/lib/modules" "$new/result/root/usr/lib/"
	rm -rf "$new"/result/cross/var/{cache/apt,lib/apt/lists}
	rm -rf "$lab_cache/$kernel"-*
	mv "$new/result" "$result"
	lab_note "kernel $kernel: ready after $((SECONDS - start)) s"
fi
echo "$result"
