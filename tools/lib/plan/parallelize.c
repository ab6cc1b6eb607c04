// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/parallelize.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/effort.h"
#include "base/parallel.h"
#include "base/random.h"
#include "plan/mcmc.h"

#define SEARCH_CHAINS 4		/* whatever the number of cores: the result depends on it */
#define SEARCH_ROUNDS 4
#define SEARCH_IDEAL_PART 4	/* of the budget that is spent on the ideal network */
#define SEARCH_TEMPERATURE 0.04	/* in the first round, then half as much each */

/* @starts: the strategies that people would begin with; the last one takes least memory. */
struct search {
	const struct to_dnn_model *model;
	const struct to_cluster *cluster;
	const struct to_parallelize_options *options;
	struct to_proposals proposals;
	struct to_strategy *starts[SEARCH_CHAINS];
	struct to_mcmc chains[SEARCH_CHAINS];
	int results[SEARCH_CHAINS];
	unsigned int steps;		/* of a chain's round */
	double temperature;
	pthread_mutex_t lock;
	unsigned int done, all;		/* steps */
};

static void search_progress(void *data, unsigned int steps)
{
	struct search *s = data;

	pthread_mutex_lock(&s->lock);
	s->done += steps;
	if (s->options->progress)
		s->options->progress(s->options->data, s->done, s->all);
	pthread_mutex_unlock(&s->lock);
}

static int search_no_memory(struct to_error *err)
{
	return to_error_set(err, -ENOMEM, "out of memory");
}

/* Data-parallel; tables by hand; tables divided; everything divided. */
static int search_starts(struct search *s, uint32_t n, struct to_error *err)
{
	const struct to_dnn_model *m = s->model;
	double *scratch = calloc(n, sizeof(*scratch)), memory;
	unsigned int i;
	uint32_t op;

	for (i = 0; i < SEARCH_CHAINS; i++)
		s->starts[i] = to_strategy_new(m, n, s->options->batch_per_gpu);
	for (i = 0; i < SEARCH_CHAINS && s->starts[i]; i++)
		;
	if (!scratch || i < SEARCH_CHAINS) {
		free(scratch);
		return search_no_memory(err);
	}
	to_strategy_place_tables(s->starts[1]);
	for (op = 0; op < m->n_operators; op++) {
		bool divisible = m->operators[op].parameter_bytes;

		s->starts[2]->at[op].sharded = divisible &&
					       m->operators[op].type == TO_OPERATOR_EMBEDDING;
		s->starts[3]->at[op].sharded = divisible;
	}
	memory = to_strategy_memory(s->starts[3], scratch);
	if (!to_strategy_fits(s->starts[3], scratch)) {
		free(scratch);
		return to_error_set(err, -ENOSPC,
				    "%u servers are too few: of %s's parameters %.4g GB would be on each, which holds %.4g GB",
				    n, m->name, memory / 1e9,
				    (double)m->device.memory_bytes * m->device.gpus / 1e9);
	}
	for (i = SEARCH_CHAINS - 1; i-- > 0;)
		if (!to_strategy_fits(s->starts[i], scratch))
			to_strategy_set(s->starts[i], s->starts[i + 1]);
	free(scratch);
	return 0;
}

static void search_round(void *data, unsigned int index)
{
	struct search *s = data;

	s->results[index] = to_mcmc_run(&s->chains[index], s->steps, s->temperature);
}

/* The chain that has found the best, the first of equals. */
static struct to_mcmc *search_best(struct search *s)
{
	struct to_mcmc *best = &s->chains[0];

	for (unsigned int i = 1; i < SEARCH_CHAINS; i++)
		if (s->chains[i].best_time < best->best_time)
			best = &s->chains[i];
	return best;
}

/* The slower half goes on from where the fastest is. */
static void search_exchange(struct search *s)
{
	const struct to_mcmc *best = search_best(s);
	unsigned int i, k;

	for (i = 0; i < SEARCH_CHAINS; i++) {
		unsigned int faster = 0;

		for (k = 0; k < SEARCH_CHAINS; k++)
			faster += s->chains[k].best_time < s->chains[i].best_time ||
				  (s->chains[k].best_time == s->chains[i].best_time && k < i);
		if (faster < SEARCH_CHAINS / 2)
			continue;
		to_strategy_set(s->chains[i].best, best->best);
		s->chains[i].best_time = best->best_time;
	}
}

/* All chains through all rounds, on the ideal network or on plans. */
static int search_run(struct search *s, bool ideal, unsigned int budget,
		      struct to_strategy *const *starts, struct to_error *err)
{
	uint64_t random = s->options->seed + ideal;
	unsigned int i, round;

	for (i = 0; i < SEARCH_CHAINS; i++) {
		struct to_mcmc *c = &s->chains[i];

		*c = (struct to_mcmc){ .proposals = &s->proposals, .cluster = s->cluster,
					.degree = s->options->degree, .ideal = ideal,
					.seed = s->options->seed,
					.random = to_random_next(&random),
					.step = search_progress, .data = s };
		s->results[i] = to_mcmc_init(c, starts[i]);
	}
	s->steps = budget / SEARCH_ROUNDS;
	s->temperature = SEARCH_TEMPERATURE;
	for (round = 0; round < SEARCH_ROUNDS; round++) {
		for (i = 0; i < SEARCH_CHAINS; i++)
			if (s->results[i])
				return to_error_set(err, s->results[i], "%s", s->chains[i].err.text);
		if (round)
			search_exchange(s);
		to_parallel(SEARCH_CHAINS, search_round, s);
		s->temperature /= 2;
	}
	for (i = 0; i < SEARCH_CHAINS; i++)
		if (s->results[i])
			return to_error_set(err, s->results[i], "%s", s->chains[i].err.text);
	return 0;
}

