#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bench/nic.sh's part in the guest: eth0 and eth1 are of the model.
#
#	nic_guest.sh MODEL

. "$(dirname "$(realpath "$0")")/../lib.sh"
# shellcheck source=selftests/nic.sh
. "$lib_dir/nic.sh"
model=$1 driver=${1%-pci}

modprobe -q 8021q
must modprobe "${driver//-/_}"
for server in a b; do
	must ip netns add "$server"
	must on "$server" sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1
done
nic_move a eth0
nic_move b eth1
must ip -n a link set eth0 up
must ip -n b link set eth1 up
nic_peers a b
nic_basics "$model" a eth0 b eth1 10.1.0
nic_chooses "$model" a eth0 b eth1
if [[ $model == e1000e ]]; then
	skip "$model: VLANs that were not added" "e1000e_set_rx_mode() leaves the filter off"
	skip "$model: native XDP" "not in this driver"
else
	nic_chooses_vlans "$model" a eth0 b eth1
	nic_runs_xdp "$model" a eth0 b eth1 10.1.0.2
fi
done_testing
