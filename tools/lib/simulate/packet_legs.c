// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/packet_legs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/collective.h"

#define LEGS_PIECE (128 << 10)	/* bytes that a tree passes on at once */

void to_packet_legs_free(struct to_packet_legs *l)
{
	free(l->legs);
	free(l->feeders);
	memset(l, 0, sizeof(*l));
}

void to_packet_legs_clear(struct to_packet_legs *l)
{
	l->n = l->n_feeders = 0;
	l->failed = false;
}

static void legs_add(struct to_packet_legs *l, struct to_packet_leg leg)
{
	struct to_packet_leg *grown;

	if (l->failed)
		return;
	if (l->n == l->max) {
		grown = realloc(l->legs, (2 * (size_t)l->max + 64) * sizeof(*grown));
		if (!grown) {
			l->failed = true;
			return;
		}
		l->legs = grown;
		l->max = 2 * l->max + 64;
	}
	leg.first_feeder = l->n_feeders;
	leg.n_feeders = 0;
	l->legs[l->n++] = leg;
}

/* @feeder of the leg that was added last. */
static void legs_feed(struct to_packet_legs *l, uint32_t feeder)
{
	uint32_t *grown;

	if (l->failed)
		return;
	if (l->n_feeders == l->max_feeders) {
		grown = realloc(l->feeders, (2 * (size_t)l->max_feeders + 64) * sizeof(*grown));
		if (!grown) {
			l->failed = true;
			return;
		}
		l->feeders = grown;
		l->max_feeders = 2 * l->max_feeders + 64;
	}
	l->feeders[l->n_feeders++] = feeder;
	l->legs[l->n - 1].n_feeders++;
}

void to_packet_legs_transfer(struct to_packet_legs *l, const struct to_transfer *transfer,
			     uint32_t index)
{
	legs_add(l, (struct to_packet_leg){ .from = transfer->src, .to = transfer->dst,
					    .link = TO_LEG_ROUTED, .transfer = index,
					    .chunk = transfer->bytes, .n_chunks = 1 });
}

void to_packet_legs_ring(struct to_packet_legs *l, const uint32_t *order, uint32_t n, bool reverse,
			 double bytes)
{
	const uint32_t first = l->n;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t after = (i + 1) % n, before = (i + n - 1) % n;

		legs_add(l, (struct to_packet_leg){
			.from = order[i], .to = order[reverse ? before : after],
			.link = TO_LEG_ROUTED, .transfer = UINT32_MAX,
			.chunk = fmax(round(bytes / n), 1), .n_chunks = 2 * (n - 1), .ahead = 1 });
		legs_feed(l, first + (reverse ? after : before));
	}
}

void to_packet_legs_tree(struct to_packet_legs *l, const uint32_t *members,
			 const uint32_t *parents, uint32_t n, double bytes)
{
	const uint32_t pieces = fmin(fmax(ceil(bytes / LEGS_PIECE), 1), 1 << 20);
	struct to_packet_leg leg = { .link = TO_LEG_ROUTED, .transfer = UINT32_MAX,
				     .n_chunks = pieces, .chunk = fmax(round(bytes / pieces), 1) };
	uint32_t *leg_up = malloc(n * sizeof(*leg_up)), next = l->n, i, k;

	if (!leg_up) {
		l->failed = true;
		return;
	}
	for (i = 0; i < n; i++) {
		leg_up[i] = next;
		next += parents[i] == TO_SERVER_NONE ? 0 : 2;
	}
	for (i = 0; i < n; i++) {
		if (parents[i] == TO_SERVER_NONE)
			continue;
		leg.from = members[i];
		leg.to = parents[i];
		legs_add(l, leg);
		for (k = 0; k < n; k++)
			if (parents[k] == members[i])
				legs_feed(l, leg_up[k]);
		leg.from = parents[i];
		leg.to = members[i];
		legs_add(l, leg);
		for (k = 0; members[k] != parents[i]; k++)
			;
		if (parents[k] != TO_SERVER_NONE) {
			legs_feed(l, leg_up[k] + 1);
			continue;
		}
		for (k = 0; k < n; k++)
			if (parents[k] == parents[i])
				legs_feed(l, leg_up[k]);
	}
	free(leg_up);
}

void to_packet_legs_halving_doubling(struct to_packet_legs *l, const uint32_t *members, uint32_t n,
				     double bytes)
{
	const unsigned int phases = to_collective_phases(TO_ALGORITHM_HALVING_DOUBLING, n);
	struct to_transfer *transfers = calloc(4 * (size_t)n, sizeof(*transfers));
	uint32_t before = l->n, first, k;
	unsigned int phase, steps;
	int sent, i;

	for (phase = 0; transfers && phase < phases && !l->failed; phase++, before = first) {
		first = l->n;
		sent = to_collective_phase(TO_ALGORITHM_HALVING_DOUBLING, members, n, phase,
					   transfers, &steps);
		for (i = 0; i < sent; i++) {
			legs_add(l, (struct to_packet_leg){
				.from = transfers[i].src, .to = transfers[i].dst,
				.link = TO_LEG_ROUTED, .transfer = UINT32_MAX, .n_chunks = 1,
				.chunk = fmax(round(bytes * transfers[i].bytes /
						    TO_COLLECTIVE_BUFFER), 1) });
			for (k = before; k < first; k++)
				if (l->legs[k].to == transfers[i].src)
					legs_feed(l, k);
		}
	}
	l->failed |= !transfers;
	free(transfers);
}
