// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/iteration.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* @next: in the queue of its server; @ready: when it came there; @cause: what it waited for last */
struct to_iteration_task {
	uint32_t waits_for, next, cause;
	double ready;
};

/* @first, @last: of the tasks that are ready; @previous: the one it computed last */
struct to_iteration_server {
	uint32_t first, last, running, previous;
	bool touched;
};

void to_iteration_free(struct to_iteration *it)
{
	free(it->start);
	free(it->finish);
	free(it->each);
	free(it->servers);
	free(it->touched);
	memset(it, 0, sizeof(*it));
}

static int iteration_reserve_tasks(struct to_iteration *it, uint32_t n)
{
	if (n <= it->max_tasks && it->each)
		return 0;
	free(it->start);
	free(it->finish);
	free(it->each);
	it->start = calloc(n + 1, sizeof(*it->start));
	it->finish = calloc(n + 1, sizeof(*it->finish));
	it->each = calloc(n + 1, sizeof(*it->each));
	it->max_tasks = n;
	return it->start && it->finish && it->each ? 0 : -ENOMEM;
}

static int iteration_reserve_servers(struct to_iteration *it, uint32_t n)
{
	if (n <= it->max_servers && it->servers)
		return 0;
	free(it->servers);
	free(it->touched);
	it->servers = calloc(n + 1, sizeof(*it->servers));
	it->touched = calloc(n + 1, sizeof(*it->touched));
	it->max_servers = n;
	return it->servers && it->touched ? 0 : -ENOMEM;
}

int to_iteration_reset(struct to_iteration *it, const struct to_taskgraph *g)
{
	if (iteration_reserve_tasks(it, g->n_tasks) || iteration_reserve_servers(it, g->n_servers)) {
		it->max_tasks = it->max_servers = 0;
		return -ENOMEM;
	}
	it->tasks = g;
	it->finished = it->n_touched = 0;
	memset(it->each, 0, g->n_tasks * sizeof(*it->each));
	for (uint32_t i = 0; i < g->n_edges; i++)
		it->each[g->edges[i].task].waits_for++;
	for (uint32_t x = 0; x < g->n_servers; x++)
		it->servers[x] = (struct to_iteration_server){ TO_TASK_NONE, TO_TASK_NONE,
							       TO_TASK_NONE, TO_TASK_NONE, false };
	return 0;
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
	it->each[task].cause = cause;
	if (it->tasks->tasks[task].kind == TO_TASK_COMPUTE) {
		iteration_queue(it, task, now);
		return 0;
	}
	it->start[task] = now;
	return it->begin(it->data, task);
}

int to_iteration_dispatch(struct to_iteration *it, double now)
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
			it->each[task].cause = server->previous;
		it->start[task] = now;
		ret = it->begin(it->data, task);
	}
	return ret;
}

int to_iteration_start(struct to_iteration *it)
{
	int ret = 0;

	for (uint32_t t = 0; !ret && t < it->tasks->n_tasks; t++)
		if (!it->each[t].waits_for)
			ret = iteration_ready(it, t, TO_TASK_NONE, 0);
	return ret ? ret : to_iteration_dispatch(it, 0);
}

int to_iteration_finish(struct to_iteration *it, uint32_t task, double now)
{
	const struct to_taskgraph *g = it->tasks;
	int ret = 0;

	it->finish[task] = now;
	it->finished++;
	if (g->tasks[task].kind == TO_TASK_COMPUTE) {
		struct to_iteration_server *server = &it->servers[g->tasks[task].server];

		server->running = TO_TASK_NONE;
		server->previous = task;
		iteration_touch(it, g->tasks[task].server);
	}
	for (uint32_t i = g->first_next[task]; !ret && i < g->first_next[task + 1]; i++)
		if (!--it->each[g->next[i]].waits_for)
			ret = iteration_ready(it, g->next[i], task, now);
	return ret;
}

uint32_t to_iteration_critical(const struct to_iteration *it, uint32_t *critical,
			       double times[TO_TASK_KINDS])
{
	uint32_t last = TO_TASK_NONE, n = 0, t, i;

	for (t = 0; t < it->tasks->n_tasks; t++)
		if (last == TO_TASK_NONE || it->finish[t] > it->finish[last])
			last = t;
	memset(times, 0, TO_TASK_KINDS * sizeof(*times));
	for (t = last; t != TO_TASK_NONE; t = it->each[t].cause) {
		critical[n++] = t;
		times[it->tasks->tasks[t].kind] += it->finish[t] - it->start[t];
	}
	for (i = 0; i < n / 2; i++) {
		t = critical[i];
		critical[i] = critical[n - 1 - i];
		critical[n - 1 - i] = t;
	}
	return n;
}
