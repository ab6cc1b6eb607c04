// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/bound.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/pcie.h"

static int bound_init(struct to_bound *b, uint32_t n_servers)
{
	*b = (struct to_bound){ .n_servers = n_servers };
	b->sends_at = calloc(7 * (size_t)n_servers, sizeof(*b->sends_at));
	if (!b->sends_at)
		return -ENOMEM;
	b->receives_at = b->sends_at + n_servers;
	b->computes = b->receives_at + n_servers;
	b->sends = b->computes + n_servers;
	b->receives = b->sends + n_servers;
	b->out = b->receives + n_servers;
	b->in = b->out + n_servers;
	return 0;
}

int to_bound_init(struct to_bound *b, const struct to_cluster *cluster, uint32_t n_servers,
		  unsigned int degree)
{
	if (bound_init(b, n_servers))
		return -ENOMEM;
	for (uint32_t x = 0; x < n_servers; x++) {
		const struct to_server *server = &cluster->servers[x];
		const unsigned int ports = degree ? degree : server->n_ports;

		b->sends_at[x] = to_pcie_sends(server, ports) / 8.;
		b->receives_at[x] = to_pcie_receives(server, ports) / 8.;
	}
	return 0;
}

int to_bound_init_network(struct to_bound *b, const struct to_network *w)
{
	const uint32_t n = w->n_servers;

	if (bound_init(b, n))
		return -ENOMEM;
	for (uint32_t i = 0; i < w->n_links; i++) {
		const struct to_network_link *link = &w->links[i];

		if (link->from < n)
			b->out[link->from] += link->capacity;
		if (link->to < n)
			b->in[link->to] += link->capacity;
	}
	for (uint32_t x = 0; x < n; x++)
		b->sends_at[x] = b->receives_at[x] = fmax(b->out[x], b->in[x]);
	return 0;
}

void to_bound_free(struct to_bound *b)
{
	free(b->sends_at);
	free(b->ready);
	free(b->waiting);
}

static int bound_reserve(struct to_bound *b, uint32_t n_tasks)
{
	if (n_tasks <= b->max_tasks)
		return 0;
	free(b->ready);
	free(b->waiting);
	b->ready = calloc(n_tasks, sizeof(*b->ready));
	b->waiting = calloc(2 * (size_t)n_tasks, sizeof(*b->waiting));
	b->queue = b->waiting + n_tasks;
	b->max_tasks = b->ready && b->waiting ? n_tasks : 0;
	return b->max_tasks ? 0 : -ENOMEM;
}

static double bound_transfers(struct to_bound *b, const struct to_transfer *transfers, uint32_t n)
{
	double most = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		b->out[transfers[i].src] = b->in[transfers[i].dst] = 0;
	for (i = 0; i < n; i++) {
		uint32_t x = transfers[i].src, y = transfers[i].dst;

		if (x == y)
			continue;
		b->out[x] += transfers[i].bytes;
		b->in[y] += transfers[i].bytes;
		b->sends[x] += transfers[i].bytes;
		b->receives[y] += transfers[i].bytes;
		most = fmax(most, fmax(b->out[x] / b->sends_at[x], b->in[y] / b->receives_at[y]));
	}
	return most;
}

static double bound_allreduce(struct to_bound *b, const uint32_t *members, uint32_t n,
			      uint64_t bytes)
{
	double each = 2. * (n - 1) / n * bytes, most = 0;

	for (uint32_t i = 0; i < n; i++) {
		b->sends[members[i]] += each;
		b->receives[members[i]] += each;
		most = fmax(most, each / fmin(b->sends_at[members[i]], b->receives_at[members[i]]));
	}
	return most;
}

static double bound_task(struct to_bound *b, const struct to_taskgraph *g,
			 const struct to_task *task)
{
	switch (task->kind) {
	case TO_TASK_ALLREDUCE:
		return bound_allreduce(b, g->members + task->first, task->n, task->bytes);
	case TO_TASK_MP:
		return bound_transfers(b, g->transfers + task->first, task->n);
	default:
		b->computes[task->server] += task->seconds;
		return task->seconds;
	}
}

double to_bound_time(struct to_bound *b, const struct to_taskgraph *g)
{
	uint32_t n = 0, t, i, x;
	double most = 0;

	if (bound_reserve(b, g->n_tasks))
		return -1;
	for (x = 0; x < b->n_servers; x++)
		b->computes[x] = b->sends[x] = b->receives[x] = 0;
	memset(b->ready, 0, g->n_tasks * sizeof(*b->ready));
	memset(b->waiting, 0, g->n_tasks * sizeof(*b->waiting));
	for (i = 0; i < g->n_edges; i++)
		b->waiting[g->edges[i].task]++;
	for (t = 0; t < g->n_tasks; t++)
		if (!b->waiting[t])
			b->queue[n++] = t;
	for (i = 0; i < n; i++) {
		double done = b->ready[b->queue[i]] + bound_task(b, g, &g->tasks[b->queue[i]]);

		most = fmax(most, done);
		for (uint32_t k = g->first_next[b->queue[i]]; k < g->first_next[b->queue[i] + 1]; k++) {
			uint32_t next = g->next[k];

			b->ready[next] = fmax(b->ready[next], done);
			if (!--b->waiting[next])
				b->queue[n++] = next;
		}
	}
	for (x = 0; x < b->n_servers; x++)
		most = fmax(most, fmax(b->computes[x],
				       fmax(b->sends[x] / b->sends_at[x],
					    b->receives[x] / b->receives_at[x])));
	return most;
}
