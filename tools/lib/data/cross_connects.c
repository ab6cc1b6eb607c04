// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/cross_connects.h"

#include <errno.h>
#include <stdlib.h>

int to_cross_connects_compare(const void *a, const void *b)
{
	const struct to_cross_connect *x = a, *y = b;

	if (x->optical_switch != y->optical_switch)
		return x->optical_switch < y->optical_switch ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return (x->b > y->b) - (x->b < y->b);
}

void to_cross_connects_sort(enum to_link_mode mode, struct to_cross_connect *list, unsigned int n)
{
	unsigned int i;

	for (i = 0; mode == TO_LINKS_DUPLEX && i < n; i++)
		if (list[i].b < list[i].a)
			list[i] = (struct to_cross_connect){ list[i].optical_switch, list[i].b,
							     list[i].a };
	qsort(list, n, sizeof(*list), to_cross_connects_compare);
}

/* A sorted copy of the cross-connects of @plan. NULL when out of memory. */
static struct to_cross_connect *cross_connects_sorted(const struct to_plan *plan)
{
	unsigned int n = plan->n_cross_connects, i;
	struct to_cross_connect *list = calloc(n + 1, sizeof(*list));

	for (i = 0; list && i < n; i++)
		list[i] = plan->cross_connects[i];
	if (list)
		to_cross_connects_sort(plan->cluster->link_mode, list, n);
	return list;
}

int to_cross_connects_diff(const struct to_plan *from, const struct to_plan *to,
			   struct to_cross_connect **cut, unsigned int *n_cut,
			   struct to_cross_connect **made, unsigned int *n_made)
{
	struct to_cross_connect *old = cross_connects_sorted(from);
	struct to_cross_connect *new = cross_connects_sorted(to);
	unsigned int i = 0, k = 0;

	if (!old || !new) {
		free(old);
		free(new);
		return -ENOMEM;
	}
	*cut = old;
	*made = new;
	*n_cut = *n_made = 0;
	while (i < from->n_cross_connects || k < to->n_cross_connects) {
		int order = i == from->n_cross_connects ? 1 : k == to->n_cross_connects ? -1 :
			    to_cross_connects_compare(&old[i], &new[k]);

		if (order < 0)
			old[(*n_cut)++] = old[i];
		if (order > 0)
			new[(*n_made)++] = new[k];
		i += order <= 0;
		k += order >= 0;
	}
	return 0;
}

int to_cross_connects_fill(struct to_plan *plan, struct to_error *err)
{
	const struct to_cluster *cluster = plan->cluster;
	unsigned int n = cluster->n_links + plan->n_dark, i;

	free(plan->cross_connects);
	plan->n_cross_connects = 0;
	plan->cross_connects = calloc(n + 1, sizeof(*plan->cross_connects));
	if (!plan->cross_connects)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct to_link *l = i < cluster->n_links ? &cluster->links[i] :
					  &plan->dark[i - cluster->n_links];
		const struct to_port *a = &cluster->servers[l->a.server].ports[l->a.port];
		const struct to_port *b = &cluster->servers[l->b.server].ports[l->b.port];

		if (a->optical_switch != b->optical_switch)
			return to_error_set(err, -EINVAL,
					    "link %s:%s - %s:%s joins ports that are not on one optical switch",
					    cluster->servers[l->a.server].name, a->name,
					    cluster->servers[l->b.server].name, b->name);
		if (a->optical_switch < 0)
			continue;
		plan->cross_connects[plan->n_cross_connects++] = (struct to_cross_connect){
			.optical_switch = a->optical_switch,
			.a = a->optical_port, .b = b->optical_port };
	}
	return 0;
}
