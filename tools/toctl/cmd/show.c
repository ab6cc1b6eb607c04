// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "kernel/diff.h"
#include "kernel/genl.h"
#include "kernel/rtnl.h"
#include "kernel/xdp.h"

struct show_args {
	const char *dev;
};

/* What the views of one device need. */
struct show {
	struct to_call *call;
	struct to_genl genl;
	struct to_diff_names names;
	struct to_device device;
	struct to_kernel_port *ports;
	unsigned int n_ports;
};

static json_t *show_counters_json(const uint64_t *counters)
{
	json_t *object = json_object();

	for (int i = 0; i < TO_COUNTERS; i++)
		json_object_set_new(object, to_genl_counter_names[i],
				    json_integer(counters[i]));
	return object;
}

static json_t *show_port_json(const struct to_kernel_port *p)
{
	return json_pack("{s:s, s:i, s:b, s:s, s:s, s:o}", "port", p->name, "ifindex",
			 p->ifindex, "live", p->live, "transmit", p->tx_name,
			 "path", to_xdp_path_names[to_xdp_path(p->ifindex)],
			 "counters", show_counters_json(p->counters));
}

static json_t *show_ports_json(const struct show *s)
{
	json_t *ports = json_array();

	for (unsigned int i = 0; i < s->n_ports; i++)
		json_array_append_new(ports, show_port_json(&s->ports[i]));
	return ports;
}

static json_t *show_device_json(const struct show *s)
{
	const struct to_device *d = &s->device;
	json_t *stage = d->staged ?
		json_pack("{s:i, s:i, s:b}", "routes", d->staged_routes, "groups",
			  d->staged_groups, "prepared", d->prepared) : json_null();

	return json_pack("{s:s, s:i, s:I, s:i, s:i, s:I, s:o, s:o, s:o}",
			 "device", d->name, "ifindex", d->ifindex, "generation",
			 (json_int_t)d->generation, "routes", d->routes, "groups",
			 d->groups, "memory", (json_int_t)d->memory, "stage", stage,
			 "counters", show_counters_json(d->counters),
			 "ports", show_ports_json(s));
}

static uint64_t show_drops(const uint64_t *counters)
{
	uint64_t drops = 0;

	for (int i = 0; i < TO_COUNTERS; i++)
		if (!strncmp(to_genl_counter_names[i], "drop-", 5))
			drops += counters[i];
	return drops;
}

