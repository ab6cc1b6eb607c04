#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# toctl doctor finds the RoCEv2 GID of a port's address, or that it is missing, and
# RDMA devices that a dark link cut off; toctl job env names the same. On 7.2, where
# rdma_rxe works in network namespaces.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 3 --no-apply >/dev/null
must "$fabric" rxe
for server in "${servers[@]}"; do
	must apply "$server" "$plan" >/dev/null
done

doctor() { on_sysfs "$B" toctl doctor "$plan" --node "$B"; }

doctor >"$tmp/sound"
gid=$(doctor | sed -n "s/^ok   eth1: gid: $B-eth1 has the RoCEv2 GID \([0-9]*\) .*/\1/p")
# shellcheck disable=SC2046,SC2183 # words of the address
is "RoCE GID of the port's IPv4 address" \
	"$(cat "/sys/class/infiniband/$B-eth1/ports/1/gids/${gid:-none}")" \
	"$(printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' \
		$(port_ip "$B" eth1 | tr . ' '))"
job_env() { # CLIENT [SERVER]
	on_sysfs "${2:-$B}" toctl job env "$plan" --node "${2:-$B}" --for "$1"
}
is "NCCL is given both devices and the GID" \
	"$(job_env nccl 2>/dev/null | grep -E '_(HCA|GID_INDEX)=')" \
	"NCCL_IB_HCA==$B-eth0:1,$B-eth1:1"$'\n'"NCCL_IB_GID_INDEX=$gid"
doctor_for() { # CLIENT
	on_sysfs "$B" toctl doctor "$plan" --node "$B" --for "$1"
}
check "doctor finds what NCCL needs" grep -qx 'ok   nccl: ports: .*' <(doctor_for nccl)
must on "$B" ip address del "$(port_ip "$B" eth1)/32" dev eth1
must on "$B" ip address del "$(port_ip6 "$B" eth1)/128" dev eth1
check_fails "and that it has no GID" "FAIL nccl: ports: $B: $B-eth1 of eth1 has no RoCEv2 GID" \
	doctor_for nccl
check_fails "RoCE GID missing" 'FAIL eth1: gid: .* has no RoCEv2 GID' doctor
check_fails "and no environment without it" \
	"^toctl job env: $B: $B-eth1 of eth1 has no RoCEv2 GID" job_env ucx
# each server sees the devices of both, and an eth1 at each
must on "$A" ip address del "$(port_ip "$A" eth1)/32" dev eth1
must on "$A" ip address del "$(port_ip6 "$A" eth1)/128" dev eth1
check_fails "nor on the other server, which has its own device" \
	"^toctl job env: $A: $A-eth1 of eth1 has no RoCEv2 GID" job_env ucx "$A"
must apply "$A" "$plan" >/dev/null
must apply "$B" "$plan" >/dev/null
check "which apply mends" wait_for 60 doctor

# A queue pair has no way round a dark link: jobs do without its device.
dark() { # PORT FIX
	doctor | grep -A 1 "^warn $1: rdma: $B-$1:1 reaches nobody" | grep -qx " *fix: $2"
}

check "no device is cut off" sh -c "! grep -q ': rdma:' '$tmp/sound'"
must "$fabric" darken "$B:eth1"
wait_for 60 on "$B" sh -c '! ip link show eth1 | grep -q LOWER_UP'
check "a dark link takes its device" \
	dark eth1 "run jobs without it: NCCL_IB_HCA==$B-eth0:1 UCX_NET_DEVICES=$B-eth0:1"
is "and no other" "$(doctor | grep -c ': rdma:')" 1
check "UCX is not given it" grep -qx "UCX_NET_DEVICES=$B-eth0:1" <(job_env ucx)
check "without a plan too" grep -q "^warn eth1: rdma: " <(on_sysfs "$B" toctl doctor)
must "$fabric" darken "$B:eth0"
wait_for 60 on "$B" sh -c '! ip link show eth0 | grep -q LOWER_UP'
check "all of them" dark eth0 "light a port: none of the RDMA devices has carrier"
must "$fabric" light "$B:eth0"
must "$fabric" light "$B:eth1"
check "light again" wait_for 60 doctor
is "no device is cut off then" "$(doctor | grep -c ': rdma:')" 0


# The node's address also is a GID of the port, see roce_gid_mgmt.c of the kernel.
gids() { # which RoCEv2 GIDs of IPv4 B's eth1 has, in their order
	grep -ho ':ffff:....:....$' "/sys/class/infiniband/$B-eth1/ports/1/gids/"{0..15}
}
gid_of() { # IPV4-ADDRESS
	# shellcheck disable=SC2046,SC2183
	printf ':ffff:%02x%02x:%02x%02x' $(tr . ' ' <<<"$1")
}
gids_are() { # IPV4-ADDRESS...
	[[ $(gids | xargs) == "$(for address; do gid_of "$address"; echo; done | xargs)" ]]
}
# in an order that the links' going dark and light has no part in
must on "$B" ip address del "$(port_ip "$B" eth1)/32" dev eth1
must on "$B" ip address del "$(node "$B")/32" dev topo0
must wait_for 60 eval '[[ -z $(gids) ]]'
must on "$B" ip address add "$(port_ip "$B" eth1)/32" dev eth1
must wait_for 60 gids_are "$(port_ip "$B" eth1)"
must on "$B" ip address add "$(node "$B")/32" dev topo0
check "the node's address is a GID, too, after that of the port" \
	wait_for 60 gids_are "$(port_ip "$B" eth1)" "$(node "$B")"
must on "$B" ip address del "$(port_ip "$B" eth1)/32" dev eth1
must wait_for 60 gids_are "$(node "$B")"
must on "$B" ip address add 10.250.0.1/32 dev topo0
must wait_for 60 eval '[[ $(gids | wc -l) == 2 ]]'
must apply "$B" "$plan" >/dev/null
must wait_for 60 eval '[[ $(gids | wc -l) == 3 ]]'
doctor >"$tmp/doctor"
index=$(grep -l "$(gid_of "$(port_ip "$B" eth1)")" \
	"/sys/class/infiniband/$B-eth1/ports/1/gids/"{0..15})
check "a GID of another address comes first" \
	grep -q "^warn eth1: gid: .* GID" "$tmp/doctor"
check "doctor says what to set" grep -q "NCCL_IB_GID_INDEX=${index##*/} " "$tmp/doctor"
check "and that it has drifted from that of the others" grep -q \
	"^warn eth1: gid: $B-eth1 has the port's address at GID ${index##*/}, others at " "$tmp/doctor"

# Doctor's own command mends it, once the address in its place is gone.
must on "$B" ip address del 10.250.0.1/32 dev topo0
must on "$B" ip address del "$(node "$B")/32" dev topo0
must wait_for 60 gids_are "$(port_ip "$B" eth1)"
doctor >"$tmp/doctor"
mend=$(sed -n 's/^ *fix: with no job on it: //p' "$tmp/doctor")
[[ $mend ]] && must on "$B" sh -c "$mend"
check "its command mends that" wait_for 60 sh -c \
	"! ip netns exec $B toctl doctor '$plan' --node '$B' | grep -q 'others at'"

done_testing
