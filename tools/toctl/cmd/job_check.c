// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>

#include "base/json.h"
#include "cli/command.h"
#include "format/plan_json.h"
#include "format/tm_json.h"
#include "job/nccl_log.h"
#include "job/ring_report.h"
#include "job_options.h"

struct check_args {
	const char *tm, *nccl_log;
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
			ret = to_ring_report(stdout, call->json, plan, &traffic, NULL, &args->limits,
					     &call->err);
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

static void check_print_log_json(const struct to_nccl_log *log)
{
	char version[40];
	json_t *out;

	snprintf(version, sizeof(version), "%u.%u.%u", log->version[0], log->version[1],
		 log->version[2]);
	out = json_pack("{s:s*, s:O, s:O, s:O, s:O}",
			"nccl", log->version[0] ? version : NULL, "channels", log->channels,
			"nics", log->nics, "set", log->set, "connections", log->connections);
	to_json_write(out, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(out);
}

static int check_log(struct to_call *call, const struct check_args *args,
		     const struct to_plan *plan)
{
	struct to_nccl_log log;
	int ret;

	to_nccl_log_init(&log, plan);
	ret = to_nccl_log_read(&log, args->nccl_log, &call->err);
	for (unsigned int i = 1; !ret && i < call->n_operands; i++)
		ret = to_nccl_log_read(&log, call->operands[i], &call->err);
	if (!ret)
		ret = to_nccl_log_end(&log, &call->err);
	if (!ret) {
		(call->json ? check_print_log_json : check_print_log)(&log);
		ret = to_nccl_log_judge(&log, &call->err);
	}
	to_nccl_log_free(&log);
	return ret;
}

static int check_run(struct to_call *call, const void *data)
{
	const struct check_args *args = data;
	struct to_plan *plan;
	int ret;

	if (!args->tm == !args->nccl_log)
		return to_usage(call, "either --tm or --nccl-log is required");
	if (args->tm && call->n_operands > 1)
		return to_usage(call, "unexpected operand \"%s\"", call->operands[1]);
	if (to_ring_limits_check(call, &args->limits))
		return TO_EXIT_USAGE;
	plan = to_plan_load_shared(call->operands[0], &call->err);
	if (!plan)
		return TO_EXIT_UNKNOWN;
	ret = args->tm ? check_tm(call, args, plan) : check_log(call, args, plan);
	to_plan_free(plan);
	return ret < 0 ? TO_EXIT_UNKNOWN : ret ? TO_EXIT_FAILURE : TO_EXIT_OK;
}

#define FIELD(field) .offset = offsetof(struct check_args, field)

static const struct to_option check_options[] = {
	{ "tm", 0, TO_OPTION_STRING, FIELD(tm), .argument = "FILE",
	  .help = "merged traffic matrix of a run under the plan" },
	{ "nccl-log", 0, TO_OPTION_STRING, FIELD(nccl_log), .argument = "FILE",
	  .help = "output of NCCL with NCCL_DEBUG=INFO; files of further ranks are operands" },
	TO_RING_LIMIT_OPTIONS(struct check_args, limits),
	{}
};

const struct to_command to_cmd_job_check = {
	.name = "job check",
	.summary = "Check that a job stayed on the links of its rings",
	.operands = "PLAN [LOG...]",
	.min_operands = 1,
	.max_operands = UINT_MAX,
	.options = check_options,
	.args_size = sizeof(struct check_args),
	.defaults = &(const struct check_args){ .limits = TO_RING_LIMIT_DEFAULTS },
	.run = check_run,
};
