// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "graph/moore.h"
#include "topology/family.h"

/*
 * All ports, whatever the split: such graphs serve transfers between all, and
 * AllReduce takes their links hop by hop. Simplex links take those of the
 * planner's duplex search.
 */
static int moore_build(struct to_builder *b, unsigned int backbone)
{
	const struct to_demand *d = b->demand;
	bool alone = d->n_groups == 1 && d->groups[0].n_members == b->n;
	unsigned int split = b->knobs.degree - b->knobs.degree % 2, x, y;
	bool *adjacent;

	for (x = 0; x < b->n; x++)
		if (b->transmit[x] != b->knobs.degree || b->reserved[x] != split)
			return -ENOSPC;
	if (!b->duplex || backbone != (alone ? 0 : split / 2))
		return -ENOSPC;
	adjacent = to_moore_graph(b->n, b->knobs.degree);
	if (!adjacent)
		return -ENOSPC;
	for (x = 0; x < b->n; x++)
		for (y = x + 1; y < b->n; y++)
			if (adjacent[x * b->n + y])
				to_builder_link(b, x, y, TO_LINK_REPAIR, -1);
	free(adjacent);
	return 0;
}

const struct to_family to_family_moore = { .name = "moore", .build = moore_build };
