#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An interactive shell in a guest in which a fabric is up.
#
#	shell.sh [-k KERNEL] [-n SERVERS] [PLAN]
#
# Without PLAN, one for AllReduce among SERVERS (12) servers of degree 4 is
# made by toctl.

set -euo pipefail
. "$(dirname "$(realpath "$0")")/common.sh"

# --- inside the guest -----------------------------------------------------

if [[ ${1:-} == --guest ]]; then
	"$lab_dir/fabric.sh" up /out/plan.json
	cat >~/.bashrc <<-'EOF'
		alias fabric.sh=/src/selftests/lab/fabric.sh
		on() { ip netns exec "$@"; }
		PS1='fabric \w# '
	EOF
	cat <<-'EOF'

		The fabric is up: a namespace per server, "ip netns" lists them.

		  on s0 ping 10.200.0.3            a command on a server
		  on s0 traceroute -n 10.200.0.3
		  on s0 toctl show                 what the kernel has
		  fabric.sh darken s0:eth0         cut a fibre; light mends it
		  fabric.sh rxe                    RoCEv2 devices (kernel 7.2)

		The plan is /out/plan.json. Leave with exit or ^D.

	EOF
	exec bash -i
fi

# --- on the host ------------------------------------------------------------

kernel=7.2 servers=12
while getopts k:n: option; do
	case $option in
	k) kernel=$OPTARG ;;
	n) servers=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
if (($#)); then
	cp "$1" "$out/plan.json"
else
	jq -n --argjson n "$servers" '{name: "lab", servers: $n,
		allreduce: [{group: "all", bytes: 1000000000}], mp: []}' >"$out/job.json"
	"$lab_src/build/toctl" plan --job "$out/job.json" --degree 4 -o "$out/plan.json"
fi
"$lab_dir/guest" -k "$kernel" -m 2048 -o "$out" -s -- /src/selftests/lab/shell.sh --guest
