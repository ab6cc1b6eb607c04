// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload/sub_ops_search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "simulate/bound.h"

#define SEARCH_MOST 64		/* powers of two of blocks, sharded or not */
#define SEARCH_ROUNDING 1e-9	/* of a bound that the simulation meets */

/* A way to divide, and the least time that it can take. */
struct search_way {
	struct to_sub_ops_setting setting;
	double bound;
};

struct search {
	const struct to_sub_ops_search *s;
	struct to_simulator *simulator;
	struct to_bound bound;
	struct to_taskgraph tasks;
	struct search_way ways[SEARCH_MOST];
	unsigned int n_ways;
	struct to_error *err;
};

static int search_compare(const void *a, const void *b)
{
	const struct search_way *x = a, *y = b;

	if (x->bound != y->bound)
		return x->bound < y->bound ? -1 : 1;
	return (x->setting.blocks < y->setting.blocks) - (x->setting.blocks > y->setting.blocks);
}

/* Tasks of @setting; -ENOSPC where parameters have no room. */
static int search_tasks(struct search *c, const struct to_sub_ops_setting *setting,
			struct to_sub_ops *placed)
{
	int ret = to_sub_ops_place(placed, c->s->model, setting);

	if (ret == -ENOMEM)
		return to_error_set(c->err, ret, "out of memory");
	if (ret)
		return ret;
	to_taskgraph_clear(&c->tasks);
	return to_sub_ops_tasks(placed, &c->tasks, c->err);
}

/* All ways that have room, the one of the least bound first. */
static int search_ways(struct search *c)
{
	const struct to_sub_ops_search *s = c->s;
	const unsigned int batch = s->batch_per_gpu ? s->batch_per_gpu : s->model->batch_per_gpu;
	const struct to_sub_ops_setting all = {
		.n_servers = s->n_servers, .quantum = s->quantum,
		.samples = (uint64_t)batch * s->model->device.gpus * s->n_servers,
		.reach = s->reach && s->reach < s->n_servers ? s->reach : s->n_servers };

	for (uint32_t blocks = 1; blocks <= s->n_servers; blocks *= 2)
		for (unsigned int sharded = 0; sharded < 2; sharded++) {
			struct search_way *way = &c->ways[c->n_ways];
			struct to_sub_ops placed;
			int ret;

			if (s->n_servers % blocks || blocks > all.samples ||
			    (sharded && blocks == s->n_servers))
				continue;
			way->setting = all;
			way->setting.blocks = blocks;
			way->setting.sharded = sharded;
			ret = search_tasks(c, &way->setting, &placed);
			to_sub_ops_free(&placed);
			if (ret == -ENOSPC)
				continue;
			if (ret)
				return ret;
			way->bound = to_bound_time(&c->bound, &c->tasks);
			if (way->bound < 0)
				return to_error_set(c->err, -ENOMEM, "out of memory");
			c->n_ways++;
		}
	qsort(c->ways, c->n_ways, sizeof(*c->ways), search_compare);
	return 0;
}

static int search_best(struct search *c, struct to_sub_ops *found)
{
	const struct to_sub_ops_setting *best = NULL;
	double time = INFINITY;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < c->n_ways; i++) {
		const struct to_simulation *run;
		struct to_sub_ops placed;

		if (c->ways[i].bound * (1 - SEARCH_ROUNDING) > time)
			break;
		ret = search_tasks(c, &c->ways[i].setting, &placed);
		to_sub_ops_free(&placed);
		run = ret ? NULL : to_simulate(c->simulator, &c->tasks, TO_SIMULATE_TASKS, c->err);
		if (!run)
			return ret ? ret : -EINVAL;
		if (run->time < time) {
			time = run->time;
			best = &c->ways[i].setting;
		}
		if (c->s->progress && c->s->progress(c->s->data, i + 1, c->n_ways))
			ret = to_error_set(c->err, -EINTR, "interrupted");
	}
	if (!ret && !best)
		ret = to_error_set(c->err, -ENOSPC,
				   "%u servers are too few: they have no room for the parameters of %s within reach",
				   c->s->n_servers, c->s->model->name);
	if (!ret && to_sub_ops_place(found, c->s->model, best)) {
		to_sub_ops_free(found);
		ret = to_error_set(c->err, -ENOMEM, "out of memory");
	}
	return ret;
}

