// SPDX-License-Identifier: GPL-2.0-or-later
/* From a strategy to the tasks of one iteration. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload/strategy.h"

/*
 * @forward, @backward: per operator, its first task; one per server follows
 * @depth: per operator, the most operators in a row before it
 * @bytes: n_servers x n_servers
 */
struct tasks {
	const struct to_strategy *s;
	struct to_taskgraph *graph;
	uint32_t *forward, *backward, *depth;
	uint32_t *members;
	double *bytes;
	struct to_transfer *transfers;
};

static uint32_t tasks_server(const struct to_placement *p, uint32_t i)
{
	return p->first + i * p->step;
}

/* One task per server for the passes of @op. */
static uint32_t tasks_compute(struct tasks *t, uint32_t op, double factor)
{
	const struct to_placement *p = &t->s->at[op];
	double samples = t->s->samples, part = 1, seconds;
	uint32_t first = TO_TASK_NONE, i, task;

	*(p->sharded ? &part : &samples) /= p->n;
	seconds = factor * to_dnn_model_seconds(t->s->model, op, samples, part);
	for (i = 0; i < p->n; i++) {
		task = to_taskgraph_compute(t->graph, tasks_server(p, i), seconds);
		if (!i)
			first = task;
	}
	return first;
}

/* @all bytes from @a to @b, where both take all results of their samples. */
static void tasks_fill_samples(struct tasks *t, const struct to_placement *a,
			       const struct to_placement *b, double all)
{
	uint64_t i, j;

	/* samples in units of which there are a->n * b->n */
	for (i = 0; i < a->n; i++) {
		double *row = t->bytes + (size_t)tasks_server(a, i) * t->s->n_servers;

		for (j = i * b->n / a->n; j < b->n && j * a->n < (i + 1) * b->n; j++) {
			uint64_t begin = i * b->n > j * a->n ? i * b->n : j * a->n;
			uint64_t end = (i + 1) * b->n < (j + 1) * a->n ? (i + 1) * b->n :
									 (j + 1) * a->n;

			row[tasks_server(b, j)] += all * (end - begin) / ((double)a->n * b->n);
		}
	}
}

/*
 * @all bytes of results from @a to @b: to each server for its samples, and for
 * all samples where it computes a part of its own result.
 */
static void tasks_fill(struct tasks *t, const struct to_placement *a,
		       const struct to_placement *b, double all)
{
	double each = all / a->n / (b->sharded ? 1 : b->n);
	uint32_t i, j;

	if (!a->sharded && !b->sharded) {
		tasks_fill_samples(t, a, b, all);
		return;
	}
	for (i = 0; i < a->n; i++) {
		double *row = t->bytes + (size_t)tasks_server(a, i) * t->s->n_servers;

		for (j = 0; j < b->n; j++)
			row[tasks_server(b, j)] += each;
	}
}

/* Whether input @k of @op comes from the servers that need it. */
static bool tasks_local(const struct tasks *t, uint32_t op, uint32_t k)
{
	const struct to_placement *p = &t->s->at[op];

	return !p->sharded &&
	       to_placement_same(p, &t->s->at[t->s->model->operators[op].inputs[k]]);
}

/* Add what the inputs of @op of one @depth with the placement of input @k send. */
static void tasks_send(struct tasks *t, uint32_t op, uint32_t depth, uint32_t k)
{
	const struct to_operator *o = &t->s->model->operators[op];
	const struct to_placement *p = &t->s->at[o->inputs[k]];
	double bytes = 0;
	uint32_t i;

	for (i = 0; i < o->n_inputs; i++) {
		if (t->depth[o->inputs[i]] != depth ||
		    !to_placement_same(p, &t->s->at[o->inputs[i]]))
			continue;
		if (i < k)
			return;		/* has been added */
		bytes += t->s->model->operators[o->inputs[i]].output_bytes;
	}
	tasks_fill(t, p, &t->s->at[op], bytes * t->s->samples);
}

