// SPDX-License-Identifier: GPL-2.0-or-later
/* cluster.json, and the parts of it that plan.json repeats. */

#include "format/cluster_json.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/quantity.h"
#include "format/continuity_json.h"
#include "format/names.h"
#include "format/packet_switches_json.h"
#include "format/pcie_json.h"
#include "format/switch_json.h"


static const char *const link_modes[] = { "duplex", "simplex", NULL };

int to_cluster_read_link_mode(const struct to_json *at, void *to)
{
	struct to_cluster *c = to;
	int mode = to_json_choice(at, link_modes);

	if (mode < 0)
		return mode;
	c->link_mode = mode;
	return 0;
}

/* Index of @name in an array of structures that begin with their name. */
static int cluster_find_name(const void *array, unsigned int n, size_t size,
			     const char *name)
{
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp((const char *)array + i * size, name))
			return i;
	return -1;
}

static int cluster_read_switch_ports(const struct to_json *at, void *to)
{
	int ret = to_json_u32(at, to);

	if (!ret && !*(unsigned int *)to)
		return to_json_error(at, -EINVAL, "expected 1 port or more");
	return ret;
}

static const struct to_json_field switch_fields[] = {
	{ "name", to_names_read, offsetof(struct to_optical_switch, name), false },
	{ "ports", cluster_read_switch_ports, offsetof(struct to_optical_switch, n_ports), false },
	{ "reconfiguration_ns", to_json_nanoseconds,
	  offsetof(struct to_optical_switch, reconfiguration_ns), true },
	{ "control", to_switch_control_read, offsetof(struct to_optical_switch, control), true },
	{}
};

int to_cluster_read_switches(const struct to_json *at, void *to)
{
	struct to_cluster *c = to;
	int ret, same;

	ret = to_json_array(at, sizeof(*c->switches), &c->switches, &c->n_switches);
	for (unsigned int i = 0; i < c->n_switches && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = to_json_object(&child, switch_fields, &c->switches[i]);
		if (ret)
			break;
		same = cluster_find_name(c->switches, i, sizeof(*c->switches),
					 c->switches[i].name);
		if (same >= 0)
			return to_json_error_at(&child, "name", -EEXIST,
						"optical_switches[%d] is also called \"%s\"",
						same, c->switches[i].name);
	}
	return ret;
}

static int cluster_read_optical_switch(const struct to_json *at, void *to)
{
	const struct to_cluster *c = at->doc->context;
	const char *name;
	int ret, index;

	ret = to_json_string(at, &name);
	if (ret)
		return ret;
	index = cluster_find_name(c->switches, c->n_switches, sizeof(*c->switches), name);
	if (index < 0)
		return to_json_error(at, -ENOENT, "no optical switch is called \"%s\"",
				     name);
	*(int *)to = index;
	return 0;
}

static int cluster_read_ends(const struct to_json *at, void *to)
{
	unsigned int *ends = to;
	int ret = 0;

	if (json_array_size(at->value) != 2)
		return to_json_error(at, -EINVAL, "expected two ports of the selector");
	for (unsigned int i = 0; i < 2 && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = to_json_u32(&child, &ends[i]);
	}
	return ret;
}

static const struct to_json_field look_ahead_fields[] = {
	{ "optical_switch", cluster_read_optical_switch,
	  offsetof(struct to_look_ahead, optical_switch), false },
	{ "optical_port", to_json_u32, offsetof(struct to_look_ahead, optical_port), false },
	{ "selector", cluster_read_optical_switch, offsetof(struct to_look_ahead, selector), false },
	{ "common", to_json_u32, offsetof(struct to_look_ahead, common), false },
	{ "ends", cluster_read_ends, offsetof(struct to_look_ahead, ends), false },
	{}
};

/* Is there port @number on optical switch @index? */
static int cluster_check_optical_port(const struct to_json *at, const char *key, int index,
				      unsigned int number)
{
	const struct to_cluster *c = at->doc->context;

	if (number && number <= c->switches[index].n_ports)
		return 0;
	return to_json_error_at(at, key, -ERANGE, "\"%s\" has the ports 1 to %u",
				c->switches[index].name, c->switches[index].n_ports);
}

