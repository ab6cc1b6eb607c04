// SPDX-License-Identifier: GPL-2.0-or-later
/* The events of an iteration, in the order of time. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/maxmin.h"
#include "simulate/simulate.h"
#include "simulate/stream.h"

/* Rounds between looks at the watch. */
#define SIMULATE_WATCH 64
/* What ends within this fraction of the time to the next end ends with it. */
#define SIMULATE_TOGETHER 1e-9
/* and what rounding may make of equal times. */
#define SIMULATE_ROUNDING 4e-16

/*
 * Bytes of @task that are still to be sent: @left of @size at the time @since; at the rate
 * of their stream's flow all are sent at @end. @transfer: of the tasks, UINT32_MAX for no
 * single one; @at: in the heap; @next, @previous: part of that flow.
 */
struct simulate_part {
	uint32_t task, stream, transfer, at, next, previous;
	double size, left, since, end;
};

/* @task has finished at a time that is known. */
struct simulate_event {
	double time;
	uint32_t task;
};

struct simulate_task {
	uint32_t waits_for;	/* tasks that have not finished */
	uint32_t parts;		/* that are not sent yet */
	uint32_t cause;		/* what it waited for last */
	uint32_t next;		/* in the queue of its server */
	unsigned int phase, phases;	/* of AllReduce; all others have one */
	double ready, latency;
};

struct simulate_server {
	uint32_t first, last;	/* queue of the tasks that are ready */
	uint32_t running, previous;
	bool touched;
};

struct to_simulator {
	struct to_router *router, *own;	/* the same, or NULL */
	double *capacity;		/* per link */
	struct to_streams streams;
	struct to_maxmin maxmin;
	struct simulate_server *servers;
	uint32_t *touched, n_touched;	/* servers that may start a task */

	const struct to_taskgraph *g;
	uint32_t max_tasks, max_transfers;
	struct simulate_task *tasks;
	struct simulate_event *events;	/* heap, the next one first */
	uint32_t n_events;
	uint32_t *stream;		/* per AllReduce task, of its first phase */

	struct simulate_part *parts;
	uint32_t *sending, n_parts;	/* heap of parts, the next one to end first; then those unused */
	uint32_t max_parts, *first_part;	/* the latter per flow */
	uint32_t max_flows;
	uint32_t *active;		/* flows, per link */
	double *active_since;		/* per link */

	int (*watch)(void *data, double done);
	void *watch_data;
	enum to_simulate_detail detail;
	double now;
	bool changed;			/* flows, since the rates were set */
	struct to_simulation result;
};

void to_simulator_free(struct to_simulator *s)
{
	if (!s)
		return;
	to_streams_free(&s->streams);
	to_maxmin_free(&s->maxmin);
	to_router_free(s->own);
	free(s->capacity);
	free(s->servers);
	free(s->touched);
	free(s->tasks);
	free(s->events);
	free(s->stream);
	free(s->parts);
	free(s->sending);
	free(s->first_part);
	free(s->active);
	free(s->active_since);
	free(s->result.start);
	free(s->result.critical);
	free(s->result.transfer_finish);
	free(s->result.link_bytes);
	free(s);
}

struct to_simulator *to_simulator_on(struct to_router *router, struct to_error *err)
{
	const struct to_network *w = router->network;
	struct to_simulator *s = calloc(1, sizeof(*s));
	uint32_t i;

	if (!s)
		goto fail;
	s->router = router;
	s->capacity = calloc(w->n_links + 1, sizeof(*s->capacity));
	s->servers = calloc(w->n_servers, sizeof(*s->servers));
	s->touched = calloc(w->n_servers, sizeof(*s->touched));
	s->result.link_bytes = calloc(2 * (size_t)w->n_links + 1, sizeof(*s->result.link_bytes));
	s->active = calloc(w->n_links + 1, sizeof(*s->active));
	s->active_since = calloc(w->n_links + 1, sizeof(*s->active_since));
	if (!s->capacity || !s->servers || !s->touched || !s->result.link_bytes || !s->active ||
	    !s->active_since)
		goto fail;
	s->result.link_busy = s->result.link_bytes + w->n_links;
	for (i = 0; i < w->n_links; i++)
		s->capacity[i] = w->links[i].capacity;
	if (to_streams_init(&s->streams, router, err) ||
	    to_maxmin_init(&s->maxmin, s->capacity, w->n_links))
		goto fail;
	return s;
fail:
	to_simulator_free(s);
	to_error_set(err, -ENOMEM, "out of memory");
	return NULL;
}

