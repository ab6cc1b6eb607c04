// SPDX-License-Identifier: GPL-2.0-or-later
#include "routing/link_loads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce.h"

/* Send what @bytes (n x n) has for the destination that is resolved, but from sources @apart. */
static void link_loads_spread(const struct to_forwarding *f, const uint64_t *bytes,
			      const bool *apart, double *flow, double *load)
{
	size_t n = f->graph->n, x;

	for (x = 0; x < n; x++)
		flow[x] = apart[x] ? 0 : bytes[x * n + f->dst];
	to_forwarding_spread(f, flow, load);
}

int to_link_loads(struct to_forwarding *f, double *rings, double *mp)
{
	const struct to_demand *demand = f->plan->demand;
	struct to_rings r = to_allreduce_of(f->plan);
	size_t n = f->graph->n;
	uint64_t *routed = to_allreduce_routed(&r, false);
	double *flow = calloc(n, sizeof(*flow));
	bool *apart = calloc(n, sizeof(*apart));	/* sources with routes of their own */
	unsigned int at = 0, first;
	uint32_t dst, x, a;

	if (!routed || !flow || !apart) {
		free(routed);
		free(flow);
		free(apart);
		return -ENOMEM;
	}
	for (a = 0; a < f->graph->n_arcs; a++) {
		rings[a] = to_allreduce_arc_bytes(&r, f->graph, a);
		mp[a] = 0;
	}
	for (dst = 0; dst < n; dst++) {
		memset(apart, 0, n * sizeof(*apart));
		while (at < f->n_qualified && f->qualified[at].dst == dst) {
			bool node = f->qualified[at].slot == 0;

			x = f->qualified[at].src;
			for (first = at; at < f->n_qualified &&
			     f->qualified[at].dst == dst && f->qualified[at].src == x &&
			     f->qualified[at].slot == f->qualified[first].slot; at++)
				;
			if (!node)
				continue;
			apart[x] = true;
			to_forwarding_resolve(f, dst, 0);
			to_forwarding_qualify(f, first, at);
			memset(flow, 0, n * sizeof(*flow));
			flow[x] = demand->mp[x * n + dst];
			to_forwarding_spread(f, flow, mp);
			memset(flow, 0, n * sizeof(*flow));
			flow[x] = routed[x * n + dst];
			to_forwarding_spread(f, flow, rings);
		}
		to_forwarding_resolve(f, dst, 0);
		link_loads_spread(f, demand->mp, apart, flow, mp);
		link_loads_spread(f, routed, apart, flow, rings);
	}
	free(routed);
	free(flow);
	free(apart);
	return 0;
}
