#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# RoCEv2 between two servers, through the relay of a third: rdma_rxe and
# perftest, as an application would use an RDMA NIC. 7.2 does this with
# namespaces (kernel/), earlier kernels need three guests.
#
#	A eth1 ===== eth0 B eth1 ===== eth0 C
#	rxe                              rxe
#
# The last of it at XDP, natively in B's driver; that of 6.1 does not do so with
# frames of this size.
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
		wait_for 60 listening && touch "/out/ready.$n"
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

# When all its pings were answered, rping at times waits for ever for the completion
# that its queue pair is flushed with; between neighbours without a relay as well.
# (They are only there when it was told to write line by line.)
pinged() { # STATUS
	(($1 == 124)) && grep -q 'client DISCONNECT EVENT' /out/client &&
		(($(grep -c '^ping data: ' /out/client) == 10))
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
		if ((status == 0)) || pinged "$status"; then
			ok "$name"
			return
		fi
		((attempt == 5)) || ! too_early || continue
		not_ok "$name" "$* (status $status):"$'\n'"$(cat /out/client)"
		break
	done
	touch "/out/over.$request"
	sed 's/^/# C: /' "/out/served.$request" 2>&1
}

three_up "$1"
if [[ $1 == B ]]; then
	wait_for 3600 test -e /out/xdp -o -e /out/done
	if [[ -e /out/xdp ]]; then
		toctl apply "$plan" --node B --xdp auto 2>/out/xdp.said
		touch /out/xdp.on
	fi
	three_wait
	relayed=$(ethtool_counter B topo0 relay_rx_packets)
	redirected=$(ethtool -S eth0 | awk '/rx_xdp_redirects/ { print $2 }')
	# what A writes then, in packets of 4096 bytes
	[[ -e /out/xdp ]] && least=1600 || least=0
	echo "relayed $relayed packets, expected more than 1000;" \
		"$redirected of them at XDP, expected $least or more"
	((relayed > 1000 && redirected >= least))
	exit
fi
must modprobe -a rdma_rxe rdma_ucm
port=eth1
[[ $1 == A ]] || port=eth0
must rdma link add rxe0 type rxe netdev "$port"
[[ $1 == A ]] || serve

peer=$(port_ip C eth0)
# An acknowledgement may take 8.6 s, not perftest's 67 ms: three guests on a busy host
# need more, and then rdma_rxe of 6.1 breaks the queue pair as it sends SENDs again.
perftest=(-F -d rxe0 -x 1 -u 21)
for test in ib_write_bw ib_read_bw ib_send_bw; do
	remote "$test" "$test" "${perftest[@]}" -s 65536 -n 100 -- \
		"$test" "${perftest[@]}" -s 65536 -n 100 "$peer"
done
remote "ib_write_lat" ib_write_lat "${perftest[@]}" -s 8 -n 100 -- \
	ib_write_lat "${perftest[@]}" -s 8 -n 100 "$peer"
is "no request is sent again" \
	"$(rdma -j statistic show link rxe0/1 | jq '.[0].completer_retry_err')" 0
remote "ib_write_bw -R" ib_write_bw -F -R -s 4096 -n 100 -- \
	ib_write_bw -F -R -s 4096 -n 100 "$peer"
remote "rping" rping -s -a "$peer" -C 10 -- \
	stdbuf -oL rping -c -v -a "$peer" -C 10 -I "$(port_ip A eth1)"
if [[ $(uname -r) != 6.1.* ]]; then
	touch /out/xdp
	check "B has XDP" wait_for 60 test -e /out/xdp.on
	is "without complaint" "$(</out/xdp.said)" ""
	# XDP has no queue: no more on the way than a ring of the driver holds
	remote "ib_write_bw at XDP" ib_write_bw -F -d rxe0 -x 1 -s 65536 -n 100 -t 4 -- \
		ib_write_bw -F -d rxe0 -x 1 -s 65536 -n 100 -t 4 "$peer"
fi
done_testing
