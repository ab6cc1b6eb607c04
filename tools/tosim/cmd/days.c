// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/effort.h"
#include "format/cluster_json.h"
#include "output.h"
#include "study/days.h"
#include "watch.h"

struct days_args {
	const char *state, *cluster, *output, *report;
	uint64_t servers, degree, move, dark, movers, effort;
	int discipline, switching;
};

/* Find the cluster: a file, a number of servers, or the one whose shards are in a folder. */
static int days_cluster(struct to_call *call, const struct days_args *args,
			struct to_shards *shards)
{
	const struct to_shards_place place = { .dir = args->state };

	*shards = (struct to_shards){};
	if (args->state)
		return to_shards_open(shards, &place, false, &call->err);
	shards->cluster = args->cluster ? to_cluster_load(args->cluster, &call->err) :
			  to_cluster_synthetic(args->servers, args->degree, 0, TO_LINKS_DUPLEX,
					       &call->err);
	return shards->cluster ? 0 : -EINVAL;
}

static int days_show(struct to_call *call, const struct days_args *args, const struct to_days *days)
{
	int ret = 0;

	if (args->output)
		ret = to_days_save(days, args->output, &call->err);
	if (!ret && args->report)
		ret = to_days_report(days, TO_VERSION, args->report, &call->err);
	if (ret || to_output_is_stdout(args->output) || to_output_is_stdout(args->report))
		return ret;
	if (call->json)
		return to_output_json(to_days_json(days), JSON_INDENT(1) | JSON_PRESERVE_ORDER,
				      &call->err);
	to_days_print(days);
	return 0;
}

static int days_simulate(struct to_call *call, const struct days_args *args,
			 const struct to_shard_trace *trace, const struct to_shards *shards)
{
	struct to_watch watch;
	struct to_days days = { .options = {
		.policy = args->discipline, .switching = args->switching,
		.move = args->move * 1e-9, .dark = args->dark * 1e-9, .movers = args->movers,
		.effort = args->effort, .watch = to_watch_step, .data = &watch } };
	struct to_error why = { "" };
	int ret;

	to_watch_begin(&watch, call);
	ret = to_days_run(&days, shards, trace, &why);
	to_watch_end(&watch);
	if (ret)
		return to_error_set(&call->err, ret, "%.300s: %.600s", call->operands[0], why.text);
	ret = days_show(call, args, &days);
	to_days_free(&days);
	return ret;
}

static int days_run(struct to_call *call, const void *data)
{
	const struct days_args *args = data;
	struct to_shard_trace trace;
	struct to_shards shards;
	int ret;

	if (!!args->state + !!args->cluster + !!args->servers != 1)
		return to_usage(call, "--state, --cluster and --servers say what the cluster is: give one");
	if (!args->servers != !args->degree)
		return to_usage(call, "--servers and --degree go together");
	ret = to_output_check(call, args->output, args->report);
	if (ret)
		return ret;
	ret = to_shard_trace_load(&trace, call->operands[0], &call->err);
	if (ret)
		return ret;
	ret = days_cluster(call, args, &shards);
	if (!ret) {
		ret = to_shards_check_output(&shards, args->output, &call->err) ||
		      to_shards_check_output(&shards, args->report, &call->err) ? TO_EXIT_USAGE : 0;
		ret = ret ? ret : days_simulate(call, args, &trace, &shards);
		to_shards_close(&shards);
	}
	to_shard_trace_free(&trace);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct days_args, field)

static const struct to_option days_options[] = {
	{ "cluster", 'c', TO_OPTION_STRING, FIELD(cluster), .argument = "FILE",
	  .help = "cluster.json, with the links in place" },
	{ "servers", 'n', TO_OPTION_NUMBER, FIELD(servers), .argument = "N", .min = 2,
	  .max = TO_SERVERS_MAX, .help = "number of servers, on one panel" },
	{ "degree", 'd', TO_OPTION_NUMBER, FIELD(degree), .argument = "D", .min = 1,
	  .max = TO_PORTS_MAX, .help = "ports of a server" },
	{ "state", 0, TO_OPTION_STRING, FIELD(state), .argument = "DIR",
	  .help = "state directory of toctl shard, to take the cluster from; not changed" },
	{ "discipline", 0, TO_OPTION_CHOICE, FIELD(discipline), .choices = to_shard_policies,
	  .help = "choice of the next job; default: fifo" },
	{ "switching", 0, TO_OPTION_CHOICE, FIELD(switching), .choices = to_shard_switchings,
	  .help = "what makes links; default: panel" },
	{ "move-time", 0, TO_OPTION_DURATION, FIELD(move), .argument = "TIME",
	  .max = 1000000000000000, .help = "time to move a fibre of a panel; default: 60s" },
	{ "movers", 0, TO_OPTION_NUMBER, FIELD(movers), .argument = "N", .min = 1, .max = 1000,
	  .help = "people or robots that move fibres at once; default: 1" },
	{ "dark", 0, TO_OPTION_DURATION, FIELD(dark), .argument = "TIME", .max = 1000000000000,
	  .help = "time in which links that a switch changes are dark; default: 10ms" },
	{ "effort", 'e', TO_OPTION_NUMBER, FIELD(effort), .argument = "E", .min = TO_EFFORT_MIN,
	  .max = TO_EFFORT_MAX, .help = "effort of each plan, 1 to 9; default: 1" },
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "file to write the JSON output to" },
	{ "report", 'r', TO_OPTION_OUTPUT, FIELD(report), .argument = "FILE",
	  .help = "HTML page: jobs by server and time, and the queue" },
	{}
};

const struct to_command to_cmd_days = {
	.name = "days",
	.summary = "Simulate how long jobs wait for servers and links",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.options = days_options,
	.args_size = sizeof(struct days_args),
	.defaults = &(const struct days_args){
		.move = 60000000000, .dark = 10000000, .movers = 1, .effort = TO_EFFORT_MIN },
	.run = days_run,
};
