// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/sender.h"

#include "packets/dcqcn.h"
#include "packets/window.h"

bool to_packet_sender_allows(const struct to_packet_simulator *s, const struct packet_flow *f)
{
	return packet_tcp(s) ? to_packet_window_allows(f) : f->next < f->limit;
}

void to_packet_sender_queue(struct to_packet_simulator *s, uint32_t flow)
{
	struct packet_queue *ready = &s->ports[s->flows[flow].link].ready;

	s->flows[flow].state = PACKET_READY;
	s->flows[flow].next_ready = PACKET_NONE;
	if (ready->first == PACKET_NONE)
		ready->first = flow;
	else
		s->flows[ready->last].next_ready = flow;
	ready->last = flow;
}

static uint32_t sender_number(struct to_packet_simulator *s, struct packet_flow *f)
{
	uint32_t number;

	if (packet_tcp(s) && f->tcp.resend != PACKET_NONE) {
		number = f->tcp.resend;
		f->tcp.resend = PACKET_NONE;
	} else {
		number = f->next++;
	}
	if (number < f->most)
		s->result.again++;
	else
		f->most = number + 1;
	return number;
}

/* Payload of packet @number: the last one of a chunk has the rest of the chunk. */
static uint32_t sender_payload(const struct to_packet_simulator *s, struct packet_flow *f,
				  uint32_t number)
{
	const uint32_t mtu = s->options.mtu;

	/* mostly the chunk of the packet before */
	if (number - f->chunk_begin >= f->chunk_packets)
		f->chunk_begin = number - number % f->chunk_packets;
	if (number - f->chunk_begin + 1 < f->chunk_packets)
		return mtu;
	return f->chunk - (uint64_t)(f->chunk_packets - 1) * mtu;
}

uint32_t to_packet_sender_next(struct to_packet_simulator *s, uint32_t flow)
{
	struct packet_flow *f = &s->flows[flow];
	const uint32_t number = sender_number(s, f);
	struct to_packet packet = {
		.flow = flow, .number = number, .kind = TO_PACKET_DATA,
		.at = f->alternatives == 1 ? f->path : f->path + number % f->alternatives * f->hops,
		.wire = sender_payload(s, f, number) + s->options.headers };

	if (s->options.transport == TO_TRANSPORT_DCQCN)
		f->ready_at = s->now + to_packet_dcqcn_sent(&f->dcqcn, packet_line(s, f),
							    packet.wire, s->now);
	if (f->alternatives > 1)
		f->link = packet_link(s, f->path + f->next % f->alternatives * f->hops);
	f->state = PACKET_IDLE;
	if (to_packet_sender_allows(s, f)) {
		/* this link is about to be busy, others are not */
		if (f->ready_at <= s->now && f->n_links == 1) {
			to_packet_sender_queue(s, flow);
		} else {
			f->state = PACKET_WAITS;
			packet_schedule(s, f->ready_at > s->now ? f->ready_at : s->now,
					PACKET_PACED, flow);
		}
	}
	s->result.sent++;
	return to_packet_store_add(&s->store, packet);
}

void to_packet_sender_lost(struct to_packet_simulator *s, uint32_t flow)
{
	struct packet_flow *f = &s->flows[flow];

	if (f->timer)
		return;
	f->timer = true;
	packet_schedule(s, s->now + s->patience, PACKET_TIMEOUT, flow);
}
