# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by what runs a training job in the lab.

# Run the job of a plan: a worker (demo/job.c) in the namespace of every server. Each
# leaves what it prints in $tmp/NAME.SERVER. Fails when one does.
workers() { # PLAN NAME [ARGUMENT...]
	local server pid status=0 pids=()
	local -x TOPOOPT_COLLECTIVE_TOKEN=lab-without-strangers

	for server in $(jq -r '.servers[].name' "$1"); do
		ip netns exec "$server" /src/build/selftests/job "${@:3}" "$1" "$server" \
			>"${tmp:?}/$2.$server" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || status=1
	done
	return $status
}
