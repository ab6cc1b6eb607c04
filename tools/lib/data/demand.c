// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/demand.h"

#include <stdlib.h>
#include <string.h>

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