static void search_free_chains(struct search *s)
{
	for (unsigned int i = 0; i < SEARCH_CHAINS; i++)
		to_mcmc_free(&s->chains[i]);
	memset(s->chains, 0, sizeof(s->chains));
}

/* The plan of @strategy, taken over; the better of two where @quick is true. */
static int search_choice(struct search *s, struct to_choice *out,
			    struct to_strategy *strategy, bool quick, struct to_error *err)
{
	struct to_mcmc *c = &s->chains[0];
	struct to_plan *plan;
	double time;

	out->strategy = strategy;
	if (!strategy)
		return search_no_memory(err);
	out->memory = to_strategy_memory(strategy, c->memory);
	out->fits = to_strategy_fits(strategy, c->memory);
	out->plan = to_mcmc_plan(c, strategy, TO_EFFORT_DEFAULT, &out->time);
	if (!out->plan)
		return to_error_set(err, -EINVAL, "%s", c->err.text);
	out->bound = to_bound_time(&c->bound, &c->tasks);
	if (out->bound < 0)
		return search_no_memory(err);
	if (!quick)
		return 0;
	plan = to_mcmc_plan(c, strategy, TO_EFFORT_MIN, &time);
	if (!plan)
		return to_error_set(err, -EINVAL, "%s", c->err.text);
	if (time < out->time) {
		to_plan_free(out->plan);
		out->plan = plan;
		out->time = time;
		return 0;
	}
	to_plan_free(plan);
	return 0;
}

static void search_choice_free(struct to_choice *candidate)
{
	to_strategy_free(candidate->strategy);
	to_plan_free(candidate->plan);
}

/* What others would do, and the best of all that fits on the servers. */
static int search_compare(struct search *s, struct to_strategy *naive,
			  struct to_parallelized *found, struct to_error *err)
{
	struct to_strategy *data = to_strategy_new(s->model, naive->n_servers,
						   s->options->batch_per_gpu);
	struct to_strategy *tables = data ? to_strategy_copy(data) : NULL;
	struct to_choice *by = found->by, *best = NULL, copy;
	int ret[TO_APPROACHES];
	unsigned int i;

	if (tables)
		to_strategy_place_tables(tables);
	ret[TO_APPROACH_NAIVE] = search_choice(s, &by[TO_APPROACH_NAIVE], naive, false, err);
	ret[TO_APPROACH_DATA] = search_choice(s, &by[TO_APPROACH_DATA], data, false, err);
	ret[TO_APPROACH_TABLES] = search_choice(s, &by[TO_APPROACH_TABLES], tables, false, err);
	ret[TO_APPROACH_SEARCH] = search_choice(s, &by[TO_APPROACH_SEARCH],
						   to_strategy_copy(search_best(s)->best), true,
						   err);
	for (i = 0; i < TO_APPROACHES; i++)
		if (ret[i])
			return ret[i];
	for (i = 0; i < TO_APPROACH_SEARCH; i++)
		if (by[i].fits && by[i].time < (best ? best : &by[TO_APPROACH_SEARCH])->time)
			best = &by[i];
	if (!best)
		return 0;
	copy = (struct to_choice){ NULL };
	if (search_choice(s, &copy, to_strategy_copy(best->strategy), false, err)) {
		search_choice_free(&copy);
		return -EINVAL;
	}
	search_choice_free(&by[TO_APPROACH_SEARCH]);
	by[TO_APPROACH_SEARCH] = copy;
	return 0;
}

static int search_all(struct search *s, uint32_t n, struct to_parallelized *found,
		      struct to_error *err)
{
	unsigned int budget = s->options->budget, ideal = budget / SEARCH_IDEAL_PART;
	struct to_strategy *naive;
	int ret;

	s->all = (budget / SEARCH_ROUNDS + ideal / SEARCH_ROUNDS) * SEARCH_ROUNDS * SEARCH_CHAINS;
	if (to_proposals_init(&s->proposals, s->model, n))
		return search_no_memory(err);
	ret = search_starts(s, n, err);
	if (!ret)
		ret = search_run(s, true, ideal, s->starts, err);
	if (ret)
		return ret;
	naive = to_strategy_copy(search_best(s)->best);
	search_free_chains(s);
	if (!naive)
		return search_no_memory(err);
	to_strategy_set(s->starts[SEARCH_CHAINS - 1], naive);
	ret = search_run(s, false, budget, s->starts, err);
	if (!ret)
		return search_compare(s, naive, found, err);
	to_strategy_free(naive);
	return ret;
}

int to_parallelize(const struct to_dnn_model *model, const struct to_cluster *cluster,
		   uint32_t n_servers, const struct to_parallelize_options *options,
		   struct to_parallelized *found, struct to_error *err)
{
	struct search s = { .model = model, .cluster = cluster, .options = options,
			    .lock = PTHREAD_MUTEX_INITIALIZER };
	int ret;

	memset(found, 0, sizeof(*found));
	if (n_servers > cluster->n_servers)
		return to_error_set(err, -EINVAL, "the cluster has %u servers, not %u",
				    cluster->n_servers, n_servers);
	ret = search_all(&s, n_servers, found, err);
	search_free_chains(&s);
	for (unsigned int i = 0; i < SEARCH_CHAINS; i++)
		to_strategy_free(s.starts[i]);
	to_proposals_free(&s.proposals);
	return ret;
}

void to_parallelized_free(struct to_parallelized *found)
{
	for (unsigned int i = 0; i < TO_APPROACHES; i++)
		search_choice_free(&found->by[i]);
}
