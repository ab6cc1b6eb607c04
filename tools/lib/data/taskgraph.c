// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/taskgraph.h"

void to_taskgraph_init(struct to_taskgraph *g, uint32_t n_servers)
{
	memset(g, 0, sizeof(*g));
	g->n_servers = n_servers;
}

void to_taskgraph_clear(struct to_taskgraph *g)
{
	g->n_tasks = g->n_members = g->n_transfers = g->n_edges = 0;
	g->error = 0;
}

void to_taskgraph_free(struct to_taskgraph *g)
{
	free(g->tasks);
	free(g->members);
	free(g->transfers);
	free(g->edges);
	free(g->first_next);
	free(g->next);
	free(g->waiting);
	memset(g, 0, sizeof(*g));
}

/* Room for @more elements after the @n that *@array holds. */
static int taskgraph_grow(void *array, uint32_t n, uint32_t more, uint32_t *max, size_t size)
{
	void **at = array, *grown;
	uint64_t wanted = (uint64_t)n + more;

	if (wanted <= *max)
		return 0;
	wanted += wanted / 2 + 64;
	grown = wanted < UINT32_MAX ? realloc(*at, wanted * size) : NULL;
	if (!grown)
		return -ENOMEM;
	*at = grown;
	*max = wanted;
	return 0;
}

static uint32_t taskgraph_out_of_memory(struct to_taskgraph *g)
{
	g->error = to_error_set(&g->err, -ENOMEM, "out of memory");
	return TO_TASK_NONE;
}

static bool taskgraph_server_exists(struct to_taskgraph *g, uint32_t server)
{
	if (server < g->n_servers)
		return true;
	g->error = to_error_set(&g->err, -ERANGE, "task %u: server %u: there are only %u",
				g->n_tasks, server, g->n_servers);
	return false;
}

static uint32_t taskgraph_add(struct to_taskgraph *g, const struct to_task *task)
{
	if (g->error)
		return TO_TASK_NONE;
	if (taskgraph_grow(&g->tasks, g->n_tasks, 1, &g->max_tasks, sizeof(*g->tasks)))
		return taskgraph_out_of_memory(g);
	g->tasks[g->n_tasks] = *task;
	return g->n_tasks++;
}

uint32_t to_taskgraph_compute(struct to_taskgraph *g, uint32_t server, double seconds)
{
	struct to_task task = { .kind = TO_TASK_COMPUTE, .server = server, .seconds = seconds };

	if (g->error || !taskgraph_server_exists(g, server))
		return TO_TASK_NONE;
	if (!(seconds >= 0) || isinf(seconds)) {
		g->error = to_error_set(&g->err, -EINVAL, "task %u: computes for %g seconds",
					g->n_tasks, seconds);
		return TO_TASK_NONE;
	}
	return taskgraph_add(g, &task);
}

uint32_t to_taskgraph_transfers(struct to_taskgraph *g, const struct to_transfer *transfers,
				uint32_t n)
{
	struct to_task task = { .kind = TO_TASK_MP, .first = g->n_transfers };
	uint32_t i;

	if (g->error)
		return TO_TASK_NONE;
	if (taskgraph_grow(&g->transfers, g->n_transfers, n, &g->max_transfers,
			   sizeof(*g->transfers)))
		return taskgraph_out_of_memory(g);
	for (i = 0; i < n; i++) {
		if (!taskgraph_server_exists(g, transfers[i].src) ||
		    !taskgraph_server_exists(g, transfers[i].dst))
			return TO_TASK_NONE;
		if (transfers[i].src != transfers[i].dst && transfers[i].bytes)
			g->transfers[task.first + task.n++] = transfers[i];
	}
	g->n_transfers += task.n;
	return taskgraph_add(g, &task);
}

uint32_t to_taskgraph_transfer(struct to_taskgraph *g, uint32_t src, uint32_t dst, uint64_t bytes)
{
	struct to_transfer transfer = { src, dst, bytes };

	return to_taskgraph_transfers(g, &transfer, 1);
}

uint32_t to_taskgraph_matrix(struct to_taskgraph *g, const uint64_t *bytes)
{
	struct to_task task = { .kind = TO_TASK_MP, .first = g->n_transfers };
	uint32_t n = g->n_servers, x, y;

	for (x = 0; x < n && !g->error; x++) {
		if (taskgraph_grow(&g->transfers, g->n_transfers, n, &g->max_transfers,
				   sizeof(*g->transfers)))
			return taskgraph_out_of_memory(g);
		for (y = 0; y < n; y++)
			if (x != y && bytes[(size_t)x * n + y])
				g->transfers[g->n_transfers++] = (struct to_transfer){
					x, y, bytes[(size_t)x * n + y] };
	}
	task.n = g->n_transfers - task.first;
	return taskgraph_add(g, &task);
}