struct to_simulator *to_simulator_new(const struct to_plan *plan, struct to_error *err)
{
	static const struct to_delays delays = { .link = TO_HOP_SECONDS };
	struct to_router *router = to_router_of_plan(plan, &delays, err);
	struct to_simulator *s = router ? to_simulator_on(router, err) : NULL;

	if (s)
		s->own = router;
	else
		to_router_free(router);
	return s;
}

void to_simulator_watch(struct to_simulator *s, int (*watch)(void *data, double done), void *data)
{
	s->watch = watch;
	s->watch_data = data;
}

const struct to_network *to_simulator_network(const struct to_simulator *s)
{
	return s->router->network;
}

/* Arrays with an entry per task or transfer. */
static int simulate_reserve(struct to_simulator *s, uint32_t n, uint32_t n_transfers)
{
	struct to_simulation *r = &s->result;

	if (n_transfers > s->max_transfers) {
		free(r->transfer_finish);
		r->transfer_finish = calloc(n_transfers, sizeof(*r->transfer_finish));
		s->max_transfers = r->transfer_finish ? n_transfers : 0;
		if (!r->transfer_finish)
			return -ENOMEM;
	}
	if (n <= s->max_tasks && s->tasks)
		return 0;
	free(s->tasks);
	free(s->events);
	free(s->stream);
	free(r->start);
	free(r->critical);
	s->tasks = calloc(n + 1, sizeof(*s->tasks));
	s->events = calloc(n + 1, sizeof(*s->events));
	s->stream = calloc(n + 1, sizeof(*s->stream));
	r->start = calloc(2 * (size_t)n + 1, sizeof(*r->start));
	r->critical = calloc(n + 1, sizeof(*r->critical));
	r->finish = r->start + n;
	s->max_tasks = n;
	return s->tasks && s->events && s->stream && r->start && r->critical ? 0 : -ENOMEM;
}

static bool simulate_earlier(const struct simulate_event *a, const struct simulate_event *b)
{
	return a->time < b->time || (a->time == b->time && a->task < b->task);
}

static void simulate_push(struct to_simulator *s, double time, uint32_t task)
{
	struct simulate_event event = { time, task };
	uint32_t at = s->n_events++;

	for (; at && simulate_earlier(&event, &s->events[(at - 1) / 2]); at = (at - 1) / 2)
		s->events[at] = s->events[(at - 1) / 2];
	s->events[at] = event;
}

static uint32_t simulate_pop(struct to_simulator *s)
{
	struct simulate_event *e = s->events, last = e[--s->n_events];
	uint32_t task = e[0].task, at = 0, child;

	for (; (child = 2 * at + 1) < s->n_events; at = child) {
		if (child + 1 < s->n_events && simulate_earlier(&e[child + 1], &e[child]))
			child++;
		if (!simulate_earlier(&e[child], &last))
			break;
		e[at] = e[child];
	}
	e[at] = last;
	return task;
}

static void simulate_touch(struct to_simulator *s, uint32_t server)
{
	if (s->servers[server].touched)
		return;
	s->servers[server].touched = true;
	s->touched[s->n_touched++] = server;
}

