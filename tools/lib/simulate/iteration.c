// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/iteration.h"

#include <stdlib.h>

/* @next: in the queue of its server; @ready: when it came there */
struct to_iteration_task {
	uint32_t waits_for, next;
	double ready;
};

/* @first, @last: of the tasks that are ready; @previous: the one it computed last */
struct to_iteration_server {
	uint32_t first, last, running, previous;
	bool touched;
};

struct to_iteration *to_iteration_new(const struct to_taskgraph *g,
				      const struct to_iteration_ops *ops, void *data)
{
	struct to_iteration *it = calloc(1, sizeof(*it));
	uint32_t i;

	if (!it)
		return NULL;
	it->tasks = g;
	it->ops = ops;
	it->data = data;
	it->start = calloc(g->n_tasks + 1, sizeof(*it->start));
	it->finish = calloc(g->n_tasks + 1, sizeof(*it->finish));
	it->cause = calloc(g->n_tasks + 1, sizeof(*it->cause));
	it->each = calloc(g->n_tasks + 1, sizeof(*it->each));
	it->servers = calloc(g->n_servers + 1, sizeof(*it->servers));
	it->touched = calloc(g->n_servers + 1, sizeof(*it->touched));
	if (!it->start || !it->finish || !it->cause || !it->each || !it->servers || !it->touched) {
		to_iteration_free(it);
		return NULL;
	}
	for (i = 0; i < g->n_edges; i++)
		it->each[g->edges[i].task].waits_for++;
	for (i = 0; i < g->n_servers; i++)
		it->servers[i] = (struct to_iteration_server){ TO_TASK_NONE, TO_TASK_NONE,
							       TO_TASK_NONE, TO_TASK_NONE, false };
	return it;
}

void to_iteration_free(struct to_iteration *it)
{
	if (!it)
		return;
	free(it->start);
	free(it->finish);
	free(it->cause);
	free(it->each);
	free(it->servers);
	free(it->touched);
	free(it);
}

static void iteration_touch(struct to_iteration *it, uint32_t server)
{
	if (it->servers[server].touched)
		return;
	it->servers[server].touched = true;
	it->touched[it->n_touched++] = server;
}

/* Into the queue of its server, by the time it became ready, then by index. */
static void iteration_queue(struct to_iteration *it, uint32_t task, double now)
{
	struct to_iteration_server *server = &it->servers[it->tasks->tasks[task].server];
	struct to_iteration_task *each = it->each;
	uint32_t *at = &server->first;

	/* the usual case is the end of a queue that may be long */
	if (server->last != TO_TASK_NONE && (each[server->last].ready < now || server->last < task))
		at = &each[server->last].next;
	while (*at != TO_TASK_NONE && (each[*at].ready < now || *at < task))
		at = &each[*at].next;
	each[task].next = *at;
	*at = task;
	if (each[task].next == TO_TASK_NONE)
		server->last = task;
	iteration_touch(it, it->tasks->tasks[task].server);
}

static int iteration_ready(struct to_iteration *it, uint32_t task, uint32_t cause, double now)
{
	it->each[task].ready = now;
	it->cause[task] = cause;
	if (it->tasks->tasks[task].kind == TO_TASK_COMPUTE) {
		iteration_queue(it, task, now);
		return 0;
	}
	it->start[task] = now;
	return it->ops->start(it->data, task);
}

/* Servers that are idle take the next task. */
static int iteration_dispatch(struct to_iteration *it, double now)
{
	int ret = 0;

	while (!ret && it->n_touched) {
		struct to_iteration_server *server = &it->servers[it->touched[--it->n_touched]];
		const uint32_t task = server->first;

		server->touched = false;
		if (server->running != TO_TASK_NONE || task == TO_TASK_NONE)
			continue;
		server->first = it->each[task].next;
		if (server->first == TO_TASK_NONE)
			server->last = TO_TASK_NONE;
		server->running = task;
		if (it->each[task].ready < now)
			it->cause[task] = server->previous;
		it->start[task] = now;
		ret = it->ops->start(it->data, task);
	}
	return ret;
}

int to_iteration_begin(struct to_iteration *it)
{
	int ret = 0;

	for (uint32_t t = 0; !ret && t < it->tasks->n_tasks; t++)
		if (!it->each[t].waits_for)
			ret = iteration_ready(it, t, TO_TASK_NONE, 0);
	return ret ? ret : iteration_dispatch(it, 0);
}

int to_iteration_finish(struct to_iteration *it, uint32_t task, double now)
{
	const struct to_taskgraph *g = it->tasks;
	struct to_iteration_server *server = &it->servers[g->tasks[task].server];
	int ret = 0;

	it->finish[task] = now;
	it->finished++;
	if (g->tasks[task].kind == TO_TASK_COMPUTE) {
		server->running = TO_TASK_NONE;
		server->previous = task;
		iteration_touch(it, g->tasks[task].server);
	}
	for (uint32_t i = g->first_next[task]; !ret && i < g->first_next[task + 1]; i++)
		if (!--it->each[g->next[i]].waits_for)
			ret = iteration_ready(it, g->next[i], task, now);
	return ret ? ret : iteration_dispatch(it, now);
}

uint32_t to_iteration_critical(const struct to_iteration *it, uint32_t *critical)
{
	uint32_t last = TO_TASK_NONE, n = 0, t, i;

	for (t = 0; t < it->tasks->n_tasks; t++)
		if (last == TO_TASK_NONE || it->finish[t] > it->finish[last])
			last = t;
	for (t = last; t != TO_TASK_NONE; t = it->cause[t])
		critical[n++] = t;
	for (i = 0; i < n / 2; i++) {
		t = critical[i];
		critical[i] = critical[n - 1 - i];
		critical[n - 1 - i] = t;
	}
	return n;
}
