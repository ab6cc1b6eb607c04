#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.1 6.12 7.2
# A link that loses all frames, with light on, both ways and one way: the backup takes over
# within 3.5 intervals and 50 ms, without user space, by skb and by XDP.
#
#	A eth0 == eth0 R eth1 == eth0 T		primary
#	               R eth2 == eth1 T		backup

. "$(dirname "$(realpath "$0")")/../lib.sh"
. "$lib_dir/double.sh"

double_up '[{"port": "eth1"}, {"port": "eth2", "backup": true}]'
off=$(plan_edit '.checks = {interval: "off"}')
# As frames are on a fibre, and NICs that take what XDP sends.
xdp() {
	local port wire

	must on "$A" ethtool -K eth0 tx off >/dev/null
	for port in eth0 eth1 eth2; do
		must on "$R" ethtool -K $port rxvlan off rx-vlan-stag-hw-parse off >/dev/null
	done
	for wire in $(ip -n ocs -br link | sed -n 's/^\(w[^@ ]*\).*/\1/p'); do
		must on ocs ethtool -K "$wire" gro on >/dev/null
	done
}
must tc -n "$T" qdisc add dev eth0 clsact

outage() { # NAME DIRECTION...: T loses all at eth0
	local name=$1 least most

	# checks that are switched on again forget relapses
	must apply "$R" "$off" --xdp $mode >/dev/null
	must apply "$R" "$plan" --xdp $mode >/dev/null
	read -r least most < <(python3 "$lib_dir/kernel/continuity_detect.py" \
		"$A" "$R" "$T" "$(node "$T")" "${@:2}")
	echo "# $name: $least to $most ms"
	check "$name: within 400 ms" test "$least" -le 400
	check "$name: not at the first lost check" test "$most" -ge 200
}

for mode in off on; do
	[[ $mode == off ]] || xdp
	outage "XDP $mode, both ways" ingress egress
	outage "XDP $mode, towards T" ingress
done
check "XDP relayed some of it" eval \
	'(($(on "$R" ethtool -S eth0 | awk "/rx_queue.*xdp_redirect/ { n += \$2 } END { print n + 0 }") > 50))'
done_testing
