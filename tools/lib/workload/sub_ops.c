// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload/sub_ops.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUB_OP_NONE UINT32_MAX

static uint32_t sub_ops_count(const struct to_sub_ops *s, uint32_t op)
{
	return s->first[op + 1] - s->first[op];
}

/* Have the sub-ops of @op parts of its parameters? */
static bool sub_ops_sharded(const struct to_sub_ops *s, uint32_t op)
{
	return s->setting.sharded && s->model->operators[op].parameter_bytes &&
	       sub_ops_count(s, op) > 1;
}

/* Seconds of the forward pass of one of @n sub-ops of @op. */
static double sub_ops_seconds(const struct to_sub_ops *s, uint32_t op, uint32_t n, bool sharded)
{
	const double samples = (double)s->setting.samples / s->setting.blocks;

	return to_dnn_model_seconds(s->model, op, sharded ? samples : samples / n,
				    sharded ? 1. / n : 1);
}

/* Sub-ops of @op, as many as have a quantum each: the balanced graph. */
static uint32_t sub_ops_divide(const struct to_sub_ops *s, uint32_t op)
{
	const struct to_sub_ops_setting *setting = &s->setting;
	const double samples = (double)setting->samples / setting->blocks;
	const bool sharded = setting->sharded && s->model->operators[op].parameter_bytes;
	double n = floor(to_dnn_model_seconds(s->model, op, samples, 1) / setting->quantum);

	n = fmin(n, s->block);
	/* all of them take results of all before, and so are within reach of each other */
	n = fmin(n, setting->sharded ? setting->reach : samples);
	if (sharded && n > 1 && sub_ops_seconds(s, op, n, true) <= 0)
		n = 1;
	return fmax(n, 1);
}

/* Sub-ops of @input, @from to @to - 1, whose results sub-op @i of @op takes. */
static void sub_ops_range(const struct to_sub_ops *s, uint32_t op, uint32_t i, uint32_t input,
			  uint32_t *from, uint32_t *to)
{
	const uint64_t n = sub_ops_count(s, op), m = sub_ops_count(s, input);

	*from = 0;
	*to = m;
	if (sub_ops_sharded(s, op) || sub_ops_sharded(s, input))
		return;
	*from = i * m / n;
	*to = ((i + 1) * m + n - 1) / n;
}

/* Has an other sub-op of @op, before @i, the parameters on @server already? */
static bool sub_ops_holds(const struct to_sub_ops *s, uint32_t op, uint32_t i, uint32_t server)
{
	for (uint32_t k = s->first[op]; k < s->first[op] + i; k++)
		if (s->server[k] == server)
			return !sub_ops_sharded(s, op);
	return false;
}

/* Bytes of parameters that sub-op @i of @op needs on @server. */
static double sub_ops_bytes(const struct to_sub_ops *s, uint32_t op, uint32_t i, uint32_t server)
{
	const double bytes = s->model->operators[op].parameter_bytes;

	if (sub_ops_holds(s, op, i, server))
		return 0;
	return sub_ops_sharded(s, op) ? bytes / sub_ops_count(s, op) : bytes;
}

static double sub_ops_room(const struct to_sub_ops *s)
{
	return (double)s->model->device.memory_bytes * s->model->device.gpus;
}

/* The server of @low to @high that is free first and has room for sub-op @i of @op. */
static uint32_t sub_ops_choose(const struct to_sub_ops *s, uint32_t op, uint32_t i, uint32_t low,
			       uint32_t high)
{
	uint32_t best = SUB_OP_NONE;

	for (uint32_t x = low; x <= high; x++)
		if ((best == SUB_OP_NONE || s->free_at[x] < s->free_at[best]) &&
		    s->memory[x] + sub_ops_bytes(s, op, i, x) <= sub_ops_room(s))
			best = x;
	return best;
}

