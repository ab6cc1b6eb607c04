// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "collectives/dimensions_load.h"
#include "output.h"
#include "study/chunk_study.h"

struct schedule_args {
	const char *network, *output, *report;
	uint64_t size, chunks, parallel, budget, jitter, seed, latency;
	uint64_t gpus, gpu_bandwidth;
	int collective, policy, order;
	double imbalance;
	bool unordered;
};

static int schedule_show(struct to_call *call, const struct schedule_args *args,
			 const struct to_chunk_study *study)
{
	int ret = 0;

	if (args->output)
		ret = to_chunk_study_save(study, args->output, &call->err);
	if (!ret && args->report)
		ret = to_chunk_study_report(study, TO_VERSION, args->report, &call->err);
	if (ret || to_output_is_stdout(args->output) || to_output_is_stdout(args->report))
		return ret;
	if (call->json)
		return to_output_json(to_chunk_study_json(study), JSON_INDENT(1) | JSON_SORT_KEYS,
				      &call->err);
	to_chunk_study_print(study);
	return 0;
}

static int schedule_run(struct to_call *call, const void *data)
{
	const struct schedule_args *args = data;
	const struct to_dimensions_of plan = { args->latency, args->gpus, args->gpu_bandwidth };
	struct to_chunk_study study = {
		.setting = { .collective = args->collective, .bytes = args->size,
			     .n_chunks = args->chunks, .threshold = args->imbalance,
			     .parallel = args->parallel },
		.policy = args->policy, .order = args->order, .budget = args->budget,
		.jitter_ns = args->jitter, .seed = args->seed, .unordered = args->unordered };
	int ret;

	if (!(args->imbalance >= 0))
		return to_usage(call, "--imbalance is a share of a chunk, 0 or more");
	ret = to_output_check(call, args->output, args->report);
	if (ret)
		return ret;
	ret = to_dimensions_load(args->network, &plan, &study.network, &call->err);
	if (ret)
		return ret;
	ret = to_chunk_study_run(&study, &call->err);
	if (!ret)
		ret = schedule_show(call, args, &study);
	to_chunk_study_free(&study);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct schedule_args, field)

static const struct to_option schedule_options[] = {
	{ "network", 0, TO_OPTION_STRING, FIELD(network), .argument = "FILE", .required = true,
	  .help = "dims.json, or a plan that is a torus, full meshes, BCube or rails" },
	{ "size", 0, TO_OPTION_BYTES, FIELD(size), .argument = "BYTES", .required = true, .min = 1,
	  .max = INT64_MAX, .help = "bytes of a rank's buffer; what an allgather ends with" },
	{ "collective", 0, TO_OPTION_CHOICE, FIELD(collective), .choices = to_chunk_collectives,
	  .help = "which collective; default: allreduce" },
	{ "chunks", 0, TO_OPTION_NUMBER, FIELD(chunks), .argument = "N", .min = 1,
	  .max = TO_CHUNKS_MAX, .help = "chunks of a collective; default: 64" },
	{ "policy", 0, TO_OPTION_CHOICE, FIELD(policy), .choices = to_chunk_policies,
	  .help = "choice of the dimension that a chunk takes next; default: themis" },
	{ "order", 0, TO_OPTION_CHOICE, FIELD(order), .choices = to_chunk_orders,
	  .help = "order of chunks in a dimension; default: scf, smallest chunk first" },
	{ "imbalance", 0, TO_OPTION_REAL, FIELD(imbalance), .argument = "SHARE", .advanced = true,
	  .help = "share of a chunk by which loads may differ before themis leaves the baseline; default: "
		  "0.0625" },
	{ "parallel", 0, TO_OPTION_NUMBER, FIELD(parallel), .argument = "N", .max = TO_CHUNKS_MAX,
	  .advanced = true,
	  .help = "chunks that a dimension has under way at most; default: 0, any number" },
	{ "budget", 0, TO_OPTION_NUMBER, FIELD(budget), .argument = "N", .min = 1, .max = INT64_MAX,
	  .advanced = true,
	  .help = "partial schedules that optimal tries; default: 1000000" },
	{ "jitter", 0, TO_OPTION_DURATION, FIELD(jitter), .argument = "TIME", .min = 1,
	  .max = 1000000000000, .help = "replay with ranks that are late by up to this" },
	{ "seed", 's', TO_OPTION_NUMBER, FIELD(seed), .argument = "S", .max = INT64_MAX,
	  .with = "jitter", .help = "random seed; same seed, same result; default: 1" },
	{ "unordered", 0, TO_OPTION_FLAG, FIELD(unordered), .with = "jitter",
	  .help = "let ranks take what they have ready, and deadlock" },
	{ "latency", 0, TO_OPTION_DURATION, FIELD(latency), .argument = "TIME",
	  .max = 1000000000000, .help = "latency of a plan's link; default: 1us" },
	{ "gpus", 0, TO_OPTION_NUMBER, FIELD(gpus), .argument = "N", .min = 2, .max = 1024,
	  .with = "gpu-bandwidth", .help = "ranks that share the ports of a plan's server" },
	{ "gpu-bandwidth", 0, TO_OPTION_RATE, FIELD(gpu_bandwidth), .argument = "RATE", .min = 1,
	  .max = INT64_MAX, .with = "gpus", .help = "bandwidth of a rank into the switch of its server" },
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "schedule.json" },
	{ "report", 'r', TO_OPTION_OUTPUT, FIELD(report), .argument = "FILE",
	  .help = "HTML page: chunks over time, bandwidth used by size and chunks" },
	{}
};

const struct to_command to_cmd_schedule = {
	.name = "schedule",
	.summary = "Schedule the chunks of a collective on a network",
	.options = schedule_options,
	.args_size = sizeof(struct schedule_args),
	.defaults = &(const struct schedule_args){
		.chunks = 64, .policy = TO_CHUNK_THEMIS, .order = TO_CHUNK_SCF, .imbalance = 0.0625,
		.budget = 1000000, .seed = 1, .latency = 1000,
	},
	.run = schedule_run,
};
