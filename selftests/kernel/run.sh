#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# Timeout: 1200
# toctl run on a live fabric: it leaves steady traffic alone, gives other hot
# pairs links of their own while TCP and RoCEv2 go on.
# What fails on the way is in unit/test_run_fabric.py.
#
#	s0 .. s7, three ports each, on one optical switch; wires have a rate
#
# On 7.2, where rdma_rxe works in network namespaces.

. "$(dirname "$(realpath "$0")")/../lib.sh"
phases_servers=8 phases_degree=3
. "$lib_dir/lab/phases.sh"

must phase_plan across >"$tmp/across.json"
must phase_of "$tmp/across.json" across >"$tmp/across.traffic"
must phase_of "$tmp/across.json" near >"$tmp/near.traffic"
must fabric_up "$tmp/across.json" --no-apply
# Each flow waits in a queue of its own: what is lost costs RoCEv2 seconds, and
# rdma_rxe does not slow down.
must phases_shape sfq limit 64 depth 8

# --- steady traffic, then other hot pairs ---

cp "$tmp/across.json" "$tmp/run.json"
# A change costs more than AllReduce alone could gain by links of its own: else it gets
# them in each iteration, and hot pairs lose theirs.
must run_start "$tmp/run.json" --interval 500ms --change-cost 1s
is "the start brings the fabric to the plan" \
	"$(run_events restored | jq -c '[.ok, .changed]')" "[true,true]"
must "$fabric" rxe s0:eth{0..2} s2:eth0
check "a phase as planned runs" phase_traffic "$tmp/across.traffic" steady 3
is "steady traffic is no reason to rewire" "$(run_events changed '.action == "rewire"')" ""

must rdma_start "$tmp/run.json"
check "the next phase runs" phase_traffic_until_changed "$tmp/near.traffic" shift 3
check "the fabric is rewired for it" run_saw changed '.action == "rewire"'
is "all transfers arrived whole" \
	"$(jq -s 'map(.mp_transfers == .mp_transfers_ok) | all' "$tmp"/shift.s*)" true
is "hot pairs have links of their own" "$(jq -c --argjson pairs "$(phase_pairs near)" '
	[.links[] | [.a, .b | split(":")[0][1:] | tonumber] | sort] as $links
	| $pairs - $links' "$tmp/run.json")" "[]"
check "RoCEv2 that was under way goes on" rdma_goes_on || sed "s/^/# /" "$tmp"/rdma.*
rdma_end
echo "# $(phase_times shift) s an iteration"
run_times | sed 's/^/# /'
must run_end
as_planned "$tmp/run.json" "after the change"
is "all pairs are reached" "$(phases_reach "$tmp/run.json")" 56

done_testing