/* The servers of all whose results sub-op @i of @op takes; false if it takes none. */
static bool sub_ops_span(const struct to_sub_ops *s, uint32_t op, uint32_t i, uint32_t *low,
			 uint32_t *high)
{
	const struct to_operator *o = &s->model->operators[op];
	bool any = false;

	*low = SUB_OP_NONE;
	*high = 0;
	for (unsigned int k = 0; k < o->n_inputs; k++) {
		uint32_t from, to;

		sub_ops_range(s, op, i, o->inputs[k], &from, &to);
		for (uint32_t j = from; j < to; j++) {
			const uint32_t x = s->server[s->first[o->inputs[k]] + j];

			*low = x < *low ? x : *low;
			*high = x > *high ? x : *high;
			any = true;
		}
	}
	return any;
}

/* Move those whose results sub-op @i of @op takes into @low to @high. */
static void sub_ops_relocate(struct to_sub_ops *s, uint32_t op, uint32_t i, uint32_t low,
			     uint32_t high)
{
	const struct to_operator *o = &s->model->operators[op];

	for (unsigned int k = 0; k < o->n_inputs; k++) {
		uint32_t from, to;

		sub_ops_range(s, op, i, o->inputs[k], &from, &to);
		for (uint32_t j = from; j < to; j++) {
			uint32_t *server = &s->server[s->first[o->inputs[k]] + j];
			const uint32_t next = *server < low ? low : *server > high ? high : *server;

			if (next == *server)
				continue;
			s->memory[*server] -= sub_ops_bytes(s, o->inputs[k], j, *server);
			s->memory[next] += sub_ops_bytes(s, o->inputs[k], j, next);
			s->free_at[next] = fmax(s->free_at[next], s->free_at[*server]);
			*server = next;
			s->relocated++;
		}
	}
}

/* Seconds at which the results that sub-op @i of @op takes are there; @end: per sub-op. */
static double sub_ops_ready(const struct to_sub_ops *s, uint32_t op, uint32_t i, const double *end)
{
	const struct to_operator *o = &s->model->operators[op];
	double ready = 0;

	for (unsigned int k = 0; k < o->n_inputs; k++) {
		uint32_t from, to;

		sub_ops_range(s, op, i, o->inputs[k], &from, &to);
		for (uint32_t j = from; j < to; j++)
			ready = fmax(ready, end[s->first[o->inputs[k]] + j]);
	}
	return ready;
}

static int sub_ops_put(struct to_sub_ops *s, uint32_t op, uint32_t i, double *end)
{
	const uint32_t reach = s->setting.reach, last = s->block - 1, at = s->first[op] + i;
	uint32_t low, high, x;

	if (!sub_ops_span(s, op, i, &low, &high)) {
		low = 0;
		high = last;
	} else {
		if (high - low >= reach) {
			/* the range in the middle of where they are */
			low = (low + high + 1 - reach) / 2;
			high = low + reach - 1;
			sub_ops_relocate(s, op, i, low, high);
		}
		x = low;
		low = high + 1 > reach ? high + 1 - reach : 0;
		high = x + reach - 1 < last ? x + reach - 1 : last;
	}
	x = sub_ops_choose(s, op, i, low, high);
	if (x == SUB_OP_NONE)
		return -ENOSPC;
	s->memory[x] += sub_ops_bytes(s, op, i, x);
	s->server[at] = x;
	end[at] = fmax(s->free_at[x], sub_ops_ready(s, op, i, end)) +
		  sub_ops_seconds(s, op, sub_ops_count(s, op), sub_ops_sharded(s, op));
	s->free_at[x] = end[at];
	s->forward = fmax(s->forward, end[at]);
	return 0;
}

void to_sub_ops_free(struct to_sub_ops *s)
{
	free(s->first);
	free(s->server);
	free(s->memory);
	free(s->free_at);
	*s = (struct to_sub_ops){ 0 };
}