static int cluster_read_look_ahead(const struct to_json *at, void *to)
{
	struct to_look_ahead *ahead = to;
	int ret = to_json_object(at, look_ahead_fields, ahead);

	if (!ret)
		ret = cluster_check_optical_port(at, "optical_port", ahead->optical_switch,
						 ahead->optical_port);
	if (!ret)
		ret = cluster_check_optical_port(at, "common", ahead->selector, ahead->common);
	for (unsigned int i = 0; i < 2 && !ret; i++)
		ret = cluster_check_optical_port(at, "ends", ahead->selector, ahead->ends[i]);
	return ret;
}

static const struct to_json_field port_fields[] = {
	{ "name", to_names_read_interface, offsetof(struct to_port, name), false },
	{ "mac", to_json_mac, offsetof(struct to_port, mac), false },
	{ "relay_mac", to_json_mac, offsetof(struct to_port, relay_mac), true },
	{ "transmit", to_names_read_interface, offsetof(struct to_port, transmit), true },
	{ "ipv4", to_json_ipv4, offsetof(struct to_port, address), true },
	{ "ipv6", to_json_ipv6, offsetof(struct to_port, address), true },
	{ "bandwidth", to_json_bits_per_second, offsetof(struct to_port, bandwidth), false },
	{ "optical_switch", cluster_read_optical_switch,
	  offsetof(struct to_port, optical_switch), true },
	{ "optical_port", to_json_u32, offsetof(struct to_port, optical_port), true },
	{ "look_ahead", cluster_read_look_ahead, offsetof(struct to_port, look_ahead), true },
	{ "packet_switch", to_packet_switch_read, offsetof(struct to_port, packet_switch), true },
	{ "cable", to_names_read_interface, offsetof(struct to_port, cable), true },
	{ "card", to_names_read_interface, offsetof(struct to_port, card), true },
	{ "pcie", to_pcie_read_name, 0, true },
	{ "transit", to_pcie_read_transit, offsetof(struct to_port, transit), true },
	{}
};

static int cluster_read_port(const struct to_json *at, const struct to_server *server,
			     struct to_port *port)
{
	int ret;

	port->optical_switch = -1;
	ret = to_json_object(at, port_fields, port);
	if (!ret)
		ret = to_pcie_read_port(at, server, port);
	if (ret)
		return ret;
	if (!json_object_get(at->value, "relay_mac"))
		memcpy(port->relay_mac, port->mac, sizeof(port->mac));
	if (!json_object_get(at->value, "optical_switch") !=
	    !json_object_get(at->value, "optical_port"))
		return to_json_error(at, -EINVAL,
				     "\"optical_switch\" and \"optical_port\" go together");
	if (port->look_ahead.common && port->optical_switch < 0)
		return to_json_error(at, -EINVAL,
				     "\"look_ahead\" is for ports with \"optical_switch\"");
	if (port->packet_switch && port->optical_switch >= 0)
		return to_json_error_at(at, "packet_switch", -EINVAL,
					"the port is on an optical switch");
	return port->optical_switch < 0 ? 0 :
	       cluster_check_optical_port(at, "optical_port", port->optical_switch, port->optical_port);
}

static int cluster_read_ports(const struct to_json *at, void *to)
{
	struct to_server *server = to;
	int ret, same;

	ret = to_json_array(at, sizeof(*server->ports), &server->ports,
			    &server->n_ports);
	if (ret)
		return ret;
	if (!server->n_ports || server->n_ports > TO_PORTS_MAX)
		return to_json_error(at, -ERANGE, "expected 1 to %d ports",
				     TO_PORTS_MAX);
	for (unsigned int i = 0; i < server->n_ports; i++) {
		struct to_json child = to_json_element(at, i);

		ret = cluster_read_port(&child, server, &server->ports[i]);
		if (ret)
			return ret;
		same = cluster_find_name(server->ports, i, sizeof(*server->ports),
					 server->ports[i].name);
		if (same >= 0)
			return to_json_error_at(&child, "name", -EEXIST,
						"port %d is also called \"%s\"",
						same, server->ports[i].name);
	}
	return to_packet_switches_check_server(at, server);
}

