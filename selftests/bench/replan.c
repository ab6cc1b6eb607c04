// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long to_replan() takes from a matrix to a plan, and what it promises, when
 * the hot pairs of a job are not those that were planned for.
 *
 *	replan FILE [N]...	default: 12 128 1024
 *
 * FILE gets a JSON array with an object per measurement:
 *
 *	servers, degree, traffic; finder: with TopologyFinder; ms (CPU, the least of some
 *	runs), ms_target, null where there is none; action, source; comm_time_ratio, of
 *	the busiest link's time after to before, 1 to keep; made, links:
 *	cross-connects that come, of how many
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "data/allreduce.h"
#include "plan/planner.h"
#include "plan/replan.h"

#define MIB 1048576ull
#define DEGREE 4
#define RUNS 7

/* Which pairs are hot, and what there is beside them. */
struct traffic_case {
	const char *name;
	unsigned int moved;	/* of 16 pairs, so many have another partner */
	bool allreduce;		/* of all servers, over two of the four ports */
	bool sparse;		/* nothing else is sent */
};

static const struct traffic_case cases[] = {
	{ "steady", 0, false, false },
	{ "one pair in 16", 1, false, false },
	{ "all pairs", 16, false, false },
	{ "all pairs, AllReduce", 16, true, false },
	{ "all pairs, nothing else", 16, false, true },
};

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

/* Pairs of a random order of the servers; @moved of 16 pass a partner on. */
static void add_pairs(uint64_t *mp, unsigned int n, unsigned int moved, bool sparse)
{
	uint32_t *order = calloc(n, sizeof(*order)), other;
	uint64_t random = n;
	unsigned int i, k;

	for (i = 0; i < n; i++)
		order[i] = i;
	for (i = n - 1; i; i--) {
		k = to_random_below(&random, i + 1);
		other = order[i];
		order[i] = order[k];
		order[k] = other;
	}
	for (i = 0; i + 3 < n; i += 4) {
		if (i / 2 % 16 >= moved)
			continue;
		other = order[i + 1];
		order[i + 1] = order[i + 3];
		order[i + 3] = other;
	}
	for (i = 0; !sparse && i < n; i++)
		for (k = 0; k < n; k++)
			mp[i * (size_t)n + k] += i == k ? 0 :
				(100 + to_random_below(&random, 100)) * MIB / (100 * n);
	for (i = 0; i + 1 < n; i += 2) {
		mp[order[i] * (size_t)n + order[i + 1]] += (32 + order[i] % 7) * MIB;
		mp[order[i + 1] * (size_t)n + order[i]] += (32 + order[i] % 7) * MIB;
	}
	free(order);
}

static struct to_plan *plan_of(unsigned int n, const struct traffic_case *c)
{
	const struct to_planner_knobs options = { .effort = TO_EFFORT_MIN, .seed = 1 };
	struct to_demand *demand = calloc(1, sizeof(*demand));
	struct to_error err = { "" };
	struct to_cluster *cluster = to_cluster_synthetic(n, DEGREE, 100000000000, TO_LINKS_DUPLEX,
							  &err);
	struct to_plan *plan;
	unsigned int i;