int to_sub_ops_place(struct to_sub_ops *s, const struct to_dnn_model *model,
		     const struct to_sub_ops_setting *setting)
{
	double *end = NULL;
	int ret = -ENOMEM;

	*s = (struct to_sub_ops){ .model = model, .setting = *setting,
				  .block = setting->n_servers / setting->blocks };
	s->first = calloc((size_t)model->n_operators + 1, sizeof(*s->first));
	s->memory = calloc(s->block, sizeof(*s->memory));
	s->free_at = calloc(s->block, sizeof(*s->free_at));
	if (!s->first || !s->memory || !s->free_at)
		return ret;
	for (uint32_t op = 0; op < model->n_operators; op++)
		s->first[op + 1] = s->first[op] + sub_ops_divide(s, op);
	s->server = calloc(s->first[model->n_operators], sizeof(*s->server));
	end = calloc(s->first[model->n_operators], sizeof(*end));
	if (s->server && end)
		ret = 0;
	for (uint32_t k = 0; !ret && k < model->n_operators; k++) {
		const uint32_t op = model->order[k];

		for (uint32_t i = 0; !ret && i < sub_ops_count(s, op); i++)
			ret = sub_ops_put(s, op, i, end);
	}
	/* those that were moved may be too many for where they are */
	for (uint32_t x = 0; !ret && x < s->block; x++)
		if (s->memory[x] > sub_ops_room(s))
			ret = -ENOSPC;
	free(end);
	return ret;
}

/* @forward, @backward: task of each sub-op of a block; @transfers: as many as pairs may be */
struct sub_op_tasks {
	const struct to_sub_ops *s;
	struct to_taskgraph *graph;
	uint32_t *forward, *backward;
	struct to_transfer *transfers;
	uint32_t *members;
};

/* Bytes from one sub-op of @input to one of @op, @common of the samples of the block. */
static double tasks_bytes(const struct to_sub_ops *s, uint32_t input, double common)
{
	const double samples = (double)s->setting.samples / s->setting.blocks;
	const double part = sub_ops_sharded(s, input) ? 1. / sub_ops_count(s, input) : 1;

	return s->model->operators[input].output_bytes * samples * common * part;
}

/* Part of the samples that both sub-op @i of @op and @j of @input compute. */
static double tasks_common(const struct to_sub_ops *s, uint32_t op, uint32_t i, uint32_t input,
			   uint32_t j)
{
	const double n = sub_ops_sharded(s, op) ? 1 : sub_ops_count(s, op);
	const double m = sub_ops_sharded(s, input) ? 1 : sub_ops_count(s, input);
	const double low = fmax(n > 1 ? i / n : 0, m > 1 ? j / m : 0);
	const double high = fmin(n > 1 ? (i + 1) / n : 1, m > 1 ? (j + 1) / m : 1);

	return fmax(high - low, 0);
}

/* What sub-ops of @op take of those of @input, in the block that begins at @base. */
static void tasks_input(struct sub_op_tasks *t, uint32_t base, uint32_t op, uint32_t input)
{
	const struct to_sub_ops *s = t->s;
	uint32_t n = 0, from, to, forth, back;

	for (uint32_t i = 0; i < sub_ops_count(s, op); i++) {
		const uint32_t a = s->first[op] + i;

		sub_ops_range(s, op, i, input, &from, &to);
		for (uint32_t j = from; j < to; j++) {
			const uint32_t b = s->first[input] + j;
			const double bytes = tasks_bytes(s, input, tasks_common(s, op, i, input, j));

			if (s->server[a] == s->server[b]) {
				to_taskgraph_after(t->graph, t->forward[a], t->forward[b]);
				to_taskgraph_after(t->graph, t->backward[b], t->backward[a]);
			} else if (bytes >= 0.5) {
				t->transfers[n++] = (struct to_transfer){
					base + s->server[b], base + s->server[a], llround(bytes) };
			}
		}
	}
	if (!n)
		return;
	forth = to_taskgraph_transfers(t->graph, t->transfers, n);
	for (uint32_t i = 0; i < n; i++)
		t->transfers[i] = (struct to_transfer){ t->transfers[i].dst, t->transfers[i].src,
							t->transfers[i].bytes };
	back = to_taskgraph_transfers(t->graph, t->transfers, n);
	for (uint32_t i = s->first[op]; i < s->first[op + 1]; i++) {
		to_taskgraph_after(t->graph, t->forward[i], forth);
		to_taskgraph_after(t->graph, back, t->backward[i]);
	}
	for (uint32_t i = s->first[input]; i < s->first[input + 1]; i++) {
		to_taskgraph_after(t->graph, forth, t->forward[i]);
		to_taskgraph_after(t->graph, t->backward[i], back);
	}
}