static const struct to_json_field server_fields[] = {
	{ "name", to_names_read, offsetof(struct to_server, name), false },
	{ "ipv4", to_json_ipv4, offsetof(struct to_server, address), true },
	{ "ipv6", to_json_ipv6, offsetof(struct to_server, address), true },
	{ "pcie", to_pcie_read, 0, true },
	{ "ports", cluster_read_ports, 0, false },
	{}
};

/*
 * A value that no two servers or ports may share, and where it stands. MAC
 * addresses have @len 6, optical ports 8.
 */
struct unique {
	uint8_t value[16];
	uint8_t len;
	const char *key;
	uint32_t server;
	int32_t port;		/* -1: the server's own */
};

static int cluster_unique_compare(const void *a, const void *b)
{
	const struct unique *x = a, *y = b;
	int order = x->len != y->len ? x->len - y->len :
		    memcmp(x->value, y->value, x->len);

	if (!order)
		order = (x->server > y->server) - (x->server < y->server);
	if (!order)
		order = x->port - y->port;
	return order;
}

static void cluster_unique_add(struct unique **next, const void *value, size_t len,
			       const char *key, uint32_t server, int32_t port)
{
	struct unique *u = (*next)++;

	*u = (struct unique){ .len = len, .key = key, .server = server, .port = port };
	memcpy(u->value, value, len);
}

static void cluster_unique_add_address(struct unique **next, const struct to_address *a,
				       uint32_t server, int32_t port)
{
	if (a->has_v4)
		cluster_unique_add(next, &a->v4, 4, "ipv4", server, port);
	if (a->has_v6)
		cluster_unique_add(next, &a->v6, 16, "ipv6", server, port);
}

static void cluster_unique_add_optical(struct unique **next, const char *key,
				       uint32_t optical_switch, uint32_t optical_port,
				       uint32_t server, int32_t port)
{
	uint32_t optical[] = { optical_switch, optical_port };

	cluster_unique_add(next, optical, 8, key, server, port);
}

static void cluster_unique_add_look_ahead(struct unique **next, const struct to_look_ahead *ahead,
					  uint32_t server, int32_t port)
{
	cluster_unique_add_optical(next, "look_ahead.optical_port", ahead->optical_switch,
				   ahead->optical_port, server, port);
	cluster_unique_add_optical(next, "look_ahead.common", ahead->selector, ahead->common, server, port);
	for (unsigned int i = 0; i < 2; i++)
		cluster_unique_add_optical(next, "look_ahead.ends", ahead->selector, ahead->ends[i],
					   server, port);
}

static void cluster_unique_path(char *path, size_t size, const struct unique *u)
{
	if (u->port < 0)
		snprintf(path, size, "[%u].%s", u->server, u->key);
	else
		snprintf(path, size, "[%u].ports[%d].%s", u->server, u->port, u->key);
}

static int cluster_check_unique(const struct to_json *at, const struct to_cluster *c)
{
	struct unique *list, *end;
	char path[64], other[64];
	size_t n = 0;
	int ret = 0;

	for (unsigned int i = 0; i < c->n_servers; i++)
		n += 2 + 9 * c->servers[i].n_ports;
	list = end = calloc(n, sizeof(*list));
	if (!list)
		return to_json_error(at, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < c->n_servers; i++) {
		const struct to_server *s = &c->servers[i];

		cluster_unique_add_address(&end, &s->address, i, -1);
		for (unsigned int q = 0; q < s->n_ports; q++) {
			const struct to_port *p = &s->ports[q];

			cluster_unique_add_address(&end, &p->address, i, q);
			cluster_unique_add(&end, p->mac, 6, "mac", i, q);
			if (memcmp(p->mac, p->relay_mac, 6))
				cluster_unique_add(&end, p->relay_mac, 6, "relay_mac", i, q);
			if (p->optical_switch >= 0)
				cluster_unique_add_optical(&end, "optical_port", p->optical_switch,
							   p->optical_port, i, q);
			if (p->look_ahead.common)
				cluster_unique_add_look_ahead(&end, &p->look_ahead, i, q);
		}
	}
	qsort(list, end - list, sizeof(*list), cluster_unique_compare);
	for (struct unique *u = list; u + 1 < end && !ret; u++) {
		if (u[0].len != u[1].len || memcmp(u[0].value, u[1].value, u->len))
			continue;
		cluster_unique_path(path, sizeof(path), &u[1]);
		cluster_unique_path(other, sizeof(other), &u[0]);
		ret = to_json_error_at(at, path, -EEXIST, "same as servers%s", other);
	}
	free(list);
	return ret;
}

