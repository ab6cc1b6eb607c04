// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <string.h>

#include "base/json.h"
#include "cli/command.h"
#include "counter_options.h"
#include "format/plan_json.h"
#include "format/tm_json.h"
#include "measure/record.h"
#include "node.h"

struct record_args {
	const char *node, *dev, *output;
	uint64_t interval, count, entries;
	const char *counters;
	int attach;
};

static volatile sig_atomic_t record_stop;

static void record_signal(int signal)
{
	(void)signal;
	record_stop = 1;
}

struct record_progress {
	const struct to_call *call;
	const char *server;
	const struct record_args *args;
};

static void record_started(const char *source, void *arg)
{
	const struct record_progress *progress = arg;
	char count[32] = "samples until interrupted";

	if (progress->call->quiet)
		return;
	if (progress->args->count)
		snprintf(count, sizeof(count), "%" PRIu64 " samples",
			 progress->args->count);
	fprintf(stderr, "%s: recording %s of %g ms (%s)\n", progress->server,
		count, progress->args->interval * 1e-6, source);
}

static uint64_t record_sum(const struct to_tm *tm, enum to_tm_view view)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < tm->n_samples; i++)
		for (unsigned int j = 0; j < tm->samples[i].n_flows; j++)
			if (to_tm_in_view(&tm->samples[i].flows[j], view))
				sum += tm->samples[i].flows[j].bytes;
	return sum;
}

/* Print what was recorded. Return: 0, or -ENOSPC with the error set if packets were not counted. */
static int record_report(struct to_call *call, const struct to_tm *tm,
			 const struct record_args *args)
{
	const char *server = tm->servers[tm->server];
	uint64_t packets = 0, bytes = 0;

	for (unsigned int i = 0; i < tm->n_samples; i++) {
		packets += tm->samples[i].lost.packets;
		bytes += tm->samples[i].lost.bytes;
	}
	if (call->json && strcmp(args->output, "-")) {
		json_t *report = json_pack("{s:s, s:i, s:I, s:I, s:I, s:I, s:I}",
			"server", server, "samples", tm->n_samples,
			"originated", (json_int_t)record_sum(tm, TO_TM_ORIGINATED),
			"delivered", (json_int_t)record_sum(tm, TO_TM_DELIVERED),
			"relayed", (json_int_t)record_sum(tm, TO_TM_RELAYED),
			"lost_packets", (json_int_t)packets,
			"lost_bytes", (json_int_t)bytes);

		to_json_write(report, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(report);
	} else if (!call->quiet) {
		fprintf(stderr, "%s: %u samples: originated %" PRIu64 " bytes, delivered %"
			PRIu64 ", relayed %" PRIu64 "\n", server, tm->n_samples,
			record_sum(tm, TO_TM_ORIGINATED),
			record_sum(tm, TO_TM_DELIVERED),
			record_sum(tm, TO_TM_RELAYED));
	}
	if (packets)
		return to_error_set(&call->err, -ENOSPC,
				    "%" PRIu64 " packets of %" PRIu64
				    " bytes were not counted: more than %" PRIu64
				    " pairs in one interval (--entries), or a port that the plan lacks",
				    packets, bytes, args->entries);
	return 0;
}

static int record_plan(struct to_call *call, const struct record_args *args,
		       const struct to_plan *plan, const struct to_counter_names *names)
{
	struct record_progress progress = { .call = call, .args = args };
	struct to_record_config config = {
		.plan = plan, .device = args->dev, .interval_ns = args->interval,
		.count = args->count, .source = args->attach,
		.entries = args->entries, .counter_names = names,
		.stop = &record_stop, .started = record_started, .arg = &progress,
	};
	struct to_error save = {};
	struct to_tm *tm;
	int ret, code;

	ret = to_node_find(plan, call->operands[0], args->node, &call->err);
	if (ret < 0)
		return ret;
	config.server = ret;
	progress.server = plan->cluster->servers[ret].name;
	ret = to_record(&config, &tm, &call->err);
	/* What was recorded before an error is kept. */
	if (tm && (tm->n_samples || !ret)) {
		code = to_tm_fingerprint(call->operands[0], tm->plan, &save);
		code = code ? code : to_tm_save(tm, args->output, &save);
		if (code) {
			call->err = save;
			ret = code;
		} else if (!ret) {
			ret = record_report(call, tm, args);
		}
	}
	to_tm_free(tm);
	return ret;
}

static int record_run(struct to_call *call, const void *data)
{
	const struct sigaction action = { .sa_handler = record_signal };
	const struct record_args *args = data;
	struct to_counter_names names;
	struct sigaction hangup;
	struct to_plan *plan;
	int ret;

	ret = to_counter_options_parse(call, args->counters, &names);
	if (ret)
		return ret;
	plan = to_plan_load_shared(call->operands[0], &call->err);
	if (!plan)
		return -EINVAL;
	/* unless under nohup */
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	ret = record_plan(call, args, plan, args->counters ? &names : NULL);
	to_plan_free(plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct record_args, field)

/* In the order of enum to_traffic_source. */
static const char *const record_sources[] = { "auto", "module", "tc", NULL };

static const struct to_option record_options[] = {
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), true, "FILE",
	  .help = "recording to write; - is standard output" },
	{ "interval", 'i', TO_OPTION_DURATION, FIELD(interval), .argument = "TIME",
	  .min = 1000000, .max = 3600000000000, .help = "time between two samples; default: 50ms" },
	{ "count", 0, TO_OPTION_NUMBER, FIELD(count), .argument = "N",
	  .max = 1000000, .help = "number of samples, 0: until interrupted; default: 20" },
	{ "node", 0, TO_OPTION_STRING, FIELD(node), .argument = "NAME",
	  .help = "name of this server in the plan; default: the host name" },
	{ "dev", 0, TO_OPTION_STRING, FIELD(dev), .argument = "DEV",
	  .help = "topoopt device; default: topo0" },
	{ "attach", 0, TO_OPTION_CHOICE, FIELD(attach), .choices = record_sources,
	  .advanced = true, .help = "where to count packets; default: auto" },
	{ "entries", 0, TO_OPTION_NUMBER, FIELD(entries), .argument = "N",
	  .min = 1, .max = 1 << 24, .advanced = true,
	  .help = "pairs that one interval can hold; default: 16384" },
	TO_COUNTER_OPTIONS(struct record_args, counters),
	{}
};

const struct to_command to_cmd_tm_record = {
	.name = "tm record",
	.summary = "Record the traffic of this server by pairs",
	.operands = "PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.options = record_options,
	.args_size = sizeof(struct record_args),
	.defaults = &(const struct record_args){
		.dev = "topo0", .interval = 50000000, .count = 20,
		.entries = 16384 },
	.run = record_run,
};
