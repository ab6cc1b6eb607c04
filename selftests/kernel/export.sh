#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12
# toctl export: what Prometheus reads is what the kernel counted.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"

read_as() { # FORMAT FILE: into the array metric
	local name value

	metric=()
	while read -r name value; do
		metric[$name]=$value
	done < <("$lib_dir/kernel/export.py" "$@")
}
declare -A metric
metric() { # NAME LABELS
	local key="$1{$2}"

	echo "${metric[$key]:-none}"
}

# B's counters beside the metrics: the device's as ethtool shows them, those of
# the ports as toctl show does. Prints those that differ; checks go on between the two,
# so that theirs are at most those of the kernel.
declare -A names=(
	[relay_rx_packets]=relay_receive_packets_total [relay_rx_bytes]=relay_receive_bytes_total
	[relay_xdp_packets]=relay_xdp_packets_total
	[relay_xdp_generic_packets]=relay_xdp_generic_packets_total
	[relay_tx_packets]=transmit_packets_total [relay_tx_bytes]=transmit_bytes_total
	[local_packets]=local_receive_packets_total [local_bytes]=local_receive_bytes_total
	[miss_packets]=miss_packets_total [backup_packets]=backup_packets_total
	[alternate_packets]=alternate_packets_total
	[check_sent]=checks_sent_total [check_received]=checks_received_total
	[check_missing]=checks_missing_total [check_refused]=checks_refused_total
)
compare() { # PREFIX LABELS; "name: value" on standard input
	local name value key

	while read -r name value; do
		name=${name%:} name=${name//-/_}
		key="$1_${names[$name]:-}{$2}"
		if [[ $name == drop_* ]]; then
			name=${name#drop_}
			key="$1_dropped_packets_total{$2,reason=${name//_/-}}"
		fi
		[[ ${metric[$key]:-none} == "$value" || ($name == check_@(sent|received) &&
			${metric[$key]:-} -gt 0 && ${metric[$key]} -le $value) ]] ||
			echo "$key: $value, exported ${metric[$key]:-none}"
	done
}
same() {
	local port

	on "$B" ethtool -S topo0 | sed 1d | compare topoopt_device device=topo0
	for port in eth0 eth1; do
		on "$B" toctl show counters --json | jq -r --arg port "$port" \
			'.[$port] | to_entries[] | "\(.key): \(.value)"' |
			compare topoopt_port "device=topo0,port=$port"
	done
}

must chain_up 3
hush 4791
on "$A" ping -q -c 5 -i 0.01 "$(node "$C")" >/dev/null
on "$A" ping -q -c 3 -i 0.01 "$(node "$B")" >/dev/null
on "$A" ping -q -c 1 -W 1 -t 1 "$(node "$C")" >/dev/null
must on "$B" ip link set eth1 down
on "$A" ping -q -c 1 -W 1 "$(node "$C")" >/dev/null

must on "$B" toctl export >"$tmp/open"
check "OpenMetrics parses" "$lib_dir/kernel/export.py" openmetrics "$tmp/open"
read_as openmetrics "$tmp/open"
is "every counter is the kernel's" "$(same)" ""
is "something was relayed" "$(($(metric topoopt_port_relay_receive_packets_total device=topo0,port=eth0) > 4))" 1
is "a spent TTL has its reason" \
	"$(metric topoopt_port_dropped_packets_total device=topo0,port=eth0,reason=ttl)" 1
is "a port that is up" "$(metric topoopt_port_live device=topo0,port=eth0)" 1
is "a port that is down" "$(metric topoopt_port_live device=topo0,port=eth1)" 0
is "generation" "$(metric topoopt_device_generation device=topo0)" 1
is "routes" "$(metric topoopt_device_routes device=topo0)" \
	"$(on "$B" toctl show --json | jq .routes)"
is "table memory" "$(metric topoopt_device_table_bytes device=topo0)" \
	"$(on "$B" toctl show --json | jq .memory)"
is "nothing is staged" "$(metric topoopt_device_staged device=topo0)" 0
check "the tool's version" grep -qF "version=\"$(toctl version | cut -d ' ' -f 2)\"" "$tmp/open"

# What alerts and dashboard ask for is exported.
grep -ohE 'topoopt_[a-z]+_[a-z_]+' "$lib_dir"/../examples/monitoring/{topoopt.rules.yml,grafana.json} |
	sort -u >"$tmp/asked"
is "all that alerts and the dashboard ask for" "$(printf '%s\n' "${!metric[@]}" |
	sed 's/{.*//' | sort -u | comm -13 - "$tmp/asked")" ""
is "which is something" "$(($(wc -l <"$tmp/asked") > 9))" 1

# Series depend on the server's own cables, not on the size of the fabric: B has two, A has one.
series() { # [peer]: of one neighbour
	printf '%s\n' "${!metric[@]}" | if [[ ${1:-} ]]; then
		grep '^topoopt_peer_.*port=eth0,'
	else
		grep -v '^topoopt_peer_'
	fi | wc -l
}
whole=$(series) peer=$(series peer)
must on "$A" toctl export >"$tmp/a"
read_as openmetrics "$tmp/a"
is "as many series on another server" "$(series)" "$whole"
is "and for each neighbour" "$((${#metric[@]} - $(series)))" "$peer"

must mkdir "$tmp/collector"
check "textfile" on "$B" toctl export -o "$tmp/collector/topoopt.prom"
check "textfile parses as Prometheus text" \
	"$lib_dir/kernel/export.py" prometheus "$tmp/collector/topoopt.prom"
read_as prometheus "$tmp/collector/topoopt.prom"
is "textfile: every counter is the kernel's" "$(same)" ""
is "textfile: of the type counter" "$(grep -c '^# TYPE topoopt_port_transmit_bytes_total counter$' \
	"$tmp/collector/topoopt.prom")" 1
inode=$(stat -c %i "$tmp/collector/topoopt.prom")
must on "$B" toctl export -o "$tmp/collector/topoopt.prom"
check "textfile: replaced, not rewritten" \
	test "$inode" != "$(stat -c %i "$tmp/collector/topoopt.prom")"
is "textfile: no other file is left" "$(ls "$tmp/collector")" topoopt.prom

is "JSON has the same figure" "$(on "$B" toctl export --json | jq '.[] |
	select(.name == "topoopt_port_relay_receive_bytes").samples[] | select(.port == "eth0").value')" \
	"$(on "$B" toctl show counters --json | jq '.eth0["relay-rx-bytes"]')"

# Over HTTP, on loopback.
on "$B" ip link set lo up
# not by on(): the process to signal is toctl, not a shell
in_netns "$B" toctl export --listen 10116 2>"$tmp/serve.log" &
server=$!
wait_listen "$B" 10116
get() { # PATH [HEADER]
	on "$B" python3 - "$@" <<-'END'
	import http.client, sys
	connection = http.client.HTTPConnection("127.0.0.1", 10116, timeout=10)
	headers = dict(h.split(": ", 1) for h in sys.argv[2:])
	connection.request(headers.pop("Method", "GET"), sys.argv[1], headers=headers)
	response = connection.getresponse()
	print(response.status, response.headers["Content-Type"], file=sys.stderr)
	sys.stdout.write(response.read().decode())
	END
}
is "HTTP listens on loopback alone" \
	"$(on "$B" ss -Hltn | awk '{ print $4 }')" 127.0.0.1:10116
get /metrics "Accept: application/openmetrics-text; version=1.0.0" >"$tmp/http" 2>"$tmp/status"
is "HTTP: OpenMetrics for who accepts it" "$(cat "$tmp/status")" \
	"200 application/openmetrics-text; version=1.0.0; charset=utf-8"
read_as openmetrics "$tmp/http"
is "HTTP: every counter is the kernel's" "$(same)" ""
get /metrics >"$tmp/http" 2>"$tmp/status"
is "HTTP: Prometheus text for others" "$(cat "$tmp/status")" \
	"200 text/plain; version=0.0.4; charset=utf-8"
check "HTTP: which parses" "$lib_dir/kernel/export.py" prometheus "$tmp/http"
is "HTTP: other paths" "$(get /x 2>&1 >/dev/null | cut -d ' ' -f 1)" 404
is "HTTP: other methods" "$(get /metrics "Method: POST" 2>&1 >/dev/null | cut -d ' ' -f 1)" 405

# Counters are read for each request, and the device may come and go.
on "$A" ping -q -c 2 -i 0.01 "$(node "$B")" >/dev/null
get /metrics 2>/dev/null >"$tmp/http"
read_as prometheus "$tmp/http"
is "HTTP: read anew" "$(same)" ""
must on "$B" ip link del topo0
get /metrics 2>"$tmp/status" >"$tmp/http"
is "HTTP: without a device" "$(cut -d ' ' -f 1 "$tmp/status") $(grep -c device= "$tmp/http")" "200 0"
kill "$server"
wait "$server"
is "HTTP: ends on SIGTERM" "$?" 0

check_fails "no such device" "there is no topoopt device topo7" on "$B" toctl export --dev topo7
on "$B" nc -l 127.0.0.1 10117 &
must wait_listen "$B" 10117
check_fails "a port that is taken" "cannot listen on 10117: Address already in use" \
	on "$B" toctl export --listen 10117
kill "$!"
check "needs no privilege" on "$A" setpriv --reuid 65534 --clear-groups \
	--bounding-set=-all --inh-caps=-all toctl export

done_testing