int to_cluster_read_servers(const struct to_json *at, void *to)
{
	struct to_cluster *c = to;
	int ret;

	ret = to_json_array(at, sizeof(*c->servers), &c->servers, &c->n_servers);
	if (ret)
		return ret;
	if (c->n_servers < 2 || c->n_servers > TO_SERVERS_MAX)
		return to_json_error(at, -ERANGE, "expected 2 to %d servers",
				     TO_SERVERS_MAX);
	for (unsigned int i = 0; i < c->n_servers; i++) {
		struct to_json child = to_json_element(at, i);

		ret = to_json_object(&child, server_fields, &c->servers[i]);
		if (ret)
			return ret;
		if (!c->servers[i].address.has_v4 && !c->servers[i].address.has_v6)
			return to_json_error(&child, -EINVAL,
					     "\"ipv4\" or \"ipv6\" is missing");
	}
	if (to_cluster_sort(c))
		return to_json_error(at, -ENOMEM, "out of memory");
	for (unsigned int i = 1; i < c->n_servers; i++) {
		uint32_t a = c->by_name[i - 1], b = c->by_name[i];
		struct to_json child = to_json_element(at, b);

		if (!strcmp(c->servers[a].name, c->servers[b].name))
			return to_json_error_at(&child, "name", -EEXIST,
						"servers[%u] is also called \"%s\"",
						a, c->servers[a].name);
	}
	ret = cluster_check_unique(at, c);
	return ret ? ret : to_packet_switches_check(at, c);
}

int to_cluster_read_port_ref(const struct to_json *at, void *to)
{
	const struct to_cluster *c = at->doc->context;
	struct to_port_ref *ref = to;
	char name[TO_NAME_MAX];
	int ret, server, port;
	const char *text, *colon;

	ret = to_json_string(at, &text);
	if (ret)
		return ret;
	colon = strchr(text, ':');
	if (!colon || colon - text >= TO_NAME_MAX)
		return to_json_error(at, -EINVAL,
				     "expected a server and a port like s0:eth0");
	memcpy(name, text, colon - text);
	name[colon - text] = '\0';
	server = to_cluster_find_server(c, name);
	if (server < 0)
		return to_json_error(at, -ENOENT, "no server is called \"%s\"", name);
	port = to_cluster_find_port(&c->servers[server], colon + 1);
	if (port < 0)
		return to_json_error(at, -ENOENT,
				     "server \"%s\" has no port \"%s\"", name,
				     colon + 1);
	*ref = (struct to_port_ref){ server, port };
	return 0;
}

/* Mark port @ref in @used (a bit per port); refuse it when marked already. */
static int cluster_use_port(const struct to_json *link, const char *key,
			    const struct to_cluster *c, struct to_port_ref ref,
			    uint64_t *used)
{
	const struct to_server *server = &c->servers[ref.server];
	uint64_t bit = 1ULL << ref.port;

	if (used[ref.server] & bit)
		return to_json_error_at(link, key, -EEXIST,
					"port \"%s:%s\" is on another link already",
					server->name, server->ports[ref.port].name);
	used[ref.server] |= bit;
	return 0;
}

static int cluster_check_cable(const struct to_json *link, const char *key,
			       const struct to_cluster *c, struct to_port_ref ref)
{
	const struct to_server *server = &c->servers[ref.server];
	const struct to_port *port = &server->ports[ref.port];

	if (!port->packet_switch)
		return 0;
	return to_json_error_at(link, key, -EINVAL,
				"port \"%s:%s\" is on packet switch \"%s\", not on a cable",
				server->name, port->name, to_port_packet_switch(c, port)->name);
}

/* Return: 1 + index of the packet switch that joins the ends of @link, 0 for none. */
static unsigned int cluster_shared(const struct to_cluster *c, const struct to_link *link)
{
	unsigned int on = c->servers[link->a.server].ports[link->a.port].packet_switch;

	return on == c->servers[link->b.server].ports[link->b.port].packet_switch ? on : 0;
}

