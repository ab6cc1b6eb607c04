// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "graph/permutation.h"
#include "graph/ring.h"
#include "graph/totient.h"
#include "topology/family.h"

/* MP bytes by difference of the positions in @members. */
static uint64_t *totient_offsets(const struct to_builder *b, const uint32_t *members,
				 unsigned int n)
{
	uint64_t *offsets = calloc(n, sizeof(*offsets));
	unsigned int i, j;

	for (i = 0; offsets && i < n; i++) {
		const uint64_t *row = &b->demand->mp[(size_t)members[i] * b->demand->n];

		for (j = 0; j < n; j++)
			offsets[j >= i ? j - i : j + n - i] += row[members[j]];
	}
	return offsets;
}

/* A ring in an order that no jump gives: see to_ring_fresh(). */
static int totient_fresh(const struct to_builder *b, const uint32_t *members, unsigned int n,
			 uint32_t *order)
{
	const struct to_layout *layout = &b->layout;
	struct to_graph *graph = to_graph_new(b->n, layout->links, layout->n_links,
					      b->cluster->link_mode);
	int ret = graph ? to_ring_fresh(graph, members, n, b->knobs.seed + layout->n_links, order)
			: -ENOMEM;

	to_graph_free(graph);
	return ret;
}

/* Rings at jumps that serve the MP transfers while there are any. */
static int totient_lay(struct to_builder *b, const uint32_t *members, unsigned int n,
		       unsigned int n_rings, int group)
{
	uint64_t *offsets = totient_offsets(b, members, n);
	uint32_t *jumps = calloc(n_rings + 1, sizeof(*jumps)), *order;
	int n_jumps = offsets && jumps ? to_permutation_select(n, offsets, n_rings, b->duplex,
							       b->knobs.seed, jumps) : -ENOMEM;
	int ret = n_jumps < 0 ? n_jumps : 0;
	unsigned int i;

	for (i = 0; !ret && i < n_rings; i++) {
		order = calloc(n, sizeof(*order));
		if (!order)
			ret = -ENOMEM;
		else if (i < (unsigned int)n_jumps)
			to_totient_ring(members, n, jumps[i], order);
		else
			ret = totient_fresh(b, members, n, order);
		/* two servers have the regular ring only, as often as wanted */
		if (!ret)
			to_builder_ring(b, order, n, n == 2 ? 1 : jumps[i], group);
		else
			free(order);
	}
	free(offsets);
	free(jumps);
	return ret;
}

static int totient_build(struct to_builder *b, unsigned int backbone)
{
	return to_builder_lay_all(b, backbone, totient_lay);
}

/* Jumps evenly by index: what the paper's choice comes to when all look alike. */
static int totient_lay_evenly(struct to_builder *b, const uint32_t *members, unsigned int n,
			      unsigned int n_rings, int group)
{
	uint32_t *jumps = calloc(n, sizeof(*jumps)), *order;
	unsigned int n_jumps = jumps ? to_totient_jumps(n, b->duplex, jumps) : 0, i;

	for (i = 0; n_jumps && i < n_rings; i++) {
		uint32_t jump = jumps[i * n_jumps / n_rings];

		order = calloc(n, sizeof(*order));
		if (!order)
			break;
		to_totient_ring(members, n, jump, order);
		to_builder_ring(b, order, n, jump, group);
	}
	free(jumps);
	return i == n_rings ? 0 : -ENOMEM;
}

static int totient_build_evenly(struct to_builder *b, unsigned int backbone)
{
	return to_builder_lay_all(b, backbone, totient_lay_evenly);
}

/* The jump that alone serves the MP transfers best, for all rings. */
static int totient_lay_one_order(struct to_builder *b, const uint32_t *members, unsigned int n,
				 unsigned int n_rings, int group)
{
	uint64_t *offsets = totient_offsets(b, members, n);
	uint32_t jump = 1, *order;
	int ret = offsets ? 0 : -ENOMEM;
	unsigned int i;

	if (!ret && n > 2)
		ret = to_permutation_select(n, offsets, 1, b->duplex, b->knobs.seed, &jump);
	free(offsets);
	for (i = 0; ret >= 0 && i < n_rings; i++) {
		order = calloc(n, sizeof(*order));
		if (!order)
			return -ENOMEM;
		to_totient_ring(members, n, jump, order);
		to_builder_ring(b, order, n, jump, group);
	}
	return ret < 0 ? ret : 0;
}

static int totient_build_one_order(struct to_builder *b, unsigned int backbone)
{
	return to_builder_lay_all(b, backbone, totient_lay_one_order);
}

const struct to_family to_family_totient = { .name = "totient", .build = totient_build };
const struct to_family to_family_totient_evenly = {
	.name = "totient",
	.build = totient_build_evenly,
};
const struct to_family to_family_one_order = {
	.name = "one-order", .asked = true,
	.build = totient_build_one_order,
};
