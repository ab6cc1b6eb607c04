/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_MIX_STUDY_H
#define TOPOOPT_MIX_STUDY_H

/* Iterations of many jobs at once: in shards of their own, or on a fabric that all share. */

#include <jansson.h>

#include "cost/prices.h"
#include "plan/parallelize.h"
#include "simulate/router_named.h"
#include "workload/job_mix.h"

#define TO_MIX_MODELS_MAX 64

/** struct to_mix_setting - cluster, fabric and jobs; unset routing and algorithm are negative */
struct to_mix_setting {
	const char *fabric;		/* "topoopt" for shards, else for to_router_named() */
	uint64_t servers;		/* of the cluster */
	uint64_t job_servers;		/* of each job */
	uint64_t degree;		/* ports of a server */
	uint64_t bandwidth;		/* of a port, bits/s */
	int routing;			/* enum to_spread, or TO_STUDY_UNSAID */
	int algorithm;			/* enum to_algorithm, or TO_STUDY_UNSAID */
	struct to_delays delays;
	const char *prices;		/* prices.json, or NULL for the paper's */
	bool random;			/* servers of a job are any, else neighbours */
	uint64_t iterations;		/* of the jobs whose iterations are longest */
	uint64_t budget;		/* strategies that the search for each model tries */
	uint64_t seed;			/* of strategies, hashes, servers and beginnings */

	/* Called now and then with what is done of all; not 0 ends the study. */
	int (*watch)(void *data, unsigned int done, unsigned int all);
	void *data;
};

/** struct to_mix_model - a model that some of the jobs train */
struct to_mix_model {
	double share;			/* of the jobs, beside the others' */
	double alone;			/* seconds of an iteration without other jobs */
	struct to_dnn_model *model;
	struct to_parallelized found;	/* plan and strategy in a shard */
	struct to_strategy *strategy;	/* strategy on another fabric */
	struct to_taskgraph tasks;	/* of an iteration */
};

/** struct to_mix_point - a number of jobs that train at once */
struct to_mix_point {
	uint32_t jobs;
	uint32_t counts[TO_MIX_MODELS_MAX];	/* jobs of each model */
	uint32_t n;			/* number of samples */
	struct to_mix_sample *samples;	/* iterations */
};

/** struct to_mix_study - setting, models and points of a study; zero it first */
struct to_mix_study {
	struct to_mix_setting setting;
	uint32_t n_models, n_points;
	struct to_mix_model models[TO_MIX_MODELS_MAX];
	struct to_mix_point *points;
	struct to_prices *prices;
	unsigned int step, steps;	/* of the progress */
};

/**
 * to_mix_study_add() - add a model to the study
 * @path: file of the model
 * @share: of the jobs, beside those of the other models
 *
 * Return: 0, or a negative errno with @err set.
 */
int to_mix_study_add(struct to_mix_study *s, const char *path, double share, struct to_error *err);

/**
 * to_mix_study_run() - find a strategy for each model, and simulate all points
 * @s: points have their numbers of jobs, models are added; for to_mix_study_free()
 *
 * Return: 0, or a negative errno with @err set.
 */
int to_mix_study_run(struct to_mix_study *s, struct to_error *err);
void to_mix_study_free(struct to_mix_study *s);

/** to_mix_study_print() - print models and points as text */
void to_mix_study_print(const struct to_mix_study *s);

/** to_mix_study_json() - make what --json prints; NULL when out of memory */
json_t *to_mix_study_json(const struct to_mix_study *s);

#endif
