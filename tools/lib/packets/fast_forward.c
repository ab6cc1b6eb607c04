// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/fast_forward.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packets/fast_forward_skip.h"
#include "packets/window.h"

#define FAST_FORWARD_WINDOWS 4
#define FAST_FORWARD_PACKETS 64	/* of the flow that a window is made for */
#define FAST_FORWARD_CHUNK 1024	/* packets from which on a chunk has windows of its own, */
#define FAST_FORWARD_FEW 32		/* unless that many chunks are still to come */
#define FAST_FORWARD_ERROR 0.01	/* of a rate */
#define FAST_FORWARD_QUEUE 4		/* packets that a queue may have grown or shrunk by */
#define FAST_FORWARD_DOUBLINGS 12
#define FAST_FORWARD_CONTROL (550 * 1000000ull)	/* ten periods of DCQCN: its rates swing */

struct packet_fast_forward *to_packet_fast_forward_new(uint32_t n_links)
{
	struct packet_fast_forward *f = calloc(1, sizeof(*f));

	if (f)
		f->ports = calloc(n_links + 1, sizeof(*f->ports));
	if (f && f->ports)
		return f;
	free(f);
	return NULL;
}

void to_packet_fast_forward_free(struct packet_fast_forward *f)
{
	if (!f)
		return;
	free(f->ports);
	free(f->flows);
	free(f->legs);
	free(f->of_flow);
	free(f->of_leg);
	free(f);
}

void to_packet_fast_forward_reset(struct to_packet_simulator *s)
{
	struct packet_fast_forward *f = s->fast_forward;

	f->changes = UINT64_MAX;
	f->oldest_flow = f->oldest_leg = f->n_windows = f->doublings = 0;
	f->reference = PACKET_NONE;
	f->based = false;
	s->look_at = 0;
}

/* Room for what concerns each flow and leg there is. */
static int fast_forward_reserve(struct to_packet_simulator *s)
{
	struct packet_fast_forward *f = s->fast_forward;

	if (f->max_flows < s->max_flows) {
		struct fast_forward_flow *flows = realloc(f->flows, s->max_flows * sizeof(*flows));
		uint32_t *of_flow;

		if (!flows)
			return -ENOMEM;
		f->flows = flows;
		of_flow = realloc(f->of_flow, s->max_flows * sizeof(*of_flow));
		if (!of_flow)
			return -ENOMEM;
		f->of_flow = of_flow;
		f->max_flows = s->max_flows;
	}
	if (f->max_legs < s->max_legs) {
		struct fast_forward_leg *legs = realloc(f->legs, s->max_legs * sizeof(*legs));
		uint32_t *of_leg;

		if (!legs)
			return -ENOMEM;
		f->legs = legs;
		of_leg = realloc(f->of_leg, s->max_legs * sizeof(*of_leg));
		if (!of_leg)
			return -ENOMEM;
		f->of_leg = of_leg;
		f->max_legs = s->max_legs;
	}
	return 0;
}

/* Do that many flows share the first link of @leg that its chunks are too long for windows? */
static bool fast_forward_shared(const struct to_packet_simulator *s, uint32_t leg)
{
	const struct packet_fast_forward *f = s->fast_forward;
	const struct packet_flow *first = &s->flows[s->legs[leg].first_flow];
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_flows; i++)
		n += s->flows[f->flows[i].flow].link == first->link;
	return n > 1 && n * (uint64_t)first->chunk_packets >= FAST_FORWARD_CHUNK;
}

/* Legs that go on, and what ends a window. */
static void fast_forward_choose(struct to_packet_simulator *s)
{
	struct packet_fast_forward *f = s->fast_forward;
	uint32_t largest = 0;

	while (f->oldest_leg < s->n_legs &&
	       s->legs[f->oldest_leg].arrived == s->legs[f->oldest_leg].n_chunks)
		f->oldest_leg++;
	f->n_legs = 0;
	f->reference = PACKET_NONE;
	for (uint32_t i = f->oldest_leg; i < s->n_legs; i++) {
		const struct packet_leg *leg = &s->legs[i];
		const uint32_t packets = s->flows[leg->first_flow].chunk_packets;

		if (leg->arrived == leg->n_chunks)
			continue;
		f->legs[f->n_legs++] = (struct fast_forward_leg){ .leg = i,
								  .arrived = leg->arrived };
		if (leg->n_chunks - leg->arrived < 2 || packets <= largest ||
		    (packets >= FAST_FORWARD_CHUNK &&
		     leg->n_chunks - leg->arrived < FAST_FORWARD_FEW))
			continue;
		largest = packets;
		f->reference = i;
	}
	if (f->reference != PACKET_NONE && !s->step && fast_forward_shared(s, f->reference))
		f->reference = PACKET_NONE;
	f->group = largest ? (FAST_FORWARD_PACKETS - 1) / largest + 1 : 0;
}

