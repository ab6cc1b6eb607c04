// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/fast_forward_skip.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "packets/leg.h"
#include "packets/transport.h"

#define SKIP_LEAST 2		/* windows that are worth it */
#define SKIP_MOST (1u << 20)
#define SKIP_ROUNDING 0.01
#define SKIP_EVEN 0.01		/* by which flows of one speed may differ */
#define SKIP_SPREAD (1u << 12)	/* more alternatives than that together: do not skip */

/* Events that wait for packets move, those of computations and timeouts stay. */
static bool skip_moves(const void *data, uint32_t what)
{
	const struct packet_fast_forward *f = data;

	switch ((enum packet_event)(what >> PACKET_EVENT_SHIFT)) {
	case PACKET_TIMEOUT:
	case PACKET_COMPUTED:
		return false;
	case PACKET_CHUNK:
		return f->reference != PACKET_NONE;
	default:
		return true;
	}
}

static bool skip_stays(const void *data, uint32_t what)
{
	return !skip_moves(data, what);
}

/* Chunks that @windows have of @leg. */
static uint32_t skip_chunks(const struct packet_fast_forward *f, uint32_t leg, uint32_t windows)
{
	const uint32_t chunks = (uint64_t)windows * f->of_leg[leg] / f->n_windows;

	return chunks - chunks % f->spread;
}

/* Packets of @flow from @number on that are not the last of their chunk. */
static uint32_t skip_room(const struct packet_flow *flow, uint32_t number)
{
	return flow->chunk_packets - 1 - number % flow->chunk_packets;
}

/* Windows until a flow that keeps its chunk is near its end. */
static double skip_flow_most(const struct to_packet_simulator *s,
			     const struct fast_forward_flow *at)
{
	const struct packet_flow *flow = &s->flows[at->flow];
	uint32_t room = skip_room(flow, flow->expected), sends = skip_room(flow, flow->next);

	if (at->last == at->first)
		return SKIP_MOST;
	if (at->even)
		return (flow->n_packets - flow->next) *
		       (double)s->fast_forward->n_windows / at->even;
	if (flow->next >= flow->limit)
		return 0;
	room = sends < room ? sends : room;
	return room * (double)s->fast_forward->n_windows / (at->last - at->first);
}

/* Windows until a leg is near its last chunk, or has used up what came before. */
static double skip_leg_most(const struct to_packet_simulator *s, uint32_t index)
{
	const struct packet_fast_forward *f = s->fast_forward;
	const struct packet_leg *leg = &s->legs[index];
	const double chunks = (double)f->of_leg[index] / f->n_windows;
	double most, begun = leg->arrived;
	uint32_t i;

	if (!f->of_leg[index])
		return SKIP_MOST;
	if (chunks < 1)
		return 0;
	for (i = leg->first_flow; i < leg->first_flow + leg->n_flows; i++) {
		const uint32_t chunk = s->flows[i].next / s->flows[i].chunk_packets;

		begun = fmax(begun, chunk);
	}
	most = (leg->n_chunks - 1 - begun) / chunks;
	for (i = 0; i < leg->n_feeders; i++) {
		const uint32_t feeder = s->edges[leg->edges + i];
		const double slower = chunks - (double)f->of_leg[feeder] / f->n_windows;
		const double left = s->legs[feeder].arrived + (double)leg->ahead - begun;

		if (slower > 0 && s->legs[feeder].arrived < s->legs[feeder].n_chunks)
			most = fmin(most, (left - 1 - f->spread) / slower);
	}
	return most;
}

static uint32_t skip_divisor(uint32_t a, uint32_t b)
{
	return b ? skip_divisor(b, a % b) : a;
}

/* Sets what multiples of chunks may be skipped; false: too large ones. */
static bool skip_spread(struct to_packet_simulator *s)
{
	struct packet_fast_forward *f = s->fast_forward;
	uint32_t i;

	f->spread = 1;
	for (i = 0; i < f->n_flows && f->spread <= SKIP_SPREAD; i++) {
		const struct packet_flow *flow = &s->flows[f->flows[i].flow];

		if (f->of_leg[flow->leg])
			f->spread *= flow->alternatives / skip_divisor(f->spread, flow->alternatives);
	}
	return f->spread <= SKIP_SPREAD;
}

