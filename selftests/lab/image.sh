#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Build the lab's image in the cache unless it is there: a Debian 13 root with
# the guest kernels' modules and headers, a kernel image and an initramfs for
# each. Prints the image's directory. Needs root (or sudo) and deps.sh.
#
#	image.sh
#
#	root/		the root, where modules are built, too
#	usr.ext4	its /usr, as a disk: a program starts from there without asking the host
#	boot/KERNEL/	vmlinux, initrd, release
#
# Debian is fetched from the mirror that the host's apt is configured with;
# TOPOOPT_MIRROR overrides it.

set -euo pipefail
# shellcheck source=selftests/lab/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"
# shellcheck source=selftests/lab/bootstrap.sh
. "$lab_dir/bootstrap.sh"

if [[ -e $lab_image/boot ]]; then
	echo "$lab_image"
	exit
fi

if ((EUID)); then
	command -v sudo >/dev/null || lab_die "building the guest image needs root or sudo"
	exec sudo TOPOOPT_CACHE="$lab_cache" TOPOOPT_MIRROR="${TOPOOPT_MIRROR:-}" "$0"
fi

# Suite that each guest kernel comes from.
declare -A suite=([6.1]=bookworm [6.12]=trixie [7.2]=trixie-backports)

packages=(
	# the guest's system
	bash procps kmod util-linux bsdextrautils iproute2 less file strace jq
	python3 python3-yaml
	# traffic and its observation
	iputils-ping iputils-tracepath traceroute iperf3 ethtool tcpdump socat
	netcat-openbsd nftables bpftool bpftrace python3-prometheus-client
	# what benchmarks compare with
	openvswitch-switch xdp-tools
	# RoCEv2 on rdma_rxe
	rdma-core ibverbs-utils ibverbs-providers rdmacm-utils perftest
	# libraries of toctl and tosim
	libmnl0 libjansson4 libinih1 libprotobuf-c1 libbpf1 libelf1t64 zlib1g libmicrohttpd12t64
	libcurl4t64
	# agents of a cluster
	etcd-server etcd-client
	# module builds; gcc-12 is what built 6.1
	gcc-14 gcc-12 libc6-dev libelf-dev make pahole sparse
	# this script, inside the root
	busybox-static cpio xz-utils zstd
)

# Parts of the kernels that no test loads: half of the unpacking time.
unused=(sound drivers/{gpu,media,iio,hid,input,scsi,staging,usb,mmc,mtd,ata}
	drivers/{bluetooth,comedi,gnss,hwmon,isdn,leds,nfc,power,rtc,video}
	drivers/net/{wireless,can,usb,hamradio,wwan}
	fs/{xfs,btrfs,ocfs2,gfs2,nfs,nfsd,smb,cifs,ceph,afs,bcachefs,f2fs})

# Names of the packages that make one kernel: image, modules, headers.
kernel_packages() { # ROOT KERNEL
	local root=$1 kernel=$2 image

	# 6.1.0-50-amd64 as well as 6.12.107+deb13-amd64; neither cloud nor rt
	image=$(chroot "$root" apt-cache pkgnames "linux-image-$kernel." |
		grep -E '^linux-image-[0-9.]+(-[0-9]+|\+[^-]+)-amd64$' | sort -V | tail -n 1)
	[[ -n $image ]] || lab_die "the mirror has no kernel $kernel in ${suite[$kernel]}"
	echo "$image"
	echo "${image/image/headers}"
	chroot "$root" apt-cache depends "$image" "${image/image/headers}" |
		sed -n -E 's/.*Depends: (linux-(binary|modules|base|headers|kbuild|compiler)-.*)/\1/p'
}

unpack() { # ROOT DEB
	dpkg-deb --fsys-tarfile "$2" | tar -x -C "$1" --keep-directory-symlink \
		--exclude='./usr/share/doc' "${unused[@]/#/--exclude=*/kernel/}"
}

# The headers of 6.1 lack what module BTF is made with: vmlinux, and resolve_btfids,
# where that of 6.12 serves.
add_btf_tools() { # ROOT BOOT
	local root=$1 release

	release=$(cat "$2/6.1/release")
	cp "$2/6.1/vmlinux" "$root/usr/src/linux-headers-$release/"
	cp -r "$root"/usr/lib/linux-kbuild-6.12*/tools/bpf "$root/usr/lib/linux-kbuild-6.1/tools/"
}

make_initramfs() { # ROOT RELEASE FILE
	local root=$1 release=$2 file=$3 tree=$1/initramfs-$2 module path

	mkdir -p "$tree"/{bin,proc,sys,dev,lower,rw,new,modules}
	cp "$root/usr/bin/busybox" "$tree/bin/"
	install -m 755 "$lab_dir/initramfs" "$tree/init"
	for module in virtio_pci 9pnet_virtio 9p overlay; do
		chroot "$root" modprobe -S "$release" -D "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r path; do
		module=$(basename "$path" | cut -d . -f 1).ko
		case $path in
		*.xz) xz -dc "$root$path" ;;
		*.zst) zstd -dc "$root$path" ;;
		*) cat "$root$path" ;;
		esac >"$tree/modules/$module"
		echo "$module" >>"$tree/modules/order"
	done
	(cd "$tree" && find . | cpio --quiet -o -H newc) >"$file"
	rm -r "$tree"
}

