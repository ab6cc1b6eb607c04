// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/device_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/hardware.h"
#include "kernel/rtnl.h"
#include "kernel/xdp_state.h"

static int view_read(struct to_device_view *view, const char *device, struct to_error *err)
{
	const uint32_t ifindex = if_nametoindex(device);
	int ret;

	if (!ifindex)
		return to_error_set(err, -ENODEV,
				    "there is no topoopt device %s: make one with toctl apply",
				    device);
	ret = to_genl_open(&view->genl, err);
	if (ret)
		return ret;
	ret = to_genl_device(&view->genl, ifindex, &view->device, err);
	if (!ret)
		ret = to_genl_ports(&view->genl, ifindex, &view->ports, &view->n_ports, err);
	if (!ret)
		ret = to_peers_get(&view->genl, ifindex, &view->peers, &view->n_peers, err);
	if (ret) {
		free(view->ports);
		to_genl_close(&view->genl);
	}
	return ret;
}

int to_device_view_open(struct to_device_view *view, const char *device, struct to_error *err)
{
	struct to_netlink rt;
	int ret;

	*view = (struct to_device_view){};
	ret = to_netlink_open(&rt, NETLINK_ROUTE, err);
	if (ret)
		return ret;
	ret = to_rtnl_nics(&rt, &view->nics, &view->names.n, err);
	to_netlink_close(&rt);
	view->names.nics = view->nics;
	ret = ret ? ret : view_read(view, device, err);
	if (ret)
		free(view->nics);
	return ret;
}

void to_device_view_close(struct to_device_view *view)
{
	to_genl_close(&view->genl);
	free(view->ports);
	free(view->peers);
	free(view->nics);
}

static json_t *view_counters_json(const uint64_t *counters)
{
	json_t *object = json_object();

	for (int i = 0; i < TO_COUNTERS; i++)
		json_object_set_new(object, to_genl_counter_names[i],
				    json_integer(counters[i]));
	return object;
}

static json_t *view_notes_json(const struct to_xdp_state *state)
{
	json_t *notes = json_array();

	for (unsigned int i = 0; i < state->n; i++)
		json_array_append_new(notes, json_pack("{s:b, s:s, s:s}", "fault",
						       state->notes[i].fault, "text",
						       state->notes[i].text, "fix",
						       state->notes[i].fix));
	return notes;
}

static json_t *view_xdp_json(const struct to_kernel_port *p, const struct to_xdp_state *state)
{
	return json_pack("{s:s, s:b, s:b, s:i, s:i, s:o}", "program",
			 to_xdp_path_names[state->program], "receive", p->xdp_receive,
			 "transmit", p->xdp_transmit, "error", p->xdp_error, "classes",
			 p->xdp_classes, "notes", view_notes_json(state));
}

static json_t *view_port_json(const struct to_kernel_port *p, const struct to_xdp_state *state)
{
	const struct to_xdp_relayed *relayed = &state->relayed;
	json_t *port = json_pack("{s:s, s:i, s:b, s:s, s:{s:I, s:I, s:I}, s:o, s:o}", "port", p->name,
				 "ifindex", p->ifindex, "live", p->live, "transmit", p->tx_name,
				 "relayed", "skb", (json_int_t)relayed->skb, "xdp",
				 (json_int_t)relayed->native, "xdp-generic",
				 (json_int_t)relayed->generic, "xdp", view_xdp_json(p, state),
				 "counters", view_counters_json(p->counters));
	struct to_hardware hardware;

	to_hardware_read(&hardware, p->name);
	if (port && to_hardware_is_known(&hardware))
		to_hardware_json(&hardware, port);
	return port;
}

json_t *to_device_view_ports_json(const struct to_device_view *s)
{
	struct to_xdp_state *states = to_xdp_states(s->ports, s->n_ports);
	json_t *ports = json_array();

	for (unsigned int i = 0; states && i < s->n_ports; i++)
		json_array_append_new(ports, view_port_json(&s->ports[i], &states[i]));
	free(states);
	return ports;
}

json_t *to_device_view_json(const struct to_device_view *s)
{
	const struct to_device *d = &s->device;
	json_t *stage = d->staged ?
		json_pack("{s:i, s:i, s:b}", "routes", d->staged_routes, "groups",
			  d->staged_groups, "prepared", d->prepared) : json_null();

	return json_pack("{s:o, s:s, s:i, s:I, s:i, s:i, s:I, s:o, s:o, s:o, s:o}",
			 "module", to_module_json(&s->genl.module), "device", d->name,
			 "ifindex", d->ifindex, "generation", (json_int_t)d->generation,
			 "routes", d->routes, "groups", d->groups, "memory", (json_int_t)d->memory, "stage", stage,
			 "counters", view_counters_json(d->counters),
			 "ports", to_device_view_ports_json(s),
			 "peers", to_peers_json(s->peers, s->n_peers));
}

json_t *to_device_view_counters_json(const struct to_device_view *view)
{
	json_t *all = json_object();

	json_object_set_new(all, view->device.name, view_counters_json(view->device.counters));
	for (unsigned int i = 0; i < view->n_ports; i++)
		json_object_set_new(all, view->ports[i].name,
				    view_counters_json(view->ports[i].counters));
	return all;
}

uint64_t to_device_view_drops(const uint64_t *counters)
{
	uint64_t drops = 0;

	for (int i = 0; i < TO_COUNTERS; i++)
		if (!strncmp(to_genl_counter_names[i], "drop-", 5))
			drops += counters[i];
	return drops;
}

/* Groups of a table by id; @n gets a number above all ids. */
static const struct to_kernel_group **view_groups(const struct to_kernel_table *t,
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

int to_device_view_routes(struct to_device_view *view, uint64_t *generation,
			  void (*route)(void *data, const struct to_kernel_route *route,
					const struct to_kernel_group *group),
			  void *data, struct to_error *err)
{
	const struct to_kernel_group **groups;
	struct to_kernel_table table = {};
	uint32_t n;
	int ret;

	ret = to_genl_table(&view->genl, view->device.ifindex, false, &table, err);
	if (ret)
		return ret;
	groups = view_groups(&table, &n);
	if (!groups)
		ret = to_error_set(err, -ENOMEM, "out of memory");
	*generation = table.generation;
	for (unsigned int i = 0; !ret && i < table.n_routes; i++) {
		const struct to_kernel_route *r = &table.routes[i];

		route(data, r, r->group < n ? groups[r->group] : NULL);
	}
	free(groups);
	to_kernel_table_free(&table);
	return ret;
}
