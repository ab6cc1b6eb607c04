// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "checks.h"
#include "cli/command.h"
#include "doctor/server_check.h"
#include "format/plan_json.h"
#include "job/client_check.h"
#include "node.h"

struct doctor_args {
	const char *node, *dev;
	int client;	/* enum to_env_client, -1 for none */
};

static int doctor_run(struct to_call *call, const void *data)
{
	const char *path = call->n_operands ? call->operands[0] : NULL;
	const struct doctor_args *args = data;
	struct to_checks checks = {};
	struct to_plan *plan = NULL;
	int server = 0, ret;

	if (args->client >= 0 && !path)
		return to_usage(call, "--for needs PLAN");
	if (path) {
		plan = to_plan_load_shared(path, &call->err);
		server = plan ? to_node_find(plan, path, args->node, &call->err) : -EINVAL;
	}
	ret = server < 0 || to_server_check(&checks, plan, path, server, args->dev, &call->err) ?
	      TO_EXIT_UNKNOWN : TO_EXIT_OK;
	if (!ret)
		to_check_add(&checks, TO_CHECK_OK, "version", "toctl", NULL, "version %s",
			     call->program->version);
	if (!ret && args->client >= 0)
		to_client_check_server(&checks, plan, server, args->dev, args->client);
	if (!ret)
		to_checks_print(stdout, call, &checks);
	if (!ret && to_checks_failed(&checks))
		ret = TO_EXIT_FAILURE;
	to_checks_free(&checks);
	to_plan_free(plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct doctor_args, field)

static const struct to_option doctor_options[] = {
	{ "for", 0, TO_OPTION_CHOICE, FIELD(client), .argument = "CLIENT",
	  .choices = to_env_clients, .help = "check what this client of a job needs, too" },
	{ "node", 0, TO_OPTION_STRING, FIELD(node), .argument = "NAME",
	  .help = "name of this server in the plan; default: the host name" },
	{ "dev", 0, TO_OPTION_STRING, FIELD(dev), .argument = "DEV",
	  .help = "topoopt device; default: topo0" },
	{}
};

const struct to_command to_cmd_doctor = {
	.name = "doctor",
	.summary = "Find out why this server's part does not work",
	.operands = "[PLAN]",
	.max_operands = 1,
	.options = doctor_options,
	.args_size = sizeof(struct doctor_args),
	.defaults = &(const struct doctor_args){ .dev = "topo0", .client = -1 },
	.run = doctor_run,
};
