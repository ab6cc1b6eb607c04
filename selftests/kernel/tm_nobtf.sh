#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Traffic is counted by the module although the module has no BTF, as when
# it was built against headers without vmlinux.
#
#	A eth1 ==== eth0 B eth1 ==== eth0 C		recording on B

. "$(dirname "$(realpath "$0")")/../lib.sh"

without_module_btf
check "the module has no BTF" test ! -e /sys/kernel/btf/topoopt_fwd

must chain_up 3
in_netns "$B" toctl tm record "$plan" --node "$B" --count 0 \
	-o "$tmp/B.tm" 2>"$tmp/B.log" &
recorder=$!
check "recording starts" wait_for 60 grep -q recording "$tmp/B.log"
check "by the module" grep -q "(module)" "$tmp/B.log"
for _ in {1..20}; do
	on "$A" bash -c "printf '%500s' '' >/dev/udp/$(node "$C")/9999"
done
kill -INT "$recorder"
wait "$recorder"
is "recording ends well" "$?" 0
is "every byte is counted, under its pair" \
	"$(toctl tm show "$tmp/B.tm" --json --view relayed | jq -c .bytes[0])" "[0,0,$((20 * 542))]"

done_testing
