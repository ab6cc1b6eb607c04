// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload/strategy_search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "simulate/bound.h"
#include "workload/proposal.h"

#define SEARCH_STARTS 4
#define SEARCH_ROUNDING 1e-9	/* of a bound that the simulation meets */
#define SEARCH_TEMPERATURE 0.04	/* at first; a proposal slower by this is taken with 1/e */

/* @current and @next: where a chain is, and what it tries; @best: of all chains */
struct search {
	const struct to_strategy_search *s;
	struct to_simulator *simulator;
	struct to_proposals proposals;
	struct to_taskgraph tasks;
	struct to_bound bound;
	struct to_strategy *current, *next, *best;
	double time, best_time, *memory;
	uint64_t random;
	struct to_error *err;
};

/* Start @index of those that people would begin with. */
static void search_start(struct search *c, unsigned int index)
{
	const struct to_dnn_model *m = c->s->model;

	for (uint32_t op = 0; op < m->n_operators; op++)
		c->next->at[op] = (struct to_placement){
			.step = 1, .n = c->s->n_servers,
			.sharded = c->s->n_servers > 1 && m->operators[op].parameter_bytes &&
				   (index == 3 || (index == 2 && m->operators[op].type ==
						   TO_OPERATOR_EMBEDDING)) };
	if (index == 1)
		to_strategy_place_tables(c->next);
}

/* Time of to_strategy_search.next, INFINITY if more than @most; 0 or a negative errno. */
static int search_simulate(struct search *c, double most, double *time)
{
	const struct to_simulation *run;
	int ret;

	to_taskgraph_clear(&c->tasks);
	ret = to_strategy_tasks(c->next, &c->tasks, c->err);
	if (ret)
		return ret;
	*time = c->s->bounded ? to_bound_time(&c->bound, &c->tasks) : 0;
	if (*time < 0)
		return to_error_set(c->err, -ENOMEM, "out of memory");
	if (*time * (1 - SEARCH_ROUNDING) > most) {
		*time = INFINITY;
		return 0;
	}
	run = to_simulate(c->simulator, &c->tasks, TO_SIMULATE_TASKS, c->err);
	if (!run)
		return -EINVAL;
	*time = run->time;
	return 0;
}

static void search_take(struct search *c, double time)
{
	to_strategy_set(c->current, c->next);
	c->time = time;
	if (time >= c->best_time)
		return;
	c->best_time = time;
	to_strategy_set(c->best, c->next);
}

static int search_step(struct search *c, double temperature)
{
	const double draw = ((to_random_next(&c->random) >> 11) + 1) * 0x1p-53;
	const double most = c->time * (1 - temperature * log(draw));
	double time;
	int ret;

	to_strategy_set(c->next, c->current);
	to_propose(&c->proposals, c->next, &c->random);
	if (!to_strategy_fits(c->next, c->memory))
		return 0;
	ret = search_simulate(c, most, &time);
	if (!ret && time <= most)
		search_take(c, time);
	return ret;
}

/* The chain from @start, if its parameters have room. */
static int search_chain(struct search *c, unsigned int start)
{
	const unsigned int steps = c->s->budget / SEARCH_STARTS;
	double time;
	int ret;

	search_start(c, start);
	if (!to_strategy_fits(c->next, c->memory))
		return 0;
	ret = search_simulate(c, INFINITY, &time);
	if (!ret)
		search_take(c, time);
	for (unsigned int i = 0; !ret && i < steps; i++) {
		ret = search_step(c, SEARCH_TEMPERATURE * (steps - i) / steps);
		if (!ret && c->s->progress &&
		    c->s->progress(c->s->data, start * steps + i + 1, SEARCH_STARTS * steps))
			ret = to_error_set(c->err, -EINTR, "interrupted");
	}
	return ret;
}

static int search_all(struct search *c)
{
	int ret = 0;

	for (unsigned int start = 0; !ret && start < SEARCH_STARTS; start++)
		ret = search_chain(c, start);
	if (!ret && isinf(c->best_time))
		ret = to_error_set(c->err, -ENOSPC,
				   "%u servers are too few: they have no room for the parameters of %s",
				   c->s->n_servers, c->s->model->name);
	return ret;
}

struct to_strategy *to_strategy_find(const struct to_strategy_search *s,
				     struct to_simulator *simulator, struct to_error *err)
{
	struct search c = { .s = s, .simulator = simulator, .best_time = INFINITY,
			    .random = s->seed, .err = err };
	int ret = -ENOMEM;

	to_taskgraph_init(&c.tasks, s->n_servers);
	c.current = to_strategy_new(s->model, s->n_servers, s->batch_per_gpu);
	c.next = to_strategy_new(s->model, s->n_servers, s->batch_per_gpu);
	c.best = to_strategy_new(s->model, s->n_servers, s->batch_per_gpu);
	c.memory = calloc(s->n_servers, sizeof(*c.memory));
	if (c.current && c.next && c.best && c.memory &&
	    !to_bound_init_network(&c.bound, to_simulator_network(simulator)) &&
	    !to_proposals_init(&c.proposals, s->model, s->n_servers))
		ret = search_all(&c);
	else
		to_error_set(err, ret, "out of memory");
	to_proposals_free(&c.proposals);
	to_taskgraph_free(&c.tasks);
	to_strategy_free(c.current);
	to_strategy_free(c.next);
	free(c.memory);
	to_bound_free(&c.bound);
	if (!ret)
		return c.best;
	to_strategy_free(c.best);
	return NULL;
}