/* How many windows may be skipped. */
static uint32_t skip_windows(const struct to_packet_simulator *s)
{
	const struct packet_fast_forward *f = s->fast_forward;
	const uint64_t stays = to_packet_calendar_first(&s->calendar, skip_stays, f);
	double most = SKIP_MOST;
	uint32_t i;

	if (stays != UINT64_MAX)
		most = fmin(most, (stays - s->now) * (double)f->n_windows / (s->now - f->began));
	for (i = 0; i < f->n_legs; i++)
		most = fmin(most, skip_leg_most(s, f->legs[i].leg));
	for (i = 0; i < f->n_flows; i++)
		if (!f->of_leg[s->flows[f->flows[i].flow].leg])
			most = fmin(most, skip_flow_most(s, &f->flows[i]));
	return most >= 1 ? (uint32_t)most - 1 : 0;
}

/* @packets of @wire bytes each, over the links from @at in the list of paths. */
static void skip_count(struct to_packet_simulator *s, uint32_t at, uint64_t packets, uint32_t wire,
		       bool data)
{
	uint32_t last;

	do {
		struct packet_port *port = &s->ports[packet_link(s, at)];

		last = s->paths[at++] & PACKET_LAST;
		port->count.packets += packets;
		port->count.busy += packets * packet_time(port, wire);
		if (!data)
			continue;
		port->count.bytes += packets * (wire - s->options.headers);
		s->result.hops += packets;
	} while (!last);
	s->result.sent += packets;
	s->result.received += packets;
}

/* Of @chunks from now on, how many end on path @alternative? */
static uint32_t skip_ends(const struct packet_flow *flow, uint32_t chunks, uint32_t alternative)
{
	uint32_t number = flow->next + skip_room(flow, flow->next), ends = 0;

	for (uint32_t i = 0; i < chunks; i++, number += flow->chunk_packets)
		ends += number % flow->alternatives == alternative;
	return ends;
}

/* ACKs of the first @packets of a flow. */
static uint32_t skip_acks(const struct packet_flow *flow, uint32_t packets, uint32_t every)
{
	return packets / flow->chunk_packets * ((flow->chunk_packets + every - 1) / every) +
	       packets % flow->chunk_packets / every;
}

/* ACKs and notifications that came back for @packets of @flow. */
static void skip_answers(struct to_packet_simulator *s, struct packet_flow *flow, uint32_t packets,
			 uint32_t cnps)
{
	const uint32_t every = to_packet_transport_ack_every(s), after = flow->expected + packets;

	skip_count(s, flow->back, skip_acks(flow, after, every) - skip_acks(flow, flow->expected, every),
		   to_packet_transport_answer_wire(s, TO_PACKET_ACK), false);
	skip_count(s, flow->back, cnps, to_packet_transport_answer_wire(s, TO_PACKET_CNP), false);
	flow->unacked = after % flow->chunk_packets % every;
	flow->cnps += cnps;
	s->result.cnps += cnps;
}

/* Packets that @windows have of @at's flow. */
static uint32_t skip_packets(const struct packet_fast_forward *f, const struct packet_flow *flow,
			     const struct fast_forward_flow *at, uint32_t windows)
{
	const uint32_t chunks = skip_chunks(f, flow->leg, windows);
	uint32_t packets;

	if (chunks)
		return chunks * flow->chunk_packets;
	packets = windows * (at->even ? (double)at->even : at->last - at->first) / f->n_windows;
	return packets - packets % flow->alternatives;
}

