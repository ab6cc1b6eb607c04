// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/options.h"

#include <stddef.h>

const char *const to_transport_names[] = { "dcqcn", "dctcp", "tcp", "none", NULL };

struct to_packet_options to_packet_options_default(enum to_transport transport)
{
	const bool tcp = transport == TO_TRANSPORT_TCP || transport == TO_TRANSPORT_DCTCP;

	return (struct to_packet_options){
		.transport = transport, .mtu = 4096,
		/* preamble 8, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4, gap 12; */
		/* TCP with timestamps has 32 instead of UDP, BTH and ICRC */
		.headers = tcp ? 90 : 82,
		.queue_pairs = 4, .pfc = true, .buffer = 1 << 20,
		/* the limit of fq_codel, the queue of most distributions */
		.relay_ring = 1024, .relay_queue = 10240, .relay_marks = true,
		.relay_cost = 137e-9,
		/* 4.096 us * 2^14, as perftest asks for; RTO_MIN of Linux */
		.timeout = tcp ? 0.2 : 0.067108864 };
}
