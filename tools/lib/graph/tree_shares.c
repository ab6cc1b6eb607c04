// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/tree_shares.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "graph/simplex.h"
#include "graph/tree_span.h"

#define SHARES_NEAR 1e-6	/* of the bound, that the busiest edge may be over it */
#define SHARES_STEPS 60		/* of each edge, at most */
#define SHARES_LEAST 1e-5	/* of a group's bytes: a tree of less is left out */
#define SHARES_TIES 1e-7	/* of the busiest edge: what makes no two edges as busy */
#define SHARES_ERROR 1e-9	/* of prices */
#define NONE UINT32_MAX

/*
 * The linear program, in units of @scale seconds. Row e: what trees keep edge e busy, less
 * the time of the busiest edge, plus a slack, is minus what e is busy already. Row n_edges + g:
 * the shares of group g add up to 1.
 * @trees: per row, that whose share is its variable, one of @group, which is NONE where
 *	the variable is no share
 * @spare: those of a step
 * @right: the right-hand side
 * @exact: trees are the cheapest that there are: once those of to_span_tree() gain no more
 */
struct shares {
	struct to_packing *in;
	struct to_span span;
	struct to_simplex simplex;
	struct to_tree *trees, spare[2];
	uint32_t *group;
	double *column, *right, scale;
	bool exact;
	struct to_arena arena;
};

static int shares_init(struct shares *s)
{
	struct to_packing *in = s->in;
	unsigned int n = in->n_edges + in->n_groups, i;

	s->trees = to_arena_array(&s->arena, n, sizeof(*s->trees));
	s->group = to_arena_array(&s->arena, n, sizeof(*s->group));
	s->column = to_arena_array(&s->arena, n, sizeof(*s->column));
	s->right = to_arena_array(&s->arena, n, sizeof(*s->right));
	for (i = 0; !s->arena.failed && i < n + 2; i++) {
		struct to_tree *tree = i < n ? &s->trees[i] : &s->spare[i - n];

		tree->hops = to_arena_array(&s->arena, 2 * (size_t)in->n, sizeof(*tree->hops));
	}
	if (s->arena.failed)
		return -ENOMEM;
	memset(s->group, 0xff, n * sizeof(*s->group));
	return to_span_init(&s->span, in, &s->arena);
}

/* Make the column of @tree, one of group @g. Return: its seconds at the prices of the basis. */
static double shares_column(struct shares *s, unsigned int g, const struct to_tree *tree)
{
	const struct to_packing *in = s->in;
	double price = 0;
	unsigned int i;

	memset(s->column, 0, s->simplex.rows * sizeof(*s->column));
	for (i = 0; i < tree->n_uses; i++) {
		uint32_t e = tree->uses[i];
		double busy = in->groups[g].bytes * in->edges[e].seconds_per_byte / s->scale;

		s->column[e] += busy;
		price += -s->simplex.dual[e] * busy;
	}
	s->column[in->n_edges + g] = 1;
	return price;
}

/* One tree of each group, and the time of the edge that is then the busiest. */
static int shares_start(struct shares *s)
{
	struct to_packing *in = s->in;
	unsigned int n = in->n_edges + in->n_groups, most = 0, g, e, i;
	uint64_t random = in->seed;
	double ignored;
	int ret = 0;

	for (e = 0; e < in->n_edges; e++) {
		s->right[e] = in->edges[e].busy;
		s->span.price[e] = in->edges[e].seconds_per_byte;
	}
	for (g = 0; !ret && g < in->n_groups; g++) {
		struct to_tree *tree = &s->trees[in->n_edges + g];

		s->group[in->n_edges + g] = g;
		ret = to_span_tree(&s->span, &in->groups[g], tree, &ignored);
		for (i = 0; i < tree->n_uses; i++)
			s->right[tree->uses[i]] += in->groups[g].bytes *
						   in->edges[tree->uses[i]].seconds_per_byte;
	}
	for (e = 0; e < in->n_edges; e++)
		s->scale = fmax(s->scale, s->right[e]);
	for (e = 0; !ret && e < in->n_edges; e++)
		s->right[e] = -in->edges[e].busy / s->scale -
			      SHARES_TIES * (to_random_next(&random) >> 40) / (1 << 24);
	for (g = 0; g < in->n_groups; g++)
		s->right[in->n_edges + g] = 1;
	if (!ret)
		ret = to_simplex_init(&s->simplex, n, s->right, &s->arena);
	for (g = 0; !ret && g < in->n_groups; g++) {
		shares_column(s, g, &s->trees[in->n_edges + g]);
		to_simplex_force(&s->simplex, s->column, 0, in->n_edges + g);
	}
	for (e = 0; !ret && e < in->n_edges; e++)
		if (s->simplex.value[e] < s->simplex.value[most])
			most = e;
	for (e = 0; e < n; e++)
		s->column[e] = e < in->n_edges ? -1 : 0;
	if (!ret)
		to_simplex_force(&s->simplex, s->column, 1, most);
	return ret;
}

