#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the lab tries before it starts a guest is not shown, also when it is aborted, as
# QEMU is by a /dev/kvm that does not work.

lab=$PWD/selftests/lab

quietly() { # COMMAND: in a bash of its own, as a script; its status comes last
	bash -c '. "$1/common.sh"
		lab_quietly bash -c "$2"
		echo $?' sh "$lab" "$1" 2>&1
}

echo 1..2
# shellcheck disable=SC2016 # $$ is the command's
[[ $(quietly 'echo loud; echo loud >&2; ulimit -c 0; kill -ABRT $$') == 134 ]] || printf 'not '
echo "ok 1 - what is aborted is not told of"
[[ $(quietly 'echo loud') == 0 ]] || printf 'not '
echo "ok 2 - what ends well ends well"
