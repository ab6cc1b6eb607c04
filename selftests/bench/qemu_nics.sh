# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# QEMU's NICs for guests; sourced, never run.
#
#	qemu_nics MODEL HUB...	options of guest -n: a NIC for each argument, plugged into that hub
#	qemu_nics_tap QUEUES TAP...
#				virtio-net with so many pairs of queues, as only taps have several
#	qemu_taps TAP:BRIDGE...	make taps with several queues, in a network namespace of one's own

# A bridge for each, as igb takes numbers of other devices for its virtual functions.
qemu_nic() { # NUMBER DEVICE
	printf -- '-device pci-bridge,id=bus%d,chassis_nr=%d,shpc=off ' "$1" "$1"
	printf -- '-device %s,netdev=net%d,bus=bus%d,addr=1,romfile=,mac=52:54:00:00:00:0%d ' \
		"$2" "$1" "$1" "$1"
}

qemu_nics() { # MODEL HUB...
	local model=$1 i=0 hub

	for hub in "${@:2}"; do
		printf -- '-netdev hubport,id=net%d,hubid=%d ' $((++i)) "$hub"
		qemu_nic $i "$model"
	done
}

qemu_nics_tap() { # QUEUES TAP...
	local queues=$1 i=0 tap

	for tap in "${@:2}"; do
		printf -- '-netdev tap,id=net%d,ifname=%s,queues=%d,script=no,downscript=no ' \
			$((++i)) "$tap" "$queues"
		qemu_nic $i "virtio-net-pci,mq=on,vectors=$((2 * queues + 2))"
	done
}

qemu_taps() { # TAP:BRIDGE...
	local tap bridge pair

	for pair; do
		IFS=: read -r tap bridge <<<"$pair"
		ip link show "$bridge" >/dev/null 2>&1 ||
			ip link add "$bridge" mtu 9000 up type bridge mcast_snooping 0
		ip tuntap add "$tap" mode tap multi_queue
		ip link set "$tap" mtu 9000 master "$bridge" up
	done
}
