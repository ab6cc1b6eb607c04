#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 6.12
#
# What an agent stages ahead is committed when a controller says so, and is in nobody's
# way until then: others replace it, which the commit notices, and it goes with the agent.
# Counting goes on over a change with the programs that are loaded, and the kernel's
# entries are read once for all steps of a change.
#
#	A ==== B

. "$(dirname "$(realpath "$0")")/../lib.sh"

chain_up 2

ask() { # AGENT REQUEST: sets line
	local -n pipe=$1

	echo "$2" >&"${pipe[1]}"
	read -r -t 60 line <&"${pipe[0]}"
}
asks() { # AGENT REQUEST: that must be done
	ask "$@" && jq -e .ok <<<"$line"
}
refused() { # AGENT REGEX REQUEST
	ask "$1" "$3" && jq -e --arg regex "$2" '.ok == false and (.error | test($regex))' <<<"$line"
}
agent_start() { # NAME [COMMAND...: that runs it]
	eval "coproc $1 { exec ip netns exec $A ${*:2} toctl agent --stdio 2>/dev/null; }" 2>/dev/null
}
agent_end() { # NAME
	local -n pipe=$1
	local process=$1_PID in=${pipe[1]}

	process=${!process}
	exec {in}>&-
	wait "$process"
}
# The active table; or one that lacks the last route, which is staged as another.
stage() { # GENERATION [MORE] [TABLE]
	jq -c --arg server "$A" --argjson generation "$1" --argjson more "${2:-{\}}" "
		{op: \"stage\", generation: \$generation, job,
		cluster: ({format: \"topoopt-cluster\", version: 1, servers, links: [.links[] | {a, b}]} | tojson),
		table: (.tables[] | select(.server == \$server) ${3:-} | tojson)} + \$more" "$plan"
}
less='| .routes |= .[:-1]'
ahead='{"ahead": true}'
of() { # OP GENERATION
	echo "{\"op\": \"$1\", \"generation\": $2}"
}
show() { # JQ-FILTER
	on "$A" toctl show --json | jq -c "$1"
}
sample() { # AGENT
	asks "$1" "{\"op\": \"sample\", \"interval_ns\": 1000000000, \"until_ns\": 1}"
}
programs() { # of an agent, in the kernel
	local process=$1_PID

	grep -hs prog_id "/proc/${!process}/fdinfo/"* | sort
}

agent_start one
must asks one "$(stage 5)" >/dev/null
must asks one "$(of commit 5)" >/dev/null
must asks one "$(of confirm 5)" >/dev/null
must sample one >/dev/null
loaded=$(programs one)
check "the counting has programs" [ -n "$loaded" ]

# --- staged ahead, then committed ---

check "a stage ahead" asks one "$(stage 6 "$ahead" "$less")"
is "it is a stage only" "$(show '[.generation, .stage.prepared]')" "[5,true]"
must sample one >/dev/null
is "a sample meanwhile is of what is active" "$(jq -r '.tm | fromjson | .generation' <<<"$line")" 5
check "it is committed" asks one "$(of commit 6)"
check "and confirmed" asks one "$(of confirm 6)"
is "it is active" "$(show '[.generation, .stage]')" "[6,null]"
check "the counting starts" sample one
must sample one >/dev/null
is "and goes on under the new table" "$(jq -r '.tm | fromjson | .generation' <<<"$line")" 6
is "with the programs that were loaded" "$(programs one)" "$loaded"

# --- dropped ---

check "another one ahead" asks one "$(stage 7 "$ahead")"
check "it is dropped" asks one '{"op": "abort", "generation": 7, "ahead": true}'
is "no stage is left" "$(show '[.generation, .stage]')" "[6,null]"
check "the same table ahead" asks one "$(stage 8 "$ahead" "$less")"
check "is dropped too" asks one '{"op": "abort", "generation": 8, "ahead": true}'
must sample one >/dev/null
check "samples go on without a new start" jq -e .tm <<<"$line"

# --- others ---

agent_start two
check "a stage ahead again" asks one "$(stage 9 "$ahead")"
check "keeps no other controller out" asks two "$(stage 9)"
check "who stages first keeps others out" refused one 'another controller is changing' "$(of commit 9)"
check "the other commits" asks two "$(of commit 9)"
check "and confirms" asks two "$(of confirm 9)"
check "the first cannot commit what was replaced" refused one 'is not any more' "$(of commit 9)"
is "the other's table is active" "$(show '[.generation, .stage]')" "[9,null]"
agent_end two

check "one more ahead" asks one "$(stage 10 "$ahead" "$less")"
must on "$A" toctl apply --abort --node "$A" "$plan" >/dev/null
must on "$A" toctl apply --stage --node "$A" "$plan" >/dev/null
check "an operator's stage is not committed in its place" refused one 'is not any more' "$(of commit 10)"
check "nor replaced by one ahead" refused one 'has a stage already' "$(stage 11 "$ahead" "$less")"
check "nor dropped" asks one '{"op": "abort", "generation": 11, "ahead": true}'
is "but waits for its operator" "$(show .stage.prepared)" true
must asks one "$(stage 12 '{}' "$less")" >/dev/null
must asks one '{"op": "abort", "generation": 12}' >/dev/null

check "staged ahead when the controller goes away" asks one "$(stage 13 "$ahead" "$less")"
agent_end one
is "it is dropped" "$(show '[.generation, .stage]')" "[9,null]"

# --- steps of a change ---

step() { # GENERATION MORE [TABLE]
	asks three "$(stage "$@")" && asks three "$(of commit "$1")" && asks three "$(of confirm "$1")"
}
# Of both families: addresses, neighbours, routes and rules; as strace writes what it sees
# before the agent goes on, all that it asked for is there when it answers.
dumps() {
	grep -o 'RTM_GET\(ADDR\|NEIGH\|ROUTE\|RULE\)\>' "$tmp/calls" | sort | uniq -c | xargs
}
once="2 RTM_GETADDR 2 RTM_GETNEIGH 2 RTM_GETROUTE 2 RTM_GETRULE"

must agent_start three strace -o "$tmp/calls" -e trace=sendto
check "the first step of a change" step 20 '{}' "$less"
is "has read the kernel's entries" "$(dumps)" "$once"
check "a further step" step 21 '{"further": true}'
check "and one more" step 22 '{"further": true}' "$less"
is "read none of them again" "$(dumps)" "$once"
check "the next change" step 23 '{}'
is "reads them: others may have changed some" "$(dumps)" "${once//2/4}"
is "all is as the plan says" "$(apply "$A" "$plan" --dry-run --json | jq .differs)" false
agent_end three

done_testing
