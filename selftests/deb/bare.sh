#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Try every target of `make help`, and README's commands for any machine, as somebody does
# whose Debian has nothing but make: each in a root of its own, so that what one target
# installs is not there for the next. Guest images and kernels are those of the host's cache.
#
#	bare.sh [TARGET...]	default: all, and "readme", but those that are told to be left out
#
# Prints TAP; the output of a target is in build/bare/TARGET.log. SUITE=trixie has Debian 13.

set -euo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/../lab/common.sh"
# shellcheck source=selftests/lab/bootstrap.sh
. "$lab_dir/bootstrap.sh"
((!EUID)) || exec sudo TOPOOPT_CACHE="$lab_cache" TOPOOPT_MIRROR="${TOPOOPT_MIRROR:-}" \
	SUITE="${SUITE:-}" "$0" "$@"
suite=${SUITE:-bookworm}
limit=7200	# seconds that a target may run
logs=$lab_src/build/bare
archives=$lab_cache/archives-$suite	# of apt: each root installs much of the same
base=$lab_cache/bare-$suite-$(sha256sum "$(realpath "$0")" | cut -c1-12)

# What makes a target short: it is to begin and to end well, not to be thorough.
declare -A short=(
	[bench-loop]="SEED=1"
	[bench-jobs]="PART=mpi"
	[bench-plan]="ONLY=matching"
	[chaos]="SECONDS=10"
	[check]="KERNEL=6.12 TEST=ring4"
	[check-deb]="SUITE=trixie"
	[check-sanitize]="TEST=formats"
	[check-valgrind]="TEST=formats"
	[fuzz]="RUNS=1000"
	[reproduce]="FIG=11"
)
declare -A left_out=(
	[check-bare]="is this"
	[check-debug]="compiles a kernel"
)

targets() {
	sed -n 's/^\([a-z-]*\):[^#]*## .*/\1/p' "$lab_src/Makefile"
}

make_base() {
	local new

	[[ ! -e $base ]] || return 0
	lab_note "root of Debian $suite"
	new=$(mktemp -d "$lab_cache/new-XXXXXX")
	chmod 755 "$new"
	lab_bootstrap "$new" "$suite" make
	# nothing in a root has to outlive a power cut
	echo force-unsafe-io >"$new/etc/dpkg/dpkg.cfg.d/unsafe-io"
	rm -rf "$lab_cache/bare-$suite"-*
	mv -T "$new" "$base"
}

# The source as somebody has it who has built nothing.
unpack() { # ROOT
	mkdir "$1/root/topoopt_fwd"
	tar -C "$lab_src" --exclude=./build --exclude=./.git -c . | tar -C "$1/root/topoopt_fwd" -x
	cp /etc/resolv.conf "$1/etc/"
}

in_root() { # ROOT COMMAND...
	unshare --mount --pid --fork --kill-child sh -c '
		root=$1 cache=$2 archives=$3
		mount -t proc proc "$root/proc"
		mount --rbind /sys "$root/sys"
		mount --rbind /dev "$root/dev"
		mount -t tmpfs tmpfs "$root/run"
		mkdir -p "$root$cache"
		mount --bind "$cache" "$root$cache"
		mount --bind "$archives" "$root/var/cache/apt/archives"
		shift 3
		exec chroot "$root" env -i HOME=/root TERM=dumb LANG=C.UTF-8 TOPOOPT_CACHE="$cache" \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
	' sh "$1" "$lab_cache" "$archives" "${@:2}"
}

# README's commands that are marked for any machine, one after the other.
readme='make tools || exit
export PATH=$PWD/build:$PATH
mkdir /root/try && ln -s "$PWD/examples" /root/try && cp examples/panel-6/*.json /root/try
selftests/doc_commands.py host README.md >/root/blocks || exit
cd /root/try
while IFS= read -rd "" block; do
	printf "%s\n" "$block"
	bash -eu -o pipefail -c "$block" </dev/null || exit
done </root/blocks'

# A shell in a fabric wants a terminal, and somebody who leaves it when it is there.
shell='while sleep 2; do echo exit; done | script -qec "make lab SERVERS=3" /dev/null'

try() { # TARGET
	local root=$work/$1 command="make $1 ${short[$1]:-}" status=0 start=$SECONDS

	[[ $1 != readme ]] || command=$readme
	[[ $1 != lab ]] || command=$shell
	cp -a "$base" "$root"
	unpack "$root"
	in_root "$root" timeout -k 10 "$limit" bash -c "cd /root/topoopt_fwd && $command" \
		</dev/null >"$logs/$1.log" 2>&1 || status=$?
	# a script that goes on without a command has ended well, and is wrong
	! grep -qE ': (command )?not found$' "$logs/$1.log" || status=127
	rm -rf --one-file-system "$root"
	((status)) || {
		echo "ok $((++count)) - $1 # $((SECONDS - start)) s"
		return
	}
	echo "not ok $((++count)) - $1 # status $status after $((SECONDS - start)) s"
	tail -n 30 "$logs/$1.log" | sed 's/^/# /'
	failed=1
}

mkdir -p "$lab_cache" "$archives/partial" "$logs"
exec {lock}<"$archives"
flock "$lock"	# apt locks what the roots share, and waits for no other
make_base
work=$(mktemp -d "$lab_cache/new-bare-XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
failed=0 count=0 wanted=("$@")
(($#)) || for target in $(targets) readme; do
	[[ -n ${left_out[$target]:-} ]] || wanted+=("$target")
done
echo "1..${#wanted[@]}"
for target in "${wanted[@]}"; do
	[[ " $(targets | tr '\n' ' ') readme " == *" $target "* ]] || lab_die "no target '$target'"
	try "$target"
done
exit "$failed"
