// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "checks.h"
#include "fabric_options.h"
#include "format/cluster_json.h"
#include "inventories.h"
#include "plan/cabling.h"

struct init_args {
	const char *ports, *command, *output, *prefix;
	uint64_t bandwidth, timeout_ns;
	bool up, offline;
	struct to_etcd_options etcd;
};

/**
 * struct init - what the words say
 * @names: of all interfaces of a server, with commas between them
 */
struct init {
	struct to_discovery_port ports[TO_PORTS_MAX];
	unsigned int n_ports;
	struct to_discovery_options options;
	struct to_inventories all;
	char *names;
};

/* "eth0,eth1" or, with a second interface for RDMA, "eth0t:eth0,eth1t:eth1". */
static int init_read_ports(struct to_call *call, const char *text, struct init *init)
{
	char *save = NULL;

	init->names = strdup(text);
	if (!init->names)
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	for (char *word = strtok_r(init->names, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		struct to_discovery_port *port = &init->ports[init->n_ports];
		char *rdma = strchr(word, ':');

		if (init->n_ports == TO_PORTS_MAX)
			return to_usage(call, "--ports: a server has %u ports at most", TO_PORTS_MAX);
		if (rdma)
			*rdma++ = '\0';
		if (!to_json_is_name(word) || strlen(word) >= IFNAMSIZ ||
		    (rdma && (!to_json_is_name(rdma) || strlen(rdma) >= IFNAMSIZ)))
			return to_usage(call, "--ports: expected names of interfaces like eth0,eth1, not \"%.200s\"",
					text);
		for (unsigned int i = 0; i < init->n_ports; i++)
			if (!strcmp(init->ports[i].name, word))
				return to_usage(call, "--ports: %s is there twice", word);
		snprintf(port->name, sizeof(port->name), "%s", word);
		snprintf(port->rdma, sizeof(port->rdma), "%s", rdma ? rdma : "");
		init->n_ports++;
	}
	if (!init->n_ports)
		return to_usage(call, "--ports: no interface");
	strcpy(init->names, text);
	for (char *c = init->names; *c; c++)
		if (*c == ':')
			*c = ',';
	return 0;
}

static int init_read_servers(struct to_call *call, struct init *init)
{
	if (to_inventories_init(&init->all, call->n_operands - 1))
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < init->all.n; i++) {
		const char *name = call->operands[i + 1];

		if (!to_json_is_name(name))
			return to_usage(call, "expected the name of a server, not \"%s\"", name);
		for (unsigned int k = 0; k < i; k++)
			if (!strcmp(name, init->all.servers[k].name))
				return to_usage(call, "server %s is there twice", name);
		init->all.servers[i].name = name;
	}
	return 0;
}

/* Interfaces that nobody was asked for, with the MAC addresses of synthetic clusters. */
static int init_imagine(struct init *init, struct to_error *err)
{
	for (unsigned int s = 0; s < init->all.n; s++) {
		struct to_inventory *inventory = &init->all.servers[s].inventory;

		inventory->nics = calloc(2 * init->n_ports, sizeof(*inventory->nics));
		if (!inventory->nics)
			return to_error_set(err, -ENOMEM, "out of memory");
		for (unsigned int i = 0; i < 2 * init->n_ports; i++) {
			const struct to_discovery_port *port = &init->ports[i / 2];
			struct to_inventory_nic *nic = &inventory->nics[inventory->n_nics];

			if (i % 2 && !port->rdma[0])
				continue;
			snprintf(nic->name, sizeof(nic->name), "%s", i % 2 ? port->rdma : port->name);
			memcpy(nic->mac, (uint8_t[]){ 2, 0x54, 0x4f, inventory->n_nics++,
						      (s + 1) >> 8, s + 1 }, 6);
			nic->bandwidth = init->options.bandwidth ?: TO_SYNTHETIC_BANDWIDTH;
		}
	}
	return 0;
}

static int init_write(FILE *out, const void *data, struct to_error *err)
{
	(void)err;
	to_cluster_print_file(out, data);
	return 0;
}

static void init_print_cables(FILE *out, const struct to_cluster *c)
{
	fprintf(out, "%u servers with %u ports each, %u cables:\n", c->n_servers,
		c->servers[0].n_ports, c->n_links);
	for (unsigned int i = 0; i < c->n_links; i++) {
		const struct to_link *l = &c->links[i];

		fprintf(out, "%s %s -- %s %s\n", c->servers[l->a.server].name,
			c->servers[l->a.server].ports[l->a.port].name,
			c->servers[l->b.server].ports[l->b.port].name,
			c->servers[l->b.server].name);
	}
}

