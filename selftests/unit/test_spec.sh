#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The uapi header and the module's policies are what the kernel's generator
# makes of the netlink spec, and the generator refuses no part of it.

if difference=$(Documentation/netlink/regen.sh --check 2>&1); then
	echo "ok 1 - generated files are those of the spec"
else
	echo "not ok 1 - generated files are those of the spec"
	tail -n 40 <<<"$difference" | sed 's/^/# /'
fi
echo 1..1
