// SPDX-License-Identifier: GPL-2.0-or-later
/* The events of an iteration, in the order of time. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/flows.h"
#include "simulate/iteration.h"
#include "simulate/optical.h"
#include "simulate/simulate.h"

/* Rounds between looks at the watch. */
#define SIMULATE_WATCH 64
/* What ends within this fraction of the time to the next end ends with it. */
#define SIMULATE_TOGETHER 1e-9
/* and what rounding may make of equal times. */
#define SIMULATE_ROUNDING 4e-16

/* @task has finished at a time that is known. */
struct simulate_event {
	double time;
	uint32_t task;
};

struct simulate_task {
	uint32_t parts;		/* that are not sent yet */
	unsigned int phase, phases;	/* of AllReduce; all others have one */
	double latency;
};

struct to_simulator {
	struct to_router *router, *own;	/* the same, or NULL */
	struct to_flows flows;
	struct to_iteration iteration;
	const double *slow;		/* per server, or NULL */

	const struct to_taskgraph *g;
	uint32_t max_tasks, max_transfers;
	struct simulate_task *tasks;
	struct simulate_event *events;	/* heap, the next one first */
	uint32_t n_events;
	uint32_t *stream;		/* per AllReduce task, of its first phase */
	struct to_transfer *phase;	/* scratch */

	int (*watch)(void *data, double done);
	void *watch_data;
	enum to_simulate_detail detail;
	double now;
	struct to_simulation result;
	struct to_error *err;		/* of this run */
};

void to_simulator_free(struct to_simulator *s)
{
	if (!s)
		return;
	to_flows_free(&s->flows);
	to_router_free(s->own);
	to_iteration_free(&s->iteration);
	free(s->tasks);
	free(s->events);
	free(s->stream);
	free(s->phase);
	free(s->result.critical);
	free(s->result.transfer_finish);
	free(s);
}

struct to_simulator *to_simulator_on(struct to_router *router, struct to_error *err)
{
	const uint32_t n = router->network->n_servers;
	struct to_simulator *s = calloc(1, sizeof(*s));