/* The variable of the column replaces another one. @tree: that of the column, NULL for a slack */
static bool shares_enter(struct shares *s, struct to_tree *tree, uint32_t g)
{
	int row = to_simplex_enter(&s->simplex, s->column, 0);
	struct to_tree was;

	if (row < 0)
		return false;
	s->group[row] = g;
	if (tree) {
		was = s->trees[row];
		s->trees[row] = *tree;
		*tree = was;
	}
	return true;
}

/* The edge that may be less busy than the busiest at a gain, NONE when there is none. */
static uint32_t shares_slack(const struct shares *s)
{
	double most = SHARES_ERROR;
	uint32_t best = NONE, e;

	for (e = 0; e < s->in->n_edges; e++) {
		if (s->simplex.dual[e] <= most)
			continue;
		most = s->simplex.dual[e];
		best = e;
	}
	return best;
}

/* One step of the simplex method. Return: whether there was one that gains, or an errno. */
static int shares_step(struct shares *s)
{
	struct to_packing *in = s->in;
	double bound = 0, all = 0, most = SHARES_ERROR, time = 0, ignored;
	uint32_t best, e, g;
	int ret = 0;

	to_simplex_price(&s->simplex);
	best = shares_slack(s);
	if (best != NONE) {
		memset(s->column, 0, s->simplex.rows * sizeof(*s->column));
		s->column[best] = 1;
		return shares_enter(s, NULL, NONE);
	}
	for (e = 0; e < in->n_edges; e++) {
		double price = fmax(-s->simplex.dual[e], 0);

		s->simplex.dual[e] = -price;
		all += price;
		bound += price * in->edges[e].busy / s->scale;
		time += s->simplex.dual[e] * s->right[e];
		/* of trees of the same price, one of few bytes */
		s->span.price[e] = (price + SHARES_ERROR / in->n_edges) *
				   in->edges[e].seconds_per_byte;
	}
	for (g = 0; !ret && g < in->n_groups; g++) {
		double price, gain;

		ret = s->exact ?
		      to_span_linked_tree(&s->span, &in->groups[g], &s->spare[0], &ignored) :
		      to_span_tree(&s->span, &in->groups[g], &s->spare[0], &ignored);
		if (ret)
			break;
		price = shares_column(s, g, &s->spare[0]);
		bound += price;
		gain = s->simplex.dual[in->n_edges + g] - price;
		time += s->simplex.dual[in->n_edges + g];
		if (gain > most) {
			struct to_tree tree = s->spare[0];

			s->spare[0] = s->spare[1];
			s->spare[1] = tree;
			most = gain;
			best = g;
		}
	}
	if (ret)
		return ret;
	in->bound = fmax(in->bound, bound / all * s->scale);
	if (best == NONE || time * s->scale <= in->bound * (1 + SHARES_NEAR)) {
		if (s->exact)
			return 0;
		s->exact = true;
		in->bound = 0;
		return 1;
	}
	shares_column(s, best, &s->spare[1]);
	return shares_enter(s, &s->spare[1], best);
}

/* The trees of @g that the basis has, and what they keep edges busy. */
static int shares_take(struct shares *s, unsigned int g)
{
	struct to_packing *in = s->in;
	struct to_packing_group *group = &in->groups[g];
	unsigned int row, i, k;
	double all = 0;
	int ret = 0;

	group->n_trees = 0;
	for (row = 0; row < s->simplex.rows; row++)
		if (s->group[row] == g && s->simplex.value[row] > SHARES_LEAST)
			all += s->simplex.value[row];
	for (row = 0; !ret && row < s->simplex.rows; row++) {
		const struct to_tree *tree = &s->trees[row];
		double share = s->simplex.value[row] / all;

		if (s->group[row] != g || s->simplex.value[row] <= SHARES_LEAST)
			continue;
		k = group->n_trees++;
		group->shares[k] = share;
		for (i = 0; i < tree->n_uses; i++)
			in->edges[tree->uses[i]].trees +=
				group->bytes * share * in->edges[tree->uses[i]].seconds_per_byte;
		ret = to_span_root(group, tree, group->parents + (size_t)k * group->n_members);
	}
	return ret;
}

int to_tree_shares(struct to_packing *in)
{
	struct shares s = { .in = in };
	unsigned int left = SHARES_STEPS * in->n_edges, e, g;
	int ret = shares_init(&s), gains;

	if (!ret)
		ret = shares_start(&s);
	for (gains = 1; !ret && gains && left; left--) {
		gains = shares_step(&s);
		ret = gains < 0 ? gains : 0;
	}
	for (e = 0; e < in->n_edges; e++) {
		if (!ret)
			s.right[e] = -in->edges[e].busy / s.scale;
		in->edges[e].trees = 0;
	}
	if (!ret)
		to_simplex_set(&s.simplex, s.right);
	for (g = 0; !ret && g < in->n_groups; g++)
		ret = shares_take(&s, g);
	for (e = 0; e < in->n_edges; e++)
		in->busiest = fmax(in->busiest, in->edges[e].busy + in->edges[e].trees);
	for (e = 0; s.trees && e < in->n_edges + in->n_groups; e++)
		free(s.trees[e].uses);
	free(s.spare[0].uses);
	free(s.spare[1].uses);
	to_arena_free(&s.arena);
	return ret;
}
