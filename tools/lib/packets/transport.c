// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/transport.h"

#include "packets/dcqcn.h"
#include "packets/port.h"
#include "packets/sender.h"
#include "packets/window.h"

#define TRANSPORT_ACK_EVERY 64	/* packets of RoCEv2, as rdma_rxe asks for */
#define TRANSPORT_ACK_EVERY_TCP 2
#define TRANSPORT_ACK_BYTES 4	/* AETH */
#define TRANSPORT_CNP_BYTES 16

uint32_t to_packet_transport_ack_every(const struct to_packet_simulator *s)
{
	return s->options.transport == TO_TRANSPORT_DCTCP ? 1 :
	       packet_tcp(s) ? TRANSPORT_ACK_EVERY_TCP : TRANSPORT_ACK_EVERY;
}

uint32_t to_packet_transport_answer_wire(const struct to_packet_simulator *s,
					 enum to_packet_kind kind)
{
	return s->options.headers + (kind == TO_PACKET_CNP ? TRANSPORT_CNP_BYTES :
				     packet_tcp(s) ? 0 : TRANSPORT_ACK_BYTES);
}

void to_packet_transport_begin(struct to_packet_simulator *s, uint32_t flow)
{
	struct packet_flow *f = &s->flows[flow];

	f->progress_at = s->now;
	if (packet_tcp(s))
		to_packet_window_begin(&f->tcp);
	else
		to_packet_dcqcn_begin(&f->dcqcn, packet_line(s, f), s->now);
	to_packet_transport_wake(s, flow);
}

void to_packet_transport_wake(struct to_packet_simulator *s, uint32_t flow)
{
	struct packet_flow *f = &s->flows[flow];

	if (f->state != PACKET_IDLE || !to_packet_sender_allows(s, f))
		return;
	if (f->ready_at <= s->now) {
		to_packet_port_offer(s, flow);
		return;
	}
	f->state = PACKET_WAITS;
	packet_schedule(s, f->ready_at, PACKET_PACED, flow);
}

/* Answer the sender of @flow. */
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

/* Count the expected packet, which may complete a chunk. */
static void transport_expect(struct to_packet_simulator *s, uint32_t flow)
{
	struct packet_flow *f = &s->flows[flow];

	if (++f->expected != f->chunk_end)
		return;
	f->chunk_end += f->chunk_packets;
	f->unacked = TRANSPORT_ACK_EVERY;
	packet_happen(s, PACKET_COMPLETE, flow);
}

/* Take packets in order, as go-back-N does. Sprayed packets are counted, as none is lost. */
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

/* Take packets in any order: TCP keeps those ahead of the expected one. */
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

void to_packet_transport_paced(struct to_packet_simulator *s, uint32_t flow)
{
	s->flows[flow].state = PACKET_IDLE;
	to_packet_transport_wake(s, flow);
}

static void transport_acked(struct to_packet_simulator *s, uint32_t flow,
			    const struct to_packet *ack)
{
	struct packet_flow *f = &s->flows[flow];

	if (ack->number > f->acked)
		f->progress_at = s->now;
	if (packet_tcp(s)) {
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
		if (packet_tcp(s))
			transport_receive_tcp(s, come.flow, come.number);
		else
			transport_receive(s, come.flow, come.number);
		break;
	case TO_PACKET_CNP:
		to_packet_dcqcn_notified(&f->dcqcn, packet_line(s, f), s->now);
		break;
	default:
		transport_acked(s, come.flow, &come);
	}
}

void to_packet_transport_timeout(struct to_packet_simulator *s, uint32_t flow)
{
	struct packet_flow *f = &s->flows[flow];

	f->timer = false;
	if (f->next == f->acked)
		return;
	f->timer = true;
	if (s->now < f->progress_at + s->patience) {
		packet_schedule(s, f->progress_at + s->patience, PACKET_TIMEOUT, flow);
		return;
	}
	s->result.timeouts++;
	f->progress_at = s->now;
	if (packet_tcp(s))
		to_packet_window_timeout(f);
	else
		f->next = f->acked;
	packet_schedule(s, s->now + s->patience, PACKET_TIMEOUT, flow);
	to_packet_transport_wake(s, flow);
}
