#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Make the root of a Debian machine in the cache unless it is there, with all
# that the packages depend on, but not the packages. Prints its directory.
# Needs root and deps.sh.
#
#	root.sh SUITE
#
# At boot it runs selftests/deb/guest.sh of the source tree, see check.sh.

set -euo pipefail
. "$(dirname "$(realpath "$0")")/../lab/common.sh"
# shellcheck source=selftests/lab/bootstrap.sh
. "$lab_dir/bootstrap.sh"

suite=$1
root=$lab_cache/root-$suite-$(sha256sum "$(realpath "$0")" | cut -c1-12)
if [[ -e $root ]]; then
	echo "$root"
	exit
fi

packages=(
	systemd-sysv udev dbus kmod iproute2 iputils-ping jq openssh-client openssh-server
	linux-image-amd64 linux-headers-amd64 initramfs-tools dkms ccache
	pahole libbpf1 libcurl4 libinih1 libjansson4 libmicrohttpd12 libmnl0 libncursesw6 libprotobuf-c1
)

# The source tree, what comes out, and who runs the test.
configure() { # ROOT
	echo s1 >"$1/etc/hostname"
	printf '%s\n' "/dev/vda / ext4 defaults 0 1" \
		"src /src 9p trans=virtio,version=9p2000.L,ro 0 0" \
		"out /out 9p trans=virtio,version=9p2000.L 0 0" >"$1/etc/fstab"
	mkdir "$1"/{src,out}
	echo 9pnet_virtio >"$1/etc/modules-load.d/share.conf"
	cat >"$1/etc/systemd/system/check.service" <<-'END'
	[Unit]
	After=network.target
	RequiresMountsFor=/src /out
	[Service]
	Type=simple
	ExecStart=/src/selftests/deb/guest.sh boot
	END
	mkdir -p "$1/etc/systemd/system/multi-user.target.wants"
	ln -s ../check.service "$1/etc/systemd/system/multi-user.target.wants/"
	# of hardware that it lacks, which each depmod would read, emulated
	find "$1"/lib/modules/*/kernel/{sound,drivers,drivers/net} -mindepth 1 -maxdepth 1 \
		-not -name net -not -name virtio -not -name '*.ko*' -exec rm -r {} +
	# nobody logs in, nothing is to be timed
	for name in getty@tty1 apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \
		e2scrub_all.timer fstrim.timer; do
		rm -f "$1"/etc/systemd/system/*.wants/"$name"*
	done
}

start=$SECONDS
lab_note "root of Debian $suite"
mkdir -p "$lab_cache"
new=$(mktemp -d "$lab_cache/new-XXXXXX")
trap 'rm -rf "$new"' EXIT
chmod 755 "$new"
lab_bootstrap "$new" "$suite" "${packages[*]}"
configure "$new"
rm -rf "$lab_cache/root-$suite"-*
mv -T "$new" "$root"
lab_note "root of Debian $suite: ready after $((SECONDS - start)) s"
echo "$root"
