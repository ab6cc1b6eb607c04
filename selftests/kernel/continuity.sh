#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12
# Continuity checks: neighbours are heard, or take no traffic.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 3
checks() { # SERVER COMMAND...
	on "$1" python3 "$lib_dir/kernel/continuity.py" "${@:2}"
}
says() { # SERVER EXPECTED
	[[ $(checks "$1" show | cut -d ' ' -f 2- | paste -sd ,) == "$2" ]]
}
said() { # NAME SERVER EXPECTED
	check "$1" wait_for 60 says "$2" "$3" || checks "$2" show
}
must wait_for 60 on "$A" ping -c 1 -W 1 "$(node "$C")"
for server in "${servers[@]}"; do
	check "checks on $server" checks "$server" on "$plan" "$server" 100ms
done
said "B hears both" "$B" "A:eth1 heard transit,C:eth0 heard transit"
said "A hears B" "$A" "B:eth0 heard transit"
checks "$B" show
check "relaying goes on" on "$A" ping -c 1 -W 5 "$(node "$C")"
# silent with light
must tc -n "$C" qdisc add dev eth0 clsact
must tc -n "$C" filter add dev eth0 ingress matchall action drop
said "C no longer hears B" "$C" "B:eth1 silent none"
said "B is told" "$B" "A:eth1 heard transit,C:eth0 unheard none"
must tc -n "$C" filter del dev eth0 ingress
said "C hears B again, after a run" "$C" "B:eth1 heard transit"
said "B, too" "$B" "A:eth1 heard transit,C:eth0 heard transit"
# Ten checks in a row take 10 s.
for server in "$B" "$C"; do
	must checks "$server" on "$plan" "$server" 1s
done
must tc -n "$C" filter add dev eth0 ingress matchall action drop
said "silent again" "$B" "A:eth1 heard transit,C:eth0 unheard none"
must tc -n "$C" filter del dev eth0 ingress
said "heard again, and not yet trusted" "$B" "A:eth1 heard transit,C:eth0 recovering none"
check "what has no other way passes" on "$A" ping -c 1 -W 5 "$(node "$C")"
check "before it is trusted" says "$B" "A:eth1 heard transit,C:eth0 recovering none"
for server in "$B" "$C"; do
	must checks "$server" on "$plan" "$server" 100ms
done
said "trusted" "$B" "A:eth1 heard transit,C:eth0 heard transit"
must ip -n "$C" link set topo0 down
said "C's device is down" "$B" "A:eth1 heard transit,C:eth0 down none"
must ip -n "$C" link set topo0 up
said "and up" "$B" "A:eth1 heard transit,C:eth0 heard transit"
check "another fabric" checks "$C" on "$plan" "$C" 100ms 8
said "is none" "$B" "A:eth1 heard transit,C:eth0 fabric none"
checks "$B" get eth1 received
checks "$B" get eth1 missing
checks "$B" get eth1 largest
done_testing