/* Ports of @l, which must be free unless a packet switch joins them. */
static int cluster_use_ends(const struct to_json *link, const struct to_cluster *c,
			    const struct to_link *l, uint64_t *transmits, uint64_t *receives)
{
	int ret;

	if (cluster_shared(c, l))
		return 0;
	ret = cluster_check_cable(link, "a", c, l->a);
	if (!ret)
		ret = cluster_check_cable(link, "b", c, l->b);
	if (!ret)
		ret = cluster_use_port(link, "a", c, l->a, transmits);
	if (!ret)
		ret = cluster_use_port(link, "b", c, l->b, receives);
	return ret;
}

/* A link that a packet switch makes: which, its servers in order, where it stands. */
struct shared_link {
	uint32_t on, a, b, index;
};

static int cluster_compare_shared(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	unsigned int i;

	for (i = 0; i < sizeof(struct shared_link) / sizeof(*x) - 1 && x[i] == y[i]; i++)
		;
	return (x[i] > y[i]) - (x[i] < y[i]);
}

/* Two ports on a packet switch are one link, not more. */
static int cluster_check_shared(const struct to_json *at, const struct to_cluster *c)
{
	struct shared_link *list = calloc(c->n_links + 1, sizeof(*list));
	unsigned int n = 0, i;
	int ret = 0;

	if (!list)
		return to_json_error(at, -ENOMEM, "out of memory");
	for (i = 0; i < c->n_links; i++) {
		uint32_t a = c->links[i].a.server, b = c->links[i].b.server;
		unsigned int on = cluster_shared(c, &c->links[i]);

		if (on)
			list[n++] = (struct shared_link){ on, a < b ? a : b, a < b ? b : a, i };
	}
	qsort(list, n, sizeof(*list), cluster_compare_shared);
	for (i = 1; i < n && !ret; i++) {
		const struct shared_link *was = &list[i - 1], *is = &list[i];
		struct to_json child = to_json_element(at, is->index);

		if (was->on == is->on && was->a == is->a && was->b == is->b)
			ret = to_json_error(&child, -EEXIST, "the same as links[%u]", was->index);
	}
	free(list);
	return ret;
}

int to_cluster_read_links(const struct to_json *at,
			  const struct to_json_field *fields,
			  struct to_cluster *c)
{
	uint64_t *transmits = calloc(c->n_servers, sizeof(*transmits));
	uint64_t *receives = calloc(c->n_servers, sizeof(*receives));
	bool duplex = c->link_mode == TO_LINKS_DUPLEX;
	int ret;

	if (!transmits || !receives)
		ret = to_json_error(at, -ENOMEM, "out of memory");
	else
		ret = to_json_array(at, sizeof(*c->links), &c->links, &c->n_links);
	for (unsigned int i = 0; i < c->n_links && !ret; i++) {
		struct to_json child = to_json_element(at, i);
		struct to_link *link = &c->links[i];

		link->ring = link->tree = -1;
		ret = to_json_object(&child, fields, link);
		if (!ret && link->a.server == link->b.server)
			ret = to_json_error(&child, -EINVAL,
					    "joins server \"%s\" to itself",
					    c->servers[link->a.server].name);
		if (!ret)
			ret = cluster_use_ends(&child, c, link, transmits,
					       duplex ? transmits : receives);
	}
	free(transmits);
	free(receives);
	if (!ret)
		ret = to_pcie_check_cables(at, c);
	return ret || !c->n_packet_switches ? ret : cluster_check_shared(at, c);
}

static const struct to_json_field link_fields[] = {
	{ "a", to_cluster_read_port_ref, offsetof(struct to_link, a), false },
	{ "b", to_cluster_read_port_ref, offsetof(struct to_link, b), false },
	{}
};

static int cluster_read_links(const struct to_json *at, void *to)
{
	struct to_cluster *c = to;
	int ret = to_cluster_read_links(at, link_fields, c);

	/* those of packet switches follow from their ports */
	for (unsigned int i = 0; i < c->n_links && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = cluster_check_cable(&child, "a", c, c->links[i].a);
	}
	return ret;
}

static int cluster_read_format(const struct to_json *at, void *to)
{
	(void)to;
	return to_json_format(at, "topoopt-cluster");
}

