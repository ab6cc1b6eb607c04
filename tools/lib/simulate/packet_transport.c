// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/packet_transport.h"

#include "simulate/packet_dcqcn.h"
#include "simulate/packet_leg.h"
#include "simulate/packet_port.h"
#include "simulate/packet_window.h"

#define TRANSPORT_ACK_EVERY 64	/* packets of RoCEv2, as rdma_rxe asks for */
#define TRANSPORT_ACK_EVERY_TCP 2
#define TRANSPORT_ACK_BYTES 4	/* AETH */
#define TRANSPORT_CNP_BYTES 16

static bool transport_tcp(const struct to_packet_simulator *s)
{
	return s->options.transport == TO_TRANSPORT_TCP || s->options.transport == TO_TRANSPORT_DCTCP;
}

uint32_t to_packet_transport_ack_every(const struct to_packet_simulator *s)
{
	return s->options.transport == TO_TRANSPORT_DCTCP ? 1 :
	       transport_tcp(s) ? TRANSPORT_ACK_EVERY_TCP : TRANSPORT_ACK_EVERY;
}

uint32_t to_packet_transport_answer_wire(const struct to_packet_simulator *s,
					 enum to_packet_kind kind)
{
	return s->options.headers + (kind == TO_PACKET_CNP ? TRANSPORT_CNP_BYTES :
				     transport_tcp(s) ? 0 : TRANSPORT_ACK_BYTES);
}

static double transport_line(const struct to_packet_simulator *s, const struct packet_flow *f)
{
	return f->n_links * s->network->links[f->link].capacity;
}

void to_packet_transport_begin(struct to_packet_simulator *s, uint32_t flow)
{
	struct packet_flow *f = &s->flows[flow];

	f->progress_at = s->now;
	if (transport_tcp(s))
		to_packet_window_begin(&f->tcp);
	else
		to_packet_dcqcn_begin(&f->dcqcn, transport_line(s, f), s->now);
	to_packet_transport_wake(s, flow);
}

static bool transport_may_send(const struct to_packet_simulator *s, const struct packet_flow *f)
{
	return transport_tcp(s) ? to_packet_window_allows(f) : f->next < f->limit;
}

void to_packet_transport_wake(struct to_packet_simulator *s, uint32_t flow)
{
	struct packet_flow *f = &s->flows[flow];

	if (f->state != PACKET_IDLE || !transport_may_send(s, f))
		return;
	if (f->ready_at <= s->now) {
		to_packet_port_offer(s, flow);
		return;
	}
	f->state = PACKET_WAITS;
	packet_schedule(s, f->ready_at, PACKET_PACED, flow);
}

