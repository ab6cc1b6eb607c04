// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a change of the plan takes of each server's processor: the time that its agent
 * ran, step by step. One JSON object per line; see change.sh.
 *
 *	change OLD NEW ALLOW AGENTS
 *
 * OLD and NEW are plans of the fabric that this kernel holds, ALLOW is what toctl run
 * takes. Agents write their process ids to files in the directory AGENTS.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#include "base/clock.h"
#include "control/fabric.h"
#include "control/transition.h"
#include "format/plan_json.h"

#define INTERVAL_NS 1000000000ull
#define SAMPLES 4

/**
 * struct bench - a fabric under measurement
 * @clocks: of the agents
 * @before: ns, per agent, up to the step under way
 */
struct bench {
	const struct to_cluster *cluster;
	struct to_fabric *fabric;
	struct to_switch_set switches;
	struct to_transition transition;
	clockid_t *clocks;
	uint64_t *before, controller;
	const char *change;
};

static void die(const char *what)
{
	fprintf(stderr, "change: %s\n", what);
	exit(1);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		die("an agent is gone");
	return t.tv_sec * TO_NS_PER_S + t.tv_nsec;
}

static uint64_t controller_ns(void)
{
	struct rusage children;

	getrusage(RUSAGE_CHILDREN, &children);
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) +
	       (children.ru_utime.tv_sec + children.ru_stime.tv_sec) * TO_NS_PER_S +
	       (children.ru_utime.tv_usec + children.ru_stime.tv_usec) * 1000;
}

static void find_agents(struct bench *b, const char *directory)
{
	for (unsigned int s = 0; s < b->cluster->n_servers; s++) {
		char path[256];
		FILE *in;
		int pid;

		snprintf(path, sizeof(path), "%s/%s", directory, b->cluster->servers[s].name);
		in = fopen(path, "r");
		if (!in || fscanf(in, "%d", &pid) != 1 || clock_getcpuclockid(pid, &b->clocks[s]))
			die("an agent did not say who it is");
		fclose(in);
	}
}

/* From now on a step is measured. */
static void begin(struct bench *b)
{
	for (unsigned int s = 0; s < b->cluster->n_servers; s++)
		b->before[s] = clock_ns(b->clocks[s]);
	b->controller = controller_ns();
}

static void end(struct bench *b, const char *step, double seconds)
{
	printf("{\"change\":\"%s\",\"step\":\"%s\",\"seconds\":%.6f,", b->change, step, seconds);
	printf("\"controller\":%llu,\"agents\":[",
	       (unsigned long long)(controller_ns() - b->controller));
	for (unsigned int s = 0; s < b->cluster->n_servers; s++)
		printf("%s%llu", s ? "," : "",
		       (unsigned long long)(clock_ns(b->clocks[s]) - b->before[s]));
	printf("]}\n");
	fflush(stdout);
	begin(b);
}

static void report(void *data, enum to_transition_step step, double seconds, const char *error,
		   const char *note)
{
	struct bench *b = data;

	(void)note;
	if (error)
		die(error);
	end(b, to_transition_step_names[step], seconds);
}

static void sample(struct bench *b, const char *step)
{
	uint64_t start = to_clock_monotonic_ns();
	struct to_tm *tm = NULL;
	struct to_error err;

	begin(b);
	if (to_fabric_sample(b->fabric, INTERVAL_NS, &tm, &err))
		die(err.text);
	to_tm_free(tm);
	end(b, step, to_clock_seconds_since(start));
}

static void change(struct bench *b, const char *name, const struct to_plan *from,
		   const struct to_plan *to)
{
	struct to_error err;

	b->change = name;
	for (unsigned int i = 0; i < SAMPLES; i++)
		sample(b, "sample");
	begin(b);
	if (to_transition_make(&b->transition, from, to, &err))
		die(err.text);
	sample(b, "start");
}

int main(int argc, char *argv[])
{
	struct to_fabric_options options = { .timeout_ns = 600 * TO_NS_PER_S };
	struct to_plan *old, *new;
	struct bench b = { .change = "" };
	char command[512];
	struct to_error err;

	if (argc != 5)
		die("usage: change OLD NEW ALLOW AGENTS");
	old = to_plan_load_shared(argv[1], &err);
	new = old ? to_plan_load_shared(argv[2], &err) : NULL;
	if (!new)
		die(err.text);
	snprintf(command, sizeof(command),
		 "echo $$ >%s/{}; exec ip netns exec {} toctl agent --stdio", argv[4]);
	options.command = command;
	b.cluster = old->cluster;
	b.clocks = calloc(b.cluster->n_servers, sizeof(*b.clocks));
	b.before = calloc(b.cluster->n_servers, sizeof(*b.before));
	b.fabric = to_fabric_open(old, &options, &err);
	if (!b.clocks || !b.before || !b.fabric ||
	    to_switch_set_open(&b.switches, old->cluster, argv[3], &err))
		die(err.text);
	b.transition = (struct to_transition){
		.fabric = b.fabric, .switches = &b.switches, .carrier_ns = 600 * TO_NS_PER_S,
	};
	if (to_transition_restore(&b.transition, NULL, old, NULL, &err))
		die(err.text);
	find_agents(&b, argv[4]);
	b.transition.report = report;
	b.transition.data = &b;
	change(&b, "rewire", old, new);
	change(&b, "return", new, old);
	to_fabric_close(b.fabric);
	to_transition_free(&b.transition);
	to_switch_set_close(&b.switches);
	to_plan_free(new);
	to_plan_free(old);
	return 0;
}
