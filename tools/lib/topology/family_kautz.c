// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "base/effort.h"
#include "graph/factor.h"
#include "graph/kautz.h"
#include "topology/family.h"

#define KAUTZ_STEPS 4000	/* exchanges of arcs in search of rings */

/* The group over all servers with most bytes for each ring it has, -1 for none. */
static int kautz_group(const struct to_builder *b)
{
	const struct to_layout *layout = &b->layout;
	const struct to_demand *d = b->demand;
	unsigned int g, r, rings;
	double most = 0;
	int best = -1;

	for (g = 0; g < d->n_groups; g++) {
		if (d->groups[g].n_members < b->n)
			continue;
		for (rings = r = 0; r < layout->n_rings; r++)
			rings += layout->rings[r].group == g;
		if ((double)d->groups[g].bytes / (1 + rings) > most) {
			most = (double)d->groups[g].bytes / (1 + rings);
			best = g;
		}
	}
	return best;
}

/*
 * All arcs as rings over all servers. For that the arcs of self loops go round
 * their servers instead.
 */
static int kautz_rings(struct to_builder *b, unsigned int k)
{
	unsigned int steps = to_effort_steps(KAUTZ_STEPS, b->knobs.effort), n = b->n, j, i;
	uint32_t *heads = calloc((size_t)n * k, sizeof(*heads)), *first = NULL, *last = NULL;
	struct to_factors factors = { 0 };
	int ret = -ENOMEM;

	if (!heads)
		return ret;
	for (i = 0; i < n; i++) {
		for (j = 1; j <= k; j++) {
			uint32_t *head = &heads[(size_t)i * k + j - 1];

			*head = to_kautz_head(n, k, i, j);
			if (*head != i)
				continue;
			if (last)
				*last = i;
			first = first ? first : head;
			last = head;
		}
	}
	if (last)
		*last = (first - heads) / k;
	if (!to_factors_init(&factors, heads, n, k)) {
		to_factors_merge(&factors, steps, b->knobs.seed);
		ret = 0;
	}
	for (j = 0; !ret && j < k; j++) {
		uint32_t *order = calloc(n, sizeof(*order));

		if (!order) {
			ret = -ENOMEM;
			break;
		}
		for (i = 1; i < n; i++)
			order[i] = factors.next[(size_t)j * n + order[i - 1]];
		to_builder_ring(b, order, n, 0, kautz_group(b));
	}
	to_factors_free(&factors);
	free(heads);
	return ret;
}

/* All arcs without self loops and, on duplex links, without those there and back. */
static void kautz_links(struct to_builder *b, unsigned int k)
{
	unsigned int n = b->n, j, back;
	uint32_t x, y;

	for (x = 0; x < n; x++) {
		for (j = 1; j <= k; j++) {
			y = to_kautz_head(n, k, x, j);
			for (back = 1; back <= k && to_kautz_head(n, k, y, back) != x; back++)
				;
			if (x != y && (!b->duplex || back > k || x < y))
				to_builder_link(b, x, y, TO_LINK_REPAIR, -1);
		}
	}
}

static int kautz_build(struct to_builder *b, unsigned int backbone)
{
	const struct to_demand *d = b->demand;
	bool alone = d->n_groups == 1 && d->groups[0].n_members == b->n;
	unsigned int least = b->knobs.degree, most = 0, k, x;

	for (x = 0; x < b->n; x++) {
		least = b->reserved[x] < least ? b->reserved[x] : least;
		most = b->reserved[x] > most ? b->reserved[x] : most;
	}
	k = b->duplex ? least / 2 : least;
	/* other splits and backbones give the same links */
	if (k < 2 || k >= b->n || least < most || (b->duplex && least % 2) ||
	    backbone != (alone ? 0 : k))
		return -ENOSPC;
	if (kautz_group(b) >= 0)
		return kautz_rings(b, k);
	kautz_links(b, k);
	return 0;
}

const struct to_family to_family_kautz = { .name = "kautz", .build = kautz_build };
