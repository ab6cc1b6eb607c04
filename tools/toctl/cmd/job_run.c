// SPDX-License-Identifier: GPL-2.0-or-later
#include <limits.h>

#include "cli/command.h"
#include "fabric_options.h"
#include "format/plan_json.h"
#include "format/tm_names.h"
#include "job/recorded_job.h"
#include "job_options.h"
#include "node.h"

struct run_args {
	struct to_job_options job;
	uint64_t slots, interval_ns;
	const char *node, *dev;
	struct to_ring_limits limits;
	struct to_fabric_options fabric;
};

static int run_job(struct to_call *call, const struct run_args *args, const struct to_plan *plan,
		   const struct to_ranks *ranks)
{
	char fingerprint[17];
	struct to_recorded_job job = {
		.plan = plan, .path = call->operands[0],
		.launcher = { .ranks = ranks, .slots = args->slots, .fingerprint = fingerprint,
			      .server = TO_SERVER_NONE, .device = args->dev },
		.fabric = args->fabric, .interval_ns = args->interval_ns, .limits = args->limits,
		.json = call->json };
	struct to_error none;
	int server, ret = to_tm_fingerprint(call->operands[0], fingerprint, &call->err);

	if (ret)
		return ret;
	server = to_node_find(plan, call->operands[0], args->node,
			      args->node ? &call->err : &none);
	if (server < 0 && args->node)
		return server;
	if (server >= 0)
		job.launcher.server = server;
	job.fabric.note = to_note;
	return to_recorded_job_run(&job, call->operands + 1, stderr, &call->err);
}

static int run_run(struct to_call *call, const void *data)
{
	const struct run_args *args = data;
	struct to_ranks ranks;
	struct to_plan *plan;
	int ret;

	if (to_ring_limits_check(call, &args->limits))
		return TO_EXIT_USAGE;
	ret = to_job_open(call, &args->job, &plan, &ranks);
	if (ret)
		return ret;
	ret = run_job(call, args, plan, &ranks);
	to_plan_free(plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct run_args, field)

static const struct to_option run_options[] = {
	TO_JOB_OPTIONS(struct run_args, job),
	{ "slots", 0, TO_OPTION_NUMBER, FIELD(slots), .argument = "N",
	  .min = 1, .max = TO_RANKS_SLOTS_MAX, .help = "ranks on each server; default: 1" },
	{ "node", 0, TO_OPTION_STRING, FIELD(node), .argument = "NAME",
	  .help = "name of this server in the plan; default: the host name" },
	{ "dev", 0, TO_OPTION_STRING, FIELD(dev), .argument = "DEV",
	  .help = "topoopt device; default: topo0" },
	{ "interval", 'i', TO_OPTION_DURATION, FIELD(interval_ns), .argument = "TIME",
	  .min = 1000000, .max = 3600000000000,
	  .help = "time between two readings of the counters; default: 1s" },
	TO_RING_LIMIT_OPTIONS(struct run_args, limits),
	TO_FABRIC_KEYS(struct run_args, fabric),
	{}
};

const struct to_command to_cmd_job_run = {
	.name = "job run",
	.summary = "Run a job and check that it stayed on its rings",
	.operands = "PLAN -- COMMAND...",
	.min_operands = 2,
	.max_operands = UINT_MAX,
	.options = run_options,
	.args_size = sizeof(struct run_args),
	.defaults = &(const struct run_args){
		.job = TO_JOB_DEFAULTS, .slots = 1, .interval_ns = 1000000000, .dev = "topo0",
		.limits = TO_RING_LIMIT_DEFAULTS, .fabric = TO_FABRIC_DEFAULTS },
	.run = run_run,
};