static uint32_t transport_number(struct to_packet_simulator *s, struct packet_flow *f)
{
	uint32_t number;

	if (transport_tcp(s) && f->tcp.resend != PACKET_NONE) {
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

/* Payload of packet @number: the last one of a chunk has what is left. */
static uint32_t transport_payload(const struct to_packet_simulator *s, struct packet_flow *f,
				  uint32_t number)
{
	const uint32_t mtu = s->options.mtu;

	/* mostly that of the packet before */
	if (number - f->chunk_begin >= f->chunk_packets)
		f->chunk_begin = number - number % f->chunk_packets;
	if (number - f->chunk_begin + 1 < f->chunk_packets)
		return mtu;
	return f->chunk - (uint64_t)(f->chunk_packets - 1) * mtu;
}

uint32_t to_packet_transport_next(struct to_packet_simulator *s, uint32_t flow)
{
	struct packet_flow *f = &s->flows[flow];
	const uint32_t number = transport_number(s, f);
	struct to_packet packet = {
		.flow = flow, .number = number, .kind = TO_PACKET_DATA,
		.at = f->alternatives == 1 ? f->path : f->path + number % f->alternatives * f->hops,
		.wire = transport_payload(s, f, number) + s->options.headers };

	if (s->options.transport == TO_TRANSPORT_DCQCN)
		f->ready_at = s->now + to_packet_dcqcn_sent(&f->dcqcn, transport_line(s, f),
							    packet.wire, s->now);
	if (f->alternatives > 1)
		f->link = packet_link(s, f->path + f->next % f->alternatives * f->hops);
	f->state = PACKET_IDLE;
	if (transport_may_send(s, f)) {
		/* this link is about to be busy, others are not */
		if (f->ready_at <= s->now && f->n_links == 1) {
			to_packet_port_line_up(s, flow);
		} else {
			f->state = PACKET_WAITS;
			packet_schedule(s, f->ready_at > s->now ? f->ready_at : s->now,
					PACKET_PACED, flow);
		}
	}
	s->result.sent++;
	return to_packet_store_add(&s->store, packet);
}

/* To the sender of @flow. */
static void transport_answer(struct to_packet_simulator *s, uint32_t flow, enum to_packet_kind kind)
{
	struct packet_flow *f = &s->flows[flow];
	const uint32_t packet = to_packet_store_add(&s->store, (struct to_packet){
		.flow = flow, .number = f->expected, .kind = kind, .at = f->back,
		.wire = to_packet_transport_answer_wire(s, kind), .marked = f->marked });

	f->unacked = 0;
	s->result.sent++;
	if (packet != PACKET_NONE)
		to_packet_port_queue(s, packet);
}

/* The expected packet has come: its chunk may be complete. */
static void transport_expect(struct to_packet_simulator *s, uint32_t flow)
{
	struct packet_flow *f = &s->flows[flow];

	if (++f->expected != f->chunk_end)
		return;
	f->chunk_end += f->chunk_packets;
	f->unacked = TRANSPORT_ACK_EVERY;
	to_packet_leg_arrived(s, flow);
}

/* Go-back-N takes packets in order only; what is sprayed is counted, as none of it is lost. */
static void transport_receive(struct to_packet_simulator *s, uint32_t flow, uint32_t number)
{
	struct packet_flow *f = &s->flows[flow];

	f->unacked++;
	if (f->alternatives > 1 || number == f->expected) {
		f->nak = false;
		transport_expect(s, flow);
	} else if (number > f->expected) {
		if (!f->nak) {
			f->nak = true;
			s->result.naks++;
			transport_answer(s, flow, TO_PACKET_NAK);
		}
		return;
	} else if (!((number + 1) % f->chunk_packets)) {
		f->unacked = TRANSPORT_ACK_EVERY;
	}
	if (f->unacked >= to_packet_transport_ack_every(s))
		transport_answer(s, flow, TO_PACKET_ACK);
}

static uint64_t *transport_ahead(const struct to_packet_simulator *s, uint32_t flow,
				 uint32_t number)
{
	return &s->received[flow * (size_t)(TO_WINDOW_MAX / 64) + number % TO_WINDOW_MAX / 64];
}

/* TCP keeps what is ahead. */
static void transport_receive_tcp(struct to_packet_simulator *s, uint32_t flow, uint32_t number)
{
	struct packet_flow *f = &s->flows[flow];
	const bool in_order = number == f->expected;
	uint64_t *word;

	f->unacked++;
	if (number >= f->expected && number - f->expected < TO_WINDOW_MAX)
		*transport_ahead(s, flow, number) |= 1ull << number % 64;
	while (*(word = transport_ahead(s, flow, f->expected)) >> f->expected % 64 & 1) {
		*word &= ~(1ull << f->expected % 64);
		transport_expect(s, flow);
	}
	if (!in_order || f->unacked >= to_packet_transport_ack_every(s))
		transport_answer(s, flow, TO_PACKET_ACK);
}

static void transport_acked(struct to_packet_simulator *s, uint32_t flow,
			    const struct to_packet *ack)
{
	struct packet_flow *f = &s->flows[flow];

	if (ack->number > f->acked)
		f->progress_at = s->now;
	if (transport_tcp(s)) {
		to_packet_window_acked(f, ack->number, ack->marked,
				       s->options.transport == TO_TRANSPORT_DCTCP);
	} else if (ack->number >= f->acked) {
		f->acked = ack->number;
		if (f->next < f->acked || ack->kind == TO_PACKET_NAK)
			f->next = f->acked;
	}
	to_packet_transport_wake(s, flow);
}

void to_packet_transport_deliver(struct to_packet_simulator *s, uint32_t packet)
{
	const struct to_packet come = s->store.packets[packet];
	struct packet_flow *f = &s->flows[come.flow];

	to_packet_store_remove(&s->store, packet);
	switch (come.kind) {
	case TO_PACKET_DATA:
		f->marked = come.marked;
		if (come.marked && s->options.transport == TO_TRANSPORT_DCQCN &&
		    to_packet_dcqcn_notifies(&f->dcqcn, s->now)) {
			s->result.cnps++;
			f->cnps++;
			transport_answer(s, come.flow, TO_PACKET_CNP);
		}
		if (transport_tcp(s))
			transport_receive_tcp(s, come.flow, come.number);
		else
			transport_receive(s, come.flow, come.number);
		break;
	case TO_PACKET_CNP:
		to_packet_dcqcn_notified(&f->dcqcn, transport_line(s, f), s->now);
		break;
	default:
		transport_acked(s, come.flow, &come);
	}
}

static uint64_t transport_patience(const struct to_packet_simulator *s)
{
	return s->options.timeout * PACKET_SECOND;
}

void to_packet_transport_lost(struct to_packet_simulator *s, uint32_t flow)
{
	struct packet_flow *f = &s->flows[flow];

	if (f->timer)
		return;
	f->timer = true;
	packet_schedule(s, s->now + transport_patience(s), PACKET_TIMEOUT, flow);
}

void to_packet_transport_timeout(struct to_packet_simulator *s, uint32_t flow)
{
	struct packet_flow *f = &s->flows[flow];

	f->timer = false;
	if (f->next == f->acked)
		return;
	f->timer = true;
	if (s->now < f->progress_at + transport_patience(s)) {
		packet_schedule(s, f->progress_at + transport_patience(s), PACKET_TIMEOUT, flow);
		return;
	}
	s->result.timeouts++;
	f->progress_at = s->now;
	if (transport_tcp(s))
		to_packet_window_timeout(f);
	else
		f->next = f->acked;
	packet_schedule(s, s->now + transport_patience(s), PACKET_TIMEOUT, flow);
	to_packet_transport_wake(s, flow);
}
