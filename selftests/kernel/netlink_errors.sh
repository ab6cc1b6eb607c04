#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Timeout: 300
# Every class of malformed or refused netlink message to B gets its errno, a
# text and the attribute at fault, changes nothing, and costs no packet:
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 3
wait_for 60 on "$A" ping -c 1 -W 1 "$(node "$C")"
in_netns "$A" ping -i 0.05 -W 2 "$(node "$C")" >"$tmp/ping" &
ping=$!

on "$B" python3 "$lib_dir/kernel/netlink_errors.py" topo0 eth0 eth1 | tee "$tmp/tap" | grep -v '^1\.\.'
tap_count=$(grep -c '^\(not \)\?ok' "$tmp/tap")
tap_failed=$(grep -c '^not ok' "$tmp/tap")
check "all classes were tried" grep -q '^1\.\.[1-9]' "$tmp/tap"

kill -INT "$ping"
wait "$ping"
is "packets lost meanwhile" "$(sed -n 's/.* \([0-9.]*\)% packet loss.*/\1/p' "$tmp/ping")" 0

modprobe tun
check "what a port transmits through stays Ethernet" on "$B" python3 - "$lib_dir" <<'END'
import errno, fcntl, os, struct, sys
sys.path.insert(0, sys.argv[1])
import genl
TUNSETIFF, TUNSETLINK, TAP, INFINIBAND, ETHER = 0x400454ca, 0x400454cd, 0x1002, 32, 1
tap = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", b"tap0", TAP))
def transmit(name):
    genl.Family().do("port-set", {"ifindex": genl.ifindex("topo0"), "port": {
        "ifindex": genl.ifindex("eth1"), "tx-ifindex": genl.ifindex(name)}})
def change(kind):
    try:
        fcntl.ioctl(tap, TUNSETLINK, kind)
    except OSError as error:
        return error.errno
    return 0
transmit("tap0")
assert change(INFINIBAND) == errno.EPERM
transmit("eth1")
assert change(INFINIBAND) == 0 and change(ETHER) == 0
END
done_testing
