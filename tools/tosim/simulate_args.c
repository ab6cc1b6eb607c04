// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

static const char *const simulate_levels[] = { "flow", "packet", NULL };

#define FIELD(field) .offset = offsetof(struct to_simulate_args, field)

const struct to_option to_simulate_options[] = {
	{ "model", 0, TO_OPTION_STRING, FIELD(model), .argument = "FILE",
	  .help = "workload: operators, and GPUs of a server" },
	{ "job", 'j', TO_OPTION_STRING, FIELD(job), .argument = "FILE",
	  .help = "workload: what a job sends, all at once; default: the plan's" },
	{ "chakra", 0, TO_OPTION_FLAG, FIELD(chakra),
	  .help = "workload: the TRACEs, with their dependencies" },
	{ "placement", 0, TO_OPTION_STRING, FIELD(placement), .argument = "HOW|FILE",
	  .help = "servers of operators: search, sip, data, tables, or as in a FILE of --json; default: search" },
	{ "servers", 'n', TO_OPTION_NUMBER, FIELD(servers), .argument = "N",
	  .min = 2, .max = TO_SERVERS_MAX, .help = "servers that train the model" },
	{ "degree", 'd', TO_OPTION_NUMBER, FIELD(degree), .argument = "D",
	  .min = 1, .max = TO_PORTS_MAX, .help = "ports of a server; default: as in the plan" },
	{ "bandwidth", 'b', TO_OPTION_RATE, FIELD(bandwidth), .argument = "RATE",
	  .min = 1, .max = INT64_MAX, .help = "bandwidth of a port; default: as in the plan, else 100G" },
	TO_STUDY_OPTIONS(struct to_simulate_args, fabric),
	TO_RANK_OPTIONS(struct to_simulate_args, rank),
	{ "level", 0, TO_OPTION_CHOICE, FIELD(level), .choices = simulate_levels,
	  .help = "fair rates of flows, or each packet in queues; default: flow" },
	{ "iterations", 0, TO_OPTION_NUMBER, FIELD(iterations), .argument = "N",
	  .min = 1, .max = 1000000,
	  .help = "number of iterations, where they differ; default: 20, at packet level 1" },
	{ "stragglers", 0, TO_OPTION_STRING, FIELD(stragglers), .argument = "HOW",
	  .help = "servers that compute slower: slow:P,F, lognormal:SIGMA or exponential:MEAN" },
	{ "batch", 0, TO_OPTION_NUMBER, FIELD(batch), .argument = "N", .min = 1, .max = 1000000,
	  .advanced = true, .help = "samples of a GPU in an iteration; default: as the model says" },
	TO_PACKET_OPTIONS(struct to_simulate_args, packets),
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "JSON with tasks and transfers of the last iteration, or a pcap file with --capture" },
	{ "report", 'r', TO_OPTION_OUTPUT, FIELD(report), .argument = "FILE",
	  .help = "HTML page of the last iteration" },
	{}
};

const struct to_simulate_args to_simulate_defaults = {
	.placement = "search", .fabric = TO_STUDY_DEFAULTS, .packets = TO_PACKET_DEFAULTS,
	.rank = TO_RANK_DEFAULTS,
};

int to_simulate_find_operands(struct to_call *call, const struct to_simulate_args *args,
			      struct to_simulate_operands *operands)
{
	*operands = (struct to_simulate_operands){
		.traces = calloc(call->n_operands + 1, sizeof(*operands->traces)) };
	if (!operands->traces)
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < call->n_operands; i++) {
		const size_t len = strlen(call->operands[i]);

		if (args->chakra && len > 3 && !strcmp(call->operands[i] + len - 3, ".et"))
			operands->traces[operands->n_traces++] = call->operands[i];
		else if (operands->plan)
			return to_usage(call, "%s and %s are two plans: give one", operands->plan,
					call->operands[i]);
		else
			operands->plan = call->operands[i];
	}
	if (args->chakra && !operands->n_traces)
		return to_usage(call, "--chakra: give the traces, one NAME.RANK.et a rank");
	return 0;
}