static int show_ports(struct show *s)
{
	if (s->call->json) {
		json_t *ports = show_ports_json(s);

		json_dumpf(ports, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(ports);
		return 0;
	}
	printf("%-15s %-5s %-15s %-11s %15s %15s %15s %9s\n", "PORT", "STATE", "TRANSMITS",
	       "PATH", "RELAYED IN", "SENT", "LOCAL", "DROPPED");
	for (unsigned int i = 0; i < s->n_ports; i++) {
		const struct to_kernel_port *p = &s->ports[i];

		printf("%-15s %-5s %-15s %-11s %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %9" PRIu64 "\n",
		       p->name, p->live ? "live" : "dead", p->tx_name,
		       to_xdp_path_names[to_xdp_path(p->ifindex)],
		       p->counters[TO_COUNTER(RELAY_RX_PACKETS)],
		       p->counters[TO_COUNTER(RELAY_TX_PACKETS)],
		       p->counters[TO_COUNTER(LOCAL_PACKETS)],
		       show_drops(p->counters));
	}
	return 0;
}

static int show_device(struct show *s)
{
	const struct to_device *d = &s->device;

	if (s->call->json) {
		json_t *device = show_device_json(s);

		json_dumpf(device, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(device);
		return 0;
	}
	printf("%s: generation %" PRIu64 ", %u routes in %u groups, %" PRIu64 " bytes\n",
	       d->name, d->generation, d->routes, d->groups, d->memory);
	if (d->staged)
		printf("%s: stage of %u routes in %u groups, %s\n", d->name,
		       d->staged_routes, d->staged_groups,
		       d->prepared ? "prepared" : "being filled");
	return show_ports(s);
}

static int show_counters(struct show *s)
{
	if (s->call->json) {
		json_t *all = json_object();

		json_object_set_new(all, s->device.name,
				    show_counters_json(s->device.counters));
		for (unsigned int i = 0; i < s->n_ports; i++)
			json_object_set_new(all, s->ports[i].name,
					    show_counters_json(s->ports[i].counters));
		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(all);
		return 0;
	}
	printf("%-17s %15s", "", s->device.name);
	for (unsigned int i = 0; i < s->n_ports; i++)
		printf(" %15s", s->ports[i].name);
	putchar('\n');
	for (int c = 0; c < TO_COUNTERS; c++) {
		printf("%-17s %15" PRIu64, to_genl_counter_names[c], s->device.counters[c]);
		for (unsigned int i = 0; i < s->n_ports; i++)
			printf(" %15" PRIu64, s->ports[i].counters[c]);
		putchar('\n');
	}
	return 0;
}

/* Groups of a table by id; ids are below @n. */
static const struct to_kernel_group **show_groups(const struct to_kernel_table *t,
						  uint32_t *n)
{
	const struct to_kernel_group **groups;

	*n = 0;
	for (unsigned int i = 0; i < t->n_groups; i++)
		if (t->groups[i].id >= *n)
			*n = t->groups[i].id + 1;
	groups = calloc((size_t)*n + 1, sizeof(*groups));
	for (unsigned int i = 0; groups && i < t->n_groups; i++)
		groups[t->groups[i].id] = &t->groups[i];
	return groups;
}

static int show_routes(struct show *s)
{
	const struct to_kernel_group **groups;
	struct to_kernel_table table = {};
	uint32_t n;
	int ret;

	ret = to_genl_table(&s->genl, s->device.ifindex, false, &table,
			    &s->call->err);
	if (ret)
		return ret;
	groups = show_groups(&table, &n);
	if (!groups) {
		to_kernel_table_free(&table);
		return to_error_set(&s->call->err, -ENOMEM, "out of memory");
	}
	/* Line by line: a table may have a million routes. */
	if (s->call->json)
		printf("{\"device\": \"%s\", \"generation\": %" PRIu64 ", \"routes\": [",
		       s->device.name, table.generation);
	for (unsigned int i = 0; i < table.n_routes; i++) {
		const struct to_kernel_route *r = &table.routes[i];
		const struct to_kernel_group *g = r->group < n ? groups[r->group] : NULL;

		if (s->call->json) {
			json_t *route = to_route_json(r, g, &s->names);

			printf(i ? ",\n" : "\n");
			json_dumpf(route, stdout, JSON_COMPACT);
			json_decref(route);
		} else {
			char text[TO_ROUTE_TEXT];

			to_route_text(r, g, &s->names, text, sizeof(text));
			printf("%s%s\n", text,
			       g && g->backup_in_use ? " (backup in use)" : "");
		}
	}
	if (s->call->json)
		printf("\n]}\n");
	free(groups);
	to_kernel_table_free(&table);
	return 0;
}

static const struct {
	const char *name;
	int (*show)(struct show *s);
} show_views[] = {
	{ "device", show_device },
	{ "ports", show_ports },
	{ "routes", show_routes },
	{ "counters", show_counters },
};

#define N_VIEWS (sizeof(show_views) / sizeof(*show_views))

static int show_view(struct show *s, const char *name, unsigned int view)
{
	uint32_t ifindex = if_nametoindex(name);
	int ret;

	if (!ifindex)
		return to_error_set(&s->call->err, -ENODEV,
				    "there is no topoopt device %s: make one with toctl apply",
				    name);
	ret = to_genl_device(&s->genl, ifindex, &s->device, &s->call->err);
	if (!ret)
		ret = to_genl_ports(&s->genl, ifindex, &s->ports, &s->n_ports,
				    &s->call->err);
	if (ret)
		return ret;
	ret = show_views[view].show(s);
	free(s->ports);
	return ret;
}

static int show_run(struct to_call *call, const void *data)
{
	const struct show_args *args = data;
	struct show s = { .call = call };
	struct to_nic *nics = NULL;
	unsigned int view = 0;
	struct to_netlink rt;
	int ret;

	while (call->n_operands && view < N_VIEWS &&
	       strcmp(call->operands[0], show_views[view].name))
		view++;
	if (view == N_VIEWS)
		return to_usage(call, "cannot show \"%s\"", call->operands[0]);
	ret = to_netlink_open(&rt, NETLINK_ROUTE, &call->err);
	if (ret)
		return ret;
	ret = to_rtnl_nics(&rt, &nics, &s.names.n, &call->err);
	to_netlink_close(&rt);
	s.names.nics = nics;
	if (!ret)
		ret = to_genl_open(&s.genl, &call->err);
	if (!ret) {
		ret = show_view(&s, args->dev, view);
		to_genl_close(&s.genl);
	}
	free(nics);
	return ret;
}

static const struct to_option show_options[] = {
	{ "dev", 'd', TO_OPTION_STRING, offsetof(struct show_args, dev),
	  .argument = "DEV", .help = "topoopt device; default: topo0" },
	{}
};

const struct to_command to_cmd_show = {
	.name = "show",
	.summary = "Show the device, its ports, routes and counters",
	.operands = "[device|ports|routes|counters]",
	.max_operands = 1,
	.options = show_options,
	.args_size = sizeof(struct show_args),
	.defaults = &(const struct show_args){ .dev = "topo0" },
	.run = show_run,
};