/* When to look next. */
static void fast_forward_wait(struct to_packet_simulator *s)
{
	struct packet_fast_forward *f = s->fast_forward;

	if (f->reference != PACKET_NONE) {
		const struct packet_leg *leg = &s->legs[f->reference];
		const uint32_t left = leg->n_chunks - leg->arrived, wanted = f->group << f->doublings;

		f->chunk = leg->arrived + (wanted < left ? wanted : left);
		s->look_at = UINT64_MAX;
	} else if (!f->n_flows) {
		/* until a leg begins */
		s->look_at = UINT64_MAX;
	} else {
		s->look_at = s->now + (f->window << f->doublings);
	}
}

/* As long as its link takes for that many packets. */
static uint64_t fast_forward_length(const struct to_packet_simulator *s, uint32_t flow)
{
	return FAST_FORWARD_PACKETS * packet_time(&s->ports[s->flows[flow].link],
					     s->options.mtu + s->options.headers);
}

/* How all is, for the windows that begin now. */
static void fast_forward_base(struct to_packet_simulator *s)
{
	struct packet_fast_forward *f = s->fast_forward;
	uint32_t i;

	while (f->oldest_flow < s->n_flows &&
	       s->flows[f->oldest_flow].expected == s->flows[f->oldest_flow].n_packets)
		f->oldest_flow++;
	f->n_flows = 0;
	f->window = 0;
	for (i = f->oldest_flow; i < s->n_flows; i++) {
		const struct packet_flow *flow = &s->flows[i];

		if (flow->expected == flow->n_packets)
			continue;
		f->flows[f->n_flows++] = (struct fast_forward_flow){
			.flow = i, .next = flow->next, .first = flow->expected,
			.last = flow->expected, .cnps = flow->cnps, .least = UINT32_MAX };
		if (s->received)
			f->flows[f->n_flows - 1].window = flow->tcp.window;
		f->window = fast_forward_length(s, i);
	}
	fast_forward_choose(s);
	for (i = 0; i < s->network->n_links; i++)
		f->ports[i] = (struct fast_forward_port){ s->ports[i].queued, s->ports[i].count };
	f->lost = s->result.dropped + s->result.naks + s->result.timeouts;
	f->began = f->last = s->now;
	f->shortest = UINT64_MAX;
	f->longest = 0;
	f->n_windows = 0;
	f->based = true;
	fast_forward_wait(s);
}

/* Another window has passed. */
static void fast_forward_window(struct to_packet_simulator *s)
{
	struct packet_fast_forward *f = s->fast_forward;
	const uint64_t took = s->now - f->last;
	uint32_t i;

	f->shortest = took < f->shortest ? took : f->shortest;
	f->longest = took > f->longest ? took : f->longest;
	f->last = s->now;
	for (i = 0; i < f->n_flows; i++) {
		struct fast_forward_flow *at = &f->flows[i];
		const uint32_t came = s->flows[at->flow].expected - at->last;

		at->last += came;
		at->least = came < at->least ? came : at->least;
		at->most = came > at->most ? came : at->most;
	}
	f->n_windows++;
}

static bool fast_forward_empty(const struct to_packet_simulator *s, uint32_t flow)
{
	const uint64_t *words = s->received + flow * (size_t)(TO_WINDOW_MAX / 64);

	for (uint32_t i = 0; s->received && i < TO_WINDOW_MAX / 64; i++)
		if (words[i])
			return false;
	return true;
}

