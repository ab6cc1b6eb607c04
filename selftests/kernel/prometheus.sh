#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12
# Runs: when named
# Timeout: 600
# Prometheus itself reads what toctl export serves, and raises the alerts of
# examples/monitoring when a cable is cut; they end when it is whole again.
#
#	A eth1 == eth0 B eth1 == eth0 C

. "$(dirname "$(realpath "$0")")/../lib.sh"
program=/src/build/prometheus/prometheus
[[ -x $program ]] || skip_all "selftests/lab/prometheus.sh did not run"

must chain_up 3
on "$B" ip link set lo up
in_netns "$B" toctl export --listen 10116 2>"$tmp/serve.log" &
at_exit "kill $!"
wait_listen "$B" 10116
cat >"$tmp/prometheus.yml" <<-END
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [ /src/examples/monitoring/topoopt.rules.yml ]
scrape_configs:
  - { job_name: topoopt, static_configs: [ { targets: [ "127.0.0.1:10116" ] } ] }
END
in_netns "$B" "$program" --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/data" \
	--web.listen-address=127.0.0.1:9090 >"$tmp/prometheus.log" 2>&1 &
at_exit "kill $!; wait $!"

get() { # PATH
	on "$B" python3 -c 'import sys, urllib.request as r
print(r.urlopen("http://127.0.0.1:9090/api/v1/" + sys.argv[1]).read().decode())' "$1"
}
value() { # QUERY
	get "query?query=$(jq -nr --arg query "$1" '$query | @uri')" | jq -r '.data.result[0].value[1] // "none"'
}
is_value() { # QUERY VALUE
	[[ $(value "$1") == "$2" ]]
}
firing() { # ALERT [PORT]
	get alerts | jq -e --arg name "$1" --arg port "${2:-}" '.data.alerts[] | select(
		.state == "firing" and .labels.alertname == $name and
		(.labels.port // "") == $port)'
}
quiet() {
	get alerts | jq -e '.data.alerts == []'
}

check "Prometheus scrapes it" wait_for 180 is_value 'up{job="topoopt"}' 1
is "a port that is up" "$(value 'topoopt_port_live{port="eth1"}')" 1
on "$A" ping -q -c 5 -i 0.05 "$(node "$C")" >/dev/null
check "what is relayed is counted" wait_for 60 \
	is_value 'topoopt_device_relay_receive_packets_total>9' \
	"$(on "$B" toctl show counters --json | jq '[.eth0, .eth1 | .["relay-rx-packets"]] | add')"
check "no alert while all is well" quiet
must on "$B" ip link set eth1 down
check "a cut cable raises one" wait_for 120 firing TopooptPortDark eth1
must on "$B" ip link set eth1 up
check "until it is whole" wait_for 60 quiet
done_testing
