/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_MCMC_H
#define TOPOOPT_MCMC_H

/* A Markov chain over strategies and plans, see parallelize.h. */

#include "data/plan.h"
#include "simulate/bound.h"
#include "simulate/simulate.h"
#include "workload/proposal.h"
#include "workload/strategy.h"

/**
 * struct to_mcmc - one chain
 * @ideal: times are those of an ideal network; no plans are made
 * @seed: of plans
 * @random: state of its own random numbers
 * @current, @time: where it is, on @plan
 * @best, @best_time: the best so far, on a plan of its own
 * @step: called after each step
 */
struct to_mcmc {
	const struct to_proposals *proposals;
	const struct to_cluster *cluster;
	unsigned int degree;
	bool ideal;
	uint64_t seed, random;
	struct to_strategy *current, *best, *next;
	double time, best_time;
	struct to_plan *plan;
	struct to_simulator *simulator;
	struct to_taskgraph tasks;
	struct to_bound bound;
	double *memory;
	void (*step)(void *data, unsigned int steps);
	void *data;
	struct to_error err;
};

/**
 * to_mcmc_init() - a chain that begins at @start
 *
 * The caller fills in the members above @current and @step, @data first.
 *
 * Return: 0 or a negative errno with to_mcmc.err set.
 */
int to_mcmc_init(struct to_mcmc *mcmc, const struct to_strategy *start);
void to_mcmc_free(struct to_mcmc *mcmc);

/**
 * to_mcmc_run() - go on from the best strategy
 * @steps: proposals; a new plan counts as several
 * @temperature: a proposal slower by this share is accepted with probability 1/e
 *
 * Return: 0 or a negative errno with to_mcmc.err set.
 */
int to_mcmc_run(struct to_mcmc *mcmc, unsigned int steps, double temperature);

/**
 * to_mcmc_plan() - plan for @strategy
 * @time: gets the simulated time of an iteration, seconds
 *
 * Return: the plan, NULL with to_mcmc.err set.
 */
struct to_plan *to_mcmc_plan(struct to_mcmc *mcmc, const struct to_strategy *strategy,
			     unsigned int effort, double *time);

#endif
