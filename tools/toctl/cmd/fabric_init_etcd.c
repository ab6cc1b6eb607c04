// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <jansson.h>

#include "base/json.h"
#include "control/etcd_users.h"
#include "fabric_options.h"
#include "format/cluster_json.h"

struct init_args {
	const char *directory;
	struct to_etcd_options etcd;
};

static void init_report(const struct to_call *call, const struct to_etcd_users *users,
			const char *directory)
{
	json_t *out;

	if (!call->json) {
		printf("%u users, %u of them new, with their passwords in %s; etcd asks for %s\n",
		       users->users, users->made, directory,
		       users->enabled ? "them from now on" : "them");
		return;
	}
	out = json_pack("{s:i, s:i, s:b}", "users", users->users, "new", users->made, "enabled",
			users->enabled);
	to_json_write(out, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(out);
}

static int init_run(struct to_call *call, const void *data)
{
	const struct init_args *args = data;
	struct to_etcd_users users;
	struct to_cluster *cluster;
	int ret;

	cluster = to_cluster_load_shared(call->operands[0], &call->err);
	if (!cluster)
		return -EINVAL;
	ret = to_etcd_users_init(&args->etcd, cluster, args->directory, &users, &call->err);
	to_cluster_free(cluster);
	if (!ret)
		init_report(call, &users, args->directory);
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
