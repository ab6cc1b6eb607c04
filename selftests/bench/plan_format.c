// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Size of a large plan.json and what reading it costs: N = 1024, d = 8, every
 * route to a port of its own choice, which is the worst that sets can do.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "data/plan.h"
#include "format/plan_json.h"

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static long peak_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

static struct to_plan *make_plan(unsigned int n, unsigned int degree)
{
	struct to_plan *plan = calloc(1, sizeof(*plan));
	uint64_t state = 1;

	plan->cluster = to_cluster_synthetic(n, degree, 100000000000,
					     TO_LINKS_DUPLEX, NULL);
	plan->demand = calloc(1, sizeof(*plan->demand));
	strcpy(plan->demand->name, "bench");
	plan->demand->n = n;
	plan->demand->mp = calloc((size_t)n * n, sizeof(*plan->demand->mp));
	if (!plan->cluster || to_plan_alloc_tables(plan))
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		struct to_table *t = &plan->tables[i];

		for (unsigned int q = 0; q < degree; q++) {
			struct to_nexthop hop = { .port = q, .weight = 1 };

			to_plan_add_group(t, &hop, 1);
		}
		for (size_t r = 0; r < (size_t)n * plan->slots; r++)
			if (r / plan->slots != i)
				t->route[r] = next_random(&state) % degree;
	}
	return plan;
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "plan_format.json";
	unsigned int n = argc > 2 ? atoi(argv[2]) : 1024;
	unsigned int degree = argc > 3 ? atoi(argv[3]) : 8;
	struct to_plan *plan;
	struct to_error err;
	struct stat st;
	double start;
	long before;

	plan = make_plan(n, degree);
	before = peak_mb();
	start = now();
	if (!plan || to_plan_save(plan, path, &err)) {
		fprintf(stderr, "plan_format: %s\n", plan ? err.text : "out of memory");
		return 1;
	}
	stat(path, &st);
	printf("save: %.1f MB in %.2f s of CPU, peak %ld MB (%ld MB before)\n",
	       st.st_size / 1e6, now() - start, peak_mb(), before);
	to_plan_free(plan);
	start = now();
	plan = to_plan_load_shared(path, &err);
	if (!plan) {
		fprintf(stderr, "plan_format: %s\n", err.text);
		return 1;
	}
	printf("load: %.2f s of CPU, peak %ld MB\n", now() - start, peak_mb());
	to_plan_free(plan);
	unlink(path);
	return 0;
}