/* Results of @op's inputs of one @depth that other servers need travel together. */
static void tasks_exchange(struct tasks *t, uint32_t op, uint32_t depth)
{
	const struct to_operator *o = &t->s->model->operators[op];
	const struct to_placement *p = &t->s->at[op], *q;
	uint32_t n = t->s->n_servers, n_transfers = 0, forth, back, i, k, x, y;
	bool remote = false;

	for (k = 0; k < o->n_inputs; k++) {
		uint32_t in = o->inputs[k];

		if (t->depth[in] != depth)
			continue;
		if (tasks_local(t, op, k)) {
			for (i = 0; i < p->n; i++) {
				to_taskgraph_after(t->graph, t->forward[op] + i,
						   t->forward[in] + i);
				to_taskgraph_after(t->graph, t->backward[in] + i,
						   t->backward[op] + i);
			}
			continue;
		}
		if (!remote)
			memset(t->bytes, 0, (size_t)n * n * sizeof(*t->bytes));
		remote = true;
		tasks_send(t, op, depth, k);
	}
	if (!remote)
		return;
	for (x = 0; x < n; x++)
		for (y = 0; y < n; y++)
			if (x != y && t->bytes[x * n + y] >= 0.5)
				t->transfers[n_transfers++] = (struct to_transfer){
					x, y, llround(t->bytes[x * n + y]) };
	forth = to_taskgraph_transfers(t->graph, t->transfers, n_transfers);
	for (i = 0; i < n_transfers; i++) {
		x = t->transfers[i].src;
		t->transfers[i].src = t->transfers[i].dst;
		t->transfers[i].dst = x;
	}
	back = to_taskgraph_transfers(t->graph, t->transfers, n_transfers);
	for (k = 0; k < o->n_inputs; k++) {
		uint32_t in = o->inputs[k];

		q = &t->s->at[in];
		if (t->depth[in] != depth || tasks_local(t, op, k))
			continue;
		for (i = 0; i < q->n; i++) {
			to_taskgraph_after(t->graph, forth, t->forward[in] + i);
			to_taskgraph_after(t->graph, t->backward[in] + i, back);
		}
	}
	for (i = 0; i < p->n; i++) {
		to_taskgraph_after(t->graph, t->forward[op] + i, forth);
		to_taskgraph_after(t->graph, back, t->backward[op] + i);
	}
}

/* All inputs of @op; those of one depth are there at about the same time. */
static void tasks_inputs(struct tasks *t, uint32_t op)
{
	const struct to_operator *o = &t->s->model->operators[op];
	uint32_t i, k;

	for (i = 0; i < o->n_inputs; i++) {
		for (k = 0; t->depth[o->inputs[k]] != t->depth[o->inputs[i]]; k++)
			;
		if (k == i)
			tasks_exchange(t, op, t->depth[o->inputs[i]]);
	}
}

static void tasks_allreduce(struct tasks *t, uint32_t op)
{
	const struct to_placement *p = &t->s->at[op];
	uint64_t bytes = t->s->model->operators[op].parameter_bytes;
	uint32_t i, task;

	if (p->sharded || p->n < 2 || !bytes)
		return;
	for (i = 0; i < p->n; i++)
		t->members[i] = tasks_server(p, i);
	task = to_taskgraph_allreduce(t->graph, t->members, p->n, bytes);
	for (i = 0; i < p->n; i++)
		to_taskgraph_after(t->graph, task, t->backward[op] + i);
}

static void tasks_build(struct tasks *t)
{
	const struct to_dnn_model *m = t->s->model;
	uint32_t k, i;

	for (k = 0; k < m->n_operators; k++) {
		uint32_t op = m->order[k];

		for (i = 0; i < m->operators[op].n_inputs; i++)
			if (t->depth[op] <= t->depth[m->operators[op].inputs[i]])
				t->depth[op] = t->depth[m->operators[op].inputs[i]] + 1;
		t->forward[op] = tasks_compute(t, op, 1);
	}
	for (k = m->n_operators; k-- > 0;) {
		uint32_t op = m->order[k];

		t->backward[op] = tasks_compute(t, op, m->backward);
		for (i = 0; i < t->s->at[op].n; i++)
			to_taskgraph_after(t->graph, t->backward[op] + i, t->forward[op] + i);
		tasks_allreduce(t, op);
	}
	for (k = 0; k < m->n_operators; k++)
		tasks_inputs(t, m->order[k]);
}

int to_strategy_tasks(const struct to_strategy *s, struct to_taskgraph *graph,
		      struct to_error *err)
{
	uint32_t n_operators = s->model->n_operators;
	size_t cells = (size_t)s->n_servers * s->n_servers;
	struct tasks t = { .s = s, .graph = graph };
	int ret = -ENOMEM;

	t.forward = calloc(n_operators, sizeof(*t.forward));
	t.backward = calloc(n_operators, sizeof(*t.backward));
	t.depth = calloc(n_operators, sizeof(*t.depth));
	t.members = calloc(s->n_servers, sizeof(*t.members));
	t.bytes = calloc(cells, sizeof(*t.bytes));
	t.transfers = calloc(cells, sizeof(*t.transfers));
	if (t.forward && t.backward && t.depth && t.members && t.bytes && t.transfers) {
		tasks_build(&t);
		ret = to_taskgraph_finish(graph, err);
	} else {
		to_error_set(err, ret, "out of memory");
	}
	free(t.forward);
	free(t.backward);
	free(t.depth);
	free(t.members);
	free(t.bytes);
	free(t.transfers);
	return ret;
}

struct to_demand *to_strategy_demand(const struct to_strategy *strategy, struct to_error *err)
{
	struct to_demand *demand = NULL;
	struct to_taskgraph tasks;

	to_taskgraph_init(&tasks, strategy->n_servers);
	if (!to_strategy_tasks(strategy, &tasks, err)) {
		demand = to_taskgraph_demand(&tasks);
		if (demand)
			snprintf(demand->name, sizeof(demand->name), "%s", strategy->model->name);
		else
			to_error_set(err, -ENOMEM, "out of memory");
	}
	to_taskgraph_free(&tasks);
	return demand;
}
