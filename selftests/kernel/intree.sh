#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# The kselftest that `make intree` puts into the kernel's tree (selftests/intree).

. "$(dirname "$(realpath "$0")")/../lib.sh"

ynl=/src/build/ynl/tools/net/ynl/cli.py
[[ -e $ynl ]] || skip_all "no ynl: Documentation/netlink/ynl.sh build/ynl"
must modprobe topoopt_fwd
YNL=$ynl SPEC=$lib_dir/../Documentation/netlink/specs/topoopt.yaml \
	exec "$lib_dir/intree/relay.sh"
