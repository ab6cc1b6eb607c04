// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>

#include "cli/command.h"
#include "format/tm_json.h"
#include "job/nccl_log.h"
#include "job_options.h"
#include "ring_report.h"

struct check_args {
	struct to_job_options job;
	const char *tm;
	bool nccl_log;
	struct to_ring_limits limits;
};

static int check_tm(struct to_call *call, const struct check_args *args, const struct to_plan *plan)
{
	struct to_ring_traffic traffic;
	char fingerprint[17];
	struct to_tm *tm;
	int ret = to_tm_fingerprint(call->operands[0], fingerprint, &call->err);

	if (ret)
		return ret;
	tm = to_tm_load(args->tm, &call->err);
	if (!tm)
		return -EINVAL;
	ret = to_ring_report_fits(tm, args->tm, fingerprint, call->operands[0], plan, &call->err);
	if (!ret)
		ret = to_ring_traffic_init(&traffic, tm->n_servers, &call->err);
	if (!ret) {
		ret = to_ring_traffic_add(&traffic, tm, &call->err);
		if (!ret)
			ret = to_ring_report(call, stdout, plan, args->job.group, &traffic,
					     &args->limits);
		to_ring_traffic_free(&traffic);
	}
	to_tm_free(tm);
	return ret;
}

static void check_print_log(const struct to_nccl_log *log)
{
	const char *key;
	json_t *value, *name;
	size_t i, k;

	if (log->version[0])
		printf("NCCL %u.%u.%u\n", log->version[0], log->version[1], log->version[2]);
	json_array_foreach(log->channels, i, value) {
		const json_t *ring = json_object_get(value, "ring");

		printf("channel %" JSON_INTEGER_FORMAT ":",
		       json_integer_value(json_object_get(value, "channel")));
		json_array_foreach(json_object_get(value, "servers"), k, name) {
			printf(" %s", json_string_value(name));
		}
		if (json_is_integer(ring))
			printf(": ring %" JSON_INTEGER_FORMAT "\n", json_integer_value(ring));
		else
			printf(": no ring of the plan\n");
	}
	json_object_foreach(log->nics, key, value) {
		printf("%s uses %s\n", key, json_string_value(value));
	}
	json_object_foreach(log->set, key, value) {
		printf("set: %s=%s\n", key, json_string_value(value));
	}
	json_array_foreach(log->connections, i, value) {
		if (json_is_false(json_object_get(value, "cable")))
			printf("%s -> %s: no cable, relayed: %" JSON_INTEGER_FORMAT " channels\n",
			       json_string_value(json_object_get(value, "from")),
			       json_string_value(json_object_get(value, "to")),
			       json_integer_value(json_object_get(value, "count")));
	}
}

static int check_judge_log(struct to_call *call, const struct to_nccl_log *log)
{
	unsigned int astray = 0;
	json_t *channel;
	size_t i;

	if (!json_array_size(log->channels))
		return to_error_set(&call->err, -ENODATA,
				    "no line of rank 0 has the order of a channel: run with NCCL_DEBUG_SUBSYS=INIT,ENV,NET,GRAPH");
	json_array_foreach(log->channels, i, channel) {
		astray += json_is_null(json_object_get(channel, "ring"));
	}
	if (astray)
		return to_error_set(&call->err, -ERANGE,
				    "%u of %zu channels do not have the order of a ring of the plan",
				    astray, json_array_size(log->channels));
	if (log->rdma && log->version[0] && !to_nccl_log_at_least(log, 2, 30, 7))
		return to_error_set(&call->err, -ENOTSUP,
				    "NCCL %u.%u.%u does not know NCCL_IB_SUBNET_AWARE_ROUTING (2.30.7 does): RDMA connections enter by other ports than their cables'",
				    log->version[0], log->version[1], log->version[2]);
	return 0;
}

static int check_log(struct to_call *call, const struct to_plan *plan)
{
	struct to_nccl_log log;
	char version[40];
	json_t *out;
	int ret = 0;

	to_nccl_log_init(&log, plan);
	for (unsigned int i = 1; !ret && i < call->n_operands; i++)
		ret = to_nccl_log_read(&log, call->operands[i], &call->err);
	if (!ret)
		ret = to_nccl_log_end(&log, &call->err);
	if (!ret && call->json) {
		snprintf(version, sizeof(version), "%u.%u.%u", log.version[0], log.version[1],
			 log.version[2]);
		out = json_pack("{s:s*, s:O, s:O, s:O, s:O}",
				"nccl", log.version[0] ? version : NULL, "channels", log.channels,
				"nics", log.nics, "set", log.set, "connections", log.connections);
		json_dumpf(out, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(out);
	} else if (!ret) {
		check_print_log(&log);
	}
	if (!ret)
		ret = check_judge_log(call, &log);
	to_nccl_log_free(&log);
	return ret;
}

static int check_run(struct to_call *call, const void *data)
{
	const struct check_args *args = data;
	struct to_ranks ranks;
	struct to_plan *plan;
	int ret;

	if (!args->tm == !args->nccl_log)
		return to_usage(call, "either --tm or --nccl-log is required");
	if (args->tm && call->n_operands > 1)
		return to_usage(call, "unexpected operand \"%s\"", call->operands[1]);
	if (args->nccl_log && call->n_operands < 2)
		return to_usage(call, "--nccl-log: FILE expected");
	if (to_ring_limits_check(call, &args->limits))
		return TO_EXIT_USAGE;
	ret = to_job_open(call, &args->job, &plan, &ranks);
	if (ret)
		return ret;
	ret = args->tm ? check_tm(call, args, plan) : check_log(call, plan);
	to_plan_free(plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct check_args, field)

static const struct to_option check_options[] = {
	{ "tm", 0, TO_OPTION_STRING, FIELD(tm), .argument = "FILE",
	  .help = "traffic matrix of a run, recorded under the plan and merged" },
	{ "nccl-log", 0, TO_OPTION_FLAG, FIELD(nccl_log),
	  .help = "the other operands are what ranks printed with NCCL_DEBUG=INFO" },
	{ "group", 'g', TO_OPTION_NUMBER, FIELD(job.group), .argument = "G",
	  .max = TO_RANKS_NONE - 1, .help = "list the rings of this AllReduce group; default: all" },
	TO_RING_LIMIT_OPTIONS(struct check_args, limits),
	{}
};

const struct to_command to_cmd_job_check = {
	.name = "job check",
	.summary = "Check that the AllReduce of a run stayed on the links of its rings",
	.operands = "PLAN [FILE...]",
	.min_operands = 1,
	.max_operands = UINT_MAX,
	.options = check_options,
	.args_size = sizeof(struct check_args),
	.defaults = &(const struct check_args){
		.job = TO_JOB_DEFAULTS, .limits = TO_RING_LIMITS },
	.run = check_run,
};
