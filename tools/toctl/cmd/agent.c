// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "control/agent.h"
#include "control/agent_etcd.h"
#include "control/note_limit.h"
#include "counter_options.h"
#include "doctor/cable_load.h"
#include "doctor/doctors.h"
#include "doctor/inventories.h"
#include "fabric_options.h"

struct agent_args {
	const char *dev, *node;
	bool stdio;
	uint64_t lease_ns;
	struct to_etcd_options etcd;
	const char *counters;
};

static volatile sig_atomic_t agent_stop;

static void agent_signal(int number)
{
	(void)number;
	agent_stop = 1;
}

/* Without SA_RESTART a signal ends reading and waiting. */
static void agent_catch(int number)
{
	const struct sigaction action = { .sa_handler = agent_signal };

	sigaction(number, &action, NULL);
}

static json_t *agent_request(void *agent, const json_t *request)
{
	const char *op = json_string_value(json_object_get(request, "op"));

	if (op && !strcmp(op, "inventory"))
		return to_inventories_answer(request);
	if (op && !strcmp(op, "doctor"))
		return to_doctors_answer(agent, request);
	if (op && !strcmp(op, "load"))
		return to_cable_load_answer(request);
	return to_agent_call(agent, request);
}

/* Have an agent of etcd tell of changes. */
static void agent_wake(struct to_keeper *keeper, void *wake)
{
	const uint64_t one = 1;

	(void)keeper;
	/* it fails only when the follower is woken already */
	if (write(*(int *)wake, &one, sizeof(one)) < 0)
		errno = 0;
}

/* Tell of what is restored, and what is not as planned. */
static void agent_note_kept(const char *text)
{
	static struct to_note_limit limit;

	to_note_limit_note(&limit, "this server", text, to_note);
}

/* Serve at a pipe. Signals that the parent process ignores stay ignored. */
static int agent_serve(struct to_call *call, struct to_agent *agent)
{
	static const int ends[] = { SIGHUP, SIGINT, SIGTERM, SIGPIPE };
	struct sigaction old;

	for (unsigned int i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!sigaction(ends[i], NULL, &old) && old.sa_handler != SIG_IGN)
			agent_catch(ends[i]);
	return to_agent_serve(agent, agent_request, stdin, stdout, &agent_stop, &call->err);
}

/* Warn of etcd or of decisions, which come from elsewhere. */
static void agent_note(const char *text)
{
	static struct to_note_limit limit;

	to_note_limit_note(&limit, "etcd", text, to_note);
}

static int agent_follow(struct to_call *call, const struct agent_args *args,
			struct to_agent *agent, int wake)
{
	char host[256] = "";
	const struct to_agent_etcd config = {
		.options = args->etcd, .server = args->node ? args->node : host,
		.ttl = args->lease_ns / 1000000000, .call = agent_request, .agent = agent,
		.stop = &agent_stop, .note = agent_note, .wake = wake,
	};

	gethostname(host, sizeof(host) - 1);
	agent_catch(SIGTERM);
	agent_catch(SIGINT);
	return to_agent_follow(&config, &call->err);
}

static int agent_work(struct to_call *call, const struct agent_args *args, struct to_agent *agent,
		      int wake)
{
	const struct to_keeper_config config = {
		.device = args->dev, .node = args->node, .applied = !args->stdio,
		.note = agent_note_kept, .changed = args->stdio ? NULL : agent_wake, .arg = &wake,
	};
	struct to_keeper *keeper = to_keeper_start(&config, &call->err);
	int ret;

	if (!keeper)
		return -EIO;
	to_agent_keep(agent, keeper);
	ret = args->stdio ? agent_serve(call, agent) : agent_follow(call, args, agent, wake);
	to_agent_keep(agent, NULL);
	to_keeper_stop(keeper);
	return ret;
}

static int agent_run(struct to_call *call, const void *data)
{
	const struct agent_args *args = data;
	struct to_counter_names names;
	struct to_agent *agent;
	int ret, wake;

	if (!args->stdio && !args->etcd.endpoints)
		return to_usage(call, "--stdio, or etcd.endpoints in fabric.conf expected");
	ret = to_counter_options_parse(call, args->counters, &names);
	if (ret)
		return ret;
	wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake < 0)
		return to_error_set(&call->err, -errno, "eventfd: %s", strerror(errno));
	agent = to_agent_new(args->dev, args->counters ? &names : NULL, &call->err);
	ret = agent ? agent_work(call, args, agent, wake) : -EINVAL;
	to_agent_free(agent);
	close(wake);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct agent_args, field)

static const struct to_option agent_options[] = {
	{ "stdio", 0, TO_OPTION_FLAG, FIELD(stdio),
	  .help = "take requests from standard input, a JSON object per line" },
	TO_ETCD_KEYS(struct agent_args, etcd),
	{ "node", 0, TO_OPTION_STRING, FIELD(node), .argument = "NAME",
	  .help = "name of this server in etcd and plans; default: the host name" },
	{ "lease", 0, TO_OPTION_DURATION, FIELD(lease_ns), .argument = "TIME",
	  .min = 1000000000, .max = 3600000000000,
	  .help = "time until a silent agent counts as dead; default: 10s" },
	{ "dev", 0, TO_OPTION_STRING, FIELD(dev), .argument = "DEV",
	  .help = "topoopt device, created if missing; default: topo0" },
	TO_COUNTER_OPTIONS(struct agent_args, counters),
	{}
};

const struct to_command to_cmd_agent = {
	.name = "agent",
	.summary = "Carry out what a controller decides",
	.options = agent_options,
	.args_size = sizeof(struct agent_args),
	.defaults = &(const struct agent_args){ .dev = "topo0", .lease_ns = 10000000000 },
	.run = agent_run,
};
