// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "checks.h"
#include "cli/command.h"
#include "doctor/doctors.h"
#include "doctor/server_check.h"
#include "fabric_options.h"
#include "format/plan_json.h"
#include "job/client_check.h"
#include "node.h"

#define DEFAULT_DEV "topo0"

struct doctor_args {
	const char *node, *dev;
	int client;	/* enum to_env_client, -1 for none */
	bool all, load;
	uint64_t rate;	/* bits/s, 0: as planned */
	struct to_fabric_options fabric;
};

/* ---- all servers ---- */

static void doctor_print_server(const struct to_doctors_server *s)
{
	unsigned int ok = 0;

	if (s->error[0]) {
		printf("FAIL %s: agent: %s\n", s->name, s->error);
		return;
	}
	for (unsigned int i = 0; i < s->checks.n; i++)
		ok += s->checks.items[i].verdict == TO_CHECK_OK;
	printf("%s: %u of %u checks ok\n", s->name, ok, s->checks.n);
	for (unsigned int i = 0; i < s->checks.n; i++) {
		const struct to_check *c = &s->checks.items[i];

		if (c->verdict == TO_CHECK_OK)
			continue;
		printf("%-4s %s: %s: %s: %s\n", to_verdict_names[c->verdict], s->name, c->subject,
		       c->name, c->text);
		if (c->fix[0])
			printf("     fix: %s\n", c->fix);
	}
}

static void doctor_print_cable(const struct to_cluster *c, const struct to_doctors_cable *cable)
{
	const struct to_server *from = &c->servers[cable->from.server];
	const struct to_server *to = &c->servers[cable->to.server];

	printf("%-4s %s:%s to %s:%s: load: ", to_verdict_names[cable->verdict], from->name,
	       from->ports[cable->from.port].name, to->name, to->ports[cable->to.port].name);
	if (cable->alone > 0)
		printf("%.3g Gbit/s, %.3g while both ends send, of %.3g", cable->alone / 1e9,
		       cable->both / 1e9, cable->rate / 1e9);
	printf("%s%s\n", cable->alone > 0 && cable->text[0] ? ": " : "", cable->text);
}

static void doctor_print_all(const struct to_call *call, const struct to_doctors *d)
{
	const struct to_cluster *c = d->plan->cluster;

	if (call->json) {
		json_t *object = to_doctors_json(d);

		to_json_write(object, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(object);
		return;
	}
	for (unsigned int i = 0; i < c->n_servers; i++)
		doctor_print_server(&d->servers[i]);
	for (unsigned int i = 0; i < d->n_cables; i++)
		doctor_print_cable(c, &d->cables[i]);
}

/* Only a controller may load cables: its lock keeps others from measuring meanwhile. */
static int doctor_all(struct to_call *call, const struct doctor_args *args, const char *path)
{
	struct to_plan *plan = to_plan_load_shared(path, &call->err);
	struct to_fabric_options options = args->fabric;
	struct to_doctors doctors = {};
	struct to_fabric *fabric;
	int ret = TO_EXIT_UNKNOWN;

	options.note = to_note;
	options.observe = !args->load;
	fabric = plan ? to_fabric_open(plan, &options, &call->err) : NULL;
	if (fabric && !to_doctors_look(&doctors, plan, fabric, &call->err) &&
	    !(args->load && to_doctors_load(&doctors, fabric, args->rate, &call->err))) {
		doctor_print_all(call, &doctors);
		ret = to_doctors_failed(&doctors) ? TO_EXIT_FAILURE : TO_EXIT_OK;
	}
	to_doctors_free(&doctors);
	to_fabric_close(fabric);
	to_plan_free(plan);
	return ret;
}

/* ---- this server ---- */

static int doctor_usage(struct to_call *call, const struct doctor_args *args)
{
	if (args->all && (args->node || args->client >= 0 || strcmp(args->dev, DEFAULT_DEV)))
		return to_usage(call, "--all cannot be combined with --for, --node or --dev");
	if (args->all && !call->n_operands)
		return to_usage(call, "--all needs PLAN");
	if (args->load && !args->all)
		return to_usage(call, "--load needs --all: both ends of a cable take part");
	if (args->rate && !args->load)
		return to_usage(call, "--rate needs --load");
	if (args->client >= 0 && !call->n_operands)
		return to_usage(call, "--for needs PLAN");
	return 0;
}

static int doctor_run(struct to_call *call, const void *data)
{
	const char *path = call->n_operands ? call->operands[0] : NULL;
	const struct doctor_args *args = data;
	struct to_checks checks = {};
	struct to_plan *plan = NULL;
	int server = 0, ret = doctor_usage(call, args);

	if (ret || args->all)
		return ret ? ret : doctor_all(call, args, path);
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
	{ "all", 'a', TO_OPTION_FLAG, FIELD(all), .help = "check all servers of the plan at once" },
	{ "load", 0, TO_OPTION_FLAG, FIELD(load),
	  .help = "load each cable one way, the other way, and both ways at once" },
	{ "rate", 0, TO_OPTION_RATE, FIELD(rate), .argument = "RATE", .min = 1, .max = INT64_MAX,
	  .help = "bits/s of --load each way; default: what the plan gives the slower port" },
	TO_FABRIC_KEYS(struct doctor_args, fabric),
	{}
};

const struct to_command to_cmd_doctor = {
	.name = "doctor",
	.summary = "Find out why a server or a cable does not work",
	.operands = "[PLAN]",
	.max_operands = 1,
	.options = doctor_options,
	.args_size = sizeof(struct doctor_args),
	.defaults = &(const struct doctor_args){ .dev = DEFAULT_DEV, .client = -1,
		.fabric = TO_FABRIC_DEFAULTS },
	.run = doctor_run,
};
