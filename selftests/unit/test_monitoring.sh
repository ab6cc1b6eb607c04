#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Alerts and dashboard of examples/monitoring, as Prometheus' own tool sees them. That their
# metrics are those of toctl export is tested in kernel/export.sh.

set -u
promtool=$PWD/build/prometheus/promtool
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd examples/monitoring || exit
if [[ ! -x $promtool ]]; then
	echo "1..0 # SKIP selftests/lab/prometheus.sh did not run"
	exit
fi

number=0 status=0
check() { # NAME COMMAND...
	local name=$1 output

	shift
	if output=$("$@" 2>&1); then
		echo "ok $((++number)) - $name"
	else
		echo "not ok $((++number)) - $name"
		printf '%s\n' "$output" | sed 's/^/# /'
		status=1
	fi
}

# A rule for each query of the dashboard, with its variables set.
queries() {
	jq '{ groups: [ { name: "dashboard", rules: [ .panels[].targets[].expr
		| gsub("\\$__rate_interval"; "1m") | gsub("\\$instance"; ".*")
		| { record: "query", expr: . } ] | to_entries
		| map(.value + { labels: { number: "\(.key)" } }) } ] }' grafana.json >"$tmp/queries.yml" &&
		grep -q topoopt_port_live "$tmp/queries.yml" && ! grep -F '$' "$tmp/queries.yml"
}

check "the rules are valid" "$promtool" check rules --lint-fatal topoopt.rules.yml
check "alerts are raised when they should be" "$promtool" test rules topoopt.tests.yml
check "the dashboard has queries" queries
check "which are valid" "$promtool" check rules "$tmp/queries.yml"
check "and panels that do not overlap" jq -e '[.panels | keys[] as $i | keys[] as $k |
	select($i < $k) | [.[$i], .[$k]] | map(.gridPos) | select(
		.[0].x < .[1].x + .[1].w and .[1].x < .[0].x + .[0].w and
		.[0].y < .[1].y + .[1].h and .[1].y < .[0].y + .[0].h)] == []' grafana.json
echo "1..$number"
exit "$status"