static int taskgraph_ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

uint32_t to_taskgraph_allreduce(struct to_taskgraph *g, const uint32_t *members, uint32_t n,
				uint64_t bytes)
{
	struct to_task task = { .kind = TO_TASK_ALLREDUCE, .bytes = bytes,
				.first = g->n_members, .n = n };
	uint32_t *sorted, i;

	if (g->error)
		return TO_TASK_NONE;
	if (taskgraph_grow(&g->members, g->n_members, n, &g->max_members, sizeof(*g->members)))
		return taskgraph_out_of_memory(g);
	sorted = g->members + task.first;
	for (i = 0; i < n; i++) {
		if (!taskgraph_server_exists(g, members[i]))
			return TO_TASK_NONE;
		sorted[i] = members[i];
	}
	if (n)
		qsort(sorted, n, sizeof(*sorted), taskgraph_ascending);
	for (i = 1; i < n; i++) {
		if (sorted[i] != sorted[i - 1])
			continue;
		g->error = to_error_set(&g->err, -EINVAL,
					"task %u: server %u is in the AllReduce group twice",
					g->n_tasks, sorted[i]);
		return TO_TASK_NONE;
	}
	g->n_members += n;
	return taskgraph_add(g, &task);
}

/* One task of another graph, on @servers of this one. */
static uint32_t taskgraph_copy(struct to_taskgraph *g, const struct to_taskgraph *job,
			       const struct to_task *task, const uint32_t *servers, void *scratch)
{
	struct to_transfer *transfers = scratch;
	uint32_t *members = scratch, added, i;

	switch (task->kind) {
	case TO_TASK_COMPUTE:
		added = to_taskgraph_compute(g, servers[task->server], task->seconds);
		break;
	case TO_TASK_ALLREDUCE:
		for (i = 0; i < task->n; i++)
			members[i] = servers[job->members[task->first + i]];
		added = to_taskgraph_allreduce(g, members, task->n, task->bytes);
		break;
	default:
		for (i = 0; i < task->n; i++) {
			transfers[i] = job->transfers[task->first + i];
			transfers[i].src = servers[transfers[i].src];
			transfers[i].dst = servers[transfers[i].dst];
		}
		added = to_taskgraph_transfers(g, transfers, task->n);
	}
	if (added != TO_TASK_NONE)
		g->tasks[added].name = task->name;
	return added;
}

uint32_t to_taskgraph_append(struct to_taskgraph *g, const struct to_taskgraph *job,
			     const uint32_t *servers, uint32_t after)
{
	bool *waits = calloc(2 * (size_t)job->n_tasks + 1, sizeof(*waits));
	bool *awaited = waits ? waits + job->n_tasks : NULL;
	const uint32_t first = g->n_tasks;
	uint32_t most = job->n_members, t, end;
	void *scratch;

	most = most > job->n_transfers ? most : job->n_transfers;
	scratch = malloc(most * sizeof(struct to_transfer) + 1);
	if (!waits || !scratch)
		taskgraph_out_of_memory(g);
	for (t = 0; t < job->n_tasks && !g->error; t++)
		taskgraph_copy(g, job, &job->tasks[t], servers, scratch);
	for (uint32_t i = 0; i < job->n_edges && !g->error; i++) {
		const struct to_task_edge *e = &job->edges[i];

		to_taskgraph_after(g, first + e->task, first + e->after);
		waits[e->task] = awaited[e->after] = true;
	}
	end = to_taskgraph_compute(g, servers[0], 0);
	for (t = 0; t < job->n_tasks && !g->error; t++) {
		if (!waits[t] && after != TO_TASK_NONE)
			to_taskgraph_after(g, first + t, after);
		if (!awaited[t])
			to_taskgraph_after(g, end, first + t);
	}
	free(waits);
	free(scratch);
	return g->error ? TO_TASK_NONE : end;
}

void to_taskgraph_after(struct to_taskgraph *g, uint32_t task, uint32_t after)
{
	if (g->error)
		return;
	if (task >= g->n_tasks || after >= g->n_tasks) {
		g->error = to_error_set(&g->err, -ERANGE,
					"task %u after task %u: there are only %u", task, after,
					g->n_tasks);
		return;
	}
	if (taskgraph_grow(&g->edges, g->n_edges, 1, &g->max_edges, sizeof(*g->edges))) {
		taskgraph_out_of_memory(g);
		return;
	}
	g->edges[g->n_edges++] = (struct to_task_edge){ task, after };
}