int to_sub_ops_find(const struct to_sub_ops_search *s, struct to_simulator *simulator,
		    struct to_sub_ops *found, struct to_error *err)
{
	struct search c = { .s = s, .simulator = simulator, .err = err };
	int ret;

	to_taskgraph_init(&c.tasks, s->n_servers);
	if (to_bound_init_network(&c.bound, to_simulator_network(simulator)))
		ret = to_error_set(err, -ENOMEM, "out of memory");
	else
		ret = search_ways(&c);
	if (!ret)
		ret = search_best(&c, found);
	to_taskgraph_free(&c.tasks);
	to_bound_free(&c.bound);
	return ret;
}

static bool sub_ops_same(const struct to_sub_ops *s, uint32_t a, uint32_t b)
{
	const uint32_t n = s->first[a + 1] - s->first[a];

	if (n != s->first[b + 1] - s->first[b])
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (s->server[s->first[a] + i] != s->server[s->first[b] + i])
			return false;
	return true;
}

static void sub_ops_servers(const struct to_sub_ops *s, uint32_t op, uint32_t *low, uint32_t *high)
{
	*low = UINT32_MAX;
	*high = 0;
	for (uint32_t i = s->first[op]; i < s->first[op + 1]; i++) {
		*low = s->server[i] < *low ? s->server[i] : *low;
		*high = s->server[i] > *high ? s->server[i] : *high;
	}
}

void to_sub_ops_print(FILE *out, const struct to_sub_ops *s)
{
	const struct to_dnn_model *m = s->model;
	uint32_t low, high, last;

	fprintf(out, "  %u block%s of %u contiguous server%s, sub-ops divide %s%s\n", s->setting.blocks,
		s->setting.blocks == 1 ? "" : "s", s->block, s->block == 1 ? "" : "s",
		s->setting.sharded ? "parameters" : "samples", s->relocated ? ", some relocated" : "");
	for (uint32_t op = 0; op < m->n_operators; op = last) {
		const uint32_t n = s->first[op + 1] - s->first[op];

		for (last = op + 1; last < m->n_operators && sub_ops_same(s, op, last); last++)
			;
		sub_ops_servers(s, op, &low, &high);
		fprintf(out, "  %s%s%s: ", m->operators[op].name, last > op + 1 ? " to " : "",
			last > op + 1 ? m->operators[last - 1].name : "");
		if (n > 1)
			fprintf(out, "%u sub-ops each on servers %u to %u of a block\n", n, low, high);
		else
			fprintf(out, "whole on server %u of a block\n", low);
	}
}

json_t *to_sub_ops_json(const struct to_sub_ops *s)
{
	const struct to_dnn_model *m = s->model;
	json_t *list = json_array();

	for (uint32_t op = 0; op < m->n_operators; op++) {
		json_t *servers = json_array(), *one;
		const uint32_t n = s->first[op + 1] - s->first[op];

		for (uint32_t block = 0; block < s->setting.blocks; block++)
			for (uint32_t i = s->first[op]; i < s->first[op + 1]; i++)
				json_array_append_new(servers, json_integer(block * s->block +
									   s->server[i]));
		one = json_pack("{s:[s], s:s, s:o}", "operators", m->operators[op].name, "how",
				s->setting.sharded && n > 1 && m->operators[op].parameter_bytes ?
				"sharded" : n * s->setting.blocks > 1 ? "replicated" : "placed",
				"servers", servers);
		if (json_array_append_new(list, one)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}
