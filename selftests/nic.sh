# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Cards of the test NIC (selftests/module/nic), for tests in guests: source it after lib.sh.
#
#	nic_load
#	nic_card spark1 domains=16,18		# two ports, two PCIe links: four functions
#	nic_card spark2 domains=20,22
#	nic_cable spark1:0 spark2:1
#	must ip netns add s1
#	nic_move s1 enP16p1s0f0np0 enp1s0f0np0	# as the server calls it
#	nic_trait 16 0 rdma 1			# function of port 0 in PCI domain 16
#
# A function of port P in PCI domain D (decimal) is enPDp1s0fPnpP at first, and its MAC address
# is that of nic_mac D P. What traits there are, module/nic/nic.h says.

nic_debugfs=/sys/kernel/debug/topoopt_nic

nic_load() {
	local module

	module=/src/build/kmod-$(uname -r)/test/nic/topoopt_nic.ko
	[[ -e $module ]] || skip_all "no test NIC for this kernel"
	modprobe -q 8021q
	must insmod "$module"
	at_exit "rmmod topoopt_nic"
}

nic_command() { # WORD...
	printf '%s' "$*" >"$nic_debugfs/command"
}

nic_card() { # NAME [KEY=VALUE...]
	must nic_command card "$@"
}

nic_cable() { # CARD:PORT CARD:PORT
	must nic_command cable "$@"
}

nic_cut() { # CARD:PORT
	must nic_command cut "$@"
}

nic_move() { # SERVER INTERFACE [NAME]
	must ip link set "$2" netns "$1" name "${3:-$2}"
}

nic_address() { # DOMAIN PORT: on the PCI bus
	printf '%04x:01:00.%d' "$1" "$2"
}

nic_mac() { # DOMAIN PORT
	printf '02:54:4e:%02x:%02x:%02x' $(($1 >> 8)) $(($1 & 255)) "$2"
}

nic_trait() { # DOMAIN PORT NAME VALUE
	must tee "$nic_debugfs/$(nic_address "$1" "$2")/$3" >/dev/null <<<"$4"
}
