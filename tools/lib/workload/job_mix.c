// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload/job_mix.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"

#define MIX_TASKS_MAX (1u << 26)	/* of all iterations together */

void to_mix_counts(const double *shares, uint32_t n, uint32_t jobs, uint32_t *counts)
{
	double all = 0;
	uint32_t given = 0, i;

	for (i = 0; i < n; i++)
		all += shares[i];
	for (i = 0; i < n; i++) {
		counts[i] = floor(shares[i] / all * jobs);
		given += counts[i];
	}
	for (; given < jobs; given++) {
		uint32_t most = 0;

		for (i = 1; i < n; i++)
			if (shares[i] / all * jobs - counts[i] > shares[most] / all * jobs - counts[most] + 1e-12)
				most = i;
		counts[most]++;
	}
}

/* Which servers which job has: entries of each job one after the other, ascending. */
static uint32_t *mix_servers(const struct to_mix *mix, uint32_t n_servers, uint32_t n_jobs,
			     uint64_t *random)
{
	uint32_t *servers = calloc(n_servers + 1, sizeof(*servers)), i, k;

	for (i = 0; servers && i < n_servers; i++)
		servers[i] = i;
	for (i = 0; servers && mix->random && i < n_servers; i++) {
		const uint32_t with = i + to_random_below(random, n_servers - i), was = servers[i];

		servers[i] = servers[with];
		servers[with] = was;
	}
	for (i = 0; servers && mix->random && i < n_jobs * mix->job_servers; i++) {
		const uint32_t first = i / mix->job_servers * mix->job_servers, moved = servers[i];

		for (k = i; k > first && servers[k - 1] > moved; k--)
			servers[k] = servers[k - 1];
		servers[k] = moved;
	}
	return servers;
}

static uint32_t mix_iterations(const struct to_mix *mix, uint32_t kind)
{
	double longest = 0;

	for (uint32_t i = 0; i < mix->n_kinds; i++)
		if (mix->kinds[i].jobs)
			longest = fmax(longest, mix->kinds[i].alone);
	return mix->kinds[kind].alone > 0 ?
		       fmin(ceil(longest * mix->iterations / mix->kinds[kind].alone * (1 - 1e-9)), 1e6) :
		       mix->iterations;
}

/*
 * All iterations of all jobs. @ends: gets for each job the task that it begins after, then
 * those that end its iterations.
 */
static void mix_tasks(const struct to_mix *mix, const uint32_t *servers, uint64_t *random,
		      struct to_taskgraph *g, uint32_t *ends)
{
	for (uint32_t kind = 0; kind < mix->n_kinds; kind++) {
		const struct to_mix_kind *k = &mix->kinds[kind];
		const uint32_t n = mix_iterations(mix, kind);

		for (uint32_t job = 0; job < k->jobs; job++, servers += mix->job_servers) {
			const double wait = (to_random_next(random) >> 11) * 0x1p-53 * k->alone;

			*ends++ = to_taskgraph_compute(g, servers[0], wait);
			for (uint32_t i = 0; i < n; i++, ends++)
				*ends = to_taskgraph_append(g, k->tasks, servers, ends[-1]);
		}
	}
}

static void mix_samples(const struct to_mix *mix, const struct to_simulation *run,
			const uint32_t *ends, struct to_mix_sample *samples)
{
	for (uint32_t kind = 0; kind < mix->n_kinds; kind++) {
		const uint32_t n = mix_iterations(mix, kind);

		for (uint32_t job = 0; job < mix->kinds[kind].jobs; job++, ends++)
			for (uint32_t i = 0; i < n; i++, ends++)
				*samples++ = (struct to_mix_sample){
					.kind = kind, .weight = 1.0 / n,
					.seconds = run->finish[ends[1]] - run->finish[ends[0]] };
	}
}

int to_mix_run(struct to_simulator *simulator, const struct to_mix *mix,
	       struct to_mix_sample **samples, uint32_t *n, struct to_error *err)
{
	const uint32_t n_servers = to_simulator_network(simulator)->n_servers;
	uint64_t random = mix->seed, n_jobs = 0, iterations = 0, tasks = 0;
	const struct to_simulation *run = NULL;
	struct to_taskgraph all;
	uint32_t *servers, *ends;
	int ret = -ENOMEM;

	*samples = NULL;
	*n = 0;
	for (uint32_t i = 0; i < mix->n_kinds; i++) {
		const uint64_t more = (uint64_t)mix->kinds[i].jobs * mix_iterations(mix, i);

		n_jobs += mix->kinds[i].jobs;
		iterations += more;
		tasks += more * (mix->kinds[i].tasks->n_tasks + 1);
	}
	if (n_jobs * mix->job_servers > n_servers)
		return to_error_set(err, -ENOSPC, "%llu jobs of %u servers are more than %u servers",
				    (unsigned long long)n_jobs, mix->job_servers, n_servers);
	if (tasks > MIX_TASKS_MAX)
		return to_error_set(err, -E2BIG,
				    "the jobs have %llu tasks together, since iterations of some take much longer than those of others",
				    (unsigned long long)tasks);
	to_taskgraph_init(&all, n_servers);
	servers = mix_servers(mix, n_servers, n_jobs, &random);
	ends = calloc(n_jobs + iterations + 1, sizeof(*ends));
	*samples = calloc(iterations + 1, sizeof(**samples));
	if (servers && ends && *samples) {
		mix_tasks(mix, servers, &random, &all, ends);
		ret = to_taskgraph_finish(&all, err);
		run = ret ? NULL : to_simulate(simulator, &all, TO_SIMULATE_TRANSFERS, err);
		ret = ret ? ret : run ? 0 : -EINVAL;
	} else {
		to_error_set(err, ret, "out of memory");
	}
	if (run)
		mix_samples(mix, run, ends, *samples);
	*n = run ? iterations : 0;
	to_taskgraph_free(&all);
	free(servers);
	free(ends);
	if (ret) {
		free(*samples);
		*samples = NULL;
	}
	return ret;
}

static int mix_compare(const void *a, const void *b)
{
	const struct to_mix_sample *x = a, *y = b;

	return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

struct to_mix_times to_mix_times(struct to_mix_sample *samples, uint32_t n, uint32_t kind)
{
	struct to_mix_times t = { 0 };
	double weight = 0, below = 0;
	uint32_t i;

	qsort(samples, n, sizeof(*samples), mix_compare);
	for (i = 0; i < n; i++)
		if (kind == UINT32_MAX || samples[i].kind == kind)
			weight += samples[i].weight;
	for (i = 0; i < n; i++) {
		if (kind != UINT32_MAX && samples[i].kind != kind)
			continue;
		t.mean += samples[i].seconds * samples[i].weight / weight;
		t.max = samples[i].seconds;
		if (below < 0.99 * weight * (1 - 1e-9))
			t.p99 = samples[i].seconds;
		below += samples[i].weight;
	}
	return t;
}
