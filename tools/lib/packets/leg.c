// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/leg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "packets/transport.h"
#include "packets/window.h"

/* Make room for @more elements of @size in an array of @n. */
static int leg_reserve(void *array, uint32_t n, uint32_t more, uint32_t *max, size_t size)
{
	const size_t wanted = (size_t)n + more, grown = wanted + wanted / 2 + 64;
	void *moved;

	if (wanted <= *max)
		return 0;
	if (grown > PACKET_INDEX_MAX)
		return -ENOMEM;
	moved = realloc(*(void **)array, grown * size);
	if (!moved)
		return -ENOMEM;
	*(void **)array = moved;
	*max = grown;
	return 0;
}

static int leg_reserve_flows(struct to_packet_simulator *s, uint32_t n)
{
	const size_t words = TO_WINDOW_MAX / 64 * sizeof(*s->received);
	const uint32_t before = s->max_flows;
	uint64_t *received;

	if (leg_reserve(&s->flows, s->n_flows, n, &s->max_flows, sizeof(*s->flows)))
		return -ENOMEM;
	if (before == s->max_flows || !packet_tcp(s))
		return 0;
	received = realloc(s->received, s->max_flows * words);
	if (!received) {
		s->max_flows = before;
		return -ENOMEM;
	}
	s->received = received;
	return 0;
}

/* Append a path of @hops links to s->paths. */
static int leg_add_path(struct to_packet_simulator *s, const uint32_t *links, int hops)
{
	if (leg_reserve(&s->paths, s->n_paths, hops, &s->max_paths, sizeof(*s->paths)))
		return -ENOMEM;
	memcpy(&s->paths[s->n_paths], links, hops * sizeof(*links));
	s->n_paths += hops;
	s->paths[s->n_paths - 1] |= PACKET_LAST;
	return 0;
}

/* Refuse to spray over links that drop packets: the receiver takes any order and sees no gap. */
static int leg_check_spray(struct to_packet_simulator *s, const uint32_t *links, int hops)
{
	const struct to_network *w = s->network;

	if (!s->options.pfc)
		return to_error_set(s->err, -EINVAL,
				    "without PFC packets get lost, which is not seen where they are sprayed: --routing hash");
	for (int i = 0; i + 1 < hops; i++)
		if (w->links[links[i]].to < w->n_servers)
			return to_error_set(s->err, -EINVAL,
					    "%s relays and may lose packets, which is not seen where they are sprayed: --routing hash",
					    w->names[w->links[links[i]].to]);
	return 0;
}

/* Count the first links of the paths of @f, which differ where a server has several NICs. */
static void leg_count_links(const struct to_packet_simulator *s, struct packet_flow *f)
{
	uint32_t i, k;

	f->link = packet_link(s, f->path);
	for (i = 0; i < f->alternatives; i++) {
		for (k = 0; k < i && packet_link(s, f->path + k * f->hops) !=
				     packet_link(s, f->path + i * f->hops); k++)
			;
		f->n_links += k == i;
	}
}

/* Find the paths of @f, flow @number of @message, there and back. */
static int leg_route(struct to_packet_simulator *s, const struct to_packet_message *message,
		     uint32_t number, struct packet_flow *f)
{
	uint32_t links[TO_PATH_LINKS_MAX] = { message->link, message->then };
	uint32_t alternatives = 1, ignored, i;
	int hops = message->then ? 2 : 1;

	f->path = s->n_paths;
	if (message->link == TO_MESSAGE_ROUTED)
		hops = s->routes->ops->path(s->routes, message->from, message->to, number, links,
					    &alternatives, s->err);
	if (hops < 0)
		return hops;
	f->hops = hops;
	f->alternatives = alternatives;
	for (i = 0; i < alternatives; i++) {
		if (i)
			hops = s->routes->ops->path(s->routes, message->from, message->to, i,
						    links, &ignored, s->err);
		if (alternatives > 1 && leg_check_spray(s, links, hops))
			return -EINVAL;
		if (leg_add_path(s, links, hops))
			return to_error_set(s->err, -ENOMEM, "out of memory");
	}
	leg_count_links(s, f);
	f->back = s->n_paths;
	hops = s->routes->ops->path(s->routes, message->to, message->from, number, links, &ignored,
				    s->err);
	if (hops < 0)
		return hops;
	return leg_add_path(s, links, hops) ? to_error_set(s->err, -ENOMEM, "out of memory") : 0;
}

/* Add flow @number of the @n of @message, with its part of each chunk. */
static int leg_add_flow(struct to_packet_simulator *s, const struct to_packet_message *message,
			uint32_t index, uint32_t number, uint32_t n)
{
	const uint64_t chunk = message->chunk / n + (number < message->chunk % n);
	const uint64_t packets = (chunk + s->options.mtu - 1) / s->options.mtu;
	struct packet_flow f = { .leg = index, .chunk = chunk, .chunk_packets = packets };
	int ret;

	if (packets * message->n_chunks > UINT32_MAX / 2)
		return to_error_set(s->err, -E2BIG, "a flow has more than 2^31 packets");
	f.n_packets = packets * message->n_chunks;
	f.chunk_end = packets;
	ret = leg_route(s, message, number, &f);
	if (ret)
		return ret;
	if (s->received)
		memset(&s->received[s->n_flows * (size_t)(TO_WINDOW_MAX / 64)], 0,
		       TO_WINDOW_MAX / 64 * sizeof(*s->received));
	s->flows[s->n_flows++] = f;
	return 0;
}

