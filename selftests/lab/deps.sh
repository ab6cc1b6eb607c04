#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Install the Debian packages that the host lacks.
#
#	deps.sh build		to build toctl, tosim, BPF objects and unit tests
#	deps.sh headers		to build the module for the running kernel, if Debian has
#				its headers, else for the newest one
#	deps.sh lint		for static checks
#	deps.sh docs		to make the documentation
#	deps.sh deb		to make Debian packages
#	deps.sh bench		to compare matchings with those of LEMON
#	deps.sh valgrind	to run unit tests under it
#	deps.sh browser		to look at reports as people do
#	deps.sh shells		to test completion, and what a terminal shows
#	deps.sh etcd		to test agents and controllers of a cluster
#	deps.sh fuzz		to link with libFuzzer
#	deps.sh simgrid, ns3	to compare simulations with theirs
#	deps.sh lab		to make the guest image and to boot guests
#	deps.sh arm64		to boot guests of arm64
#
# Silent when nothing is missing; needs root or sudo otherwise.

set -euo pipefail

declare -A packages=(
	[build]="gcc make pkg-config libc6-dev libmnl-dev libbpf-dev libjansson-dev libprotobuf-c-dev protobuf-c-compiler
		libinih-dev scdoc libmicrohttpd-dev libcmocka-dev libglpk-dev libelf-dev zlib1g-dev libcurl4-openssl-dev libssl-dev libncurses-dev
		clang llvm bpftool jq
		python3-jsonschema python3-yaml"
	[headers]="gcc make pahole kmod"
	[lint]="shellcheck yamllint cppcheck clang-tidy coccinelle perl"
	[docs]="python3-sphinx python3-myst-parser furo man-db bsdextrautils xz-utils"
	[deb]="build-essential dpkg-dev debhelper dh-dkms lintian"
	[bench]="g++ liblemon-dev"
	[valgrind]="valgrind"
	[etcd]="etcd-server etcd-client iproute2 openssl strace"
	[fuzz]="libclang-rt-dev"
	[simgrid]="g++ libsimgrid-dev"
	[ns3]="g++ libns3-dev"
	[shells]="zsh fish tmux"
	[browser]="chromium python3-pil"
	[lab]="qemu-system-x86 mmdebstrap debian-archive-keyring cpio e2fsprogs xz-utils zstd
		util-linux mount bsdextrautils jq"
	[arm64]="qemu-system-arm"
)

(($#)) || set -- "${!packages[@]}"
wanted=()
if [[ " $* " == *" headers "* ]]; then
	arch=$(dpkg --print-architecture)
	[[ $(uname -r) == *-"$arch" ]] && arch=$(uname -r)
	packages[headers]+=" linux-headers-$arch"
fi
for group; do
	[[ -n ${packages[$group]:-} ]] || {
		echo "deps.sh: no group '$group': one of ${!packages[*]}" >&2
		exit 2
	}
	read -rd '' -a words <<<"${packages[$group]}" || :
	wanted+=("${words[@]}")
done

if ! command -v dpkg-query >/dev/null; then
	echo "deps.sh: not a Debian system, install what corresponds to: ${wanted[*]}" >&2
	exit 1
fi
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
mapfile -t missing < <(printf '%s\n' "${wanted[@]}" | sort -u | grep -vxFf <(echo "$installed"))
((${#missing[@]})) || exit 0

as_root=()
if ((EUID)); then
	command -v sudo >/dev/null || {
		echo "deps.sh: run as root: apt-get install ${missing[*]}" >&2
		exit 1
	}
	as_root=(sudo)
fi
echo "  installing ${missing[*]}" >&2
install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y
	--no-install-recommends -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0
	-o Acquire::Retries=3 install "${missing[@]}")
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# the lists of a fresh machine are empty or old
if ! "${install[@]}" >"$log" 2>&1; then
	"${as_root[@]}" apt-get -qq update >>"$log" 2>&1 || :
	if ! "${install[@]}" >>"$log" 2>&1; then
		cat "$log" >&2
		echo "deps.sh: cannot install ${missing[*]}" >&2
		exit 1
	fi
fi