/* Check what the workload is, and on how many servers it runs. */
static int simulate_check_workload(struct to_call *call, const struct to_simulate_args *args,
				   const char *plan, bool file)
{
	if (!!args->model + !!args->job + args->chakra > 1)
		return to_usage(call, "--model, --job and --chakra are workloads: give one");
	if (!call->n_operands && !args->model && !args->job)
		return to_usage(call, "give a plan, --model, --job or --chakra");
	if (args->servers && (call->n_operands || args->job))
		return to_usage(call, "--servers is for --model: a plan, a job or traces have their own");
	if (file && (args->degree || args->bandwidth || args->fabric.prices))
		return to_usage(call, "--degree, --bandwidth and --prices are for fabrics that have a name");
	if (!plan && !args->degree && !file)
		return to_usage(call, "give --degree, or a plan whose servers have ports");
	if (!plan && args->model && !args->servers && !file)
		return to_usage(call, "give --servers, or a plan");
	if (args->servers > TO_SERVERS_USUAL && !args->fabric.large)
		return to_usage(call, "--servers: more than %u take --large", TO_SERVERS_USUAL);
	if (args->stragglers && !args->model && !args->chakra)
		return to_usage(call, "--stragglers is for --model and --chakra: a job does not compute");
	if (strcmp(args->placement, "search") && !args->model)
		return to_usage(call, "--placement is for --model");
	return 0;
}

/* Check what the fabric is, and how it is simulated. */
static int simulate_check_fabric(struct to_call *call, const struct to_simulate_args *args,
				 const char *plan)
{
	const struct to_study_args *f = &args->fabric;

	if (args->level == TO_SIMULATE_PACKETS && to_fabric_changes(f->fabric))
		return to_usage(call, "--level packet: the links of %s change", f->fabric);
	if (strcmp(f->fabric, "topoopt"))
		return 0;
	if (f->routing != TO_STUDY_UNSAID || f->algorithm != TO_STUDY_UNSAID)
		return to_usage(call, "--routing and --algorithm are for other fabrics: a plan says both");
	if (!strcmp(args->placement, "sip"))
		return to_usage(call, "--placement sip is for other fabrics: toctl parallelize makes plans");
	if (plan && (args->degree || args->bandwidth))
		return to_usage(call, "--degree and --bandwidth are for other fabrics, or without a plan");
	return 0;
}

int to_simulate_read(struct to_call *call, const struct to_simulate_args *args,
		     const struct to_simulate_operands *operands, struct to_job_setting *setting)
{
	const struct to_study_args *f = &args->fabric;
	int ret = simulate_check_workload(call, args, operands->plan, to_fabric_is_file(f->fabric));

	if (!ret)
		ret = simulate_check_fabric(call, args, operands->plan);
	if (!ret)
		ret = to_output_check(call, args->output, args->report);
	*setting = (struct to_job_setting){
		.fabric = f->fabric, .plan = operands->plan, .job = args->job,
		.model = args->model, .traces = operands->traces, .n_traces = operands->n_traces,
		.servers = args->servers, .degree = args->degree, .bandwidth = args->bandwidth,
		.routing = f->routing, .algorithm = f->algorithm, .delays = to_study_args_delays(f),
		.iterations = args->iterations, .stragglers = args->stragglers,
		.placement = args->placement, .batch = args->batch, .budget = f->budget,
		.seed = f->seed, .prices = f->prices, .large = f->large,
		.record = args->output || args->report,
		.packet_level = args->level == TO_SIMULATE_PACKETS };
	return ret ? ret : to_packet_args_read(call, &args->packets, args->output,
					       &setting->packets);
}

int to_simulate_read_rank(struct to_call *call, const struct to_simulate_args *args,
			  struct to_rank_study *study)
{
	const struct to_rank_args *rank = &args->rank;
	const bool tables = !strcmp(args->placement, "tables");

	if (!args->model)
		return to_usage(call, "--network: give a --model");
	if (!tables && strcmp(args->placement, "data") && strcmp(args->placement, "search"))
		return to_usage(call, "--network: --placement is data or tables, and --model-parallel divides operators");
	if (tables && rank->divided > 1)
		return to_usage(call, "--placement tables excludes --model-parallel, which divides embeddings, too");
	if (args->output || args->report)
		return to_usage(call, "--network: without --output and --report");
	*study = (struct to_rank_study){
		.network = rank->network, .model = args->model,
		.setting = {
			.batch = args->batch, .divided = rank->divided,
			.recompute = rank->recompute, .tables = tables, .policy = rank->policy,
			.order = rank->order,
			.chunks = { .n_chunks = rank->chunks, .threshold = TO_RANK_THRESHOLD } } };
	return 0;
}