static void skip_flow(struct to_packet_simulator *s, const struct fast_forward_flow *at,
		      uint32_t windows)
{
	const struct packet_fast_forward *f = s->fast_forward;
	struct packet_flow *flow = &s->flows[at->flow];
	const uint32_t packets = skip_packets(f, flow, at, windows);
	const uint32_t chunks = (flow->next + packets) / flow->chunk_packets -
				flow->next / flow->chunk_packets;
	const uint32_t wire = s->options.mtu + s->options.headers;
	const uint32_t last = flow->chunk - (flow->chunk_packets - 1ull) * s->options.mtu +
			      s->options.headers;
	uint32_t ends, i;

	for (i = 0; i < flow->alternatives; i++) {
		ends = skip_ends(flow, chunks, i);
		skip_count(s, flow->path + i * flow->hops, packets / flow->alternatives - ends, wire, true);
		skip_count(s, flow->path + i * flow->hops, ends, last, true);
	}
	skip_answers(s, flow, packets, (uint64_t)windows * (flow->cnps - at->cnps) / f->n_windows);
	flow->next += packets;
	flow->most += packets;
	flow->acked += packets;
	flow->expected += packets;
	flow->chunk_begin = flow->next - flow->next % flow->chunk_packets;
	flow->chunk_end = flow->expected - flow->expected % flow->chunk_packets + flow->chunk_packets;
	if (packet_tcp(s)) {
		flow->tcp.window_end += packets;
		flow->tcp.recover += packets;
	}
	s->fast_forward->of_flow[at->flow] = packets;
}

/* What notes times of @flow, @by later. */
static void skip_flow_times(struct to_packet_simulator *s, struct packet_flow *flow, uint64_t by)
{
	flow->ready_at += by;
	flow->progress_at += by;
	if (s->options.transport != TO_TRANSPORT_DCQCN)
		return;
	flow->dcqcn.alpha_at += by;
	flow->dcqcn.increase_at += by;
	flow->dcqcn.notified_at += flow->dcqcn.notified_at ? by : 0;
}

static uint64_t skip_share(const struct packet_fast_forward *f, uint64_t after, uint64_t before,
			   uint32_t windows)
{
	return (after - before) * windows / f->n_windows;
}

static void skip_port(struct to_packet_simulator *s, uint32_t link, uint32_t windows, uint64_t by)
{
	const struct packet_fast_forward *f = s->fast_forward;
	const struct to_packet_link *before = &f->ports[link].count;
	struct packet_port *port = &s->ports[link];
	const uint64_t marks = skip_share(f, port->count.marks, before->marks, windows);
	const uint64_t pauses = skip_share(f, port->count.pauses, before->pauses, windows);

	/* one that was paused all the time still is */
	if (!port->paused || port->count.pauses != before->pauses)
		port->paused_since += by;
	port->count.paused += skip_share(f, port->count.paused, before->paused, windows);
	port->count.marks += marks;
	port->count.pauses += pauses;
	s->result.marks += marks;
	s->result.pauses += pauses;
	port->free_at += by;
	port->softirq += by;
}

/* What its feeders now let a leg send; after all legs have moved on. */
static void skip_feed(struct to_packet_simulator *s, uint32_t index)
{
	struct packet_leg *leg = &s->legs[index];
	uint32_t may = leg->n_chunks, i;

	for (i = 0; i < leg->n_feeders; i++) {
		const struct packet_leg *feeder = &s->legs[s->edges[leg->edges + i]];

		may = feeder->arrived + leg->ahead < may ? feeder->arrived + leg->ahead : may;
	}
	for (i = leg->first_flow; may > leg->asked && i < leg->first_flow + leg->n_flows; i++) {
		s->flows[i].limit += (may - leg->asked) * s->flows[i].chunk_packets;
		to_packet_transport_wake(s, i);
	}
	leg->asked = may > leg->asked ? may : leg->asked;
}

/* By which part of it a leg falls behind, since it moves by whole chunks. */
static double skip_rounding(const struct packet_fast_forward *f, const struct fast_forward_leg *at,
			    uint32_t windows)
{
	const double chunks = (double)windows * at->came / f->n_windows;

	return at->came && !at->even ? 1 - skip_chunks(f, at->leg, windows) / chunks : 0;
}

static uint32_t skip_task(const struct to_packet_simulator *s, const struct fast_forward_flow *at)
{
	return s->legs[s->flows[at->flow].leg].task;
}

/* Which tasks' flows are as fast as each other, where windows are shorter than chunks. */
static void skip_even(const struct to_packet_simulator *s)
{
	const struct packet_fast_forward *f = s->fast_forward;
	uint32_t i, k, end, least, most;
	double sum;

	for (i = 0; i < f->n_flows; i = end) {
		const uint32_t task = skip_task(s, &f->flows[i]);

		least = UINT32_MAX;
		most = 0;
		sum = 0;
		for (end = i; end < f->n_flows && skip_task(s, &f->flows[end]) == task; end++) {
			const uint32_t came = f->flows[end].last - f->flows[end].first;

			least = came < least ? came : least;
			most = came > most ? came : most;
			sum += came;
		}
		if (f->reference == PACKET_NONE && most - least <= fmax(2, SKIP_EVEN * most) &&
		    s->legs[s->flows[f->flows[i].flow].leg].n_chunks > 1)
			for (k = i; k < end; k++)
				f->flows[k].even = sum / (end - i);
	}
}

