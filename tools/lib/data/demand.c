// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/demand.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DEMAND_SQUARE 8	/* servers at a time in to_demand_turn() */

void to_demand_free(struct to_demand *d)
{
	if (!d)
		return;
	for (unsigned int i = 0; i < d->n_groups; i++)
		free(d->groups[i].members);
	free(d->groups);
	free(d->names);
	free(d->mp);
	free(d);
}

static void *demand_copy(const void *data, size_t count, size_t size)
{
	void *new = calloc(count ? count : 1, size);

	if (new && count)
		memcpy(new, data, count * size);
	return new;
}

struct to_demand *to_demand_copy(const struct to_demand *d)
{
	struct to_demand *new = demand_copy(d, 1, sizeof(*d));

	if (!new)
		return NULL;
	new->names = d->names ? demand_copy(d->names, d->n, sizeof(*d->names)) : NULL;
	new->mp = demand_copy(d->mp, (size_t)d->n * d->n, sizeof(*d->mp));
	new->groups = demand_copy(d->groups, d->n_groups, sizeof(*d->groups));
	new->n_groups = 0;
	if ((d->names && !new->names) || !new->mp || !new->groups)
		goto fail;
	for (; new->n_groups < d->n_groups; new->n_groups++) {
		struct to_allreduce *g = &new->groups[new->n_groups];

		g->members = demand_copy(d->groups[new->n_groups].members, g->n_members,
					 sizeof(*g->members));
		if (!g->members)
			goto fail;
	}
	return new;
fail:
	to_demand_free(new);
	return NULL;
}

/* Bytes that @g reduces in a call and in all of @other, to compare them without dividing. */
static unsigned __int128 demand_call_bytes(const struct to_allreduce *g,
					   const struct to_allreduce *other)
{
	return (unsigned __int128)g->bytes * (other->calls ? other->calls : 1);
}

/* Equal are groups of the same members in the same order, with calls of the same size. */
static int demand_group_compare(const struct to_allreduce *a, const struct to_allreduce *b)
{
	unsigned __int128 x = demand_call_bytes(a, b), y = demand_call_bytes(b, a);
	int order;

	if (a->n_members != b->n_members)
		return a->n_members < b->n_members ? -1 : 1;
	order = memcmp(a->members, b->members, a->n_members * sizeof(*a->members));
	return order ? order : (x > y) - (x < y);
}

static int demand_group_sort(const void *a, const void *b)
{
	const struct to_allreduce *x = *(struct to_allreduce *const *)a;
	const struct to_allreduce *y = *(struct to_allreduce *const *)b;
	int order = demand_group_compare(x, y);

	return order ? order : (x > y) - (x < y);
}

void to_demand_turn(uint64_t *bytes, unsigned int n)
{
	/* a row of a square is a cache line, and of some sizes all its rows share a set */
	for (size_t top = 0; top < n; top += DEMAND_SQUARE)
		for (size_t left = 0; left <= top; left += DEMAND_SQUARE)
			for (size_t x = top; x < n && x < top + DEMAND_SQUARE; x++)
				for (size_t y = left; y < x && y < left + DEMAND_SQUARE; y++) {
					uint64_t other = bytes[y * n + x];

					bytes[y * n + x] = bytes[x * n + y];
					bytes[x * n + y] = other;
				}
}

/* Add the calls of @more to @g, if both counts stay in their ranges. */
static bool demand_join(struct to_allreduce *g, const struct to_allreduce *more)
{
	uint64_t calls = (uint64_t)(g->calls ? g->calls : 1) + (more->calls ? more->calls : 1);

	if (calls > TO_CALLS_MAX || more->bytes > INT64_MAX - g->bytes)
		return false;
	g->bytes += more->bytes;
	g->calls = calls;
	return true;
}

int to_demand_join_groups(struct to_demand *d)
{
	struct to_allreduce **sorted = calloc(d->n_groups ? d->n_groups : 1, sizeof(*sorted));
	unsigned int kept = 0;

	if (!sorted)
		return -ENOMEM;
	for (unsigned int g = 0; g < d->n_groups; g++)
		sorted[g] = &d->groups[g];
	qsort(sorted, d->n_groups, sizeof(*sorted), demand_group_sort);
	for (unsigned int i = 1, first = 0; i < d->n_groups; i++) {
		if (demand_group_compare(sorted[first], sorted[i]) ||
		    !demand_join(sorted[first], sorted[i])) {
			first = i;
			continue;
		}
		free(sorted[i]->members);
		sorted[i]->members = NULL;
	}
	for (unsigned int g = 0; g < d->n_groups; g++)
		if (d->groups[g].members)
			d->groups[kept++] = d->groups[g];
	d->n_groups = kept;
	free(sorted);
	return 0;
}
