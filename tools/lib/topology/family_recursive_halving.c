// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "graph/recursive_halving.h"
#include "topology/family.h"

/*
 * A generalised hypercube for a group of all servers. It takes the ports of one split; where
 * their number is odd, which no split is, one more.
 */
static int recursive_halving_build(struct to_builder *b, unsigned int backbone)
{
	const struct to_allreduce *group = b->demand->groups;
	struct to_bcube cube;
	unsigned int ports, m, level, digit, x;
	uint32_t other;

	if (!b->duplex || backbone || b->demand->n_groups != 1 || group->n_members != b->n)
		return -ENOSPC;
	for (x = 0; x < b->n; x++)
		if (b->reserved[x] != b->reserved[0])
			return -ENOSPC;
	ports = b->reserved[0] + 1 - b->reserved[0] % 2;
	if (!to_recursive_halving_find(b->n, ports, &cube) ||
	    cube.k * (cube.n - 1) + 1 < ports)
		return -ENOSPC;
	for (x = 0; x < b->n; x++)
		if (b->transmit[x] < cube.k * (cube.n - 1))
			return -ENOSPC;
	for (m = 0; m < b->n; m++)
		for (level = 0; level < cube.k; level++)
			for (digit = to_bcube_digit(&cube, m, level) + 1; digit < cube.n; digit++) {
				other = to_bcube_neighbour(&cube, m, level, digit);
				to_builder_link(b, group->members[m], group->members[other],
						TO_LINK_ALLREDUCE, -1);
			}
	return to_recursive_halving_trees(&cube, group->members, 0, &b->layout);
}

const struct to_family to_family_recursive_halving = {
	.name = "recursive-halving", .asked = true, .build = recursive_halving_build
};