static int leg_add(struct to_packet_simulator *s, uint32_t task,
		   const struct to_packet_message *message)
{
	uint32_t n = message->link == TO_MESSAGE_ROUTED ? s->options.queue_pairs : 1, i;
	int ret = 0;

	n = message->chunk < n ? message->chunk : n;
	if (leg_reserve(&s->legs, s->n_legs, 1, &s->max_legs, sizeof(*s->legs)) ||
	    leg_reserve_flows(s, n))
		return to_error_set(s->err, -ENOMEM, "out of memory");
	s->legs[s->n_legs] = (struct packet_leg){
		.task = task, .transfer = message->transfer, .first_flow = s->n_flows,
		.n_chunks = message->n_chunks, .ahead = message->ahead,
		.n_feeders = message->n_feeders };
	for (i = 0; !ret && i < n; i++) {
		ret = leg_add_flow(s, message, s->n_legs, i, n);
		/* one flow that is sprayed uses as many paths as several */
		if (!ret && s->flows[s->n_flows - 1].alternatives > 1) {
			s->n_flows -= i + 1;
			n = 1;
			ret = leg_add_flow(s, message, s->n_legs, 0, 1);
		}
	}
	s->legs[s->n_legs++].n_flows = n;
	return ret;
}

/* Note the feeders of the legs from @first on, and the legs that they feed. */
static int leg_join(struct to_packet_simulator *s, uint32_t first)
{
	const struct to_packet_messages *given = &s->scratch;
	uint32_t i, k, at;

	if (leg_reserve(&s->edges, s->n_edges, 2 * given->n_feeders, &s->max_edges,
			sizeof(*s->edges)))
		return to_error_set(s->err, -ENOMEM, "out of memory");
	for (i = 0; i < given->n_feeders; i++)
		s->legs[first + given->feeders[i]].n_feeds++;
	for (i = 0, at = s->n_edges; i < given->n; i++) {
		struct packet_leg *leg = &s->legs[first + i];

		leg->edges = at;
		at += leg->n_feeders + leg->n_feeds;
		leg->n_feeds = 0;
	}
	s->n_edges = at;
	for (i = 0; i < given->n; i++) {
		for (k = 0; k < given->list[i].n_feeders; k++) {
			const uint32_t feeder = first + given->feeders[given->list[i].first_feeder + k];
			struct packet_leg *feeds = &s->legs[feeder];

			s->edges[s->legs[first + i].edges + k] = feeder;
			s->edges[feeds->edges + feeds->n_feeders + feeds->n_feeds++] = first + i;
		}
	}
	return 0;
}

void to_packet_leg_allow(struct to_packet_simulator *s, uint32_t index)
{
	const struct packet_leg *leg = &s->legs[index];
	const uint32_t chunks = leg->n_feeders ? 1 : leg->n_chunks;

	for (uint32_t i = leg->first_flow; i < leg->first_flow + leg->n_flows; i++) {
		s->flows[i].limit += chunks * s->flows[i].chunk_packets;
		to_packet_transport_wake(s, i);
	}
}

/* Let as many chunks go as the feeders of a leg have received, after the latency of a step. */
static void leg_feed(struct to_packet_simulator *s, uint32_t index)
{
	struct packet_leg *leg = &s->legs[index];
	uint32_t may = UINT32_MAX, i;

	for (i = 0; i < leg->n_feeders; i++) {
		const struct packet_leg *feeder = &s->legs[s->edges[leg->edges + i]];
		const uint32_t has = feeder->arrived + leg->ahead;

		may = has < may ? has : may;
	}
	may = may < leg->n_chunks ? may : leg->n_chunks;
	while (leg->asked < may) {
		leg->asked = leg->n_feeders ? leg->asked + 1 : may;
		if (s->step)
			packet_schedule(s, s->now + s->step, PACKET_CHUNK, index);
		else
			to_packet_leg_allow(s, index);
	}
}

int to_packet_leg_start(struct to_packet_simulator *s, uint32_t task)
{
	const uint32_t first = s->n_legs, first_flow = s->n_flows;
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < s->scratch.n; i++)
		ret = leg_add(s, task, &s->scratch.list[i]);
	if (!ret)
		ret = leg_join(s, first);
	s->changes++;
	s->look_at = s->fast_forward ? s->now : UINT64_MAX;
	for (i = first_flow; !ret && i < s->n_flows; i++)
		to_packet_transport_begin(s, i);
	for (i = first; !ret && i < s->n_legs; i++)
		leg_feed(s, i);
	return ret;
}

uint32_t to_packet_leg_chunks(const struct to_packet_simulator *s, uint32_t index)
{
	const struct packet_leg *leg = &s->legs[index];
	uint32_t arrived = UINT32_MAX, i;

	for (i = leg->first_flow; i < leg->first_flow + leg->n_flows; i++) {
		const uint32_t has = s->flows[i].expected / s->flows[i].chunk_packets;

		arrived = has < arrived ? has : arrived;
	}
	return arrived;
}

void to_packet_leg_arrived(struct to_packet_simulator *s, uint32_t flow)
{
	struct packet_leg *leg = &s->legs[s->flows[flow].leg];
	const uint32_t arrived = to_packet_leg_chunks(s, s->flows[flow].leg);
	uint32_t i;

	s->changes += s->flows[flow].expected == s->flows[flow].n_packets;
	if (arrived == leg->arrived)
		return;
	leg->arrived = arrived;
	packet_happen(s, PACKET_PROGRESS, s->flows[flow].leg);
	for (i = 0; i < leg->n_feeds; i++)
		leg_feed(s, s->edges[leg->edges + leg->n_feeders + i]);
}