	demand->n = n;
	demand->mp = calloc((size_t)n * n, sizeof(*demand->mp));
	demand->groups = calloc(1, sizeof(*demand->groups));
	if (c->allreduce) {
		demand->n_groups = 1;
		demand->groups[0] = (struct to_allreduce){ n, calloc(n, sizeof(uint32_t)), 40 * MIB, 1 };
		for (i = 0; i < n; i++)
			demand->groups[0].members[i] = i;
	}
	add_pairs(demand->mp, n, 0, c->sparse);
	for (i = 0; i < cluster->n_switches; i++)
		cluster->switches[i].reconfiguration_ns = 10000000;
	plan = to_planner_make(cluster, demand, &options, &err);
	if (!plan)
		fprintf(stderr, "replan: %s\n", err.text);
	return plan;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int measure(struct to_plan *plan, const struct traffic_case *c, bool finder, json_t *rows)
{
	unsigned int n = plan->demand->n, runs = n > 500 ? 2 : RUNS, i;
	struct to_replan_options options = TO_REPLAN_DEFAULTS;
	struct to_traffic traffic = {
		.n = n, .bytes = calloc((size_t)n * n, sizeof(uint64_t)), .seconds = 0.05,
	};
	const struct to_replan_choice *chosen;
	struct to_replan_result result;
	double ms[RUNS], target = n <= 12 ? 1 : n <= 128 ? 20 : 1000, ratio;
	struct to_error err = { "" };
	struct to_demand sent = *plan->demand;
	struct to_plan rings = *plan;

	/* AllReduce as it is, other MP transfers */
	sent.mp = calloc((size_t)n * n, sizeof(*sent.mp));
	add_pairs(sent.mp, n, c->moved, c->sparse);
	rings.demand = &sent;
	to_allreduce_and_mp(&rings, 1, traffic.bytes);
	options.topology_finder = finder;
	for (i = 0; i < runs; i++) {
		double start = cpu_ms();

		if (to_replan(plan, &traffic, &options, &result, &err)) {
			fprintf(stderr, "replan: %s\n", err.text);
			return 1;
		}
		ms[i] = cpu_ms() - start;
		to_plan_free(result.plan);
	}
	qsort(ms, runs, sizeof(*ms), compare);
	chosen = &result.choices[result.chosen];
	ratio = chosen->comm_time / result.choices[0].comm_time;
	printf("%5u  %-24s %-10s %10.4g ms %7s  %-8s %-15s %6.1f %%  %5u of %u\n", n, c->name,
	       finder ? "finder" : "", ms[0],
	       finder ? "" : n <= 12 ? "(1)" : n <= 128 ? "(20)" : "(1000)",
	       to_replan_action_names[result.action], to_replan_source_names[chosen->source],
	       100 * (1 - ratio), chosen->made, plan->cluster->n_links);
	json_array_append_new(rows, json_pack("{s:i s:i s:s s:b s:f s:o s:s s:s s:f s:i s:i}",
		"servers", (int)n, "degree", DEGREE, "traffic", c->name, "finder", finder,
		"ms", ms[0], "ms_target", finder ? json_null() : json_real(target),
		"action", to_replan_action_names[result.action],
		"source", to_replan_source_names[chosen->source], "comm_time_ratio", ratio,
		"made", (int)chosen->made, "links", (int)plan->cluster->n_links));
	fflush(stdout);
	free(sent.mp);
	free(traffic.bytes);
	return 0;
}

int main(int argc, char **argv)
{
	char *all[] = { "12", "128", "1024" }, **sizes = argc > 2 ? argv + 2 : all;
	unsigned int n_sizes = argc > 2 ? argc - 2 : 3, i, k;
	json_t *rows = json_array();
	int ret = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: replan FILE [N]...\n");
		return 2;
	}
	printf("from a matrix to a plan, on one core, for %u ports; (target)\n\n", DEGREE);
	printf("%5s  %-24s %-10s %13s %7s  %-8s %-15s %8s  %s\n", "N", "what moved", "", "CPU", "",
	       "decision", "links", "saved", "new");
	for (i = 0; !ret && i < n_sizes; i++) {
		for (k = 0; !ret && k < sizeof(cases) / sizeof(*cases); k++) {
			struct to_plan *plan = plan_of(atoi(sizes[i]), &cases[k]);

			ret = !plan || measure(plan, &cases[k], false, rows);
			/* TopologyFinder takes minutes of large jobs */
			if (!ret && cases[k].moved == 16 && atoi(sizes[i]) <= 128)
				ret = measure(plan, &cases[k], true, rows);
			to_plan_free(plan);
		}
	}
	if (!ret)
		ret = json_dump_file(rows, argv[1], JSON_INDENT(1)) ? 1 : 0;
	json_decref(rows);
	return ret;
}