# The kernel inside: QEMU enters it directly (PVH), and no emulated processor unpacks it.
# Where it is, the boot protocol says (Documentation/arch/x86/boot.rst): payload_offset
# counts from after setup_sects, and the payload ends with its unpacked size.
unpack_vmlinuz() { # VMLINUZ VMLINUX
	local sectors offset size unpack=(xz -dc)

	read -r sectors < <(od -An -j $((0x1f1)) -N 1 -t u1 "$1")
	read -r offset size < <(od -An -j $((0x248)) -N 8 -t u4 "$1")
	offset=$(((sectors + 1) * 512 + offset))
	[[ $(od -An -j "$offset" -N 4 -t x1 "$1") != " 28 b5 2f fd" ]] || unpack=(zstd -dc)
	dd if="$1" bs=1M iflag=skip_bytes,count_bytes skip="$offset" count=$((size - 4)) status=none |
		"${unpack[@]}" >"$2"
}

make_kernel() { # ROOT BOOT KERNEL PACKAGE...
	local root=$1 boot=$2/$3 release deb

	shift 3
	release=${1#linux-image-}
	mkdir -p "$boot"
	for deb; do
		unpack "$root" "$root"/var/cache/apt/archives/"$deb"_*.deb
	done
	echo "$release" >"$boot/release"
	# 7.2 keeps the kernel image with the modules
	mv "$root/boot/vmlinuz-$release" "$boot/vmlinuz" 2>/dev/null ||
		mv "$root/lib/modules/$release/vmlinuz" "$boot/vmlinuz"
	unpack_vmlinuz "$boot/vmlinuz" "$boot/vmlinux"
	rm "$boot/vmlinuz"
	chroot "$root" depmod "$release"
	mkdir "$root/lib/modules/$release/updates"
	ln -s "/src/build/kmod-$release/topoopt_fwd.ko" "$root/lib/modules/$release/updates/"
	make_initramfs "$root" "$release" "$boot/initrd"
}

# Without what builds modules.
make_disk() { # ROOT FILE
	local tree=$1/disk

	mkdir "$tree"
	cp -al "$1"/usr/. "$tree"
	rm -r "$tree"/{src,include,lib/gcc,libexec/gcc,lib/linux-kbuild-*}
	: >"$2"
	mke2fs -q -t ext4 -O ^has_journal -m 0 -d "$tree" "$2" \
		"$(($(du -sm --apparent-size "$tree" | cut -f 1) * 5 / 4 + 64))M"
	rm -r "$tree"
}

make_image() { # DIRECTORY
	local root=$1/root boot=$1/boot kernel job failed=0
	local -A names=()
	local -a jobs=()

	lab_note "guest image: Debian 13 root"
	lab_bootstrap "$root" "trixie trixie-backports bookworm" "${packages[*]}" \
		--skip=cleanup/apt --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*'
	lab_note "guest image: kernels ${lab_kernels[*]}"
	for kernel in "${lab_kernels[@]}"; do
		names[$kernel]=$(kernel_packages "$root" "$kernel")
	done
	# shellcheck disable=SC2048,SC2086 # a list of package names
	chroot "$root" sh -c 'cd /var/cache/apt/archives && exec apt-get -qq -o APT::Sandbox::User=root download "$@"' \
		sh ${names[*]}
	for kernel in "${lab_kernels[@]}"; do
		# shellcheck disable=SC2086
		make_kernel "$root" "$boot.new" "$kernel" ${names[$kernel]} &
		jobs+=($!)
	done
	for job in "${jobs[@]}"; do
		wait "$job" || failed=1
	done
	((!failed)) || lab_die "a guest kernel could not be unpacked"
	add_btf_tools "$root" "$boot.new"
	rm -rf "$root"/var/cache/apt "$root"/var/lib/apt/lists "${root:?}"/boot/*
	mkdir -p "$root"/{src,out}
	lab_note "guest image: disk"
	make_disk "$root" "$1/usr.ext4"
	mv "$boot.new" "$boot"
}

mkdir -p "$lab_cache"
exec 9>"$lab_cache/lock"
flock -n 9 || { lab_note "guest image: waiting for another build of it"; flock 9; }
if [[ ! -e $lab_image/boot ]]; then
	start=$SECONDS
	new=$(mktemp -d "$lab_cache/new-XXXXXX")
	trap 'rm -rf "$new"' EXIT
	chmod 755 "$new"
	make_image "$new"
	rm -rf "$lab_image"
	mv "$new" "$lab_image"
	# other worktrees may be at another recipe
	find "$lab_cache" -maxdepth 1 -name 'image-*' -mmin +1440 -exec flock -n {} rm -rf {} \;
	lab_note "guest image: ready after $((SECONDS - start)) s"
fi
echo "$lab_image"