/* Into the queue of its server, by the time it became ready, then by index. */
static void simulate_queue(struct to_simulator *s, uint32_t task)
{
	struct simulate_server *server = &s->servers[s->g->tasks[task].server];
	struct simulate_task *tasks = s->tasks;
	uint32_t *at = &server->first;

	/* the usual case is the end of a queue that may be long */
	if (server->last != TO_TASK_NONE &&
	    (tasks[server->last].ready < s->now || server->last < task))
		at = &tasks[server->last].next;
	while (*at != TO_TASK_NONE && (tasks[*at].ready < s->now || *at < task))
		at = &tasks[*at].next;
	tasks[task].next = *at;
	*at = task;
	if (tasks[task].next == TO_TASK_NONE)
		server->last = task;
	simulate_touch(s, s->g->tasks[task].server);
}

/* Room for a part more, and for the parts of @flow. */
static int simulate_reserve_part(struct to_simulator *s, uint32_t flow)
{
	const size_t max = 2 * (size_t)s->max_parts + 64;
	struct simulate_part *parts;
	uint32_t *grown;

	if (flow >= s->max_flows) {
		grown = realloc(s->first_part, (2 * (size_t)flow + 64) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		s->first_part = grown;
		s->max_flows = 2 * flow + 64;
	}
	if (s->n_parts < s->max_parts)
		return 0;
	parts = realloc(s->parts, max * sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	s->parts = parts;
	grown = realloc(s->sending, max * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->sending = grown;
	for (; s->max_parts < max; s->max_parts++)
		s->sending[s->max_parts] = s->max_parts;
	return 0;
}

static bool simulate_ends_before(const struct to_simulator *s, uint32_t a, uint32_t b)
{
	const double first = s->parts[a].end, second = s->parts[b].end;

	return first < second || (first == second && a < b);
}

/* Put @part, whose place @at of the heap is free or its own, where its end belongs. */
static void simulate_place(struct to_simulator *s, uint32_t part, uint32_t at)
{
	uint32_t *heap = s->sending, child;

	for (; at && simulate_ends_before(s, part, heap[(at - 1) / 2]); at = (at - 1) / 2) {
		heap[at] = heap[(at - 1) / 2];
		s->parts[heap[at]].at = at;
	}
	for (; (child = 2 * at + 1) < s->n_parts; at = child) {
		if (child + 1 < s->n_parts && simulate_ends_before(s, heap[child + 1], heap[child]))
			child++;
		if (!simulate_ends_before(s, heap[child], part))
			break;
		heap[at] = heap[child];
		s->parts[heap[at]].at = at;
	}
	heap[at] = part;
	s->parts[part].at = at;
}

/* Its flow, with one like it more. */
static uint32_t simulate_flow(struct to_simulator *s, struct to_stream *stream)
{
	uint32_t i;

	s->maxmin.shares = s->streams.shares;
	if (stream->flow != UINT32_MAX) {
		to_maxmin_join(&s->maxmin, stream->flow);
		return stream->flow;
	}
	stream->flow = to_maxmin_add(&s->maxmin, stream->first, stream->n);
	if (stream->flow == UINT32_MAX || simulate_reserve_part(s, stream->flow))
		return UINT32_MAX;
	s->first_part[stream->flow] = UINT32_MAX;
	for (i = 0; i < stream->n; i++) {
		const uint32_t link = s->streams.shares[stream->first + i].arc;

		if (!s->active[link]++)
			s->active_since[link] = s->now;
	}
	return stream->flow;
}

static int simulate_send(struct to_simulator *s, uint32_t task, uint32_t stream, double bytes,
			 uint32_t transfer)
{
	struct to_stream *sent = &s->streams.streams[stream];
	const uint32_t flow = simulate_flow(s, sent);
	const struct to_flow *rate;
	uint32_t part;

	if (flow == UINT32_MAX || simulate_reserve_part(s, flow))
		return -ENOMEM;
	part = s->sending[s->n_parts];
	rate = &s->maxmin.flows[flow];
	s->parts[part] = (struct simulate_part){
		.task = task, .stream = stream, .transfer = transfer,
		.next = s->first_part[flow], .previous = UINT32_MAX, .size = bytes, .left = bytes, .since = s->now,
		.end = rate->rate > 0 ? s->now + bytes / rate->rate : INFINITY };
	if (s->first_part[flow] != UINT32_MAX)
		s->parts[s->first_part[flow]].previous = part;
	s->first_part[flow] = part;
	simulate_place(s, part, s->n_parts++);
	s->tasks[task].parts++;
	if (sent->latency > s->tasks[task].latency)
		s->tasks[task].latency = sent->latency;
	s->changed = true;
	return 0;
}

static void simulate_end_flow(struct to_simulator *s, struct to_stream *stream)
{
	for (uint32_t i = 0; i < stream->n; i++) {
		const uint32_t link = s->streams.shares[stream->first + i].arc;

		if (!--s->active[link])
			s->result.link_busy[link] += s->now - s->active_since[link];
	}
	stream->flow = UINT32_MAX;
}

/* The last byte of the first of the heap is on the way. */
static void simulate_sent(struct to_simulator *s)
{
	const uint32_t part = s->sending[0], last = s->sending[--s->n_parts];
	const struct simulate_part *sent = &s->parts[part];
	struct to_stream *stream = &s->streams.streams[sent->stream];

	if (s->n_parts)
		simulate_place(s, last, 0);
	s->sending[s->n_parts] = part;
	if (sent->previous != UINT32_MAX)
		s->parts[sent->previous].next = sent->next;
	else
		s->first_part[stream->flow] = sent->next;
	if (sent->next != UINT32_MAX)
		s->parts[sent->next].previous = sent->previous;
	for (uint32_t i = 0; i < stream->n; i++) {
		const struct to_share *share = &s->streams.shares[stream->first + i];

		s->result.link_bytes[share->arc] += share->bytes * sent->size;
	}
	if (!--s->tasks[sent->task].parts)
		simulate_push(s, s->now + s->tasks[sent->task].latency, sent->task);
	if (sent->transfer != UINT32_MAX)
		s->result.transfer_finish[sent->transfer] = s->now + stream->latency;
	to_maxmin_remove(&s->maxmin, stream->flow);
	if (s->first_part[stream->flow] == UINT32_MAX)
		simulate_end_flow(s, stream);
	s->result.events++;
	s->changed = true;
}

static int simulate_start_transfers(struct to_simulator *s, uint32_t t, struct to_error *err)
{
	const struct to_task *task = &s->g->tasks[t];
	const struct to_transfer *transfers = s->g->transfers + task->first;
	uint32_t each = s->detail == TO_SIMULATE_TASKS ? task->n : 1, i;
	int stream;

	for (i = 0; i < task->n; i += each) {
		stream = to_streams_transfers(&s->streams, transfers + i, each, err);
		if (stream < 0)
			return stream;
		if (simulate_send(s, t, stream, s->streams.streams[stream].size,
				  s->detail == TO_SIMULATE_TASKS ? UINT32_MAX : task->first + i))
			return to_error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int simulate_start_phase(struct to_simulator *s, uint32_t t, struct to_error *err)
{
	uint32_t stream = s->stream[t] + s->tasks[t].phase++;

	s->tasks[t].latency = 0;
	if (simulate_send(s, t, stream, s->streams.streams[stream].size * s->g->tasks[t].bytes,
			  UINT32_MAX))
		return to_error_set(err, -ENOMEM, "out of memory");
	return 0;
}

static int simulate_start(struct to_simulator *s, uint32_t t, struct to_error *err)
{
	const struct to_task *task = &s->g->tasks[t];
	uint32_t stream = s->stream[t];
	int ret = 0;

	s->result.start[t] = s->now;
	if (task->kind == TO_TASK_COMPUTE) {
		simulate_push(s, s->now + task->seconds, t);
		return 0;
	}
	if (task->kind == TO_TASK_MP)
		ret = simulate_start_transfers(s, t, err);
	else if (stream != UINT32_MAX)
		ret = simulate_start_phase(s, t, err);
	if (!s->tasks[t].parts)
		simulate_push(s, s->now, t);
	return ret;
}

static int simulate_ready(struct to_simulator *s, uint32_t t, uint32_t cause, struct to_error *err)
{
	s->tasks[t].ready = s->now;
	s->tasks[t].cause = cause;
	if (s->g->tasks[t].kind != TO_TASK_COMPUTE)
		return simulate_start(s, t, err);
	simulate_queue(s, t);
	return 0;
}

static int simulate_finished(struct to_simulator *s, uint32_t t, struct to_error *err)
{
	const struct to_taskgraph *g = s->g;
	uint32_t i;
	int ret = 0;

	s->result.events++;
	if (s->tasks[t].phase < s->tasks[t].phases)
		return simulate_start_phase(s, t, err);
	s->result.finish[t] = s->now;
	if (g->tasks[t].kind == TO_TASK_COMPUTE) {
		s->servers[g->tasks[t].server].running = TO_TASK_NONE;
		s->servers[g->tasks[t].server].previous = t;
		simulate_touch(s, g->tasks[t].server);
	}
	for (i = g->first_next[t]; !ret && i < g->first_next[t + 1]; i++)
		if (!--s->tasks[g->next[i]].waits_for)
			ret = simulate_ready(s, g->next[i], t, err);
	return ret;
}

/* Servers that are idle take the next task. */
static void simulate_dispatch(struct to_simulator *s)
{
	while (s->n_touched) {
		struct simulate_server *server = &s->servers[s->touched[--s->n_touched]];
		uint32_t t = server->first;

		server->touched = false;
		if (server->running != TO_TASK_NONE || t == TO_TASK_NONE)
			continue;
		server->first = s->tasks[t].next;
		if (server->first == TO_TASK_NONE)
			server->last = TO_TASK_NONE;
		server->running = t;
		if (s->tasks[t].ready < s->now)
			s->tasks[t].cause = server->previous;
		s->result.start[t] = s->now;
		simulate_push(s, s->now + s->g->tasks[t].seconds, t);
	}
}

static int simulate_set_rates(struct to_simulator *s)
{
	const struct to_maxmin *m = &s->maxmin;
	uint32_t i;

	if (!s->changed)
		return 0;
	s->changed = false;
	s->maxmin.shares = s->streams.shares;
	if (to_maxmin_solve(&s->maxmin))
		return -ENOMEM;
	for (i = 0; i < m->n_changed; i++) {
		const struct to_flow *flow = &m->flows[m->changed[i]];
		uint32_t p = s->first_part[m->changed[i]];

		for (; p != UINT32_MAX; p = s->parts[p].next) {
			struct simulate_part *part = &s->parts[p];

			part->left = fmax(part->left - flow->before * (s->now - part->since), 0);
			part->since = s->now;
			part->end = s->now + part->left / flow->rate;
			simulate_place(s, p, part->at);
		}
	}
	return 0;
}

/* Let the time pass until something has been sent or a task finishes. */
static void simulate_pass(struct to_simulator *s)
{
	const double event = s->n_events ? s->events[0].time : INFINITY;
	const double end = s->n_parts ? s->parts[s->sending[0]].end : INFINITY;
	double together;

	if (event < end) {
		s->now = event;
		return;
	}
	together = end + SIMULATE_TOGETHER * (end - s->now) + SIMULATE_ROUNDING * end;
	s->now = end;
	while (s->n_parts && s->parts[s->sending[0]].end <= together)
		simulate_sent(s);
}

static int simulate_look(struct to_simulator *s, struct to_error *err)
{
	const struct to_taskgraph *g = s->g;
	/* as many events as there are without phases */
	const double all = (double)g->n_tasks + g->n_transfers + 1;

	if (s->watch && s->watch(s->watch_data, fmin(s->result.events / all, 1)))
		return to_error_set(err, -EINTR, "interrupted");
	return 0;
}

static int simulate_run(struct to_simulator *s, struct to_error *err)
{
	const struct to_taskgraph *g = s->g;
	uint32_t t, round = 0;
	int ret;

	for (t = 0; t < g->n_tasks; t++) {
		if (s->tasks[t].waits_for)
			continue;
		ret = simulate_ready(s, t, TO_TASK_NONE, err);
		if (ret)
			return ret;
	}
	for (simulate_dispatch(s); s->n_events || s->n_parts; simulate_dispatch(s)) {
		if (round++ % SIMULATE_WATCH == 0 && simulate_look(s, err))
			return -EINTR;
		if (simulate_set_rates(s))
			return to_error_set(err, -ENOMEM, "out of memory");
		simulate_pass(s);
		while (s->n_events && s->events[0].time <= s->now) {
			ret = simulate_finished(s, simulate_pop(s), err);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/* Streams of all AllReduce tasks, before those of transfers. */
static int simulate_find_groups(struct to_simulator *s, struct to_error *err)
{
	uint32_t t;
	int stream;

	to_streams_rewind(&s->streams);
	for (t = 0; t < s->g->n_tasks; t++) {
		const struct to_task *task = &s->g->tasks[t];

		s->stream[t] = UINT32_MAX;
		if (task->kind != TO_TASK_ALLREDUCE || task->n < 2 || !task->bytes)
			continue;
		stream = to_streams_allreduce(&s->streams, s->g->members + task->first, task->n,
					      err);
		if (stream < 0)
			return stream;
		s->stream[t] = stream;
		s->tasks[t].phases = s->router->ops->phases(s->router, task->n);
	}
	for (t = 0; t < s->streams.n_streams; t++)
		s->streams.streams[t].flow = UINT32_MAX;
	return 0;
}

static void simulate_reset(struct to_simulator *s)
{
	const struct to_taskgraph *g = s->g;
	uint32_t i, x;

	memset(s->tasks, 0, g->n_tasks * sizeof(*s->tasks));
	for (i = 0; i < g->n_edges; i++)
		s->tasks[g->edges[i].task].waits_for++;
	for (x = 0; x < g->n_servers; x++)
		s->servers[x] = (struct simulate_server){ TO_TASK_NONE, TO_TASK_NONE, TO_TASK_NONE,
							  TO_TASK_NONE, false };
	memset(s->result.link_bytes, 0, 2 * (size_t)s->router->network->n_links * sizeof(double));
	s->result.events = 0;
	memset(s->active, 0, s->router->network->n_links * sizeof(*s->active));
	to_maxmin_clear(&s->maxmin);
	s->n_touched = s->n_events = s->n_parts = 0;
	s->now = 0;
	s->changed = true;
}

/* From the task that ends last back through what each waited for. */
static void simulate_trace(struct to_simulator *s)
{
	struct to_simulation *r = &s->result;
	uint32_t last = TO_TASK_NONE, t, i;

	for (t = 0; t < s->g->n_tasks; t++)
		if (last == TO_TASK_NONE || r->finish[t] > r->finish[last])
			last = t;
	memset(r->critical_time, 0, sizeof(r->critical_time));
	r->time = last == TO_TASK_NONE ? 0 : r->finish[last];
	r->n_critical = 0;
	for (t = last; t != TO_TASK_NONE; t = s->tasks[t].cause) {
		r->critical[r->n_critical++] = t;
		r->critical_time[s->g->tasks[t].kind] += r->finish[t] - r->start[t];
	}
	for (i = 0; i < r->n_critical / 2; i++) {
		t = r->critical[i];
		r->critical[i] = r->critical[r->n_critical - 1 - i];
		r->critical[r->n_critical - 1 - i] = t;
	}
}

const struct to_simulation *to_simulate(struct to_simulator *s, const struct to_taskgraph *tasks,
					enum to_simulate_detail detail, struct to_error *err)
{
	if (tasks->n_servers != s->router->network->n_servers) {
		to_error_set(err, -EINVAL, "the tasks are for %u servers, the plan for %u",
			     tasks->n_servers, s->router->network->n_servers);
		return NULL;
	}
	s->g = tasks;
	s->detail = detail;
	if (simulate_reserve(s, tasks->n_tasks, tasks->n_transfers)) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	simulate_reset(s);
	if (simulate_find_groups(s, err) || simulate_run(s, err))
		return NULL;
	simulate_trace(s);
	return &s->result;
}
