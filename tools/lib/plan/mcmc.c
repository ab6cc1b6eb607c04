// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/mcmc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/effort.h"
#include "base/random.h"
#include "plan/planner.h"

#define CHAIN_FRUITLESS 50	/* TopoOpt section 3.2 */
#define CHAIN_PLAN_STEPS 10	/* that a new plan counts as */
#define CHAIN_LOOK 4		/* one in so many changes may get a plan of its own */
#define CHAIN_HOPE 0.98		/* if it might take this part of the best time */
#define CHAIN_GAIN 1e-3		/* smaller ones are not worth a new plan at once */

static int mcmc_no_memory(struct to_mcmc *c)
{
	return to_error_set(&c->err, -ENOMEM, "out of memory");
}

int to_mcmc_init(struct to_mcmc *c, const struct to_strategy *start)
{
	uint32_t n = start->n_servers;

	to_taskgraph_init(&c->tasks, n);
	c->current = to_strategy_copy(start);
	c->best = to_strategy_copy(start);
	c->next = to_strategy_copy(start);
	c->memory = calloc(n, sizeof(*c->memory));
	c->best_time = INFINITY;
	if (to_bound_init(&c->bound, c->cluster, n, c->degree) || !c->current || !c->best ||
	    !c->next || !c->memory)
		return mcmc_no_memory(c);
	return 0;
}

void to_mcmc_free(struct to_mcmc *c)
{
	to_strategy_free(c->current);
	to_strategy_free(c->best);
	to_strategy_free(c->next);
	to_simulator_free(c->simulator);
	to_plan_free(c->plan);
	to_taskgraph_free(&c->tasks);
	to_bound_free(&c->bound);
	free(c->memory);
}

/* Simulated time of to_mcmc.tasks. */
static int mcmc_simulate(struct to_mcmc *c, struct to_simulator *simulator, double *time)
{
	const struct to_simulation *run = to_simulate(simulator, &c->tasks, TO_SIMULATE_TASKS,
						      &c->err);

	if (!run)
		return -EINVAL;
	*time = run->time;
	return 0;
}

static int mcmc_tasks(struct to_mcmc *c, const struct to_strategy *strategy)
{
	to_taskgraph_clear(&c->tasks);
	return to_strategy_tasks(strategy, &c->tasks, &c->err);
}

/* Plan for to_mcmc.tasks, and what they take on it. */
static int mcmc_make(struct to_mcmc *c, unsigned int effort, struct to_plan **plan,
		     struct to_simulator **simulator, double *time)
{
	const struct to_planner_knobs options = { .degree = c->degree, .effort = effort,
						    .seed = c->seed,
						    .fixed = to_cluster_keeps_links(c->cluster) };
	struct to_demand *demand = to_taskgraph_demand(&c->tasks);
	struct to_cluster *cluster = to_cluster_copy(c->cluster);

	*simulator = NULL;
	if (!demand || !cluster) {
		to_demand_free(demand);
		to_cluster_free(cluster);
		return mcmc_no_memory(c);
	}
	snprintf(demand->name, sizeof(demand->name), "%s", c->proposals->model->name);
	*plan = to_planner_make(cluster, demand, &options, &c->err);
	if (!*plan)
		return -EINVAL;
	*simulator = to_simulator_new(*plan, &c->err);
	if (*simulator && !mcmc_simulate(c, *simulator, time))
		return 0;
	to_simulator_free(*simulator);
	to_plan_free(*plan);
	return -EINVAL;
}

struct to_plan *to_mcmc_plan(struct to_mcmc *c, const struct to_strategy *strategy,
			     unsigned int effort, double *time)
{
	struct to_simulator *simulator;
	struct to_plan *plan;

	if (mcmc_tasks(c, strategy) || mcmc_make(c, effort, &plan, &simulator, time))
		return NULL;
	to_simulator_free(simulator);
	return plan;
}

static void mcmc_keep_best(struct to_mcmc *c, const struct to_strategy *strategy, double time)
{
	if (time >= c->best_time)
		return;
	c->best_time = time;
	to_strategy_set(c->best, strategy);
}

