// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "checks.h"
#include "doctor/discovery.h"
#include "fabric_options.h"
#include "format/cluster_json.h"
#include "inventories.h"

struct discover_args {
	const char *ports, *ask, *command, *output, *cluster, *prefix;
	uint64_t bandwidth, timeout_ns;
	bool up;
	struct to_etcd_options etcd;
};

/**
 * struct discover - all servers of a fabric
 * @ports: patterns for each of them, NULL for the usual ones
 * @ask: addresses to ask for, with commas between them, NULL: only look
 */
struct discover {
	const struct discover_args *args;
	struct to_inventories all;
	const char *ports;
	char *ask;
};

static int discover_servers(const struct discover *d, struct to_error *err)
{
	const struct to_inventories_question question = {
		.command = d->args->command, .etcd = &d->args->etcd,
		.timeout_ns = d->args->timeout_ns,
		.ports = d->ports, .ask = d->ask, .up = d->args->up,
	};

	return to_inventories_ask(&d->all, &question, err);
}

/* Look at all, then have all ask for each other. */
static int discover_all(struct discover *d, struct to_error *err)
{
	struct in_addr *targets = calloc(d->all.n, sizeof(*targets));
	int ret = targets ? discover_servers(d, err) : -ENOMEM;

	if (!ret)
		ret = to_discovery_targets(d->all.servers, d->all.n, targets, err);
	if (!ret) {
		d->ask = calloc(d->all.n, INET_ADDRSTRLEN + 1);
		ret = d->ask ? 0 : -ENOMEM;
	}
	for (unsigned int i = 0; !ret && i < d->all.n; i++) {
		char *end = d->ask + strlen(d->ask);

		if (i)
			*end++ = ',';
		inet_ntop(AF_INET, &targets[i], end, INET_ADDRSTRLEN);
	}
	if (!ret)
		ret = discover_servers(d, err);
	free(targets);
	return ret;
}

static int discover_write(FILE *out, const void *data, struct to_error *err)
{
	(void)err;
	to_cluster_print_file(out, data);
	return 0;
}

