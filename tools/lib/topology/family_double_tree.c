// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "graph/double_tree.h"
#include "topology/family.h"

#define PORTS_PER_PAIR 4	/* three inside one tree, one as a leaf of the other */

/*
 * Other members at the positions: anywhere in a first tree; in a second one, at
 * @parent, inner positions and leaves among themselves, so that every member
 * stays inside one tree only. Mirror images have the same long paths in both.
 */
static int double_tree_shuffle(uint32_t *order, const uint32_t *parent, unsigned int n,
			       uint64_t *random)
{
	bool *inner = calloc(n, sizeof(*inner));
	unsigned int i, other;

	if (!inner)
		return -ENOMEM;
	for (i = 0; parent && i < n; i++)
		if (parent[i] != TO_SERVER_NONE)
			inner[parent[i]] = true;
	for (i = n; i-- > 1;) {
		uint32_t was = order[i];

		do
			other = to_random_below(random, i + 1);
		while (inner[other] != inner[i]);
		order[i] = order[other];
		order[other] = was;
	}
	free(inner);
	return 0;
}

/*
 * One tree with its links: one per hop where it is duplex, else one up and one
 * down. @order: which member is at each position; @parent: by position; @share: of
 * the buffer.
 */
static int double_tree_link(struct to_builder *b, const uint32_t *members, const uint32_t *order,
			    const uint32_t *parent, unsigned int n, int group, double share)
{
	enum to_link_use use = group < 0 ? TO_LINK_REPAIR : TO_LINK_ALLREDUCE;
	struct to_layout *layout = &b->layout;
	struct to_allreduce_tree *trees = reallocarray(layout->trees, layout->n_trees + 1,
						       sizeof(*trees));
	unsigned int first = layout->n_links, i;
	uint32_t *parents = calloc(n, sizeof(*parents));

	if (trees)
		layout->trees = trees;
	if (!trees || !parents) {
		free(parents);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		uint32_t x = members[order[i]], y;

		if (parent[i] == TO_SERVER_NONE) {
			parents[order[i]] = TO_SERVER_NONE;
			continue;
		}
		parents[order[i]] = y = members[order[parent[i]]];
		to_builder_link(b, x, y, use, -1);
		if (!b->duplex)
			to_builder_link(b, y, x, use, -1);
	}
	if (group < 0) {
		free(parents);
		return 0;
	}
	for (i = first; i < layout->n_links; i++)
		layout->links[i].tree = layout->n_trees;
	trees[layout->n_trees++] = (struct to_allreduce_tree){ group, n, share, parents };
	return 0;
}

/* As many pairs of trees as fit the ports of the rings that are wanted. */
static int double_tree_lay(struct to_builder *b, const uint32_t *members, unsigned int n,
			   unsigned int n_rings, int group)
{
	unsigned int pairs = n_rings * (b->duplex && n > 2 ? 2 : 1) / PORTS_PER_PAIR, i;
	uint32_t *order = calloc(2 * (size_t)n, sizeof(*order));
	uint32_t *parent = order ? order + n : NULL;
	uint64_t random = b->knobs.seed;
	int ret = order ? 0 : -ENOMEM;

	for (i = 0; !ret && i < n; i++)
		order[i] = i;
	for (i = 0; !ret && i < 2 * pairs; i++) {
		to_double_tree(n, i % 2, parent);
		if (i)
			ret = double_tree_shuffle(order, i % 2 ? parent : NULL, n, &random);
		if (!ret)
			ret = double_tree_link(b, members, order, parent, n, group, 0.5 / pairs);
	}
	free(order);
	return ret;
}

static int double_tree_build(struct to_builder *b, unsigned int backbone)
{
	unsigned int most = 0, x;
	int ret;

	for (x = 0; x < b->n; x++)
		most = b->reserved[x] > most ? b->reserved[x] : most;
	/* other splits give the same trees */
	if (!most || most % PORTS_PER_PAIR)
		return -ENOSPC;
	ret = to_builder_lay_all(b, backbone, double_tree_lay);
	return ret || b->layout.n_trees ? ret : -ENOSPC;
}

const struct to_family to_family_double_tree = { .name = "double-binary-tree", .build = double_tree_build };
