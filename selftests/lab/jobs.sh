#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Make a guest's root that has what jobs bring along (MPI, PyTorch, Slurm) in the cache
# unless it is there, and print its directory. Needs root (or sudo).
#
#	jobs.sh
#
#	root/		the image's root with more packages, whose files it shares (1.4 GB on top)
#	usr.ext4	its /usr, as a disk (2.5 GB)

set -euo pipefail
# shellcheck source=selftests/lab/common.sh
. "$(dirname "$(realpath "$0")")/common.sh"
# shellcheck source=selftests/lab/bootstrap.sh
. "$lab_dir/bootstrap.sh"

packages=(openmpi-bin python3-mpi4py python3-numpy python3-torch ucx-utils
	slurmctld slurmd slurm-client munge)

lab_use_image
result=$lab_cache/jobs-$(cat "$lab_dir/jobs.sh" <(echo "$image") | sha256sum | cut -c1-12)
if [[ -e $result ]]; then
	echo "$result"
	exit
fi

if ((EUID)); then
	command -v sudo >/dev/null || lab_die "building the guest root for jobs needs root or sudo"
	exec sudo TOPOOPT_CACHE="$lab_cache" TOPOOPT_MIRROR="${TOPOOPT_MIRROR:-}" "$0"
fi

# dpkg replaces the files below /usr, and writes those below /etc and /var.
copy_root() { # FROM TO
	local entry

	mkdir "$2"
	for entry in "$1"/*; do
		if [[ ${entry##*/} == usr ]]; then
			cp -al "$entry" "$2/"
		else
			cp -a "$entry" "$2/"
		fi
	done
	rm "$2/etc/ld.so.cache"
}

install_packages() { # ROOT
	local -a options=(-qq -o APT::Sandbox::User=root -o APT::Install-Recommends=false
		-o Acquire::Languages=none -o Acquire::Retries=3 -o Dpkg::Use-Pty=0
		-o DPkg::Options::=--path-exclude='/usr/share/doc/*'
		-o DPkg::Options::=--path-exclude='/usr/share/man/*')
	local proxy

	while read -r proxy; do
		options+=(-o "$proxy")
	done < <(apt-config dump --no-empty --format '%F=%v%n' Acquire | grep -i '::proxy')
	cp /etc/resolv.conf "$1/etc/resolv.conf"
	chroot "$1" apt-get "${options[@]}" update
	DEBIAN_FRONTEND=noninteractive chroot "$1" apt-get "${options[@]}" -y \
		install "${packages[@]}" >/dev/null
	rm -rf "$1"/var/cache/apt "$1"/var/lib/apt/lists
}

exec 9>"$lab_cache/lock"
flock -n 9 || { lab_note "guest root for jobs: waiting for another build"; flock 9; }
if [[ ! -e $result ]]; then
	start=$SECONDS
	new=$(mktemp -d "$lab_cache/new-XXXXXX")
	trap 'rm -rf "$new"' EXIT
	copy_root "$image/root" "$new/root"
	install_packages "$new/root"
	: >"$new/usr.ext4"	# mke2fs tells on standard output that it makes a file
	mke2fs -q -t ext4 -O ^has_journal -m 0 -d "$new/root/usr" "$new/usr.ext4" \
		"$(($(du -sm --apparent-size "$new/root/usr" | cut -f 1) * 5 / 4 + 64))M"
	chmod 755 "$new" "$new/root"
	mv "$new" "$result"
	trap - EXIT
	find "$lab_cache" -maxdepth 1 -name 'jobs-*' -mmin +1440 ! -path "$result" \
		-exec flock -n {} rm -rf {} \;
	lab_note "guest root for jobs: ready after $((SECONDS - start)) s"
fi
echo "$result"