/* In reading order: ports name switches, links name ports. */
static const struct to_json_field cluster_fields[] = {
	{ "format", cluster_read_format, 0, true },
	{ "version", to_json_version, 0, true },
	{ "comment", to_json_comment, 0, true },
	{ "link_mode", to_cluster_read_link_mode, 0, true },
	{ "optical_switches", to_cluster_read_switches, 0, true },
	{ "packet_switches", to_packet_switches_read, 0, true },
	{ "servers", to_cluster_read_servers, 0, false },
	{ "checks", to_continuity_read, 0, true },
	{ "links", cluster_read_links, 0, true },
	{}
};

struct to_cluster *to_cluster_parse(const char *data, size_t len,
				    const char *name, struct to_error *err)
{
	struct to_cluster *c = calloc(1, sizeof(*c));
	struct to_json_doc doc;
	struct to_json at;
	int ret;

	if (!c) {
		to_error_set(err, -ENOMEM, "%s: out of memory", name);
		return NULL;
	}
	ret = to_json_open(&doc, &at, data, len, name, c, err);
	if (!ret)
		ret = to_json_object(&at, cluster_fields, c);
	to_json_close(&doc);
	if (ret) {
		to_cluster_free(c);
		return NULL;
	}
	return c;
}

int to_cluster_parse_links(struct to_cluster *c, const char *data, size_t len,
			   const char *name, struct to_error *err)
{
	static const struct to_json_field fields[] = {
		{ "links", cluster_read_links, 0, false },
		{}
	};
	struct to_json_doc doc;
	struct to_json at;
	int ret;

	free(c->links);
	c->links = NULL;
	c->n_links = 0;
	ret = to_json_open(&doc, &at, data, len, name, c, err);
	if (!ret)
		ret = to_json_object(&at, fields, c);
	to_json_close(&doc);
	return ret;
}

int to_cluster_take_links(struct to_cluster *c, json_t *links, const char *name,
			  struct to_error *err)
{
	struct to_json_doc doc;
	struct to_json at;
	int ret;

	free(c->links);
	c->links = NULL;
	c->n_links = 0;
	to_json_open_value(&doc, &at, links, name, c, err);
	ret = cluster_read_links(&at, c);
	to_json_close(&doc);
	return ret;
}

static void cluster_print_address(FILE *out, const struct to_address *a)
{
	char text[INET6_ADDRSTRLEN];

	if (a->has_v4)
		fprintf(out, ",\"ipv4\":\"%s\"",
			inet_ntop(AF_INET, &a->v4, text, sizeof(text)));
	if (a->has_v6)
		fprintf(out, ",\"ipv6\":\"%s\"",
			inet_ntop(AF_INET6, &a->v6, text, sizeof(text)));
}

static void cluster_print_mac(FILE *out, const char *key, const uint8_t *mac)
{
	fprintf(out, ",\"%s\":\"%02x:%02x:%02x:%02x:%02x:%02x\"", key, mac[0],
		mac[1], mac[2], mac[3], mac[4], mac[5]);
}

static void cluster_print_port(FILE *out, const struct to_cluster *c,
			       const struct to_server *server, const struct to_port *p)
{
	fprintf(out, "   {\"name\":");
	to_json_print_string(out, p->name);
	cluster_print_mac(out, "mac", p->mac);
	if (memcmp(p->mac, p->relay_mac, 6))
		cluster_print_mac(out, "relay_mac", p->relay_mac);
	if (p->transmit[0]) {
		fprintf(out, ",\"transmit\":");
		to_json_print_string(out, p->transmit);
	}
	cluster_print_address(out, &p->address);
	fprintf(out, ",\"bandwidth\":%llu", (unsigned long long)p->bandwidth);
	if (p->optical_switch >= 0)
		fprintf(out, ",\"optical_switch\":\"%s\",\"optical_port\":%u",
			c->switches[p->optical_switch].name, p->optical_port);
	if (p->look_ahead.common)
		fprintf(out,
			",\n    \"look_ahead\":{\"optical_switch\":\"%s\",\"optical_port\":%u,\"selector\":\"%s\",\"common\":%u,\"ends\":[%u,%u]}",
			c->switches[p->look_ahead.optical_switch].name, p->look_ahead.optical_port,
			c->switches[p->look_ahead.selector].name, p->look_ahead.common,
			p->look_ahead.ends[0], p->look_ahead.ends[1]);
	if (p->packet_switch)
		fprintf(out, ",\"packet_switch\":\"%s\"", to_port_packet_switch(c, p)->name);
	to_pcie_print_port(out, server, p);
	fprintf(out, "}");
}

