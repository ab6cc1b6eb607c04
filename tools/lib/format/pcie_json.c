// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/pcie_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "format/names.h"

static const char *const transits[] = { "kernel", "nic", "none", NULL };

static const struct to_json_field link_fields[] = {
	{ "name", to_names_read_interface, offsetof(struct to_pcie_link, name), false },
	{ "within", to_pcie_read_name, 0, true },
	{ "rate", to_json_bits_per_second, offsetof(struct to_pcie_link, rate), true },
	{ "to_host", to_json_bits_per_second, offsetof(struct to_pcie_link, to_host), true },
	{ "from_host", to_json_bits_per_second, offsetof(struct to_pcie_link, from_host), true },
	{}
};

int to_pcie_read_name(const struct to_json *at, void *to)
{
	char name[IFNAMSIZ];

	(void)to;
	return to_names_read_interface(at, name);
}

/* Set *@link to 1 + index of what @key of @at names among the first @n links of @server. */
static int pcie_find(const struct to_json *at, const char *key, const struct to_server *server,
		     unsigned int n, unsigned int *link)
{
	const char *name = json_string_value(json_object_get(at->value, key));

	*link = 0;
	if (!name)
		return 0;
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(server->pcie[i].name, name)) {
			*link = 1 + i;
			return 0;
		}
	return to_json_error_at(at, key, -ENOENT, "no PCIe link%s is called \"%s\"",
				n < server->n_pcie ? " before this one" : " of the server", name);
}

int to_pcie_read(const struct to_json *at, void *to)
{
	struct to_server *server = to;
	int ret = to_json_array(at, sizeof(*server->pcie), &server->pcie, &server->n_pcie);

	if (!ret && server->n_pcie > TO_PORTS_MAX)
		return to_json_error(at, -ERANGE, "expected %d PCIe links at most", TO_PORTS_MAX);
	for (unsigned int i = 0; i < server->n_pcie && !ret; i++) {
		struct to_json child = to_json_element(at, i);
		struct to_pcie_link *link = &server->pcie[i];

		ret = to_json_object(&child, link_fields, link);
		if (!ret && !link->rate && (!link->to_host || !link->from_host))
			ret = to_json_error(&child, -EINVAL,
					    "\"rate\", or \"to_host\" and \"from_host\", is missing");
		for (unsigned int k = 0; k < i && !ret; k++)
			if (!strcmp(server->pcie[k].name, link->name))
				ret = to_json_error_at(&child, "name", -EEXIST,
						       "pcie[%u] is also called \"%s\"", k,
						       link->name);
		if (!ret)
			ret = pcie_find(&child, "within", server, i, &link->within);
	}
	return ret;
}

int to_pcie_read_port(const struct to_json *at, const struct to_server *server,
		      struct to_port *port)
{
	int ret = pcie_find(at, "pcie", server, server->n_pcie, &port->pcie);

	if (!ret && port->cable[0] && (port->optical_switch >= 0 || port->packet_switch))
		ret = to_json_error_at(at, "cable", -EINVAL,
				       "the port is on a switch; only cables are shared");
	return ret;
}

int to_pcie_read_transit(const struct to_json *at, void *to)
{
	int transit = to_json_choice(at, transits);

	if (transit < 0)
		return transit;
	*(enum to_transit *)to = transit;
	return 0;
}

/* The end of the cable that leads to @port, of server and first port; itself if it shares none. */
static struct to_port_ref cable_end(const struct to_cluster *c, struct to_port_ref port)
{
	const struct to_server *server = &c->servers[port.server];

	for (unsigned int q = 0; q < port.port; q++)
		if (to_port_shares_cable(server, q, port.port))
			return (struct to_port_ref){ port.server, q };
	return port;
}

/* The cable at @near ends at @far. @ends has, per port, 1 + where its cable was found to end. */
static int cable_check_end(const struct to_json *link, const char *key, const struct to_cluster *c,
			   uint32_t *ends, struct to_port_ref near, struct to_port_ref far)
{
	struct to_port_ref from = cable_end(c, near), to = cable_end(c, far);
	uint32_t end = 1 + to.server * TO_PORTS_MAX + to.port;
	uint32_t *at = &ends[from.server * TO_PORTS_MAX + from.port];
	const struct to_server *server = &c->servers[near.server];

	if (!*at)
		*at = end;
	if (*at == end)
		return 0;
	return to_json_error_at(link, key, -EINVAL,
				"cable \"%s\" of server \"%s\" has its other end at \"%s:%s\", says another link",
				server->ports[near.port].cable, server->name,
				c->servers[(*at - 1) / TO_PORTS_MAX].name,
				c->servers[(*at - 1) / TO_PORTS_MAX].ports[(*at - 1) % TO_PORTS_MAX].name);
}

int to_pcie_check_cables(const struct to_json *at, const struct to_cluster *c)
{
	uint32_t *ends;
	int ret = 0;

	/* a port is on one link here, unless that goes one way */
	if (c->link_mode == TO_LINKS_SIMPLEX)
		return 0;
	ends = calloc((size_t)c->n_servers * TO_PORTS_MAX, sizeof(*ends));
	if (!ends)
		return to_json_error(at, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < c->n_links && !ret; i++) {
		const struct to_link *l = &c->links[i];
		struct to_json child = to_json_element(at, i);

		if (to_link_is_shared(c, l))
			continue;
		ret = cable_check_end(&child, "a", c, ends, l->a, l->b);
		if (!ret)
			ret = cable_check_end(&child, "b", c, ends, l->b, l->a);
	}
	free(ends);
	return ret;
}

static void pcie_print_rate(FILE *out, const char *key, uint64_t rate)
{
	if (rate)
		fprintf(out, ",\"%s\":%llu", key, (unsigned long long)rate);
}

void to_pcie_print(FILE *out, const struct to_server *server)
{
	if (!server->n_pcie)
		return;
	fprintf(out, ",\"pcie\":[");
	for (unsigned int i = 0; i < server->n_pcie; i++) {
		const struct to_pcie_link *link = &server->pcie[i];

		fprintf(out, "%s\n   {\"name\":\"%s\"", i ? "," : "", link->name);
		if (link->within)
			fprintf(out, ",\"within\":\"%s\"", server->pcie[link->within - 1].name);
		pcie_print_rate(out, "rate", link->rate);
		pcie_print_rate(out, "to_host", link->to_host);
		pcie_print_rate(out, "from_host", link->from_host);
		fputc('}', out);
	}
	fprintf(out, "]");
}

void to_pcie_print_port(FILE *out, const struct to_server *server, const struct to_port *port)
{
	if (port->cable[0])
		fprintf(out, ",\"cable\":\"%s\"", port->cable);
	if (port->card[0])
		fprintf(out, ",\"card\":\"%s\"", port->card);
	if (port->pcie)
		fprintf(out, ",\"pcie\":\"%s\"", server->pcie[port->pcie - 1].name);
	if (port->transit != TO_TRANSIT_KERNEL)
		fprintf(out, ",\"transit\":\"%s\"", transits[port->transit]);
}
