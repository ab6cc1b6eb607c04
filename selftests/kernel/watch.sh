#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels: 7.2
# toctl watch on a ring of four: a link that is cut is dark within two intervals, by what
# the page is told, and lit again when it is whole.

. "$(dirname "$(realpath "$0")")/../lib.sh"

examples=$lib_dir/../examples
must toctl plan --cluster "$examples/ring-4/cluster.json" --job "$examples/ring-4/job.json" \
	--fixed -o "$tmp/plan.json" >/dev/null
fabric_up "$tmp/plan.json" >/dev/null
ip link set lo up
toctl watch "$tmp/plan.json" --listen 8080 --interval 1s \
	--set 'agents.command=ip netns exec {} toctl agent --stdio' 2>"$tmp/serve.log" &
server=$!
at_exit "kill $server 2>/dev/null"
check "it listens" wait_for 60 grep -q '^serving' "$tmp/serve.log"

# Looks at the fabric until it is as wanted; prints at which look after a change it is, and
# which directions of links are dark then.
follow() { # CHANGE HEALTHY
	python3 - "$lib_dir/unit" "$@" <<-'END'
	import subprocess, sys, time
	sys.path.insert(0, sys.argv[1])
	from events import Stream
	stream, looks = Stream(8080, {}), 1
	stream.find("status")
	subprocess.run(sys.argv[2], shell=True, check=True)
	changed = time.time()
	while looks < 60:
	    data, _ = stream.find("status", lambda data: data["time"] > changed)
	    if (data["health"] == "healthy") == (sys.argv[3] == "true"):
	        break
	    looks += 1
	print(looks, *sorted(link["from"] for link in data["links"] if not link["lit"]))
	END
}

is "healthy at first" "$(follow true true)" 1
read -r looks dark <<<"$(follow "ip -n s1 link set eth0 down" false)"
check "a cut link is dark within two intervals" test "$looks" -le 2
is "both of its directions" "$dark" "s1:eth0 s2:eth1"
read -r looks dark <<<"$(follow "ip -n s1 link set eth0 up" true)"
is "whole again, no link is dark" "$dark" ""
kill "$server"
wait "$server"
is "SIGTERM ends it" "$?" 0
done_testing