/* The tasks that wait for each, by counting sort of the edges. */
static int taskgraph_index(struct to_taskgraph *g)
{
	uint32_t *first, *scratch, i, t;

	if (taskgraph_grow(&g->next, 0, g->n_edges, &g->max_next, sizeof(*g->next)))
		return -ENOMEM;
	first = realloc(g->first_next, (g->max_tasks + 1) * sizeof(*first));
	if (!first)
		return -ENOMEM;
	g->first_next = first;
	scratch = realloc(g->waiting, 2 * ((size_t)g->max_tasks + 1) * sizeof(*scratch));
	if (!scratch)
		return -ENOMEM;
	g->waiting = scratch;
	g->order = scratch + g->max_tasks + 1;
	memset(first, 0, (g->n_tasks + 1) * sizeof(*first));
	for (i = 0; i < g->n_edges; i++)
		first[g->edges[i].after + 1]++;
	for (t = 0; t < g->n_tasks; t++)
		first[t + 1] += first[t];
	memcpy(g->order, first, g->n_tasks * sizeof(*first));
	for (i = 0; i < g->n_edges; i++)
		g->next[g->order[g->edges[i].after]++] = g->edges[i].task;
	return 0;
}

/* Topological order (Kahn); returns how many tasks neither are on a cycle nor wait for one. */
static uint32_t taskgraph_sort(struct to_taskgraph *g)
{
	uint32_t head, tail = 0, i, t;

	memset(g->waiting, 0, g->n_tasks * sizeof(*g->waiting));
	for (i = 0; i < g->n_edges; i++)
		g->waiting[g->edges[i].task]++;
	for (t = 0; t < g->n_tasks; t++)
		if (!g->waiting[t])
			g->order[tail++] = t;
	for (head = 0; head < tail; head++) {
		t = g->order[head];
		for (i = g->first_next[t]; i < g->first_next[t + 1]; i++)
			if (!--g->waiting[g->next[i]])
				g->order[tail++] = g->next[i];
	}
	return tail;
}

/* A task on a cycle: n steps backwards from one that still waits lead to one. */
static uint32_t taskgraph_on_cycle(struct to_taskgraph *g)
{
	uint32_t steps, i, t;

	for (i = 0; i < g->n_edges; i++)
		if (g->waiting[g->edges[i].after])
			g->order[g->edges[i].task] = g->edges[i].after;
	for (t = 0; !g->waiting[t]; t++)
		;
	for (steps = 0; steps < g->n_tasks; steps++)
		t = g->order[t];
	return t;
}

int to_taskgraph_finish(struct to_taskgraph *g, struct to_error *err)
{
	uint32_t t;

	if (g->error) {
		if (err)
			*err = g->err;
		return g->error;
	}
	if (taskgraph_index(g))
		return to_error_set(err, -ENOMEM, "out of memory");
	if (taskgraph_sort(g) == g->n_tasks)
		return 0;
	t = taskgraph_on_cycle(g);
	if (g->tasks[t].name)
		return to_error_set(err, -ELOOP, "task %u (%s) waits for itself in a cycle", t,
				    g->tasks[t].name);
	return to_error_set(err, -ELOOP, "task %u waits for itself in a cycle", t);
}

static int taskgraph_add_group(const struct to_taskgraph *g, const struct to_task *task,
			       struct to_demand *d)
{
	const uint32_t *members = g->members + task->first;
	struct to_allreduce *group;
	uint32_t i;

	for (i = 0; i < d->n_groups; i++) {
		group = &d->groups[i];
		if (group->n_members != task->n ||
		    memcmp(group->members, members, task->n * sizeof(*members)))
			continue;
		group->bytes += task->bytes;
		return 0;
	}
	group = realloc(d->groups, (d->n_groups + 1) * sizeof(*group));
	if (!group)
		return -ENOMEM;
	d->groups = group;
	group += d->n_groups;
	*group = (struct to_allreduce){ .n_members = task->n, .bytes = task->bytes };
	group->members = malloc(task->n * sizeof(*members));
	if (!group->members)
		return -ENOMEM;
	memcpy(group->members, members, task->n * sizeof(*members));
	d->n_groups++;
	return 0;
}

struct to_demand *to_taskgraph_demand(const struct to_taskgraph *g)
{
	size_t n = g->n_servers;
	struct to_demand *d = calloc(1, sizeof(*d));
	uint32_t i, t;

	if (!d)
		return NULL;
	d->n = n;
	d->mp = calloc(n * n, sizeof(*d->mp));
	if (!d->mp)
		goto fail;
	for (t = 0; t < g->n_tasks; t++) {
		const struct to_task *task = &g->tasks[t];
		const struct to_transfer *sent = g->transfers + task->first;

		if (task->kind == TO_TASK_MP)
			for (i = 0; i < task->n; i++)
				d->mp[sent[i].src * n + sent[i].dst] += sent[i].bytes;
		if (task->kind == TO_TASK_ALLREDUCE && task->n > 1 && task->bytes &&
		    taskgraph_add_group(g, task, d))
			goto fail;
	}
	return d;
fail:
	to_demand_free(d);
	return NULL;
}