/*
 * A plan of its own for @strategy, which to_mcmc.tasks are of; kept when its
 * time is within @limit. Return: 1 when it is, 0, or a negative errno.
 */
static int mcmc_replan(struct to_mcmc *c, const struct to_strategy *strategy, double limit)
{
	struct to_simulator *simulator;
	struct to_plan *plan;
	double time;
	int ret;

	ret = mcmc_make(c, TO_EFFORT_MIN, &plan, &simulator, &time);
	if (ret)
		return ret;
	mcmc_keep_best(c, strategy, time);
	if (time > limit) {
		to_simulator_free(simulator);
		to_plan_free(plan);
		return 0;
	}
	to_simulator_free(c->simulator);
	to_plan_free(c->plan);
	c->simulator = simulator;
	c->plan = plan;
	c->time = time;
	return 1;
}

static void mcmc_take_next(struct to_mcmc *c)
{
	struct to_strategy *next = c->next;

	c->next = c->current;
	c->current = next;
}

/*
 * Try one change on the current plan. One that no topology could make good
 * enough is not simulated. One that is bad on this plan, but that another might
 * make the best of all, now and then gets one of its own.
 *
 * Return: 1 when it was taken, 0, or a negative errno; adds to @steps.
 */
static int mcmc_step(struct to_mcmc *c, double temperature, unsigned int *steps)
{
	double draw = ((to_random_next(&c->random) >> 11) + 1) * 0x1p-53, time, bound;
	double limit = c->time * (1 - temperature * log(draw));
	bool look = !to_random_below(&c->random, CHAIN_LOOK);
	int ret;

	to_strategy_set(c->next, c->current);
	to_propose(c->proposals, c->next, &c->random);
	if (!to_strategy_fits(c->next, c->memory))
		return 0;
	ret = mcmc_tasks(c, c->next);
	if (ret)
		return ret;
	bound = time = to_bound_time(&c->bound, &c->tasks);
	if (bound < 0)
		return mcmc_no_memory(c);
	if (bound > limit)
		return 0;
	if (!c->ideal)
		ret = mcmc_simulate(c, c->simulator, &time);
	if (ret)
		return ret;
	if (time > limit && look && bound < c->best_time * CHAIN_HOPE) {
		*steps += CHAIN_PLAN_STEPS;
		ret = mcmc_replan(c, c->next, limit);
		if (ret > 0)
			mcmc_take_next(c);
		return ret;
	}
	if (time > limit)
		return 0;
	mcmc_take_next(c);
	c->time = time;
	if (c->ideal)
		mcmc_keep_best(c, c->current, time);
	return 1;
}

/* Go back to the best. */
static int mcmc_begin(struct to_mcmc *c)
{
	int ret;

	to_strategy_set(c->current, c->best);
	ret = mcmc_tasks(c, c->current);
	if (ret)
		return ret;
	if (!c->ideal)
		return mcmc_replan(c, c->current, INFINITY);
	c->time = to_bound_time(&c->bound, &c->tasks);
	if (c->time < 0)
		return mcmc_no_memory(c);
	mcmc_keep_best(c, c->current, c->time);
	return 0;
}

int to_mcmc_run(struct to_mcmc *c, unsigned int steps, double temperature)
{
	unsigned int fruitless = 0, used;
	double mark;
	int ret;

	ret = mcmc_begin(c);
	mark = c->time;
	for (; ret >= 0 && steps; steps -= used) {
		used = 1;
		ret = mcmc_step(c, temperature, &used);
		fruitless++;
		if (ret >= 0 && !c->ideal &&
		    (c->time < mark * (1 - CHAIN_GAIN) || fruitless == CHAIN_FRUITLESS)) {
			used += CHAIN_PLAN_STEPS;
			fruitless = 0;
			ret = mcmc_tasks(c, c->current);
			if (!ret)
				ret = mcmc_replan(c, c->current, c->time);
			mark = fmin(mark, c->time);
		}
		if (used > steps)
			used = steps;
		c->step(c->data, used);
	}
	return ret < 0 ? ret : 0;
}
