// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "cli/command.h"
#include "control/etcd_key.h"
#include "control/fabric_conf.h"
#include "doctor/etcd_check.h"
#include "fabric_options.h"
#include "format/plan_json.h"

struct check_args {
	struct to_fabric_options fabric;
};

/* One run of the command. */
struct check {
	struct to_call *call;
	const struct check_args *args;
	struct to_checks checks;
	bool unreached;		/* etcd, or a server, did not answer */
};

/* Return: whether what the file says can be used. */
static bool check_files(struct check *c)
{
	const struct to_fabric_conf *conf = c->call->configuration;
	struct to_error why = {};

	to_check_add(&c->checks, TO_CHECK_OK, "found", conf->path ? conf->path : "no file", NULL,
		     "%s", conf->path ? conf->found_by : "all keys have their defaults");
	if (to_fabric_conf_check_files(conf, &why))
		to_check_add(&c->checks, TO_CHECK_FAIL, "files", "etcd", NULL, "%.190s", why.text);
	if (!strcmp(to_fabric_conf_text(conf, TO_FABRIC_CONF_STATE), "etcd") &&
	    !c->args->fabric.etcd.endpoints)
		to_check_add(&c->checks, TO_CHECK_FAIL, "state", "shards", "set etcd.endpoints",
			     "is in etcd, but nothing says where etcd is");
	return !to_checks_failed(&c->checks);
}

static void check_etcd(struct check *c)
{
	struct to_etcd_options options = c->args->fabric.etcd;

	if (!options.endpoints)
		return;
	options.role = TO_ETCD_CONTROLLER;
	c->unreached |= !to_etcd_check(&c->checks, &options);
	if (!c->unreached)
		to_etcd_check_user(&c->checks, &options);
}

static int check_servers(struct check *c, const struct to_plan *plan)
{
	struct to_fabric_options options = c->args->fabric;
	json_t **replies = calloc(plan->cluster->n_servers, sizeof(*replies));
	const struct to_fabric_server *servers;
	struct to_error why = {};
	struct to_fabric *fabric;
	int ret;

	options.observe = true;
	if (!replies)
		return to_error_set(&c->call->err, -ENOMEM, "out of memory");
	fabric = to_fabric_open(plan, &options, &why);
	ret = fabric ? to_fabric_look(fabric, replies, &why) : -EIO;
	servers = fabric ? to_fabric_servers(fabric) : NULL;
	for (uint32_t i = 0; !ret && i < plan->cluster->n_servers; i++) {
		c->unreached |= !replies[i];
		to_check_add(&c->checks, replies[i] ? TO_CHECK_OK : TO_CHECK_FAIL, "agent",
			     servers[i].name, NULL, "%.190s",
			     replies[i] ? "answers" : servers[i].error);
		json_decref(replies[i]);
	}
	to_fabric_close(fabric);
	free(replies);
	if (ret) {
		c->unreached = true;
		to_check_add(&c->checks, TO_CHECK_FAIL, "agents", "all servers", NULL, "%.190s",
			     why.text);
	}
	return 0;
}

static int check_run(struct to_call *call, const void *args)
{
	struct check c = { .call = call, .args = args };
	int ret = 0;

	if (check_files(&c))
		check_etcd(&c);
	if (call->n_operands && !c.unreached) {
		struct to_plan *plan = to_plan_load_shared(call->operands[0], &call->err);

		ret = plan ? check_servers(&c, plan) : -EINVAL;
		to_plan_free(plan);
	}
	if (!ret) {
		to_checks_print(stdout, call, &c.checks);
		ret = c.unreached ? TO_EXIT_UNKNOWN :
		      to_checks_failed(&c.checks) ? TO_EXIT_FAILURE : TO_EXIT_OK;
	}
	to_checks_free(&c.checks);
	return ret;
}

static const struct to_option check_options[] = {
	TO_FABRIC_KEYS(struct check_args, fabric),
	{}
};

const struct to_command to_cmd_fabric_check = {
	.name = "fabric check",
	.summary = "Check that etcd and the servers of a plan answer",
	.operands = "[PLAN]",
	.max_operands = 1,
	.options = check_options,
	.args_size = sizeof(struct check_args),
	.defaults = &(const struct check_args){ .fabric = TO_FABRIC_DEFAULTS },
	.run = check_run,
};
