#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whether the relay works at native XDP with drivers of real NICs: a table as of
# Documentation/performance.md. A packet lost fails, and a driver that does not do what it is
# known to do.
#
#	nic_relay.sh [-k KERNEL] [CASE...]
#
#	-k  guest kernel (7.2)
#
# Cases: virtio-net-pci, with one pair of queues; virtio-net-tap, with enough for XDP, which
# needs root or user namespaces; e1000e; igb, in Debian 13's QEMU (lab/qemu.sh), which is
# fetched unless LAB_QEMU is another.

set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
. selftests/lab/common.sh
. selftests/bench/qemu_nics.sh
kernel=7.2
while getopts k:h option; do
	case $option in
	k) kernel=$OPTARG; lab_check_kernel "$kernel" ;;
	*) sed -n '3,/^$/s/^#[[:space:]]\?//p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
(($#)) || set -- virtio-net-pci virtio-net-tap e1000e igb

run() { # CASE NICS [COMMAND...]: in which the guest runs
	"${@:3}" selftests/lab/guest -k "$kernel" -c 2 -t 900 -n "$2" -- \
		/src/selftests/bench/nic_relay_guest.sh "$1"
}

taps() { # CASE
	local inside='. selftests/bench/qemu_nics.sh && qemu_taps tap1:br1 tap2:br1 tap3:br2 tap4:br2 && exec "$@"'
	local -a namespace=(unshare --net)

	((!EUID)) || namespace+=(--map-root-user)
	# Two processors, each with a pair of queues for the kernel and one for XDP.
	run "$1" "$(qemu_nics_tap 4 tap1 tap2 tap3 tap4)" "${namespace[@]}" bash -c "$inside" bash
}

status=0
for case; do
	echo "== $case, kernel $kernel"
	case $case in
	virtio-net-tap) taps "$case" ;;
	igb) LAB_QEMU=${LAB_QEMU:-$(selftests/lab/qemu.sh)} run "$case" "$(qemu_nics "$case" 1 1 2 2)" ;;
	*) run "$case" "$(qemu_nics "$case" 1 1 2 2)" ;;
	esac || status=1
done
exit "$status"
