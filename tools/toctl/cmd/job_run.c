// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <limits.h>

#include "base/clock.h"
#include "cli/command.h"
#include "fabric_options.h"
#include "format/tm_json.h"
#include "job_options.h"
#include "launcher.h"
#include "node.h"
#include "ring_report.h"
#include "verify/verify.h"

#define RUN_SETTLING 8	/* intervals after the end, for recordings to come in */

struct run_args {
	struct to_job_options job;
	uint64_t slots, interval_ns;
	const char *node, *dev;
	struct to_ring_limits limits;
	struct to_fabric_options fabric;
};

/**
 * struct run - a job under way
 * @samples, @partial: intervals that were recorded, and those that lack a server
 * @failed: why there is no recording, "" while there is one
 */
struct run {
	struct to_call *call;
	const struct run_args *args;
	struct to_plan *plan;
	struct to_ranks ranks;
	struct to_fabric *fabric;
	struct to_launcher launcher;
	struct to_ring_traffic traffic;
	unsigned int samples, partial;
	struct to_error failed;
};

static void run_note(const char *text)
{
	fprintf(stderr, "toctl job run: %s\n", text);
}

static void run_violation(void *data, const char *line)
{
	if (!*(char *)data)
		snprintf(data, 256, "%s", line);
}

static int run_verify(struct run *run)
{
	struct to_verify_report report;
	char first[256] = "";
	int ret = to_verify(run->plan, run_violation, first, &report);

	if (ret)
		return to_error_set(&run->call->err, ret, "out of memory");
	if (report.violations)
		return to_error_set(&run->call->err, -EINVAL, "%s is not valid: %s",
				    run->call->operands[0], first);
	return 0;
}

/* Has every server the tables of the plan, under one generation? Staging tells. */
static int run_check_active(struct run *run)
{
	const struct to_fabric_server *servers = to_fabric_servers(run->fabric);
	struct to_error *err = &run->call->err;
	uint64_t generation;
	bool differs;
	int ret = to_fabric_status(run->fabric, err);

	if (!ret)
		ret = to_fabric_generation(run->fabric, &generation, err);
	for (unsigned int i = 0; !ret && i < run->plan->cluster->n_servers; i++)
		if (servers[i].staged)
			ret = to_error_set(err, -EBUSY, "%s has a stage that is not committed",
					   servers[i].name);
	if (!ret)
		ret = to_fabric_stage(run->fabric, run->plan, &differs, err);
	if (ret)
		return ret;
	ret = to_fabric_abort(run->fabric, err);
	if (!ret && differs)
		ret = to_error_set(err, -ESTALE,
				   "generation %" PRIu64 ", which is active, is not %s: toctl apply --all %s",
				   generation, run->call->operands[0], run->call->operands[0]);
	return ret;
}

/* An interval further; gives up the recording when that fails. */
static uint64_t run_record(struct run *run)
{
	struct to_error err = { "" };	/* may be set though there are samples */
	uint64_t until = 0;
	struct to_tm *tm;

	if (to_fabric_sample(run->fabric, run->args->interval_ns, &tm, &err)) {
		run->failed = err;
		return 0;
	}
	to_ring_traffic_add(&run->traffic, tm, &run->failed);
	for (unsigned int i = 0; i < tm->n_samples; i++) {
		run->samples++;
		run->partial += !!tm->samples[i].absent;
		until = tm->samples[i].end_ns;
	}
	to_tm_free(tm);
	return until;
}

/* Run the command. Return: its status, or a negative errno when it was not started. */
static int run_command(struct run *run, uint32_t server, const char *fingerprint)
{
	const struct run_args *args = run->args;
	char **command = run->call->operands + 1;
	uint64_t ended, until = 0;
	int status, ret;

	run_record(run);
	if (run->failed.text[0])
		return to_error_set(&run->call->err, -EIO, "%s", run->failed.text);
	ret = to_launcher_prepare(&run->launcher, &run->ranks, command[0], server, args->dev,
				  args->slots, fingerprint, &run->call->err);
	if (!ret)
		ret = to_launcher_start(&run->launcher, command, &run->call->err);
	if (ret)
		return ret;
	while (!to_launcher_wait(&run->launcher, run->failed.text[0], &status))
		run_record(run);
	ended = to_clock_realtime_ns();
	for (unsigned int i = 0; !run->failed.text[0] && until < ended && i < RUN_SETTLING &&
				   !to_launcher_interrupted(); i++)
		until = run_record(run);
	return status;
}

