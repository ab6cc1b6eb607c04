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
checks() { # on|off
	local server

	for server in "${servers[@]}"; do
		must on "$server" python3 "$lib_dir/kernel/continuity.py" "$1" "$plan" "$server" 100ms
	done
}
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
	must apply "$R" "$plan" --xdp auto >/dev/null
}
for end in "$R eth1" "$T eth0"; do
	must tc -n "${end% *}" qdisc add dev "${end#* }" clsact
done

outage() { # NAME END...: loses all that arrives at these
	local name=$1 try gap

	shift
	# Emulation may stop the machine for longer than that; not three times.
	for try in 1 2 3; do
		checks on
		gap=$(python3 "$lib_dir/kernel/continuity_detect.py" "$A" "$R" "$T" "$(node "$T")" "$@")
		echo "# $name: $gap ms"
		checks off
		[[ -n $gap ]] || break
		((gap > 400)) || break
	done
	check "$name: within 400 ms, and not at the first lost check" test "$gap" -le 400 -a "$gap" -ge 200
}

for path in skb xdp; do
	[[ $path == skb ]] || xdp
	outage "$path, both ways" "$R eth1" "$T eth0"
	outage "$path, towards T" "$T eth0"
done
check "XDP relayed some of it" eval \
	'(($(on "$R" ethtool -S eth0 | awk "/rx_queue.*xdp_redirect/ { n += \$2 } END { print n + 0 }") > 50))'
done_testing
