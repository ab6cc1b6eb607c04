// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json.h"
#include "cli/command.h"
#include "job/env.h"
#include "job_options.h"
#include "node.h"

struct env_args {
	struct to_job_options job;
	const char *node, *dev;
	int client;	/* enum to_env_client */
};

static void env_print(const struct to_call *call, json_t *variables, json_t *warnings)
{
	const char *key;
	json_t *value;
	size_t i;

	json_array_foreach(warnings, i, value) {
		to_call_note(call, "%s", json_string_value(value));
	}
	if (call->json) {
		to_json_write(variables, stdout, JSON_INDENT(2));
		putchar('\n');
		return;
	}
	json_object_foreach(variables, key, value) {
		printf("%s=%s\n", key, json_string_value(value));
	}
}

static int env_run(struct to_call *call, const void *data)
{
	const struct env_args *args = data;
	struct to_env_port ports[TO_PORTS_MAX] = {};
	struct to_env_view view = { .device = args->dev, .ports = ports };
	json_t *variables, *warnings;
	struct to_ranks ranks;
	struct to_plan *plan;
	int ret = to_job_open(call, &args->job, &plan, &ranks);

	if (ret)
		return ret;
	ret = to_node_find(plan, call->operands[0], args->node, &call->err);
	if (ret >= 0) {
		view.ranks = &ranks;
		view.server = ret;
		ret = to_env_look(&plan->cluster->servers[view.server], ports, &call->err);
	}
	if (!ret)
		ret = to_env_make(&view, args->client, &variables, &warnings, &call->err);
	if (!ret) {
		env_print(call, variables, warnings);
		json_decref(variables);
		json_decref(warnings);
	}
	to_plan_free(plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct env_args, field)

static const struct to_option env_options[] = {
	{ "for", 0, TO_OPTION_CHOICE, FIELD(client), true, "CLIENT", .choices = to_env_clients,
	  .help = "client of the job" },
	{ "node", 0, TO_OPTION_STRING, FIELD(node), .argument = "NAME",
	  .help = "name of this server in the plan; default: the host name" },
	{ "dev", 0, TO_OPTION_STRING, FIELD(dev), .argument = "DEV",
	  .help = "topoopt device; default: topo0" },
	TO_JOB_OPTIONS(struct env_args, job),
	{}
};

const struct to_command to_cmd_job_env = {
	.name = "job env",
	.summary = "Print this server's environment for a job's client",
	.operands = "PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.options = env_options,
	.args_size = sizeof(struct env_args),
	.defaults = &(const struct env_args){ .job = TO_JOB_DEFAULTS, .dev = "topo0" },
	.run = env_run,
};
