// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "data/cluster.h"
#include "output.h"
#include "study/bcube_study.h"

struct steps_args {
	const char *bcube;
	uint64_t server;
	int algorithm;			/* index into to_bcube_algorithms, or TO_BCUBE_UNSAID */
};

static int steps_parse(const char *text, struct to_bcube *bcube, struct to_error *err)
{
	unsigned int n, k;
	int end = 0;

	if (sscanf(text, "%5u,%5u%n", &n, &k, &end) < 2 || text[end] ||
	    strspn(text, "0123456789,") < strlen(text))
		return to_error_set(err, -EINVAL, "--bcube %s: expected n,k: ports of a switch, and of a server",
				    text);
	return to_bcube_init(bcube, n, k, err) ? -ERANGE : 0;
}

static int steps_run(struct to_call *call, const void *data)
{
	const struct steps_args *args = data;
	struct to_bcube_study study = { .server = args->server };
	int ret;

	if (!call->n_operands == !args->bcube)
		return to_usage(call, "give a plan, or --bcube");
	ret = args->bcube ? steps_parse(args->bcube, &study.bcube, &call->err) :
			    to_bcube_study_load(&study, call->operands[0], &call->err);
	if (ret)
		return ret;
	if (args->algorithm != TO_BCUBE_UNSAID)
		study.which = args->algorithm;
	if (study.which == TO_BCUBE_UNSAID)
		return to_usage(call, "%s names no algorithm: give --algorithm", call->operands[0]);
	ret = to_bcube_study_run(&study, &call->err);
	if (ret)
		return ret;
	if (call->json)
		ret = to_output_json(to_bcube_study_json(&study), JSON_INDENT(1) | JSON_SORT_KEYS,
				     &call->err);
	else
		to_bcube_study_print(&study);
	to_bcube_study_free(&study);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct steps_args, field)

static const struct to_option steps_options[] = {
	{ "bcube", 0, TO_OPTION_STRING, FIELD(bcube), .argument = "N,K",
	  .help = "network: N ports of a packet switch, K ports of a server" },
	{ "algorithm", 0, TO_OPTION_CHOICE, FIELD(algorithm), .choices = to_bcube_algorithms,
	  .help = "algorithm of AllReduce; default: the plan's, else bml" },
	{ "server", 0, TO_OPTION_NUMBER, FIELD(server), .argument = "I", .max = TO_SERVERS_MAX,
	  .help = "index of the server whose steps are listed; default: 0" },
	{}
};

const struct to_command to_cmd_steps = {
	.name = "steps",
	.summary = "List the steps of an AllReduce on BCube",
	.operands = "[PLAN]",
	.max_operands = 1,
	.options = steps_options,
	.args_size = sizeof(struct steps_args),
	.defaults = &(const struct steps_args){ .algorithm = TO_BCUBE_UNSAID },
	.run = steps_run,
};
