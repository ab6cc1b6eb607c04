// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/recursive_halving.h"

#include <errno.h>
#include <stdlib.h>

/* BCube(b, @k) of @n servers, if there is one. */
static bool halving_cube(unsigned int n, unsigned int k, struct to_bcube *cube)
{
	unsigned int b = 1;
	uint64_t servers;

	do {
		b++;
		servers = 1;
		for (unsigned int l = 0; l < k && servers <= n; l++)
			servers *= b;
	} while (servers < n);
	return servers == n && !to_bcube_init(cube, b, k, NULL);
}

bool to_recursive_halving_find(unsigned int n, unsigned int ports, struct to_bcube *cube)
{
	/* the fewer levels, the more ports */
	for (unsigned int k = 1; n > 2 && n >> k; k++)
		if (halving_cube(n, k, cube) && k * (cube->n - 1) <= ports)
			return true;
	return false;
}

/* Members that differ in one digit: of @member, number @i of k(b - 1). */
static uint32_t halving_neighbour(const struct to_bcube *cube, uint32_t member, unsigned int i)
{
	unsigned int level = i / (cube->n - 1);
	unsigned int digit = to_bcube_digit(cube, member, level) + 1 + i % (cube->n - 1);

	return to_bcube_neighbour(cube, member, level, digit % cube->n);
}

bool to_recursive_halving_linked(const struct to_bcube *cube, const uint32_t *members,
				 const struct to_graph *graph)
{
	for (uint32_t m = 0; m < cube->servers; m++) {
		for (unsigned int i = 0; i < cube->k * (cube->n - 1); i++) {
			uint32_t y = members[halving_neighbour(cube, m, i)];
			uint32_t a = graph->out[members[m]], end = graph->out[members[m] + 1];

			while (a < end && graph->to[a] != y)
				a++;
			if (a == end)
				return false;
		}
	}
	return true;
}

/* To which member @m sends its sum of @owner's piece in part @t: @owner's first other digit. */
static uint32_t halving_parent(const struct to_bcube *cube, unsigned int t, uint32_t owner,
			       uint32_t m)
{
	for (unsigned int w = 0; w < cube->k; w++) {
		unsigned int level = (t + w) % cube->k;
		unsigned int digit = to_bcube_digit(cube, owner, level);

		if (to_bcube_digit(cube, m, level) != digit)
			return to_bcube_neighbour(cube, m, level, digit);
	}
	return TO_SERVER_NONE;
}

int to_recursive_halving_trees(const struct to_bcube *cube, const uint32_t *members,
			       unsigned int group, struct to_layout *layout)
{
	const unsigned int n = cube->servers, n_trees = cube->k * n;
	struct to_allreduce_tree *trees = reallocarray(layout->trees, layout->n_trees + n_trees,
						       sizeof(*trees));

	if (!trees)
		return -ENOMEM;
	layout->trees = trees;
	for (unsigned int i = 0; i < n_trees; i++) {
		struct to_allreduce_tree *tree = &trees[layout->n_trees];

		*tree = (struct to_allreduce_tree){ group, n, 1.0 / n_trees,
						    calloc(n, sizeof(*tree->parents)) };
		if (!tree->parents)
			return -ENOMEM;
		layout->n_trees++;
		for (uint32_t m = 0; m < n; m++) {
			uint32_t parent = halving_parent(cube, i / n, i % n, m);

			tree->parents[m] = parent == TO_SERVER_NONE ? parent : members[parent];
		}
	}
	return 0;
}

bool to_recursive_halving_is(const struct to_rings *rings, unsigned int group,
			     struct to_bcube *cube)
{
	const struct to_allreduce *of = &rings->demand->groups[group];
	const unsigned int n = of->n_members;
	unsigned int n_trees = 0, at = 0, i;

	for (i = 0; i < rings->layout.n_trees; i++)
		n_trees += rings->layout.trees[i].group == group;
	if (n < 3 || !n_trees || n_trees % n || !(n >> n_trees / n) ||
	    !halving_cube(n, n_trees / n, cube))
		return false;
	for (i = 0; i < rings->layout.n_trees; i++) {
		const struct to_allreduce_tree *tree = &rings->layout.trees[i];

		if (tree->group != group)
			continue;
		if (tree->share * n_trees > 1 + 1e-9 || tree->share * n_trees < 1 - 1e-9)
			return false;
		for (uint32_t m = 0; m < n; m++) {
			uint32_t parent = halving_parent(cube, at / n, at % n, m);

			if (tree->parents[m] !=
			    (parent == TO_SERVER_NONE ? parent : of->members[parent]))
				return false;
		}
		at++;
	}
	return true;
}
