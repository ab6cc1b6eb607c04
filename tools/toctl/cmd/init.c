// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "data/machines.h"
#include "doctor/inventories.h"
#include "fabric_options.h"
#include "format/cluster_json.h"
#include "plan/cabling.h"

/* Over 200 lines: two ways to a cluster.json, from words and from another one. */

struct init_args {
	const char *ports, *output, *prefix, *renumber;
	uint64_t bandwidth;
	int machine;
	bool up, offline;
	struct to_fabric_options fabric;
};

#define INIT_NO_MACHINE (-1)

static int init_write(FILE *out, const void *data, struct to_error *err)
{
	(void)err;
	to_cluster_print_file(out, data);
	return 0;
}

static void init_print_cables(FILE *out, const struct to_cluster *c)
{
	const unsigned int functions = c->servers[0].n_ports / to_server_cables(&c->servers[0]);

	fprintf(out, "%u servers with %u ports each, %u cables:\n", c->n_servers,
		c->servers[0].n_ports, c->n_links / functions);
	/* functions that share a cable follow each other */
	for (unsigned int i = 0; i < c->n_links; i += functions) {
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
	to_json_write(object, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(object);
}

static int init_cluster(struct to_call *call, const struct init_args *args,
			const struct to_discovery_ports *ports, struct to_inventories *all,
			const struct to_discovery_options *options)
{
	const struct to_inventories_question question = {
		.fabric = &args->fabric, .ports = ports->names, .up = args->up,
	};
	struct to_checks checks = {};
	struct to_cluster *cluster;
	int ret = args->offline ?
		to_inventories_imagine(all, ports, args->bandwidth, &call->err) :
		to_inventories_look(all, &question, &call->err);

	if (ret)
		return args->offline ? ret : TO_EXIT_UNKNOWN;
	cluster = to_discovery_named(all->servers, all->n, ports->list, ports->n, options, &checks,
				     &call->err);
	if (cluster && args->machine != INIT_NO_MACHINE &&
	    to_machine_apply(to_machine_get(args->machine), cluster))
		ret = to_error_set(&call->err, -ENOMEM, "out of memory");
	else
		ret = cluster ? to_cabling_make(cluster, call->operands[0], &call->err) : -EINVAL;
	ret = ret ? ret : to_addresses_number(cluster, &options->prefix, &call->err);
	for (unsigned int i = 0; !ret && i < checks.n; i++)
		to_call_note(call, "%s: %s; %s", checks.items[i].subject, checks.items[i].text,
			     checks.items[i].fix);
	if (!ret)
		ret = to_file_write(args->output, init_write, cluster, &call->err);
	if (!ret && call->json)
		init_print_json(cluster);
	else if (!ret)
		init_print_cables(strcmp(args->output, "-") ? stdout : stderr, cluster);
	to_checks_free(&checks);
	to_cluster_free(cluster);
	return ret;
}

/* Refuse names that are none, or are there twice. */
static int init_check_servers(struct to_call *call)
{
	for (unsigned int i = 1; i < call->n_operands; i++) {
		const char *name = call->operands[i];

		if (!to_inventories_is_target(name))
			return to_usage(call, "expected a server as HOST or USER@HOST, not \"%s\"", name);
		for (unsigned int k = 1; k < i; k++)
			if (!strcmp(name, call->operands[k]))
				return to_usage(call, "server %s is there twice", name);
	}
	return 0;
}

/* Give the servers and ports of a file new addresses. */
static int init_renumber(struct to_call *call, const struct init_args *args,
			 const struct to_addresses_prefix *prefix)
{
	struct to_cluster *cluster = to_cluster_load_shared(args->renumber, &call->err);
	FILE *out = strcmp(args->output, "-") ? stdout : stderr;
	unsigned int links = 0;
	int ret;

	if (!cluster)
		return -EINVAL;
	for (unsigned int i = 0; i < cluster->n_links; i++)
		links += !to_link_is_shared(cluster, &cluster->links[i]);
	ret = cluster->n_switches ?
		to_error_set(&call->err, -EOPNOTSUPP, "%s: behind optical switches links move, and ports keep their addresses",
			     args->renumber) :
		!cluster->n_links && !cluster->n_packet_switches ?
		to_error_set(&call->err, -ENOENT, "%s: it has no links that subnets could tell apart",
			     args->renumber) :
		to_addresses_number(cluster, prefix, &call->err);
	if (!ret)
		ret = to_file_write(args->output, init_write, cluster, &call->err);
	if (!ret && call->json)
		init_print_json(cluster);
	else if (!ret)
		fprintf(out, "%u servers and %u links have new addresses: plan anew, then toctl apply --all\n",
			cluster->n_servers, links);
	to_cluster_free(cluster);
	return ret;
}

static int init_new(struct to_call *call, const struct init_args *args,
		    struct to_discovery_options *options)
{
	const unsigned int n = call->n_operands - 1;
	const struct to_machine *machine = args->machine == INIT_NO_MACHINE ? NULL :
					   to_machine_get(args->machine);
	struct to_discovery_ports ports;
	struct to_inventories all = {};
	struct to_error why;
	char names[256];
	int ret;

	if (call->n_operands < 3)
		return to_usage(call, "TOPOLOGY SERVER SERVER... expected");
	if (!args->ports == !machine)
		return to_usage(call, machine ? "--machine says what --ports would" :
				"--ports is required, or --machine");
	if (machine && args->bandwidth)
		return to_usage(call, "--machine says what --bandwidth would");
	if (machine) {
		to_machine_ports(machine, names, sizeof(names));
		options->bandwidth = machine->bandwidth;
	}
	if (args->offline && args->up)
		return to_usage(call, "--offline asks no server, --up changes all");
	ret = to_discovery_ports_parse(&ports, machine ? names : args->ports, &why) ?
	      to_usage(call, "--ports: %s", why.text) : init_check_servers(call);
	/* before --up changes a server */
	ret = ret ? ret : to_cabling_check(call->operands[0], n,
					   machine ? to_machine_cables(machine) : ports.n, &call->err);
	ret = ret ? ret : to_inventories_init(&all, n, (const char *const *)call->operands + 1,
					      &call->err);
	ret = ret ? ret : init_cluster(call, args, &ports, &all, options);
	to_inventories_free(&all);
	to_discovery_ports_free(&ports);
	return ret;
}

static int init_run(struct to_call *call, const void *data)
{
	const struct init_args *args = data;
	struct to_discovery_options options = { .bandwidth = args->bandwidth };

	if (call->json && !strcmp(args->output, "-"))
		return to_usage(call, "the cluster and its cables cannot both go to standard output: give -o");
	if (args->prefix && to_addresses_prefix_parse(&options.prefix, args->prefix))
		return to_usage(call, "--prefix: expected an IPv4 prefix of 8 to 28 bits like 10.210.0.0/16, not \"%s\"",
				args->prefix);
	if (!args->renumber)
		return init_new(call, args, &options);
	if (call->n_operands || args->ports || args->offline || args->up || args->bandwidth ||
	    args->machine != INIT_NO_MACHINE)
		return to_usage(call, "--renumber takes a file, and no servers or ports");
	return init_renumber(call, args, &options.prefix);
}

#define FIELD(field) .offset = offsetof(struct init_args, field)

static const struct to_option init_options[] = {
	{ "ports", 0, TO_OPTION_STRING, FIELD(ports), .argument = "NAMES",
	  .help = "ports of each server, as eth0,eth1; one that relays for another with RDMA: eth0t:eth0" },
	{ "machine", 0, TO_OPTION_CHOICE, FIELD(machine), .argument = "MACHINE", .choices = to_machines,
	  .help = "ports, cables and PCIe links of a machine that is known, instead of --ports" },
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "where to write cluster.json; default: standard output" },
	TO_FABRIC_KEYS(struct init_args, fabric),
	{ "offline", 0, TO_OPTION_FLAG, FIELD(offline),
	  .help = "ask no server: made-up MAC addresses, for plans only" },
	{ "up", 0, TO_OPTION_FLAG, FIELD(up), .help = "set ports up that are down" },
	{ "prefix", 0, TO_OPTION_STRING, FIELD(prefix), .argument = "PREFIX",
	  .help = "IPv4 prefix for the servers' addresses; default: 10.200.0.0/16" },
	{ "renumber", 0, TO_OPTION_STRING, FIELD(renumber), .argument = "FILE",
	  .help = "give this cluster.json a subnet per cable, instead of making one" },
	{ "bandwidth", 'b', TO_OPTION_RATE, FIELD(bandwidth), .argument = "RATE", .min = 1,
	  .max = INT64_MAX, .help = "bits/s of ports whose driver names no speed; default: 100G" },
	{}
};

const struct to_command to_cmd_init = {
	.name = "init",
	.summary = "Write cluster.json, and list the cables to plug",
	.operands = "[TOPOLOGY SERVER SERVER...]",
	.max_operands = UINT_MAX,
	.options = init_options,
	.args_size = sizeof(struct init_args),
	.defaults = &(const struct init_args){ .output = "-", .machine = INIT_NO_MACHINE, .fabric = {
		.command = TO_FABRIC_COMMAND, .timeout_ns = 30000000000 } },
	.run = init_run,
};
