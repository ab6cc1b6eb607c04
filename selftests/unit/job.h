/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_UNIT_JOB_H
#define TOPOOPT_UNIT_JOB_H

/* Jobs and plans for tests of the optimiser. Include after cmocka.h. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "format/plan_json.h"
#include "plan/planner.h"
#include "verify/verify.h"

#define MIB 1048576ull
#define GBPS 1000000000ull

static inline struct to_demand *job_new(unsigned int n)
{
	struct to_demand *demand = calloc(1, sizeof(*demand));

	assert_non_null(demand);
	strcpy(demand->name, "test");
	demand->n = n;
	demand->mp = calloc((size_t)n * n, sizeof(*demand->mp));
	assert_non_null(demand->mp);
	return demand;
}

/* A group of @n_members servers @first, @first + @step, ... */
static inline void job_group(struct to_demand *demand, unsigned int first, unsigned int step,
			     unsigned int n_members, uint64_t bytes)
{
	struct to_allreduce *group;

	demand->groups = realloc(demand->groups, (demand->n_groups + 1) * sizeof(*group));
	assert_non_null(demand->groups);
	group = &demand->groups[demand->n_groups++];
	*group = (struct to_allreduce){ 0 };
	group->n_members = n_members;
	group->bytes = bytes;
	group->members = calloc(n_members, sizeof(*group->members));
	assert_non_null(group->members);
	for (unsigned int i = 0; i < n_members; i++)
		group->members[i] = first + i * step;
}

/* @bytes more each way between @server and every other. */
static inline void job_hot(struct to_demand *demand, unsigned int server, uint64_t bytes)
{
	for (unsigned int i = 0; i < demand->n; i++) {
		if (i == server)
			continue;
		demand->mp[server * demand->n + i] += bytes;
		demand->mp[i * demand->n + server] += bytes;
	}
}

/* Groups that overlap, any MP transfers; sometimes nothing of either. */
static inline struct to_demand *job_random(unsigned int n, uint64_t *random)
{
	struct to_demand *demand = job_new(n);
	unsigned int groups = to_random_below(random, 4), i, k;

	if (to_random_below(random, 2))
		job_group(demand, 0, 1, n, (1 + to_random_below(random, 100)) * MIB);
	for (i = 0; i < groups; i++) {
		unsigned int members = 2 + to_random_below(random, n - 1), at;

		job_group(demand, 0, 1, n, 1 + to_random_below(random, 100) * MIB);
		for (k = 0; k < members; k++) {
			uint32_t *list = demand->groups[demand->n_groups - 1].members;
			uint32_t other;

			at = k + to_random_below(random, n - k);
			other = list[at];
			list[at] = list[k];
			list[k] = other;
		}
		demand->groups[demand->n_groups - 1].n_members = members;
	}
	k = to_random_below(random, 3) ? to_random_below(random, n * n) : 0;
	for (i = 0; i < k; i++) {
		unsigned int from = to_random_below(random, n), to = to_random_below(random, n);

		if (from != to)
			demand->mp[from * n + to] += to_random_below(random, 64) * MIB;
	}
	return demand;
}

/* Plan @demand, which is taken over, on a synthetic cluster. NULL with @err set. */
static inline struct to_plan *job_plan_family(struct to_demand *demand, unsigned int degree,
					      enum to_link_mode mode,
					      const struct to_family *family,
					      struct to_error *err)
{
	struct to_planner_knobs options = { .degree = degree, .family = family, .seed = 1 };
	struct to_cluster *cluster = to_cluster_synthetic(demand->n, degree, 100 * GBPS, mode, err);

	assert_non_null(cluster);
	return to_planner_make(cluster, demand, &options, err);
}

static inline struct to_plan *job_plan(struct to_demand *demand, unsigned int degree,
				       enum to_link_mode mode, struct to_error *err)
{
	return job_plan_family(demand, degree, mode, NULL, err);
}

/* A plan that there must be. */
static inline struct to_plan *job_planned(struct to_demand *demand, unsigned int degree,
					  enum to_link_mode mode)
{
	struct to_error err = { "" };
	struct to_plan *plan = job_plan(demand, degree, mode, &err);

	assert_string_equal(err.text, "");
	assert_non_null(plan);
	return plan;
}

/* plan.json, to be freed */
static inline char *job_printed(const struct to_plan *plan, size_t *len)
{
	struct to_error err = { "" };
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	assert_non_null(out);
	assert_int_equal(to_plan_print(plan, out, &err), 0);
	fclose(out);
	return text;
}

/* A plan that does not have to be a good one, in a fraction of the time. */
static inline struct to_plan *job_plan_any(struct to_demand *demand, unsigned int degree,
					   enum to_link_mode mode, struct to_error *err)
{
	struct to_planner_knobs options = { .degree = degree, .seed = 1,
					      .effort = TO_EFFORT_MIN };
	struct to_cluster *cluster = to_cluster_synthetic(demand->n, degree, 100 * GBPS, mode, err);

	assert_non_null(cluster);
	return to_planner_make(cluster, demand, &options, err);
}

/*
 * Random cables between @n servers, of one to three functions each, which are named after the
 * connector where there are several. @ports: of a server at most. Return: NULL when they join no
 * whole network.
 */
static inline struct to_cluster *job_cabled(unsigned int n, unsigned int ports, uint64_t *random)
{
	struct to_error err = { "" };
	struct to_cluster *c = to_cluster_synthetic(n, ports, 100 * GBPS, TO_LINKS_DUPLEX, &err);
	const unsigned int cables = n + to_random_below(random, n);
	bool whole = true;

	assert_non_null(c);
	c->links = calloc(3 * cables, sizeof(*c->links));
	assert_non_null(c->links);
	for (uint32_t x = 0; x < n; x++)
		c->servers[x].n_ports = 0;
	for (uint32_t x = 1; x < cables; x++) {
		const uint32_t a = x < n ? x : to_random_below(random, n);
		const uint32_t b = to_random_below(random, x < n ? x : n);
		const unsigned int functions = 1 + to_random_below(random, 3);
		struct to_server *ends[] = { &c->servers[a], &c->servers[b] };

		if (a == b || ends[0]->n_ports + functions > ports ||
		    ends[1]->n_ports + functions > ports) {
			whole &= x >= n;
			continue;
		}
		for (unsigned int f = 0; f < functions; f++) {
			c->links[c->n_links++] = (struct to_link){
				.a = { a, ends[0]->n_ports }, .b = { b, ends[1]->n_ports },
				.use = TO_LINK_FIXED, .ring = -1, .tree = -1,
			};
			for (unsigned int i = 0; functions > 1 && i < 2; i++)
				snprintf(ends[i]->ports[ends[i]->n_ports].cable, IFNAMSIZ, "p%u", x);
			ends[0]->n_ports++;
			ends[1]->n_ports++;
		}
	}
	if (whole)
		return c;
	to_cluster_free(c);
	return NULL;
}

struct job_lines {
	unsigned int n;
	char first[1024];
};

static inline void job_line(void *data, const char *line)
{
	struct job_lines *lines = data;

	if (!lines->n++)
		snprintf(lines->first, sizeof(lines->first), "%s", line);
}

/* The plan must be right; its first violation is shown if not. */
static inline struct to_verify_report job_verify(const struct to_plan *plan)
{
	struct to_verify_report report;
	struct job_lines lines = { 0 };

	assert_int_equal(to_verify(plan, job_line, &lines, &report), 0);
	assert_string_equal(lines.first, "");
	assert_int_equal(report.violations, 0);
	return report;
}

#endif
