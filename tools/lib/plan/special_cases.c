// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/special_cases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/effort.h"
#include "data/demand.h"
#include "topology/builder.h"
#include "topology/family.h"

#define SPECIAL_CASES_ALL 2e4	/* servers times links, up to which all are searched */

/* What is found so far. */
struct special_cases {
	const struct to_search *search;
	struct to_topology *found;
	int n_found;
};

static bool special_cases_same(const struct to_layout *a, const struct to_layout *b)
{
	if (a->n_links != b->n_links || a->n_rings != b->n_rings || a->n_trees != b->n_trees)
		return false;
	for (unsigned int i = 0; i < a->n_links; i++) {
		const struct to_link *x = &a->links[i], *y = &b->links[i];

		if (x->a.server != y->a.server || x->b.server != y->b.server ||
		    x->ring != y->ring || x->tree != y->tree)
			return false;
	}
	for (unsigned int i = 0; i < a->n_rings; i++)
		if (a->rings[i].n != b->rings[i].n || a->rings[i].group != b->rings[i].group ||
		    memcmp(a->rings[i].order, b->rings[i].order,
			   a->rings[i].n * sizeof(*a->rings[i].order)))
			return false;
	return true;
}

/* Put @t in its place, unless it is there. Return: 0 or -ENOMEM. */
static int special_cases_keep(struct special_cases *s, struct to_topology *t)
{
	struct to_topology *more;
	int at = 0, i;

	while (at < s->n_found && !to_topology_better(t, &s->found[at]))
		at++;
	/* those of equal ratings stand before it */
	for (i = at; i-- && !to_topology_better(&s->found[i], t);) {
		if (special_cases_same(&s->found[i].layout, &t->layout)) {
			if (t->place < s->found[i].place)
				s->found[i].place = t->place;
			to_layout_free(&t->layout);
			return 0;
		}
	}
	more = reallocarray(s->found, s->n_found + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->found = more;
	memmove(&more[at + 1], &more[at], (s->n_found++ - at) * sizeof(*more));
	more[at] = *t;
	memset(t, 0, sizeof(*t));
	return 0;
}

/* One more ring of @b like @ring, or the same one backwards. NULL: out of memory. */
static struct to_ring *special_cases_ring(struct to_builder *b, const struct to_ring *ring,
					  bool back)
{
	struct to_ring *copy = &b->layout.rings[b->layout.n_rings];
	unsigned int n = ring->n;

	*copy = *ring;
	copy->reverse &= b->duplex;
	copy->order = calloc(n, sizeof(*copy->order));
	if (!copy->order)
		return NULL;
	for (unsigned int i = 0; i < n; i++)
		copy->order[i] = ring->order[back ? n - 1 - i : i];
	if (back && ring->jump)
		copy->jump = n - ring->jump;
	b->layout.n_rings++;
	return copy;
}

/* Its links in ring order, where @linked. */
static void special_cases_ring_links(struct to_builder *b, const struct to_ring *ring, bool linked)
{
	unsigned int n_links = !linked ? 0 : ring->n == 2 && b->duplex ? 1 : ring->n;

	for (unsigned int i = 0; i < n_links; i++)
		to_builder_link(b, ring->order[i], ring->order[(i + 1) % ring->n],
				TO_LINK_ALLREDUCE, b->layout.n_rings - 1);
}

/* The rings of @from; of a duplex one simplex rings for each direction. */
static int special_cases_rings(struct to_builder *b, const struct to_layout *from)
{
	for (unsigned int r = 0; r < from->n_rings; r++) {
		const struct to_ring *ring = &from->rings[r], *copy;
		bool linked = false;

		for (unsigned int i = 0; i < from->n_links; i++)
			linked |= from->links[i].ring == (int)r;
		for (int back = 0; back <= (!b->duplex && ring->reverse); back++) {
			copy = special_cases_ring(b, ring, back);
			if (!copy)
				return -ENOMEM;
			special_cases_ring_links(b, copy, linked);
		}
	}
	return 0;
}

/* All other links of @from, and its trees. */
static int special_cases_others(struct to_builder *b, const struct to_layout *from, bool both)
{
	struct to_layout *layout = &b->layout;

	layout->trees = calloc(from->n_trees + 1, sizeof(*layout->trees));
	if (!layout->trees)
		return -ENOMEM;
	for (unsigned int i = 0; i < from->n_trees; i++) {
		struct to_allreduce_tree *tree = &layout->trees[layout->n_trees];

		*tree = from->trees[i];
		tree->parents = calloc(tree->n, sizeof(*tree->parents));
		if (!tree->parents)
			return -ENOMEM;
		memcpy(tree->parents, from->trees[i].parents, tree->n * sizeof(*tree->parents));
		layout->n_trees++;
	}
	for (unsigned int i = 0; i < from->n_links; i++) {
		const struct to_link *link = &from->links[i];

		for (int back = 0; link->ring < 0 && back <= both; back++) {
			const struct to_port_ref *x = back ? &link->b : &link->a;
			const struct to_port_ref *y = back ? &link->a : &link->b;

			to_builder_link(b, x->server, y->server, link->use, -1);
			layout->links[layout->n_links - 1].tree = link->tree;
		}
	}
	return 0;
}

/* Room for @n_rings, some of which may own no port. */
static int special_cases_room(struct to_builder *b, unsigned int n_rings)
{
	struct to_ring *rings = reallocarray(b->layout.rings, n_rings + 1, sizeof(*rings));

	if (!rings)
		return -ENOMEM;
	b->layout.rings = rings;
	return 0;
}

/* @special as a topology of the search itself. 0, -ENOMEM, -ENOSPC when it does not fit. */
static int special_cases_take(struct special_cases *s, const struct to_topology *special,
			      enum to_link_mode mode)
{
	const struct to_search *search = s->search;
	const struct to_layout *from = &special->layout;
	struct to_topology t = { .family = special->family, .rank = special->rank,
				 .backbone = special->backbone, .ports = special->ports,
				 .place = special->place };
	bool both = mode != search->cluster->link_mode;
	struct to_builder b;
	int ret = to_builder_init(&b, search->cluster, search->demand, search->degree, 0,
				  search->seed, search->effort);

	if (!ret)
		ret = special_cases_room(&b, 2 * from->n_rings + search->demand->n_groups);
	if (!ret)
		ret = special_cases_rings(&b, from);
	if (!ret)
		ret = special_cases_others(&b, from, both);
	if (!ret)
		ret = to_topology_finish(&t, &b, NULL);
	if (!ret)
		ret = special_cases_keep(s, &t);
	to_layout_free(&t.layout);
	to_builder_free(&b);
	return ret;
}

/* One easier search. Return: 0 or -ENOMEM. */
static int special_cases_try(struct special_cases *s, enum to_link_mode mode, unsigned int degree,
			     unsigned int effort, uint64_t seed)
{
	const struct to_search *search = s->search;
	struct to_cluster cluster = *search->cluster;	/* but for the mode */
	struct to_topology *special;
	int n, ret = 0;

	cluster.link_mode = mode;
	n = to_topology_find(&cluster, search->demand, degree, search->family, seed, effort,
			     &special, NULL);
	if (n < 0)
		return n == -ENOSPC ? 0 : n;
	for (int i = 0; i < n; i++) {
		if (!ret)
			ret = special_cases_take(s, &special[i], mode);
		if (ret == -ENOSPC)
			ret = 0;
		to_layout_free(&special[i].layout);
	}
	free(special);
	return ret;
}

/* All of @mode, less the search itself. */
static int special_cases_mode(struct special_cases *s, enum to_link_mode mode, bool all)
{
	const struct to_search *search = s->search;
	unsigned int least = all ? (search->degree + 1) / 2 : search->degree, degree, effort;
	int ret = 0;

	for (degree = search->degree; !ret && degree >= least && degree; degree--) {
		for (effort = all ? TO_EFFORT_MIN : search->effort; !ret && effort <= search->effort;
		     effort++) {
			bool itself = mode == search->cluster->link_mode &&
				      degree == search->degree && effort == search->effort;

			if (!itself)
				ret = special_cases_try(s, mode, degree, effort, search->seed);
			if (!ret && all && search->seed != TO_SPECIAL_CASES_SEED)
				ret = special_cases_try(s, mode, degree, effort,
							TO_SPECIAL_CASES_SEED);
		}
	}
	return ret;
}

int to_special_cases_find(const struct to_search *search, struct to_topology **found,
			  struct to_error *err)
{
	const bool simplex = search->cluster->link_mode == TO_LINKS_SIMPLEX;
	struct special_cases s = { .search = search };
	bool all, both;
	int ret;

	s.n_found = to_topology_find(search->cluster, search->demand, search->degree,
				     search->family, search->seed, search->effort, &s.found, err);
	if (s.n_found < 0)
		return s.n_found;
	all = (double)search->cluster->n_servers * s.found[0].layout.n_links <= SPECIAL_CASES_ALL;
	/* both directions of a ring are two orders */
	both = !simplex || search->family != &to_family_one_order;
	ret = both && (all || simplex) ? special_cases_mode(&s, TO_LINKS_DUPLEX, all) : 0;
	if (!ret && all && simplex)
		ret = special_cases_mode(&s, TO_LINKS_SIMPLEX, all);
	*found = s.found;
	if (!ret)
		return s.n_found;
	while (s.n_found)
		to_layout_free(&s.found[--s.n_found].layout);
	free(s.found);
	*found = NULL;
	return to_error_set(err, ret, "out of memory");
}
