#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The demo's second act, inside a guest of its own: other servers become busy
# with each other, and toctl run rewires the optical switch for them. Eight
# servers, three ports each, with wires slow enough for an emulated machine.

. "$(dirname "$(realpath "$0")")/../lib.sh"
phases_servers=8 phases_degree=3
phases_rate=1M phases_bytes=500000 phases_allreduce=70000
. "$lib_dir/lab/phases.sh"

# As the first act prints it.
ok() { printf 'ok      %s\n' "$1"; }
not_ok() {
	printf 'FAILED  %s\n%s\n' "$1" "${2:-}"
	((++tap_failed))
}

pairs() { phase_pairs "$1" | jq -r 'map("s\(.[0])-s\(.[1])") | join(" ")'; }
times() { phase_times "$1" | jq -r 'map(tostring) | join(", ") + " s"'; }

printf '== The closed loop: %s servers, wires of %sbit/s, an optical switch that is dark for 10 ms\n' \
	"$phases_servers" "$phases_rate"
must phase_plan across >"$tmp/across.json" 2>"$tmp/plan.log"
must phase_of "$tmp/across.json" across >"$tmp/across.traffic"
must phase_of "$tmp/across.json" near >"$tmp/near.traffic"
cp "$tmp/across.json" "$tmp/run.json"
must fabric_up "$tmp/across.json" >"$tmp/up.log" 2>&1
# Of each flow some packets, in turn: no flow waits behind another's queue.
must phases_shape sfq limit 64 depth 8
printf '        planned for AllReduce and the hot pairs %s\n' "$(pairs across)"

check "other pairs are hot, $(pairs near), and nobody changes the plan" \
	phase_traffic "$tmp/near.traffic" before 1
printf '        %s an iteration\n' "$(times before)"

# A change costs more than AllReduce alone could gain by links of its own.
must run_start "$tmp/run.json" --interval 100ms --change-cost 1s
check "with toctl run, the pairs that were planned for are hot" \
	phase_traffic "$tmp/across.traffic" steady 2
printf '        %s an iteration\n' "$(times steady)"
is "toctl run has no reason to rewire anything" "$(run_events changed '.action == "rewire"')" ""

check "the other pairs are hot again" phase_traffic_until_changed "$tmp/near.traffic" shift 2
printf '        %s an iteration in the end\n' "$(times shift)"
check "toctl run rewires the optical switch" run_saw changed '.action == "rewire"'
run_times | sed 's/^/        /'
is "hot pairs have links of their own" "$(jq -c --argjson pairs "$(phase_pairs near)" '
	[.links[] | [.a, .b | split(":")[0][1:] | tonumber] | sort] as $links
	| $pairs - $links' "$tmp/run.json")" "[]"
is "no transfer lost a byte" \
	"$(jq -s 'map(.mp_transfers == .mp_transfers_ok) | all' "$tmp"/shift.s*)" true
# Without a change it is within a few percent.
check "an iteration takes less time than on the old plan" \
	test "$(jq -n --argjson before "$(phase_times before)" --argjson after "$(phase_times shift)" \
		'($before | min) * 0.85 > ($after | last)')" = true
run_end
is "toctl run ends with the fabric as planned" "$?" 0

((tap_failed == 0)) || cat "$tmp/run.text"
exit $((tap_failed > 0))