/* All but the links, and "checks". */
static void cluster_print(FILE *out, const struct to_cluster *c)
{
	fprintf(out, "\"link_mode\":\"%s\",\n\"optical_switches\":[",
		link_modes[c->link_mode]);
	for (unsigned int i = 0; i < c->n_switches; i++) {
		fprintf(out, "%s\n {\"name\":\"%s\",\"ports\":%u,\"reconfiguration_ns\":%llu",
			i ? "," : "", c->switches[i].name, c->switches[i].n_ports,
			(unsigned long long)c->switches[i].reconfiguration_ns);
		to_switch_control_print(out, &c->switches[i].control);
		fprintf(out, "}");
	}
	fprintf(out, "],\n");
	to_packet_switches_print(out, c);
	fprintf(out, "\"servers\":[");
	for (unsigned int i = 0; i < c->n_servers; i++) {
		const struct to_server *s = &c->servers[i];

		fprintf(out, "%s\n {\"name\":\"%s\"", i ? "," : "", s->name);
		cluster_print_address(out, &s->address);
		to_pcie_print(out, s);
		fprintf(out, ",\"ports\":[\n");
		for (unsigned int q = 0; q < s->n_ports; q++) {
			cluster_print_port(out, c, s, &s->ports[q]);
			fprintf(out, q + 1 < s->n_ports ? ",\n" : "]}");
		}
	}
	fprintf(out, "]");
}

void to_cluster_print(FILE *out, const struct to_cluster *c)
{
	cluster_print(out, c);
	to_continuity_print(out, c);
}

static void cluster_print_end(FILE *out, const struct to_cluster *c, const char *key,
				 struct to_port_ref at)
{
	fprintf(out, "\"%s\":\"%s:%s\"", key, c->servers[at.server].name,
		c->servers[at.server].ports[at.port].name);
}

#define CLUSTER_BEGIN "{\"format\":\"topoopt-cluster\",\"version\":1,\n"

/* Print the links, and the end of the file. */
static void cluster_print_links(FILE *out, const struct to_cluster *c)
{
	const char *before = "";

	fputs(TO_CLUSTER_LINKS, out);
	for (unsigned int i = 0; i < c->n_links; i++) {
		if (cluster_shared(c, &c->links[i]))
			continue;
		fprintf(out, "%s\n {", before);
		before = ",";
		cluster_print_end(out, c, "a", c->links[i].a);
		fprintf(out, ",");
		cluster_print_end(out, c, "b", c->links[i].b);
		fprintf(out, "}");
	}
	fprintf(out, "]}\n");
}

void to_cluster_print_file(FILE *out, const struct to_cluster *c)
{
	fputs(CLUSTER_BEGIN, out);
	to_cluster_print(out, c);
	cluster_print_links(out, c);
}

void to_cluster_print_unchecked(FILE *out, const struct to_cluster *c)
{
	fputs(CLUSTER_BEGIN, out);
	cluster_print(out, c);
	cluster_print_links(out, c);
}

int to_cluster_refuse_shared(const struct to_cluster *c, const char *path, const char *why,
			     struct to_error *err)
{
	if (!c->n_packet_switches)
		return 0;
	return to_error_set(err, -EOPNOTSUPP, "%.300s: it has packet switches (\"%s\"): %s", path,
			    c->packet_switches[0].name, why);
}

struct to_cluster *to_cluster_load_shared(const char *path, struct to_error *err)
{
	struct to_cluster *cluster;
	char *data;
	size_t len;

	if (to_file_read(path, TO_FILE_MAX, &data, &len, err))
		return NULL;
	cluster = to_cluster_parse(data, len, path, err);
	free(data);
	return cluster;
}

struct to_cluster *to_cluster_load(const char *path, struct to_error *err)
{
	struct to_cluster *cluster = to_cluster_load_shared(path, err);

	if (!cluster || !to_cluster_refuse_shared(cluster, path, TO_CLUSTER_CABLES_ONLY, err))
		return cluster;
	to_cluster_free(cluster);
	return NULL;
}