static int discover_fabric(struct to_call *call, struct discover *d,
			   const struct to_cluster *expected)
{
	const struct discover_args *args = d->args;
	struct to_discovery_options options = { .bandwidth = args->bandwidth };
	FILE *out = strcmp(args->output, "-") || expected ? stdout : stderr;
	struct to_cluster *cluster = NULL;
	struct to_checks checks = {};
	int ret;

	if (args->prefix && to_discovery_prefix(args->prefix, &options))
		return to_usage(call, "--prefix: expected an IPv4 prefix of 8 to 28 bits like 10.210.0.0/16, not \"%s\"",
				args->prefix);
	ret = discover_all(d, &call->err);
	if (!ret && expected) {
		to_discovery_compare(d->all.servers, expected, &checks);
	} else if (!ret) {
		cluster = to_discovery_cluster(d->all.servers, d->all.n, &options, &checks, &call->err);
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

/* The names of all ports of @cluster, and of what they transmit through. */
static char *discover_port_names(const struct to_cluster *cluster)
{
	size_t len = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	for (unsigned int s = 0; out && s < cluster->n_servers; s++)
		for (unsigned int p = 0; p < cluster->servers[s].n_ports; p++)
			fprintf(out, "%s%s,%s", s || p ? "," : "", cluster->servers[s].ports[p].name,
				to_port_rdma(&cluster->servers[s].ports[p]));
	if (out && fclose(out)) {
		free(text);
		text = NULL;
	}
	return text;
}

static int discover_fabric_run(struct to_call *call, const struct discover_args *args)
{
	struct to_cluster *expected = NULL;
	struct discover d = { .args = args, .ports = args->ports };
	unsigned int n = call->n_operands;
	char *names = NULL;
	int ret = 0;

	if (args->cluster) {
		expected = to_cluster_load_shared(args->cluster, &call->err);
		if (!expected)
			return -EINVAL;
		names = discover_port_names(expected);
		d.ports = names;
		n = expected->n_servers;
	}
	if (to_inventories_init(&d.all, n) || (expected && !names))
		ret = to_error_set(&call->err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; !ret && i < d.all.n; i++)
		d.all.servers[i].name = expected ? expected->servers[i].name : call->operands[i];
	ret = ret ? ret : discover_fabric(call, &d, expected);
	to_inventories_free(&d.all);
	free(d.ask);
	free(names);
	to_cluster_free(expected);
	return ret;
}

static void discover_print(const struct to_inventory *inventory)
{
	if (!inventory->n_nics)
		printf("no interface could be a port\n");
	for (unsigned int i = 0; i < inventory->n_nics; i++) {
		const struct to_inventory_nic *nic = &inventory->nics[i];
		char speed[24] = "-";

		if (nic->bandwidth)
			snprintf(speed, sizeof(speed), "%lluG",
				 (unsigned long long)nic->bandwidth / 1000000000);
		printf("%-15s %02x:%02x:%02x:%02x:%02x:%02x %6s  %-8s mtu %u%s%s%s%s\n", nic->name,
		       nic->mac[0], nic->mac[1], nic->mac[2], nic->mac[3], nic->mac[4], nic->mac[5],
		       speed, !nic->up ? "down" : nic->carrier ? "light" : "no light", nic->mtu,
		       nic->rdma[0] ? "  " : "", nic->rdma, nic->not_a_port[0] ? "  no port: " : "",
		       nic->not_a_port);
		if (nic->lldp[0])
			printf("    %s (LLDP)\n", nic->lldp);
		for (unsigned int k = 0; k < nic->n_answers; k++) {
			const struct to_answer *answer = &nic->answers[k];
			char address[INET_ADDRSTRLEN];

			printf("    %s, %02x:%02x:%02x:%02x:%02x:%02x\n",
			       answer->address.s_addr ?
			       inet_ntop(AF_INET, &answer->address, address, sizeof(address)) :
			       "only heard",
			       answer->mac[0], answer->mac[1], answer->mac[2], answer->mac[3],
			       answer->mac[4], answer->mac[5]);
		}
	}
}

static int discover_run(struct to_call *call, const void *data)
{
	const struct discover_args *args = data;
	struct to_inventory inventory;
	int ret;

	if (args->ports && !to_inventories_is_plain(args->ports))
		return to_usage(call, "--ports: expected patterns of interface names like eth*,mlx0, not \"%s\"",
				args->ports);
	if (args->cluster && (call->n_operands || args->ports))
		return to_usage(call, "--cluster names the servers and their ports");
	for (unsigned int i = 0; i < call->n_operands; i++)
		if (!to_json_is_name(call->operands[i]))
			return to_usage(call, "expected the name of a server, not \"%s\"", call->operands[i]);
	if (call->n_operands == 1)
		return to_usage(call, "a fabric has two servers or more");
	if (call->json && call->n_operands && !strcmp(args->output, "-"))
		return to_usage(call, "the cluster and what was found cannot both go to standard output: give -o");
	if (call->n_operands || args->cluster)
		return discover_fabric_run(call, args);
	ret = to_inventories_take(&inventory, args->ports, args->ask, args->up, &call->err);
	if (ret)
		return ret;
	if (call->json)
		ret = to_inventory_print(stdout, &inventory);
	else
		discover_print(&inventory);
	to_inventory_free(&inventory);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct discover_args, field)

static const struct to_option discover_options[] = {
	{ "ports", 'p', TO_OPTION_STRING, FIELD(ports), .argument = "PATTERNS",
	  .help = "interfaces that could be ports, such as eth*,mlx0; default: NICs without an IPv4 address" },
	{ "up", 'u', TO_OPTION_FLAG, FIELD(up), .help = "set those up that are down" },
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "where to write cluster.json; default: standard output" },
	{ "cluster", 0, TO_OPTION_STRING, FIELD(cluster), .argument = "FILE",
	  .help = "compare the cables with this cluster.json instead" },
	TO_KEY("agents.discover", offsetof(struct discover_args, command)),
	TO_ETCD_KEYS(struct discover_args, etcd),
	{ "prefix", 0, TO_OPTION_STRING, FIELD(prefix), .argument = "PREFIX",
	  .help = "of the IPv4 addresses to give, 10.210.0.0/16; default: 10.200.0.1 and so on" },
	{ "bandwidth", 'b', TO_OPTION_RATE, FIELD(bandwidth), .argument = "RATE", .min = 1,
	  .max = INT64_MAX, .help = "of ports whose driver does not say, bits/s; default: 100G" },
	TO_KEY("agents.timeout", offsetof(struct discover_args, timeout_ns)),
	{ "ask", 0, TO_OPTION_STRING, FIELD(ask), .argument = "ADDRESSES",
	  .help = "on this server: ask through each port who has these IPv4 addresses" },
	{}
};

const struct to_command to_cmd_discover = {
	.name = "discover",
	.summary = "Find ports and cables, and write cluster.json",
	.operands = "[SERVER...]",
	.max_operands = UINT_MAX,
	.options = discover_options,
	.args_size = sizeof(struct discover_args),
	.defaults = &(const struct discover_args){ .command = TO_INVENTORY_COMMAND, .output = "-",
						   .timeout_ns = 30000000000 },
	.run = discover_run,
};
