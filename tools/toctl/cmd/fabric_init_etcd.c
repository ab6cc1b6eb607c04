// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <jansson.h>

#include "base/json.h"
#include "checks.h"
#include "control/etcd_users.h"
#include "doctor/etcd_check.h"
#include "fabric_options.h"
#include "format/cluster_json.h"

struct init_args {
	const char *directory;
	struct to_etcd_options etcd;
};

/* Remove what is well: the command is about users. */
static void init_keep_findings(struct to_checks *checks)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < checks->n; i++)
		if (checks->items[i].verdict != TO_CHECK_OK)
			checks->items[n++] = checks->items[i];
	checks->n = n;
}

static void init_report(const struct to_call *call, const struct to_etcd_users *users,
			const char *directory, const struct to_checks *checks)
{
	json_t *out;

	if (!call->json) {
		printf("%u users, %u of them new, with their passwords in %s; etcd asks for %s\n",
		       users->users, users->made, directory,
		       users->enabled ? "them from now on" : "them");
		to_checks_print(stdout, call, checks);
		return;
	}
	out = json_pack("{s:i, s:i, s:b, s:o}", "users", users->users, "new", users->made,
			"enabled", users->enabled, "checks", to_checks_json(checks));
	to_json_write(out, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(out);
}

static int init_run(struct to_call *call, const void *data)
{
	const struct init_args *args = data;
	struct to_checks checks = {};
	struct to_etcd_users users;
	struct to_cluster *cluster;
	int ret;

	cluster = to_cluster_load_shared(call->operands[0], &call->err);
	if (!cluster)
		return -EINVAL;
	ret = to_etcd_users_init(&args->etcd, cluster, args->directory, &users, &call->err);
	to_cluster_free(cluster);
	if (ret)
		return ret;
	to_etcd_check(&checks, &args->etcd);
	init_keep_findings(&checks);
	init_report(call, &users, args->directory, &checks);
	ret = to_checks_failed(&checks) ? TO_EXIT_FAILURE : TO_EXIT_OK;
	to_checks_free(&checks);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct init_args, field)

static const struct to_option init_options[] = {
	TO_ETCD_KEYS(struct init_args, etcd),
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(directory), true, "DIR",
	  .help = "directory for the password files, created if missing" },
	{}
};

const struct to_command to_cmd_fabric_init_etcd = {
	.name = "fabric init-etcd",
	.summary = "Give a cluster's agents and controllers users of etcd",
	.operands = "CLUSTER",
	.min_operands = 1,
	.max_operands = 1,
	.options = init_options,
	.args_size = sizeof(struct init_args),
	.run = init_run,
};