static void tasks_block(struct sub_op_tasks *t, uint32_t block, uint32_t *backward)
{
	const struct to_sub_ops *s = t->s;
	const struct to_dnn_model *m = s->model;
	const uint32_t base = block * s->block;

	t->backward = backward;
	for (uint32_t k = 0; k < 2 * m->n_operators; k++) {
		const bool back = k >= m->n_operators;
		const uint32_t op = m->order[back ? 2 * m->n_operators - 1 - k : k];
		const uint32_t n = sub_ops_count(s, op);
		const double seconds = sub_ops_seconds(s, op, n, sub_ops_sharded(s, op));

		for (uint32_t i = s->first[op]; i < s->first[op + 1]; i++)
			*(back ? &t->backward[i] : &t->forward[i]) =
				to_taskgraph_compute(t->graph, base + s->server[i],
						     seconds * (back ? m->backward : 1));
	}
	for (uint32_t op = 0; op < m->n_operators; op++) {
		for (uint32_t i = s->first[op]; i < s->first[op + 1]; i++)
			to_taskgraph_after(t->graph, t->backward[i], t->forward[i]);
		for (unsigned int k = 0; k < m->operators[op].n_inputs; k++)
			tasks_input(t, base, op, m->operators[op].inputs[k]);
	}
}

/* Gradients of sub-ops @from to @to - 1 of all blocks; @backward: tasks of all. */
static void tasks_allreduce(struct sub_op_tasks *t, uint32_t from, uint32_t to, uint64_t bytes,
			    const uint32_t *backward)
{
	const struct to_sub_ops *s = t->s;
	const size_t all = s->first[s->model->n_operators];
	uint32_t n = 0, task;

	for (uint32_t block = 0; block < s->setting.blocks; block++)
		for (uint32_t i = from; i < to; i++) {
			bool there = false;

			for (uint32_t k = from; k < i && !there; k++)
				there = s->server[k] == s->server[i];
			if (!there)
				t->members[n++] = block * s->block + s->server[i];
		}
	if (n < 2 || !bytes)
		return;
	task = to_taskgraph_allreduce(t->graph, t->members, n, bytes);
	for (uint32_t block = 0; block < s->setting.blocks; block++)
		for (uint32_t i = from; i < to; i++)
			to_taskgraph_after(t->graph, task, backward[block * all + i]);
}

static void tasks_gradients(struct sub_op_tasks *t, const uint32_t *backward)
{
	const struct to_sub_ops *s = t->s;

	for (uint32_t op = 0; op < s->model->n_operators; op++) {
		const uint64_t bytes = s->model->operators[op].parameter_bytes;

		if (!sub_ops_sharded(s, op)) {
			tasks_allreduce(t, s->first[op], s->first[op + 1], bytes, backward);
			continue;
		}
		for (uint32_t i = s->first[op]; i < s->first[op + 1]; i++)
			tasks_allreduce(t, i, i + 1, bytes / sub_ops_count(s, op), backward);
	}
}

int to_sub_ops_tasks(const struct to_sub_ops *s, struct to_taskgraph *graph, struct to_error *err)
{
	const size_t all = s->first[s->model->n_operators], blocks = s->setting.blocks;
	struct sub_op_tasks t = { .s = s, .graph = graph };
	uint32_t *backward = calloc(all * blocks, sizeof(*backward)), most = 1;
	int ret = -ENOMEM;

	for (uint32_t op = 0; op < s->model->n_operators; op++)
		most = sub_ops_count(s, op) > most ? sub_ops_count(s, op) : most;
	t.forward = calloc(all, sizeof(*t.forward));
	t.transfers = calloc((size_t)most * most, sizeof(*t.transfers));
	t.members = calloc(s->setting.n_servers, sizeof(*t.members));
	if (backward && t.forward && t.transfers && t.members) {
		for (uint32_t block = 0; block < blocks; block++)
			tasks_block(&t, block, backward + block * all);
		tasks_gradients(&t, backward);
		ret = to_taskgraph_finish(graph, err);
	} else {
		to_error_set(err, ret, "out of memory");
	}
	free(backward);
	free(t.forward);
	free(t.transfers);
	free(t.members);
	return ret;
}
