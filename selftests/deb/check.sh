#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Install, exercise, upgrade and purge the packages of `make deb` on fresh
# Debian machines. guest.sh does it: it installs them in the machine's root and
# goes on when the machine boots, as server s1 of examples/chain-3 with a NIC of
# each of its neighbours, all on two wires:
#
#	eth2 (s0) ==== eth1 s1 eth0 ==== eth3 (s2)
#
#	check.sh [SUITE...]		default: bookworm trixie

set -euo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/../lab/common.sh"
((!EUID)) || exec sudo TOPOOPT_CACHE="$lab_cache" TOPOOPT_MIRROR="${TOPOOPT_MIRROR:-}" "$0" "$@"
build=$lab_src/build
limit=1800	# seconds that a machine may run
# The host may be busy, and late with what the kernel times itself by.
patient="no_timer_check tsc=nowatchdog watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120"

# The same packages as a later version, for the upgrade.
next() {
	local version deb tree=$build/deb-next/tree

	version=$(dpkg-deb -f "$build"/deb/toctl_*.deb Version)
	rm -rf "$build/deb-next"
	mkdir "$build/deb-next"
	for deb in "$build"/deb/{toctl,tosim,topoopt-fwd-dkms}_*.deb; do
		dpkg-deb -R "$deb" "$tree"
		sed -i "s/$version/$version+next/" "$tree"/DEBIAN/{control,p*}
		if [[ -d $tree/usr/src ]]; then
			sed -i "s/$version/$version+next/" "$tree"/usr/src/*/dkms.conf
			mv "$tree"/usr/src/topoopt-fwd-"$version"{,+next}
		fi
		rm "$tree/DEBIAN/md5sums"
		dpkg-deb --root-owner-group -b "$tree" "$build/deb-next"
		rm -r "$tree"
	done
}

# In a root that does not run, as when an image of a machine is made.
install_in() { # ROOT OUT
	unshare --mount sh -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
		mount --bind "$2" "$1/src" && mount --bind "$3" "$1/out" &&
		exec chroot "$1" /src/selftests/deb/guest.sh install' sh "$1" "$lab_src" "$2"
}

machine() { # SUITE
	local cached root out=$build/deb-$1
	local -a qemu=(qemu-system-x86_64 -cpu max -m 2048 -smp 2 -nodefaults -display none -no-reboot)

	cached=$("$here/root.sh" "$1") || return
	rm -rf "$out"
	mkdir "$out"
	root=$work/$1
	cp -a "$cached" "$root"
	install_in "$root" "$out"
	cp -L "$root/vmlinuz" "$work/vmlinuz"
	cp -L "$root/initrd.img" "$work/initrd"
	mke2fs -q -t ext4 -d "$root" "$work/disk.img" 4G >"$out/mke2fs.log" 2>&1
	rm -r "$root"
	qemu+=(-chardev "file,id=console,path=$out/console.log" -serial chardev:console
		-drive "file=$work/disk.img,if=virtio,format=raw,cache=unsafe"
		-kernel "$work/vmlinuz" -initrd "$work/initrd" -append
		"root=/dev/vda console=ttyS0 net.ifnames=0 panic=-1 mitigations=off $patient"
		-virtfs "local,path=$lab_src,mount_tag=src,security_model=none,readonly=on,multidevs=remap"
		-virtfs "local,path=$out,mount_tag=out,security_model=none,multidevs=remap")
	while read -r wire mac; do
		qemu+=(-netdev "hubport,id=n${mac//:/},hubid=$wire" -device
			"virtio-net-pci,romfile=,host_mtu=9000,netdev=n${mac//:/},mac=$mac")
	done < <(jq -r '[.servers[].ports | map(.mac)] | .[1] as $s1 |
		"0 \($s1[0])", "1 \($s1[1])", "1 \(.[0][0])", "0 \(.[2][1])"' \
		"$lab_src/examples/chain-3/plan.json")
	timeout "$limit" "${qemu[@]}" </dev/null 2>"$out/qemu.log" || :
	grep -q '^1\.\.' "$out/tap" || echo "not ok - the machine ends, see $out" >>"$out/tap"
	if grep -qE "$lab_complaint" "$out/console.log"; then
		echo "not ok - the kernel complains" >>"$out/tap"
		grep -E -m 1 -A 30 "$lab_complaint" "$out/console.log" | sed 's/^/# /' >>"$out/tap"
	fi
	cat "$out/tap"
	! grep -q '^not ok' "$out/tap"
}

(($#)) || set -- bookworm trixie
next >"$build/deb-next.log" 2>&1 || lab_die "see $build/deb-next.log"
mkdir -p "$lab_cache"
work=$(mktemp -d "$lab_cache/new-XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
for suite; do
	echo "# Debian $suite"
	machine "$suite" || failed=1
done
exit "$failed"
