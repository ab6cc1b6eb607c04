// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "agent.h"
#include "command.h"

struct agent_args {
	const char *dev;
	bool stdio;
};

static int agent_run(struct to_call *call, const void *data)
{
	const struct agent_args *args = data;
	struct to_agent *agent;
	int ret;

	if (!args->stdio)
		return to_usage(call, "--stdio expected");
	agent = to_agent_new(args->dev, &call->err);
	if (!agent)
		return -EINVAL;
	ret = to_agent_serve(agent, stdin, stdout, &call->err);
	to_agent_free(agent);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct agent_args, field)

static const struct to_option agent_options[] = {
	{ "stdio", 0, TO_OPTION_FLAG, FIELD(stdio),
	  .help = "take requests from standard input, a JSON object a line" },
	{ "dev", 'd', TO_OPTION_STRING, FIELD(dev), .argument = "DEV",
	  .help = "topoopt device, made when there is none; default: topo0" },
	{}
};

const struct to_command to_cmd_agent = {
	.name = "agent",
	.summary = "Do on this server what a controller tells it",
	.description =
		"toctl apply --all and toctl run start one on every server and speak to it.\n"
		"It stages, commits and reverts this server's part of a plan and counts its\n"
		"traffic. When its controller goes away before a plan is confirmed, it goes\n"
		"back to what was active before.",
	.options = agent_options,
	.args_size = sizeof(struct agent_args),
	.defaults = &(const struct agent_args){ .dev = "topo0" },
	.run = agent_run,
};
