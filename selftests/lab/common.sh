# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# Paths and kernels that every part of the lab shares; sourced, never run.
#
#	$lab_src	the source tree
#	$lab_cache	guest images, kept between runs ($TOPOOPT_CACHE moves it)
#	$lab_image	the image of this recipe: root/ and boot/<kernel>/

lab_dir=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
lab_src=$(realpath "$lab_dir/../..")
lab_cache=${TOPOOPT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/topoopt_fwd}

# Guest kernels, oldest first, as KERNEL= and -k name them.
lab_kernels=(6.1 6.12 7.2)

# A change of the recipe makes another image; the old one goes a day after its last use.
lab_recipe=(image.sh initramfs)
lab_image=$lab_cache/image-$(cd "$lab_dir" &&
	sha256sum "${lab_recipe[@]}" | sha256sum | cut -c1-12)

# What a kernel log must not have.
lab_complaint='BUG:|WARNING:|Oops|KASAN|UBSAN|possible .* detected|suspicious RCU'
lab_complaint+='|inconsistent lock|general protection|refcount_t:|blocked for more than'
lab_complaint+='|unregister_netdevice: waiting|rcu_.* detected .*stall|unreferenced object'
lab_complaint+='|suspected memory leak|Call Trace'

lab_die() { # MESSAGE: one line on stderr, status 2
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 2
}

lab_use_image() { # builds it when it is not there; sets $image, in use until we end
	image=$("$lab_dir/image.sh")
	exec {lab_image_lock}<"$image"
	flock -s "$lab_image_lock"
	touch "$image"
}

lab_note() { # MESSAGE: progress of a long step
	printf '  %s\n' "$*" >&2
}

lab_check_kernel() { # KERNEL
	[[ " ${lab_kernels[*]} " == *" $1 "* ]] ||
		lab_die "no guest kernel '$1': one of ${lab_kernels[*]}"
}

# The kernel release (uname -r) of a guest kernel.
lab_release() { # KERNEL
	cat "$lab_image/boot/$1/release"
}
