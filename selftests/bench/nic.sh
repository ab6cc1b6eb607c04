#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whether other NICs do what kernel/nic.sh expects of the test NIC where they have it in common: two of
# each of QEMU's models, joined by a hub.
#
#	nic.sh [-k KERNEL] [MODEL...]
#
#	-k  guest kernel (7.2)
#
# Models: virtio-net-pci, e1000e, vmxnet3 and, where QEMU has it (8.0 and later), igb.
# LAB_QEMU names another QEMU than the host's, as that of Debian 13 (lab/qemu.sh).

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
(($#)) || set -- virtio-net-pci e1000e vmxnet3 igb

known=$("${LAB_QEMU:-qemu-system-x86_64}" -device help)
status=0
for model; do
	echo "== $model, kernel $kernel"
	if ! grep -q "^name \"$model\"" <<<"$known"; then
		echo "not in this QEMU"
		continue
	fi
	selftests/lab/guest -k "$kernel" -c 1 -n "$(qemu_nics "$model" 1 1)" -- \
		/src/selftests/bench/nic_guest.sh "$model" || status=1
done
exit "$status"
