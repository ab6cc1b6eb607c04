/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_JOB_MIX_H
#define TOPOOPT_JOB_MIX_H

/* Many jobs that train at once on one network, each iteration after iteration. */

#include "simulate/simulate.h"

/**
 * struct to_mix_kind - jobs that are alike
 * @tasks: of an iteration, on as many servers as each job has
 * @alone: seconds of an iteration of one that has the network to itself
 * @jobs: how many
 */
struct to_mix_kind {
	const struct to_taskgraph *tasks;
	double alone;
	uint32_t jobs;
};

/**
 * struct to_mix - what trains at once
 * @job_servers: of each job
 * @random: any servers; else the first job has the first ones, and so on
 * @iterations: of the jobs whose iterations are longest; others go on for as long
 * @seed: of the servers, and of when jobs begin
 */
struct to_mix {
	const struct to_mix_kind *kinds;
	uint32_t n_kinds, job_servers, iterations;
	bool random;
	uint64_t seed;
};

/** struct to_mix_sample - an iteration; @weight: those of a job have one of 1 together */
struct to_mix_sample {
	uint32_t kind;
	double seconds, weight;
};

/** struct to_mix_times - times of iterations, in seconds; each job counts alike */
struct to_mix_times {
	double mean, p99, max;
};

/**
 * to_mix_counts() - how many of @jobs are of each kind
 * @shares: of @n kinds, together above 0
 * @counts: as near to them as whole numbers are (largest remainders; equal ones: the first)
 */
void to_mix_counts(const double *shares, uint32_t n, uint32_t jobs, uint32_t *counts);

/**
 * to_mix_run() - let all jobs of @mix train on the network of @simulator
 * @samples: gets @n of them, in the order of jobs, to be freed
 *
 * A job begins its first iteration within the time of one, at random. Iterations of one
 * job follow each other; one that ends its last leaves the network to the others.
 *
 * Return: 0; -ENOSPC with @err when the network has too few servers; as to_simulate().
 */
int to_mix_run(struct to_simulator *simulator, const struct to_mix *mix,
	       struct to_mix_sample **samples, uint32_t *n, struct to_error *err);

/** to_mix_times() - sort samples of @kind (UINT32_MAX: all) and return their times; zeros for none */
struct to_mix_times to_mix_times(struct to_mix_sample *samples, uint32_t n, uint32_t kind);

#endif