	if (!s || to_flows_init(&s->flows, router, err))
		goto fail;
	s->router = router;
	s->phase = calloc(4 * (size_t)n, sizeof(*s->phase));
	if (!s->phase)
		goto fail;
	s->result.link_bytes = s->flows.link_bytes;
	s->result.link_busy = s->flows.link_busy;
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

void to_simulator_slow(struct to_simulator *s, const double *factors)
{
	s->slow = factors;
}

int to_simulator_record(struct to_simulator *s, struct to_utilisation *utilisation)
{
	s->flows.utilisation = NULL;
	if (utilisation && !utilisation->bytes &&
	    to_utilisation_init(utilisation, s->router->network, s->flows.n_classes))
		return -ENOMEM;
	s->flows.utilisation = utilisation;
	return 0;
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
	free(r->critical);
	s->tasks = calloc(n + 1, sizeof(*s->tasks));
	s->events = calloc(n + 1, sizeof(*s->events));
	s->stream = calloc(n + 1, sizeof(*s->stream));
	r->critical = calloc(n + 1, sizeof(*r->critical));
	s->max_tasks = n;
	return s->tasks && s->events && s->stream && r->critical ? 0 : -ENOMEM;
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

/* A part has been sent. */
static void simulate_sent(struct to_simulator *s)
{
	double latency;
	const struct to_part *part = to_flows_sent(&s->flows, s->now, &latency);
	struct simulate_task *task = &s->tasks[part->task];

	task->latency = fmax(task->latency, latency);
	if (!--task->parts)
		simulate_push(s, s->now + task->latency, part->task);
	if (part->transfer != UINT32_MAX)
		s->result.transfer_finish[part->transfer] = s->now + latency;
	s->result.events++;
}

static int simulate_send(struct to_simulator *s, const struct to_part *part, struct to_error *err)
{
	s->tasks[part->task].parts++;
	return to_flows_send(&s->flows, part, s->now, err);
}

/* @bytes of @transfer where links change, in @steps; @index: of the transfer, or UINT32_MAX. */
static int simulate_offer(struct to_simulator *s, uint32_t t, const struct to_transfer *transfer,
			  double bytes, unsigned int steps, uint32_t index, struct to_error *err)
{
	const struct to_part part = { .task = t, .stream = TO_STREAM_NONE, .transfer = index,
				      .src = transfer->src, .dst = transfer->dst, .steps = steps,
				      .size = bytes };

	if (part.src == part.dst || !(bytes > 0))
		return 0;
	return simulate_send(s, &part, err);
}

static int simulate_start_transfers(struct to_simulator *s, uint32_t t, struct to_error *err)
{
	const struct to_task *task = &s->g->tasks[t];
	const struct to_transfer *transfers = s->g->transfers + task->first;
	const uint32_t each = s->detail == TO_SIMULATE_TASKS ? task->n : 1;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < task->n; i += each) {
		const uint32_t index = s->detail == TO_SIMULATE_TASKS ? UINT32_MAX : task->first + i;
		struct to_part part = { .task = t, .transfer = index, .steps = 1 };
		int stream;

		if (s->router->optical) {
			ret = simulate_offer(s, t, &transfers[i], transfers[i].bytes, 1, index, err);
			continue;
		}
		stream = to_streams_transfers(&s->flows.streams, transfers + i, each, err);
		if (stream < 0)
			return stream;
		part.stream = stream;
		part.size = s->flows.streams.streams[stream].size;
		ret = simulate_send(s, &part, err);
	}
	return ret;
}

/* What @task sends in @phase for a buffer of TO_COLLECTIVE_BUFFER, where links change. */
static int simulate_phase(struct to_simulator *s, const struct to_task *task, unsigned int phase,
			  unsigned int *steps, struct to_error *err)
{
	int n = to_collective_phase(s->router->optical->algorithm, s->g->members + task->first,
				    task->n, phase, s->phase, steps);

	return n < 0 ? to_error_set(err, n, "out of memory") : n;
}

static double simulate_phase_bytes(const struct to_simulator *s, const struct to_task *task, int i)
{
	return (double)s->phase[i].bytes / TO_COLLECTIVE_BUFFER * task->bytes;
}

static int simulate_start_phase(struct to_simulator *s, uint32_t t, struct to_error *err)
{
	const struct to_task *task = &s->g->tasks[t];
	const unsigned int phase = s->tasks[t].phase++;
	struct to_part part = { .task = t, .stream = s->stream[t] + phase,
				.transfer = UINT32_MAX, .steps = 1 };
	unsigned int steps;
	int n, ret = 0;

	s->tasks[t].latency = 0;
	if (!s->router->optical) {
		part.size = s->flows.streams.streams[part.stream].size * task->bytes;
		return simulate_send(s, &part, err);
	}
	/* each transfer of the phase goes on its own */
	n = simulate_phase(s, task, phase, &steps, err);
	if (n < 0)
		return n;
	for (int i = 0; !ret && i < n; i++)
		ret = simulate_offer(s, t, &s->phase[i], simulate_phase_bytes(s, task, i), steps,
				     UINT32_MAX, err);
	return ret;
}

static double simulate_seconds(const struct to_simulator *s, const struct to_task *task)
{
	return s->slow ? task->seconds * s->slow[task->server] : task->seconds;
}

static int simulate_begin(void *data, uint32_t t)
{
	struct to_simulator *s = data;
	int ret = 0;

	if (s->g->tasks[t].kind == TO_TASK_COMPUTE) {
		simulate_push(s, s->now + simulate_seconds(s, &s->g->tasks[t]), t);
		return 0;
	}
	if (s->g->tasks[t].kind == TO_TASK_MP)
		ret = simulate_start_transfers(s, t, s->err);
	else if (s->stream[t] != UINT32_MAX)
		ret = simulate_start_phase(s, t, s->err);
	if (!s->tasks[t].parts)
		simulate_push(s, s->now, t);
	return ret;
}

static int simulate_finished(struct to_simulator *s, uint32_t t)
{
	s->result.events++;
	if (s->tasks[t].phase < s->tasks[t].phases)
		return simulate_start_phase(s, t, s->err);
	return to_iteration_finish(&s->iteration, t, s->now);
}

/* Let the time pass until something has been sent, a task finishes, or links change. */
static int simulate_pass(struct to_simulator *s, struct to_error *err)
{
	const double event = s->n_events ? s->events[0].time : INFINITY;
	const double end = to_flows_end(&s->flows);
	double together;

	if (s->flows.change < fmin(event, end)) {
		s->now = s->flows.change;
		return to_flows_change(&s->flows, err);
	}
	if (event < end) {
		s->now = event;
		return 0;
	}
	together = end + SIMULATE_TOGETHER * (end - s->now) + SIMULATE_ROUNDING * end;
	s->now = end;
	while (to_flows_end(&s->flows) <= together)
		simulate_sent(s);
	return 0;
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
	int ret = to_iteration_start(&s->iteration);

	for (uint32_t round = 0; !ret && (s->n_events || s->flows.n_parts); round++) {
		if (round % SIMULATE_WATCH == 0 && simulate_look(s, err))
			return -EINTR;
		if (to_flows_set_rates(&s->flows, s->now))
			return to_error_set(err, -ENOMEM, "out of memory");
		ret = simulate_pass(s, err);
		while (!ret && s->n_events && s->events[0].time <= s->now)
			ret = simulate_finished(s, simulate_pop(s));
		if (!ret)
			ret = to_iteration_dispatch(&s->iteration, s->now);
	}
	return ret;
}

/* Streams of all AllReduce tasks, before those of transfers. */
static int simulate_find_groups(struct to_simulator *s, struct to_error *err)
{
	struct to_streams *streams = &s->flows.streams;
	uint32_t t;
	int stream;

	for (t = 0; t < s->g->n_tasks; t++) {
		const struct to_task *task = &s->g->tasks[t];

		s->stream[t] = UINT32_MAX;
		if (task->kind != TO_TASK_ALLREDUCE || task->n < 2 || !task->bytes)
			continue;
		stream = s->router->optical ? 0 :
			 to_streams_allreduce(streams, s->g->members + task->first, task->n, err);
		if (stream < 0)
			return stream;
		s->stream[t] = stream;
		s->tasks[t].phases = s->router->ops->phases(s->router, task->n);
	}
	for (t = 0; t < streams->n_streams; t++)
		streams->streams[t].flow = UINT32_MAX;
	return 0;
}

/* Where links change, those for all that the iteration sends are there when it begins. */
static int simulate_first_links(struct to_simulator *s, struct to_error *err)
{
	const struct to_taskgraph *g = s->g;
	const size_t n = g->n_servers;
	uint64_t *unsent = s->flows.unsent;
	unsigned int steps;

	memset(unsent, 0, n * n * sizeof(*unsent));
	for (uint32_t i = 0; i < g->n_transfers; i++)
		unsent[g->transfers[i].src * n + g->transfers[i].dst] += g->transfers[i].bytes;
	for (uint32_t t = 0; t < g->n_tasks; t++)
		for (unsigned int phase = 0; phase < s->tasks[t].phases; phase++) {
			const int sent = simulate_phase(s, &g->tasks[t], phase, &steps, err);

			if (sent < 0)
				return sent;
			for (int i = 0; i < sent; i++)
				unsent[s->phase[i].src * n + s->phase[i].dst] +=
					simulate_phase_bytes(s, &g->tasks[t], i);
		}
	return to_flows_begin(&s->flows, err);
}

static int simulate_reset(struct to_simulator *s)
{
	memset(s->tasks, 0, s->g->n_tasks * sizeof(*s->tasks));
	to_flows_clear(&s->flows);
	if (s->flows.utilisation)
		to_utilisation_clear(s->flows.utilisation);
	s->result.events = 0;
	s->n_events = 0;
	s->now = 0;
	s->iteration.begin = simulate_begin;
	s->iteration.data = s;
	return to_iteration_reset(&s->iteration, s->g);
}

static void simulate_trace(struct to_simulator *s)
{
	struct to_simulation *r = &s->result;

	r->start = s->iteration.start;
	r->finish = s->iteration.finish;
	r->n_critical = to_iteration_critical(&s->iteration, r->critical, r->critical_time);
	r->time = r->n_critical ? r->finish[r->critical[r->n_critical - 1]] : 0;
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
	s->detail = s->router->optical ? TO_SIMULATE_TRANSFERS : detail;
	s->err = err;
	if (simulate_reserve(s, tasks->n_tasks, tasks->n_transfers) || simulate_reset(s)) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	if (simulate_find_groups(s, err) || (s->router->optical && simulate_first_links(s, err)) ||
	    simulate_run(s, err))
		return NULL;
	to_flows_finish(&s->flows);
	s->result.n_changes = s->flows.n_changes;
	simulate_trace(s);
	return &s->result;
}
