# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# Paths and kernels that every part of the lab shares; sourced, never run.
#
#	$lab_src	the source tree
#	$lab_cache	guest images, kept between runs ($TOPOOPT_CACHE moves it)
#	$lab_image	the image of this recipe: root/ and boot/<kernel>/
#	lab_boot KERNEL	where a kernel, its initrd and release are

lab_dir=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
lab_src=$(realpath "$lab_dir/../..")
lab_cache=${TOPOOPT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/topoopt_fwd}

# Guest kernels, oldest first, as KERNEL= and -k name them.
lab_kernels=(6.1 6.12 7.2)

# And those that run when -k names them, which debug.sh and arm64.sh make.
lab_other_kernels=(6.12-kasan 6.12-kcsan 6.12-arm64)

# A change of the recipe makes another image; the old one goes a day after its last use.
lab_recipe=(image.sh bootstrap.sh initramfs)
lab_image=$lab_cache/image-$(cd "$lab_dir" &&
	sha256sum "${lab_recipe[@]}" | sha256sum | cut -c1-12)

# What a kernel log must not have.
lab_complaint='BUG: ([^K]|K[^C]|.*topoopt_fwd)|WARNING:|Oops|KASAN|UBSAN|possible .* detected|suspicious RCU'
lab_complaint+='|inconsistent lock|general protection fault[,:]|refcount_t:|blocked for more than'
lab_complaint+='|unregister_netdevice: waiting|rcu_.* detected .*stall|unreferenced object'
lab_complaint+='|suspected memory leak|Call Trace'

lab_die() { # MESSAGE: one line on stderr, status 2
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 2
}

lab_quietly() { # COMMAND...: says nothing; nor does bash, which tells who is killed
	{ "$@" </dev/null >/dev/null 2>&1; } 2>/dev/null
}

lab_use_image() { # builds it when it is not there; sets $image, in use until we end
	image=$("$lab_dir/image.sh")
	exec {lab_image_lock}<"$image"
	flock -s "$lab_image_lock"
	touch "$image"
}

lab_use_kernel() { # KERNEL: the same for it; sets $boot and $root, the guest's
	if [[ $1 == *-arm64 ]]; then
		boot=$("$lab_dir/arm64.sh")
		root=$boot/root
		return
	fi
	lab_use_image
	root=$image/root
	case $1 in
	*-*) boot=$("$lab_dir/debug.sh" "$1") ;;
	*) boot=$(lab_boot "$1") ;;
	esac
}

lab_use_jobs() { # the root that has MPI, PyTorch and Slurm instead; sets $root
	local jobs

	jobs=$("$lab_dir/jobs.sh")
	exec {lab_jobs_lock}<"$jobs"
	flock -s "$lab_jobs_lock"
	touch "$jobs"
	root=$jobs/root
}

# The source tree is at /src there, as in a guest. A debug kernel in $boot brings its own
# /lib/modules and the tree that points to; tree.sh makes the tree alone. After
# lab_use_kernel.
lab_in_root() { # ROOT COMMAND...
	local -a mapping=()

	((!EUID)) || mapping=(--map-root-user)
	unshare "${mapping[@]}" --mount --pid --fork sh -c '
		set -e
		mount --rbind "$2" "$1/src"
		mount -t proc proc "$1/proc"
		# of its own: several build at a time
		mount -t tmpfs tmpfs "$1/tmp"
		if [ -d "$3/modules" ]; then
			mount --bind "$3/modules" "$1/usr/lib/modules"
		fi
		[ ! -d "$3/tree" ] || mount --bind "$3/tree" "$1/mnt"
		shift 3
		exec chroot "$@"
	' sh "$1" "$lab_src" "$boot" "$@"
}

lab_note() { # MESSAGE: progress of a long step
	printf '  %s\n' "$*" >&2
}

lab_check_kernel() { # KERNEL
	[[ " ${lab_kernels[*]} ${lab_other_kernels[*]} " == *" $1 "* ]] ||
		lab_die "no guest kernel '$1': one of ${lab_kernels[*]} ${lab_other_kernels[*]}"
}

# Where a guest kernel is once it is there, with its initrd and release.
lab_boot() { # KERNEL
	case $1 in
	*-arm64)
		echo "$lab_cache/$1-$(cd "$lab_dir" && cat arm64.sh bootstrap.sh initramfs |
			sha256sum | cut -c1-12)"
		;;
	*-*)
		echo "$lab_cache/$1-$(cd "$lab_dir" && cat debug.sh initramfs debug/guest.config \
			"debug/${1#*-}.config" | sha256sum | cut -c1-12)"
		;;
	*) echo "$lab_image/boot/$1" ;;
	esac
}
