# SPDX-License-Identifier: GPL-2.0-or-later
# The table that change.sh prints, from change.json.

def median: sort | .[length / 2 | floor];

["change", "step", "mean", "most", "mean ms", "most ms", "controller"],
(group_by(.change) | sort_by(.[0].change == "return") | .[]
 | . as $lines | .[0].change as $change
 | (map(.step) | unique) as $steps
 | ([$lines[] | select(.step != "sample")]
	| {agents: (map(.agents) | transpose | map(add)), controller: (map(.controller) | add),
	   step: "all but samples"}) as $all
 | (("sample", "drain", "stage", "switch", "carrier", "commit", "verify", "start") as $step
    | [$lines[] | select(.step == $step)] | select(length > 0)
    | {step: $step, controller: (map(.controller) | median),
       agents: (map(.agents) | transpose | map(median))}), $all
 | [$change, .step, (.agents | add / length | round), (.agents | max),
    (.agents | add / length / 1e4 | round / 100), (.agents | max / 1e4 | round / 100),
    .controller])
| @tsv
