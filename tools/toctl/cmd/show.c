// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/json.h"
#include "cli/command.h"
#include "kernel/device_view.h"
#include "peers_print.h"
#include "ports_print.h"

struct show_args {
	const char *dev;
};

static void show_json(json_t *object)
{
	to_json_write(object, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(object);
}

static int show_ports(struct to_call *call, struct to_device_view *view)
{
	if (!call->json)
		return to_ports_print(stdout, view, &call->err);
	show_json(to_device_view_ports_json(view));
	return 0;
}

static int show_peers(struct to_call *call, struct to_device_view *view)
{
	if (call->json)
		show_json(to_peers_json(view->peers, view->n_peers));
	else
		to_peers_print(stdout, view);
	return 0;
}

static int show_device(struct to_call *call, struct to_device_view *view)
{
	const struct to_device *d = &view->device;
	char module[TO_MODULE_TEXT];

	if (call->json) {
		json_t *object = to_device_view_json(view);

		json_object_set_new(object, "toctl", json_string(call->program->version));
		show_json(object);
		return 0;
	}
	printf("topoopt_fwd: %s; toctl: version %s\n", to_module_text(&view->genl.module, module),
	       call->program->version);
	printf("%s: generation %" PRIu64 ", %u routes in %u groups, %" PRIu64 " bytes\n",
	       d->name, d->generation, d->routes, d->groups, d->memory);
	if (d->staged)
		printf("%s: stage of %u routes in %u groups, %s\n", d->name,
		       d->staged_routes, d->staged_groups,
		       d->prepared ? "prepared" : "being filled");
	return show_ports(call, view);
}

static int show_counters(struct to_call *call, struct to_device_view *view)
{
	if (call->json) {
		show_json(to_device_view_counters_json(view));
		return 0;
	}
	printf("%-17s %15s", "", view->device.name);
	for (unsigned int i = 0; i < view->n_ports; i++)
		printf(" %15s", view->ports[i].name);
	putchar('\n');
	for (int c = 0; c < TO_COUNTERS; c++) {
		printf("%-17s %15" PRIu64, to_genl_counter_names[c], view->device.counters[c]);
		for (unsigned int i = 0; i < view->n_ports; i++)
			printf(" %15" PRIu64, view->ports[i].counters[c]);
		putchar('\n');
	}
	return 0;
}

static void show_route(void *data, const struct to_kernel_route *r,
		       const struct to_kernel_group *g)
{
	const struct to_device_view *view = data;
	char text[TO_ROUTE_TEXT];

	to_route_text(r, g, &view->names, text, sizeof(text));
	printf("%s%s\n", text, g && g->backup_in_use ? " (backup in use)" : "");
}

/* What show_route_json() needs. */
struct show_routes {
	const struct to_device_view *view;
	uint64_t generation;
	unsigned int n;		/* routes printed so far */
};

static void show_routes_head(const struct show_routes *routes)
{
	printf("{\"device\": \"%s\", \"generation\": %" PRIu64 ", \"routes\": [",
	       routes->view->device.name, routes->generation);
}

/* Print route by route: a table may have a million of them. */
static void show_route_json(void *data, const struct to_kernel_route *r,
			    const struct to_kernel_group *g)
{
	struct show_routes *routes = data;
	json_t *route = to_route_json(r, g, &routes->view->names);

	if (!routes->n)
		show_routes_head(routes);
	printf(routes->n++ ? ",\n" : "\n");
	to_json_write(route, stdout, JSON_COMPACT);
	json_decref(route);
}

static int show_routes(struct to_call *call, struct to_device_view *view)
{
	struct show_routes routes = { .view = view };
	int ret;

	if (!call->json)
		return to_device_view_routes(view, &routes.generation, show_route, view, &call->err);
	ret = to_device_view_routes(view, &routes.generation, show_route_json, &routes, &call->err);
	if (ret)
		return ret;
	if (!routes.n)
		show_routes_head(&routes);
	printf("\n]}\n");
	return 0;
}

static const struct {
	const char *name;
	int (*show)(struct to_call *call, struct to_device_view *view);
} show_views[] = {
	{ "device", show_device },
	{ "ports", show_ports },
	{ "peers", show_peers },
	{ "routes", show_routes },
	{ "counters", show_counters },
};

#define N_VIEWS (sizeof(show_views) / sizeof(*show_views))

static int show_run(struct to_call *call, const void *data)
{
	const struct show_args *args = data;
	struct to_device_view view;
	unsigned int i = 0;
	int ret;

	while (call->n_operands && i < N_VIEWS && strcmp(call->operands[0], show_views[i].name))
		i++;
	if (i == N_VIEWS)
		return to_usage(call, "cannot show \"%s\"", call->operands[0]);
	ret = to_device_view_open(&view, args->dev, &call->err);
	if (ret)
		return ret;
	ret = show_views[i].show(call, &view);
	to_device_view_close(&view);
	return ret;
}

static const struct to_option show_options[] = {
	{ "dev", 0, TO_OPTION_STRING, offsetof(struct show_args, dev),
	  .argument = "DEV", .help = "topoopt device; default: topo0" },
	{}
};

const struct to_command to_cmd_show = {
	.name = "show",
	.summary = "Show the device, its ports and its neighbours",
	.operands = "[device|ports|peers|routes|counters]",
	.max_operands = 1,
	.options = show_options,
	.args_size = sizeof(struct show_args),
	.defaults = &(const struct show_args){ .dev = "topo0" },
	.run = show_run,
};
