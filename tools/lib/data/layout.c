// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void to_layout_free(struct to_layout *layout)
{
	for (unsigned int i = 0; i < layout->n_rings; i++)
		free(layout->rings[i].order);
	for (unsigned int i = 0; i < layout->n_trees; i++)
		free(layout->trees[i].parents);
	free(layout->links);
	free(layout->rings);
	free(layout->trees);
	*layout = (struct to_layout){ 0 };
}

/* NULL when out of memory, never for being empty. */
static void *layout_duplicate(const void *from, size_t n, size_t size)
{
	void *copy = malloc(n * size + 1);

	if (copy && n)
		memcpy(copy, from, n * size);
	return copy;
}

int to_layout_copy(struct to_layout *to, const struct to_layout *from)
{
	*to = (struct to_layout){ 0 };
	to->links = layout_duplicate(from->links, from->n_links, sizeof(*to->links));
	to->rings = layout_duplicate(from->rings, from->n_rings, sizeof(*to->rings));
	to->trees = layout_duplicate(from->trees, from->n_trees, sizeof(*to->trees));
	if (!to->links || !to->rings || !to->trees)
		goto fail;
	to->n_links = from->n_links;
	/* counted one by one, so that a copy cut short can be freed */
	for (unsigned int i = 0; i < from->n_rings; i++, to->n_rings++) {
		const struct to_ring *ring = &from->rings[i];

		to->rings[i].order = layout_duplicate(ring->order, ring->n, sizeof(*ring->order));
		if (!to->rings[i].order)
			goto fail;
	}
	for (unsigned int i = 0; i < from->n_trees; i++, to->n_trees++) {
		const struct to_allreduce_tree *tree = &from->trees[i];

		to->trees[i].parents = layout_duplicate(tree->parents, tree->n,
							sizeof(*tree->parents));
		if (!to->trees[i].parents)
			goto fail;
	}
	return 0;
fail:
	to_layout_free(to);
	return -ENOMEM;
}

struct to_layout to_layout_take(struct to_layout *layout)
{
	struct to_layout taken = *layout;

	*layout = (struct to_layout){ 0 };
	return taken;
}
