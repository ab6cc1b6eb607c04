// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/plan_digests.h"

#include <stdlib.h>

#include "base/parallel.h"
#include "kernel/desired_state.h"
#include "kernel/table_digest.h"

struct digests {
	const struct to_plan *plan;
	uint64_t *values;
};

/* Of @server, whose ports are interfaces 1, 2 ... here. */
static void digests_make(void *data, unsigned int server)
{
	const struct digests *d = data;
	const struct to_server *self = &d->plan->cluster->servers[server];
	struct to_table_port ports[TO_PORTS_MAX];
	uint32_t ifindex[TO_PORTS_MAX];
	struct to_kernel_table table;
	struct to_error why;

	for (unsigned int p = 0; p < self->n_ports; p++) {
		ifindex[p] = p + 1;
		ports[p] = (struct to_table_port){ p + 1, self->ports[p].name };
	}
	if (to_desired_state_table(d->plan, server, ifindex, &table, &why))
		return;
	if (to_table_digest(&table, ports, self->n_ports, &d->values[server]))
		d->values[server] = 0;
	to_kernel_table_free(&table);
}

uint64_t *to_plan_digests(const struct to_plan *plan)
{
	struct digests d = {
		.plan = plan, .values = calloc(plan->cluster->n_servers, sizeof(*d.values)),
	};

	if (d.values)
		to_parallel(plan->cluster->n_servers, digests_make, &d);
	return d.values;
}