static void run_compare(struct run *run)
{
	if (run->failed.text[0]) {
		fprintf(stderr, "toctl job run: the traffic was not recorded: %s\n", run->failed.text);
		return;
	}
	if (run->partial)
		fprintf(stderr, "toctl job run: warning: %u of %u intervals lack a server's part\n",
			run->partial, run->samples);
	/* what strayed is said; the status is the command's */
	if (to_ring_report(run->call, stderr, run->plan, run->args->job.group, &run->traffic,
			   &run->args->limits))
		fprintf(stderr, "toctl job run: %s\n", run->call->err.text);
	run->call->err.text[0] = '\0';
}

static int run_job(struct run *run)
{
	const struct run_args *args = run->args;
	struct to_fabric_options options = args->fabric;
	struct to_error none;
	char fingerprint[17];
	int server, ret = run_verify(run);

	if (!ret)
		ret = to_tm_fingerprint(run->call->operands[0], fingerprint, &run->call->err);
	if (ret)
		return ret;
	server = to_node_find(run->plan, run->call->operands[0], args->node,
			      args->node ? &run->call->err : &none);
	if (server < 0 && args->node)
		return server;
	options.note = run_note;
	run->fabric = to_fabric_open(run->plan, &options, &run->call->err);
	if (!run->fabric)
		return TO_EXIT_FAILURE;
	ret = run_check_active(run);
	if (!ret)
		ret = to_ring_traffic_init(&run->traffic, run->plan->cluster->n_servers,
					   &run->call->err);
	if (!ret) {
		ret = run_command(run, server < 0 ? TO_SERVER_NONE : (uint32_t)server, fingerprint);
		if (ret >= 0)
			run_compare(run);
	}
	to_launcher_clean(&run->launcher);
	to_ring_traffic_free(&run->traffic);
	to_fabric_close(run->fabric);
	return ret;
}

static int run_run(struct to_call *call, const void *data)
{
	struct run run = { .call = call, .args = data };
	int ret;

	if (to_ring_limits_check(call, &run.args->limits))
		return TO_EXIT_USAGE;
	ret = to_job_open(call, &run.args->job, &run.plan, &run.ranks);
	if (ret)
		return ret;
	ret = run_job(&run);
	to_plan_free(run.plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct run_args, field)

static const struct to_option run_options[] = {
	TO_JOB_OPTIONS(struct run_args, job),
	{ "slots", 0, TO_OPTION_NUMBER, FIELD(slots), .argument = "N",
	  .min = 1, .max = TO_RANKS_SLOTS_MAX, .help = "ranks on each server; default: 1" },
	{ "node", 'n', TO_OPTION_STRING, FIELD(node), .argument = "NAME",
	  .help = "name of this server in the plan, for torchrun; default: the host name" },
	{ "dev", 'd', TO_OPTION_STRING, FIELD(dev), .argument = "DEV",
	  .help = "topoopt device; default: topo0" },
	{ "interval", 0, TO_OPTION_DURATION, FIELD(interval_ns), .argument = "TIME",
	  .min = 1000000, .max = 3600000000000,
	  .help = "how often to read the servers' counters; default: 1s" },
	TO_RING_LIMIT_OPTIONS(struct run_args, limits),
	TO_FABRIC_KEYS(struct run_args, fabric),
	{}
};

const struct to_command to_cmd_job_run = {
	.name = "job run",
	.summary = "Run a job on the plan's fabric, and check that it stayed on its rings",
	.operands = "PLAN -- COMMAND...",
	.min_operands = 2,
	.max_operands = UINT_MAX,
	.options = run_options,
	.args_size = sizeof(struct run_args),
	.defaults = &(const struct run_args){
		.job = TO_JOB_DEFAULTS, .slots = 1, .interval_ns = 1000000000, .dev = "topo0",
		.limits = TO_RING_LIMITS, .fabric = TO_FABRIC_DEFAULTS },
	.run = run_run,
};
