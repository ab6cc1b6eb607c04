// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "data/allreduce.h"
#include "graph/double_tree.h"
#include "graph/kautz.h"
#include "graph/moore.h"
#include "graph/recursive_halving.h"
#include "topology/family.h"

const struct to_family *const to_families[] = {
	&to_family_totient,
	&to_family_hamiltonian,
	&to_family_double_tree,
	&to_family_kautz,
	&to_family_moore,
	&to_family_recursive_halving,
	&to_family_totient_evenly,
	&to_family_one_order,
	NULL
};

/* Whether one before @at has its name: ways to build the same family share one. */
static bool family_named(unsigned int at)
{
	for (unsigned int i = 0; i < at; i++)
		if (!strcmp(to_families[i]->name, to_families[at]->name))
			return true;
	return false;
}

const struct to_family *to_family_find(const char *name, struct to_error *err)
{
	char names[256] = "";
	size_t len = 0;
	unsigned int i;

	for (i = 0; to_families[i]; i++) {
		if (!strcmp(to_families[i]->name, name))
			return to_families[i];
		if (!family_named(i))
			len += snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "",
					to_families[i]->name);
	}
	to_error_set(err, -ENOENT, "no family is called \"%s\": %s", name, names);
	return NULL;
}

/* Do all trees with links come in double binary pairs? 1, 0, -1 without any. */
static int family_double_tree(const struct to_plan *plan)
{
	struct to_rings rings = to_allreduce_of(plan);
	unsigned int i;
	int all = -1;

	for (i = 0; all && i < plan->n_trees; i++) {
		const struct to_allreduce_tree *tree = &plan->trees[i];

		if (!to_allreduce_tree_linked(&rings, i))
			continue;
		all = i + 1 < plan->n_trees && tree[1].group == tree->group ?
			to_double_tree_is(plan, tree, &tree[1]) : 0;
		i++;
	}
	return all;
}

static bool family_recursive_halving(const struct to_plan *plan)
{
	const struct to_rings rings = to_allreduce_of(plan);
	struct to_bcube cube;

	for (unsigned int i = 0; i < plan->n_trees; i++)
		if ((!i || plan->trees[i].group != plan->trees[i - 1].group) &&
		    !to_recursive_halving_is(&rings, plan->trees[i].group, &cube))
			return false;
	return true;
}

static bool family_rings_linked(const struct to_plan *plan)
{
	for (unsigned int i = 0; i < plan->cluster->n_links; i++)
		if (plan->cluster->links[i].ring >= 0)
			return true;
	return false;
}

/* Have all rings of each group one order, where a group of more than three has several? */
static bool family_one_order(const struct to_plan *plan)
{
	bool several = false;
	unsigned int i, k;

	for (i = 0; i < plan->n_rings; i++) {
		const struct to_ring *ring = &plan->rings[i];

		for (k = 0; k < i && plan->rings[k].group != ring->group; k++)
			;
		if (k == i)
			continue;
		if (memcmp(plan->rings[k].order, ring->order, ring->n * sizeof(*ring->order)))
			return false;
		several |= ring->n > 3;
	}
	return several;
}

const char *to_family_name(const struct to_plan *plan, const struct to_graph *graph)
{
	const int pairs = family_double_tree(plan);
	unsigned int i;

	if (pairs == -ENOMEM)
		return NULL;
	if (pairs >= 0)
		return pairs ? "double-binary-tree" : "tree";
	if (plan->n_trees && !plan->n_rings)
		return family_recursive_halving(plan) ? "recursive-halving" : "packed-trees";
	if (to_kautz_within(graph))
		return "kautz";
	if (!family_rings_linked(plan) && to_moore_is(graph))
		return "moore";
	if (family_one_order(plan))
		return "one-order";
	for (i = 0; i < plan->n_rings; i++)
		if (!plan->rings[i].jump)
			return "hamiltonian";
	return plan->n_rings ? "totient" : "matching";
}
