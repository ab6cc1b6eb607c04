#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# RoCEv2 between two servers, through the relay of a third: rdma_rxe and
# perftest, as an application would use an RDMA NIC. 7.2 does this with
# namespaces (kernel/), earlier kernels need three guests.
#
#	A eth1 ===== eth0 B eth1 ===== eth0 C
#	rxe                              rxe
#
# Kernels: 6.1 6.12
# Timeout: 300

. "$(dirname "$(realpath "$0")")/../lib.sh"

# C serves what A asks for by a file in /out, with the words of its command,
# until A is over with it.
serve() {
	local n=0 words

	while wait_for 300 test -e "/out/request.$((++n))" -o -e /out/done; do
		[[ -e /out/request.$n ]] || break
		read -ra words <"/out/request.$n"
		timeout 120 "${words[@]}" >"/out/served.$n" 2>&1 &
		# both listen on TCP or on the RDMA connection manager's port
		wait_for 50 listening && touch "/out/ready.$n"
		wait_for 120 test -e "/out/over.$n"
		wait_for 5 ended $! || kill $!
		wait $!
	done
	exit 0
}

listening() {
	[[ -n $(ss -Hltn 'sport = :18515') ]] || rdma resource show cm_id | grep -q LISTEN
}

ended() {
	! kill -0 "$1"
}

# With -R perftest connects a second time without waiting until its server
# listens again; "no such service" (8) is that race and says nothing of a relay.
too_early() {
	grep -q 'RDMA_CM_EVENT_REJECTED; error: 8' /out/client
}

request=0
remote() { # NAME SERVER-COMMAND -- CLIENT-COMMAND
	local name=$1 server=() attempt status

	shift
	while [[ $1 != -- ]]; do
		server+=("$1")
		shift
	done
	shift
	for attempt in {1..5}; do
		((++request))
		echo "${server[*]}" >/out/request.tmp
		mv /out/request.tmp "/out/request.$request"
		if ! wait_for 60 test -e "/out/ready.$request"; then
			not_ok "$name" "C does not listen"
			break
		fi
		status=0
		timeout 60 "$@" >/out/client 2>&1 || status=$?
		touch "/out/over.$request"
		if ((status == 0)); then
			ok "$name"
			return
		fi
		too_early && ((attempt < 5)) && continue
		not_ok "$name" "$* (status $status):"$'\n'"$(cat /out/client)"
		break
	done
	touch "/out/over.$request"
	sed 's/^/# C: /' "/out/served.$request" 2>&1
}

three_up "$1"
if [[ $1 == B ]]; then
	three_wait
	relayed=$(ethtool_counter B topo0 relay_rx_packets)
	((relayed > 1000)) && exit
	echo "relayed $relayed packets, expected more than 1000"
	exit 1
fi
must modprobe -a rdma_rxe rdma_ucm
port=eth1
[[ $1 == A ]] || port=eth0
must rdma link add rxe0 type rxe netdev "$port"
[[ $1 == A ]] || serve

peer=$(port_ip C eth0)
for test in ib_write_bw ib_read_bw ib_send_bw; do
	remote "$test" "$test" -d rxe0 -x 1 -s 65536 -n 100 -- \
		"$test" -d rxe0 -x 1 -s 65536 -n 100 "$peer"
done
remote "ib_write_lat" ib_write_lat -d rxe0 -x 1 -s 8 -n 100 -- \
	ib_write_lat -d rxe0 -x 1 -s 8 -n 100 "$peer"
remote "ib_write_bw -R" ib_write_bw -R -s 4096 -n 100 -- \
	ib_write_bw -R -s 4096 -n 100 "$peer"
remote "rping" rping -s -a "$peer" -C 10 -- rping -c -a "$peer" -C 10 -I "$(port_ip A eth1)"
done_testing
