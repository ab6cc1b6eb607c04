// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "checks.h"
#include "doctor/inventories.h"
#include "fabric_options.h"
#include "format/cluster_json.h"

struct discover_args {
	const char *ports, *output, *cluster, *prefix;
	uint64_t bandwidth;
	bool up;
	struct to_fabric_options fabric;
};

static int discover_write(FILE *out, const void *data, struct to_error *err)
{
	(void)err;
	to_cluster_print_file(out, data);
	return 0;
}

/* Put the servers' inventories together, and print what is wrong with the cables. */
static int discover_cables(struct to_call *call, const struct discover_args *args,
			   const struct to_inventories *all, const struct to_cluster *expected,
			   const struct to_discovery_options *options)
{
	FILE *out = strcmp(args->output, "-") || expected ? stdout : stderr;
	struct to_cluster *cluster = NULL;
	struct to_checks checks = {};
	int ret = 0;

	if (expected) {
		to_discovery_compare(all->servers, expected, &checks);
	} else {
		cluster = to_discovery_cluster(all->servers, all->n, options, &checks, &call->err);
		ret = cluster ? 0 : -ENOENT;
	}
	if (checks.n)
		to_checks_print(out, call, &checks);
	if (cluster)
		ret = to_file_write(args->output, discover_write, cluster, &call->err);
	if (!ret && to_checks_failed(&checks))
		ret = TO_EXIT_FAILURE;
	to_checks_free(&checks);
	to_cluster_free(cluster);
	return ret;
}

static int discover_fabric(struct to_call *call, const struct discover_args *args,
			   const char *const *names, unsigned int n, const char *ports,
			   const struct to_cluster *expected)
{
	const struct to_inventories_question question = {
		.fabric = &args->fabric, .ports = ports, .up = args->up,
	};
	struct to_discovery_options options = { .bandwidth = args->bandwidth };
	struct to_inventories all;
	int ret;

	if (args->prefix && to_addresses_prefix_parse(&options.prefix, args->prefix))
		return to_usage(call, "--prefix: expected an IPv4 prefix of 8 to 28 bits like 10.210.0.0/16, not \"%s\"",
				args->prefix);
	ret = to_inventories_init(&all, n, names, &call->err);
	if (ret) {
		to_inventories_free(&all);
		return ret;
	}
	ret = to_inventories_probe(&all, &question, &call->err);
	/* -ENOENT: all servers answered, and one has no address to ask for */
	if (ret < 0 && ret != -ENOENT)
		ret = TO_EXIT_UNKNOWN;
	if (!ret)
		ret = discover_cables(call, args, &all, expected, &options);
	to_inventories_free(&all);
	return ret;
}

/* Compare with a file, which names the servers and their ports. */
static int discover_compare(struct to_call *call, const struct discover_args *args)
{
	struct to_cluster *expected = to_cluster_load_shared(args->cluster, &call->err);
	const unsigned int n = expected ? expected->n_servers : 0;
	char *ports = expected ? to_discovery_ports_of(expected) : NULL;
	const char **names = calloc(n + 1, sizeof(*names));
	int ret = -EINVAL;

	for (unsigned int i = 0; names && i < n; i++)
		names[i] = expected->servers[i].name;
	if (expected)
		ret = names && ports ? discover_fabric(call, args, names, n, ports, expected) :
				       to_error_set(&call->err, -ENOMEM, "out of memory");
	free(names);
	free(ports);
	to_cluster_free(expected);
	return ret;
}

static int discover_here(struct to_call *call, const struct discover_args *args)
{
	struct to_inventory inventory;
	int ret = to_inventories_take(&inventory, args->ports, args->up, &call->err);

	if (ret)
		return ret;
	if (call->json)
		ret = to_inventory_print(stdout, &inventory);
	else
		to_inventory_print_text(stdout, &inventory);
	to_inventory_free(&inventory);
	return ret;
}

static int discover_run(struct to_call *call, const void *data)
{
	const struct discover_args *args = data;
	const unsigned int n = call->n_operands;

	if (args->cluster && (n || args->ports))
		return to_usage(call, "--cluster names the servers and their ports");
	for (unsigned int i = 0; i < n; i++)
		if (!to_inventories_is_target(call->operands[i]))
			return to_usage(call, "expected a server as HOST or USER@HOST, not \"%s\"", call->operands[i]);
	if (n == 1)
		return to_usage(call, "a fabric has two servers or more");
	if (call->json && n && !strcmp(args->output, "-"))
		return to_usage(call, "the cluster and what was found cannot both go to standard output: give -o");
	if (args->cluster)
		return discover_compare(call, args);
	return n ? discover_fabric(call, args, (const char *const *)call->operands, n, args->ports, NULL) :
		   discover_here(call, args);
}

#define FIELD(field) .offset = offsetof(struct discover_args, field)

static const struct to_option discover_options[] = {
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "where to write cluster.json; default: standard output" },
	{ "cluster", 'c', TO_OPTION_STRING, FIELD(cluster), .argument = "FILE",
	  .help = "compare the cables with this cluster.json" },
	{ "ports", 0, TO_OPTION_STRING, FIELD(ports), .argument = "PATTERNS",
	  .help = "interfaces that could be ports, as eth*,mlx0; default: NICs without IPv4" },
	{ "up", 0, TO_OPTION_FLAG, FIELD(up), .help = "set ports up that are down" },
	TO_FABRIC_KEYS(struct discover_args, fabric),
	{ "prefix", 0, TO_OPTION_STRING, FIELD(prefix), .argument = "PREFIX",
	  .help = "IPv4 prefix for the servers' addresses; default: 10.200.0.0/16" },
	{ "bandwidth", 'b', TO_OPTION_RATE, FIELD(bandwidth), .argument = "RATE", .min = 1,
	  .max = INT64_MAX, .help = "bits/s of ports whose driver names no speed; default: 100G" },
	{}
};

const struct to_command to_cmd_discover = {
	.name = "discover",
	.summary = "Find ports and cables, and write cluster.json",
	.operands = "[SERVER...]",
	.max_operands = UINT_MAX,
	.options = discover_options,
	.args_size = sizeof(struct discover_args),
	.defaults = &(const struct discover_args){ .output = "-", .fabric = {
		.command = TO_FABRIC_COMMAND, .timeout_ns = 30000000000 } },
	.run = discover_run,
};
