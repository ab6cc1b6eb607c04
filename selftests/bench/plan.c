// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What planning costs: CPU time and peak memory of making and writing a plan,
 * then of verifying it, each job in a process of its own.
 *
 *	plan DEGREE JOB.json...
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "planner.h"
#include "verify.h"

static struct rusage used(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage;
}

static double seconds(const struct rusage *usage)
{
	return usage->ru_utime.tv_sec + usage->ru_utime.tv_usec / 1e6 +
	       usage->ru_stime.tv_sec + usage->ru_stime.tv_usec / 1e6;
}

static void line(void *data, const char *text)
{
	(void)data;
	fprintf(stderr, "%s\n", text);
}

static int measure(const char *job, unsigned int degree)
{
	struct to_planner_options options = { .degree = degree, .seed = 1 };
	struct rusage loaded, planned, written, verified;
	struct to_verify_report report;
	struct to_error err = { "" };
	struct to_demand *demand = to_demand_load(job, &err);
	struct to_cluster *cluster = demand ? to_cluster_synthetic(demand->n, degree, 100000000000,
								   TO_LINKS_DUPLEX, &err) : NULL;
	struct to_plan *plan;

	loaded = used();
	plan = cluster ? to_planner_make(cluster, demand, &options, &err) : NULL;
	planned = used();
	if (!plan || to_plan_save(plan, "/dev/null", &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	written = used();
	if (to_verify(plan, line, NULL, &report) || report.violations)
		return 1;
	verified = used();
	printf("%-14s %6u %8.3f %8ld %8.3f %8.3f %8ld   %4u/%-3u %7.3f/%-7.3f %7.3f\n",
	       plan->demand->name, degree, seconds(&planned) - seconds(&loaded),
	       planned.ru_maxrss / 1024, seconds(&written) - seconds(&planned),
	       seconds(&verified) - seconds(&written), verified.ru_maxrss / 1024,
	       report.figures.diameter, report.figures.diameter_bound,
	       report.figures.mean_hops, report.figures.mean_hops_bound,
	       report.figures.comm_time / report.figures.comm_time_bound);
	to_plan_free(plan);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: plan DEGREE JOB.json...\n");
		return 2;
	}
	printf("%-14s %6s %8s %8s %8s %8s %8s   %-8s %-15s %s\n", "job", "degree", "plan s",
	       "MB", "write s", "verify s", "MB", "diameter", "mean distance", "time/bound");
	fflush(stdout);
	for (int i = 2; i < argc; i++) {
		int status = 1;
		pid_t child = fork();

		if (!child) {
			status = measure(argv[i], atoi(argv[1]));
			fflush(stdout);
			_exit(status);
		}
		waitpid(child, &status, 0);
		failed |= status;
	}
	return !!failed;
}
