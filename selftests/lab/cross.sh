#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run a command where programs are compiled for arm64 (arm64.sh), in the same
# directory of the source tree.
#
#	cross.sh COMMAND...

set -euo pipefail
. "$(dirname "$(realpath "$0")")/common.sh"

lab_use_kernel 6.12-arm64
lab_in_root "$boot/cross" env -C "/src/${PWD#"$lab_src"}" "$@"