static void init_print_json(const struct to_cluster *c)
{
	json_t *links = json_array(), *object;

	for (unsigned int i = 0; i < c->n_links; i++) {
		const struct to_link *l = &c->links[i];

		json_array_append_new(links, json_pack("{s:o, s:o}",
			"a", json_sprintf("%s:%s", c->servers[l->a.server].name,
					  c->servers[l->a.server].ports[l->a.port].name),
			"b", json_sprintf("%s:%s", c->servers[l->b.server].name,
					  c->servers[l->b.server].ports[l->b.port].name)));
	}
	object = json_pack("{s:i, s:i, s:o}", "servers", c->n_servers, "ports",
			   c->servers[0].n_ports, "links", links);
	json_dumpf(object, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(object);
}

static int init_cluster(struct to_call *call, const struct init_args *args, struct init *init)
{
	const struct to_inventories_question question = {
		.command = args->command, .etcd = &args->etcd, .timeout_ns = args->timeout_ns,
		.ports = init->names, .up = args->up,
	};
	FILE *out = strcmp(args->output, "-") ? stdout : stderr;
	struct to_checks checks = {};
	struct to_cluster *cluster = NULL;
	int ret;

	ret = args->offline ? init_imagine(init, &call->err) :
			      to_inventories_ask(&init->all, &question, &call->err);
	if (!ret) {
		cluster = to_discovery_named(init->all.servers, init->all.n, init->ports,
					     init->n_ports, &init->options, &checks, &call->err);
		ret = cluster ? to_cabling_make(cluster, call->operands[0], &call->err) : -EINVAL;
	}
	for (unsigned int i = 0; !ret && i < checks.n; i++)
		fprintf(stderr, "toctl init: warning: %s: %s; %s\n", checks.items[i].subject,
			checks.items[i].text, checks.items[i].fix);
	if (!ret)
		ret = to_file_write(args->output, init_write, cluster, &call->err);
	if (!ret && call->json)
		init_print_json(cluster);
	else if (!ret)
		init_print_cables(out, cluster);
	to_checks_free(&checks);
	to_cluster_free(cluster);
	return ret;
}

static int init_run(struct to_call *call, const void *data)
{
	const struct init_args *args = data;
	struct init init = { .options.bandwidth = args->bandwidth };
	int ret = 0;

	if (call->json && !strcmp(args->output, "-"))
		return to_usage(call, "the cluster and its cables cannot both go to standard output: give -o");
	if (args->offline && args->up)
		return to_usage(call, "--offline asks no server, --up changes all");
	if (args->prefix && to_discovery_prefix(args->prefix, &init.options))
		return to_usage(call, "--prefix: expected an IPv4 prefix of 8 to 28 bits like 10.210.0.0/16, not \"%s\"",
				args->prefix);
	ret = init_read_ports(call, args->ports, &init);
	ret = ret ? ret : init_read_servers(call, &init);
	/* before --up changes any of them */
	ret = ret ? ret : to_cabling_check(call->operands[0], init.all.n, init.n_ports, &call->err);
	ret = ret ? ret : init_cluster(call, args, &init);
	to_inventories_free(&init.all);
	free(init.names);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct init_args, field)

static const struct to_option init_options[] = {
	{ "ports", 'p', TO_OPTION_STRING, FIELD(ports), .required = true, .argument = "NAMES",
	  .help = "interfaces that are the ports of each server, eth0,eth1; one that relays for another with RDMA: eth0t:eth0" },
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "where to write cluster.json; default: standard output" },
	TO_KEY("agents.discover", offsetof(struct init_args, command)),
	TO_ETCD_KEYS(struct init_args, etcd),
	{ "offline", 0, TO_OPTION_FLAG, FIELD(offline),
	  .help = "ask no server: made-up MAC addresses, good for plans only" },
	{ "up", 'u', TO_OPTION_FLAG, FIELD(up), .help = "set the ports up that are down" },
	{ "prefix", 0, TO_OPTION_STRING, FIELD(prefix), .argument = "PREFIX",
	  .help = "of the IPv4 addresses to give, 10.210.0.0/16; default: 10.200.0.1 and so on" },
	{ "bandwidth", 'b', TO_OPTION_RATE, FIELD(bandwidth), .argument = "RATE", .min = 1,
	  .max = INT64_MAX, .help = "of ports whose driver does not say, bits/s; default: 100G" },
	TO_KEY("agents.timeout", offsetof(struct init_args, timeout_ns)),
	{}
};

const struct to_command to_cmd_init = {
	.name = "init",
	.summary = "Write cluster.json, and list the cables to plug",
	.operands = "TOPOLOGY SERVER SERVER...",
	.min_operands = 3,
	.max_operands = UINT_MAX,
	.options = init_options,
	.args_size = sizeof(struct init_args),
	.defaults = &(const struct init_args){ .command = TO_INVENTORY_COMMAND, .output = "-",
					       .timeout_ns = 30000000000 },
	.run = init_run,
};