/* Chunks that came over legs. Those of a ring are in step, but for the window's ends. */
static void skip_legs(const struct to_packet_simulator *s)
{
	const struct packet_fast_forward *f = s->fast_forward;
	uint32_t i, k, end, least;

	for (i = 0; i < f->n_legs; i = end) {
		const uint32_t task = s->legs[f->legs[i].leg].task;

		least = UINT32_MAX;
		for (end = i; end < f->n_legs && s->legs[f->legs[end].leg].task == task; end++) {
			struct fast_forward_leg *at = &f->legs[end];

			at->came = s->legs[at->leg].arrived - at->arrived;
			least = at->came < least ? at->came : least;
		}
		for (k = i; k < end; k++)
			f->of_leg[f->legs[k].leg] = f->legs[k].came == least + 1 && least ?
						    least : f->legs[k].came;
	}
}

/* Legs of flows that move on within chunks do not by chunks. */
static void skip_even_legs(struct to_packet_simulator *s)
{
	const struct packet_fast_forward *f = s->fast_forward;
	uint32_t i, at;

	for (i = 0, at = 0; i < f->n_legs; i++) {
		const uint32_t leg = f->legs[i].leg;

		while (at < f->n_flows && s->flows[f->flows[at].flow].leg < leg)
			at++;
		f->legs[i].even = at < f->n_flows && f->flows[at].even > 0;
		if (f->legs[i].even)
			f->of_leg[leg] = 0;
	}
}

/* All that counts packets or notes times, @windows and @by later. */
static void skip_all(struct to_packet_simulator *s, uint32_t windows, uint64_t by)
{
	const struct packet_fast_forward *f = s->fast_forward;
	uint32_t i;

	/* ports before flows, whose packets they count */
	for (i = 0; i < s->network->n_links; i++)
		skip_port(s, i, windows, by);
	for (i = 0; i < s->network->n_pcie; i++)
		s->pcie[i].free_at += by;
	for (i = 0; i < f->n_flows; i++)
		skip_flow(s, &f->flows[i], windows);
	for (i = f->oldest_flow; i < s->n_flows; i++)
		skip_flow_times(s, &s->flows[i], by);
	for (i = 0; i < s->store.n; i++)
		s->store.packets[i].number += f->of_flow[s->store.packets[i].flow];
	for (i = 0; i < f->n_legs; i++)
		s->legs[f->legs[i].leg].arrived = to_packet_leg_chunks(s, f->legs[i].leg);
	s->now += by;
	for (i = 0; i < f->n_legs; i++)
		skip_feed(s, f->legs[i].leg);
}

int to_packet_fast_forward_skip(struct to_packet_simulator *s, double error)
{
	struct packet_fast_forward *f = s->fast_forward;
	uint32_t windows, i;
	double rounding = 0;
	uint64_t by;

	memset(f->of_leg, 0, s->n_legs * sizeof(*f->of_leg));
	memset(f->of_flow, 0, s->n_flows * sizeof(*f->of_flow));
	skip_legs(s);
	skip_even(s);
	skip_even_legs(s);
	if (!skip_spread(s))
		return 0;
	windows = skip_windows(s);
	if (windows < SKIP_LEAST)
		return 0;
	for (i = 0; i < f->n_legs; i++)
		rounding = fmax(rounding, skip_rounding(f, &f->legs[i], windows));
	if (rounding > SKIP_ROUNDING)
		return -EAGAIN;
	by = (s->now - f->began) * windows / f->n_windows;
	if (to_packet_calendar_shift(&s->calendar, s->now + by, by, skip_moves, f))
		return -ENOMEM;
	skip_all(s, windows, by);
	s->result.skips++;
	s->result.skipped += by;
	s->result.skip_error += (error + rounding) * by * 1e-12;
	return 0;
}
