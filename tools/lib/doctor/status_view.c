// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/status_view.h"

#include <stdio.h>
#include <string.h>

const json_t *to_status_reply(const json_t *look, const char *server)
{
	return json_object_get(json_object_get(look, "servers"), server);
}

const json_t *to_status_port(const json_t *reply, const char *name)
{
	const json_t *port;
	size_t i;

	json_array_foreach(json_object_get(reply, "ports"), i, port) {
		const char *called = json_string_value(json_object_get(port, "name"));

		if (called && !strcmp(called, name))
			return port;
	}
	return NULL;
}

bool to_status_lit(const struct to_status *st, const json_t *now, struct to_port_ref at)
{
	const struct to_server *server;
	const json_t *port, *light;

	if (to_status_is_switch(at) || !st->servers[at.server].reached)
		return true;
	server = &st->plan->cluster->servers[at.server];
	port = to_status_port(to_status_reply(now, server->name), server->ports[at.port].name);
	light = json_object_get(port, "light");
	/* of older agents, which know of nothing but light */
	return json_is_true(light ? light : json_object_get(port, "live"));
}

const char *to_status_end(const struct to_status *st, struct to_port_ref end,
			  char text[TO_STATUS_END])
{
	const struct to_cluster *c = st->plan->cluster;

	if (to_status_is_switch(end))
		return c->packet_switches[end.port].name;
	snprintf(text, TO_STATUS_END, "%s:%s", c->servers[end.server].name,
		 c->servers[end.server].ports[end.port].name);
	return text;
}
