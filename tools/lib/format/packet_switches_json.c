// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/names.h"
#include "format/packet_switches_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int packet_switch_read_ports(const struct to_json *at, void *to)
{
	unsigned int *n_ports = to;
	int ret = to_json_u32(at, n_ports);

	if (!ret && *n_ports < 2)
		return to_json_error(at, -EINVAL, "expected 2 ports or more");
	return ret;
}

static const struct to_json_field packet_switch_fields[] = {
	{ "name", to_names_read, offsetof(struct to_packet_switch, name), false },
	{ "ports", packet_switch_read_ports, offsetof(struct to_packet_switch, n_ports), false },
	{}
};

int to_packet_switches_read(const struct to_json *at, void *to)
{
	struct to_cluster *c = to;
	int ret;

	ret = to_json_array(at, sizeof(*c->packet_switches), &c->packet_switches,
			    &c->n_packet_switches);
	if (!ret && c->n_packet_switches && c->link_mode == TO_LINKS_SIMPLEX)
		return to_json_error(at, -EINVAL, "packet switches are for duplex links");
	for (unsigned int i = 0; i < c->n_packet_switches && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = to_json_object(&child, packet_switch_fields, &c->packet_switches[i]);
		for (unsigned int k = 0; k < i && !ret; k++)
			if (!strcmp(c->packet_switches[k].name, c->packet_switches[i].name))
				ret = to_json_error_at(&child, "name", -EEXIST,
						       "packet_switches[%u] is also called \"%s\"",
						       k, c->packet_switches[k].name);
	}
	return ret;
}

int to_packet_switch_read(const struct to_json *at, void *to)
{
	const struct to_cluster *c = at->doc->context;
	unsigned int *packet_switch = to;
	const char *name;
	int ret = to_json_string(at, &name);

	if (ret)
		return ret;
	for (unsigned int i = 0; i < c->n_packet_switches; i++) {
		if (strcmp(c->packet_switches[i].name, name))
			continue;
		*packet_switch = 1 + i;
		return 0;
	}
	return to_json_error(at, -ENOENT, "no packet switch is called \"%s\"", name);
}

int to_packet_switches_check_server(const struct to_json *at, const struct to_server *server)
{
	for (unsigned int q = 1; q < server->n_ports; q++) {
		const struct to_port *port = &server->ports[q];

		for (unsigned int k = 0; port->packet_switch && k < q; k++) {
			struct to_json child = to_json_element(at, q);

			if (server->ports[k].packet_switch == port->packet_switch)
				return to_json_error_at(&child, "packet_switch", -EEXIST,
							"port \"%s\" is on it already: a server has one port per packet switch",
							server->ports[k].name);
		}
	}
	return 0;
}

/* Count the ports on every switch. */
static int packet_switches_count(const struct to_json *at, const struct to_cluster *c,
				 unsigned int *used)
{
	for (uint32_t x = 0; x < c->n_servers; x++) {
		for (unsigned int q = 0; q < c->servers[x].n_ports; q++) {
			const struct to_packet_switch *on =
				to_port_packet_switch(c, &c->servers[x].ports[q]);
			char path[64];

			if (!on || ++used[on - c->packet_switches] <= on->n_ports)
				continue;
			snprintf(path, sizeof(path), "[%u].ports[%u].packet_switch", x, q);
			return to_json_error_at(at, path, -ERANGE,
						"\"%s\" has %u ports, they are taken", on->name,
						on->n_ports);
		}
	}
	return 0;
}

int to_packet_switches_check(const struct to_json *at, const struct to_cluster *c)
{
	unsigned int *used;
	int ret;

	if (!c->n_packet_switches)
		return 0;
	used = calloc(c->n_packet_switches, sizeof(*used));
	if (!used)
		return to_json_error(at, -ENOMEM, "out of memory");
	ret = packet_switches_count(at, c, used);
	for (uint32_t x = 0; x < c->n_servers && !ret; x++) {
		const struct to_server *server = &c->servers[x];
		struct to_json child = to_json_element(at, x);
		unsigned int neighbours = 0;

		for (unsigned int q = 0; q < server->n_ports; q++) {
			unsigned int on = server->ports[q].packet_switch;

			neighbours += on ? used[on - 1] - 1 : 1;
		}
		if (neighbours > TO_NEIGHBOURS_MAX)
			ret = to_json_error_at(&child, "ports", -ERANGE,
					       "they reach %u ports at one hop, a server may reach %u",
					       neighbours, TO_NEIGHBOURS_MAX);
	}
	free(used);
	return ret;
}

void to_packet_switches_print(FILE *out, const struct to_cluster *c)
{
	if (!c->n_packet_switches)
		return;
	fprintf(out, "\"packet_switches\":[");
	for (unsigned int i = 0; i < c->n_packet_switches; i++)
		fprintf(out, "%s\n {\"name\":\"%s\",\"ports\":%u}", i ? "," : "",
			c->packet_switches[i].name, c->packet_switches[i].n_ports);
	fprintf(out, "],\n");
}
