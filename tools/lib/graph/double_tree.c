// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "graph/double_tree.h"

/*
 * Counting from 1 in the order of a walk from left to right, odd positions are
 * leaves and even ones are not; the lowest bit that is set tells the height.
 */
static uint32_t double_tree_parent(uint32_t x, unsigned int n)
{
	uint32_t bit = x & -x, above = (x ^ bit) | bit << 1;

	/* cut off on the right: the nearest that is left */
	return above > n ? x ^ bit : above;
}

void to_double_tree(unsigned int n, bool second, uint32_t *parent)
{
	uint32_t x, above;

	for (x = 1; x <= n; x++) {
		above = double_tree_parent(x, n);
		if (!second)
			parent[x - 1] = above ? above - 1 : TO_SERVER_NONE;
		else if (n % 2)		/* one further */
			parent[x % n] = above ? above % n : TO_SERVER_NONE;
		else			/* mirrored */
			parent[n - x] = above ? n - above : TO_SERVER_NONE;
	}
}

int to_double_tree_is(const struct to_plan *plan, const struct to_allreduce_tree *first,
		      const struct to_allreduce_tree *second)
{
	unsigned int n = plan->cluster->n_servers, i;
	uint8_t *children = calloc(2 * (size_t)n, sizeof(*children)), *others = children + n;
	int is = 1;

	if (!children)
		return -ENOMEM;
	for (i = 0; is && i < first->n; i++) {
		uint32_t x = first->parents[i], y = second->parents[i];

		is = (x == TO_SERVER_NONE || ++children[x] <= 2) &&
		     (y == TO_SERVER_NONE || ++others[y] <= 2);
	}
	for (i = 0; is && i < n; i++)
		is = !children[i] || !others[i];
	free(children);
	return is;
}
