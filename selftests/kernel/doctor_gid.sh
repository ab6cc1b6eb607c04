#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# toctl doctor finds the RoCEv2 GID of a port's address, or that it is missing. On
# 7.2, where rdma_rxe works in network namespaces.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 3 >/dev/null
must "$fabric" rxe

doctor() { on "$B" toctl doctor --plan "$plan" --node "$B"; }

gid=$(doctor | sed -n "s/^ok   eth1: gid: $B-eth1 has the RoCEv2 GID \([0-9]*\) .*/\1/p")
# shellcheck disable=SC2046,SC2183 # words of the address
is "RoCE GID of the port's IPv4 address" \
	"$(cat "/sys/class/infiniband/$B-eth1/ports/1/gids/${gid:-none}")" \
	"$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' \
		$(port_ip "$B" eth1 | tr . ' '))"
must on "$B" ip address del "$(port_ip "$B" eth1)/32" dev eth1
must on "$B" ip address del "$(port_ip6 "$B" eth1)/128" dev eth1
check_fails "RoCE GID missing" 'FAIL eth1: gid: .* has no RoCEv2 GID' doctor
must apply "$B" "$plan" >/dev/null
check "which apply mends" wait_for 60 doctor

done_testing
