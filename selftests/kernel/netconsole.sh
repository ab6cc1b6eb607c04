#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.1 6.12 6.12-arm64 7.2
# netconsole sends wherever the kernel prints, with interrupts off: not through a
# topoopt device.

. "$(dirname "$(realpath "$0")")/../lib.sh"

must modprobe topoopt_fwd
modprobe netconsole 2>/dev/null || skip_all "no netconsole"
mount -t configfs configfs /sys/kernel/config 2>/dev/null
target=/sys/kernel/config/netconsole/selftest
at_exit "modprobe -r netconsole"
at_exit "ip link del topo0"
at_exit "ip link del console0"
at_exit "rmdir $target"
must ip link add console0 type dummy
must ip link add topo0 type topoopt
must ip link set console0 up
must ip link set topo0 up
must mkdir "$target"
must tee "$target/local_ip" >/dev/null <<<10.255.0.1
must tee "$target/remote_ip" >/dev/null <<<10.255.0.2
console_on() { # DEVICE
	echo "$1" >"$target/dev_name" && echo 1 >"$target/enabled"
}

must console_on console0
is "netconsole over another device" "$(cat "$target/enabled")" 1
must tee "$target/enabled" >/dev/null <<<0
dmesg --clear
check_fails "over the topoopt device it is refused" . console_on topo0
is "and stays off" "$(cat "$target/enabled")" 0
check "as the device does not support it" grep -q "topo0 doesn't support polling" <(dmesg)

done_testing