/* Does congestion control still look for the rate of @at's flow? */
static bool fast_forward_seeks(const struct to_packet_simulator *s,
			       const struct fast_forward_flow *at)
{
	const struct packet_flow *flow = &s->flows[at->flow];
	const double line = packet_line(s, flow);

	switch (s->options.transport) {
	case TO_TRANSPORT_TCP:
	case TO_TRANSPORT_DCTCP:
		return flow->tcp.window != at->window;
	case TO_TRANSPORT_DCQCN:
		return (flow->dcqcn.rate < (float)line || flow->cnps != at->cnps) &&
		       s->fast_forward->shortest < FAST_FORWARD_CONTROL;
	default:
		return false;
	}
}

/* Is @at's flow as it was, with other numbers? Sets @error, a part of its rate. */
static bool fast_forward_flow_steady(const struct to_packet_simulator *s,
				     const struct fast_forward_flow *at, double *error)
{
	const struct packet_flow *flow = &s->flows[at->flow];
	const uint32_t came = at->last - at->first, sent = flow->next - at->next;
	const double differs = at->most - at->least > 1 ? at->most - at->least : 1;

	if (flow->next < at->next || flow->next != flow->most || fast_forward_seeks(s, at) ||
	    !fast_forward_empty(s, at->flow))
		return false;
	if (!came && !sent)
		return true;
	if (!came || fabs((double)sent - came) > 1 + FAST_FORWARD_ERROR * came)
		return false;
	*error = fmax(*error, differs / came);
	return *error <= FAST_FORWARD_ERROR;
}

/* The largest part by which a rate may be wrong; INFINITY where not all is steady. */
static double fast_forward_error(const struct to_packet_simulator *s)
{
	const struct packet_fast_forward *f = s->fast_forward;
	const uint32_t wire = s->options.mtu + s->options.headers;
	double error = (double)(f->longest - f->shortest) / (s->now - f->began);
	uint32_t i;

	if (f->lost != s->result.dropped + s->result.naks + s->result.timeouts)
		return INFINITY;
	for (i = 0; i < f->n_flows; i++)
		if (!fast_forward_flow_steady(s, &f->flows[i], &error))
			return INFINITY;
	for (i = 0; i < s->network->n_links; i++)
		if (fabs((double)s->ports[i].queued - f->ports[i].queued) >
		    FAST_FORWARD_QUEUE * wire + f->ports[i].queued / 10.)
			return INFINITY;
	return error <= FAST_FORWARD_ERROR ? error : INFINITY;
}

void to_packet_fast_forward_chunk(struct to_packet_simulator *s, uint32_t leg)
{
	const struct packet_fast_forward *f = s->fast_forward;
	const uint32_t first = s->legs[leg].first_flow;
	const uint32_t half = s->flows[first].chunk_packets / 2;

	if (leg != f->reference || s->legs[leg].arrived < f->chunk)
		return;
	/* legs in step with this one end their chunks within half a chunk, in any order */
	s->look_at = s->now + fast_forward_length(s, first) / FAST_FORWARD_PACKETS *
			      (half < FAST_FORWARD_PACKETS ? half : FAST_FORWARD_PACKETS);
}

int to_packet_fast_forward_look(struct to_packet_simulator *s)
{
	struct packet_fast_forward *f = s->fast_forward;
	double error;
	int ret = 0;

	if (fast_forward_reserve(s))
		return -ENOMEM;
	if (f->changes != s->changes && s->n_flows) {
		/* flows have begun or ended, others may follow */
		f->changes = s->changes;
		/* a window that was long enough for rates is still, or nearly */
		f->doublings = f->reference == PACKET_NONE ? f->doublings : 0;
		f->based = false;
		f->reference = PACKET_NONE;
		s->look_at = s->now + fast_forward_length(s, s->n_flows - 1);
		return 0;
	}
	if (!f->based) {
		fast_forward_base(s);
		return 0;
	}
	fast_forward_window(s);
	if (f->n_windows < FAST_FORWARD_WINDOWS) {
		fast_forward_wait(s);
		return 0;
	}
	error = fast_forward_error(s);
	if (error <= FAST_FORWARD_ERROR)
		ret = to_packet_fast_forward_skip(s, error);
	if ((error > FAST_FORWARD_ERROR || ret == -EAGAIN) && f->doublings < FAST_FORWARD_DOUBLINGS)
		f->doublings++;
	else if (error < FAST_FORWARD_ERROR / 3 && f->doublings)
		f->doublings--;
	fast_forward_base(s);
	return ret == -EAGAIN ? 0 : ret;
}
