// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/cluster.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SYNTHETIC_SERVERS_MAX 65534	/* n.n of 10.200.n.n, less 0 and broadcast */
#define SYNTHETIC_DEGREE_MAX (TO_PORTS_MAX - 10)	/* 10.201 to 10.254 */
#define SYNTHETIC_RECONFIGURATION_NS 10000000	/* 10 ms, a 3D MEMS switch */

void to_cluster_default_address(struct to_address *address, unsigned int q, unsigned int n)
{
	address->has_v4 = address->has_v6 = true;
	address->v4.s_addr = htonl(10U << 24 | (200 + q) << 16 | n);
	address->v6 = (struct in6_addr){ .s6_addr = { 0xfd, 0, 0x74, 0x6f } };
	address->v6.s6_addr[7] = q;
	address->v6.s6_addr[14] = n >> 8;
	address->v6.s6_addr[15] = n;
}

static void cluster_synthetic_port(struct to_port *port, unsigned int n, unsigned int q,
				   uint64_t bandwidth)
{
	snprintf(port->name, sizeof(port->name), "eth%u", q);
	memcpy(port->mac, (uint8_t[]){ 2, 0x54, 0x4f, q, n >> 8, n }, 6);
	memcpy(port->relay_mac, port->mac, 6);
	to_cluster_default_address(&port->address, q + 1, n);
	port->bandwidth = bandwidth;
}

static int cluster_synthetic_fill(struct to_cluster *c, unsigned int n_servers,
				  unsigned int degree, uint64_t bandwidth)
{
	bool duplex = c->link_mode == TO_LINKS_DUPLEX;

	c->n_switches = duplex ? 1 : degree;
	c->switches = calloc(c->n_switches, sizeof(*c->switches));
	c->servers = calloc(n_servers, sizeof(*c->servers));
	if (!c->switches || !c->servers)
		return -ENOMEM;
	c->n_servers = n_servers;
	for (unsigned int q = 0; q < c->n_switches; q++) {
		struct to_optical_switch *sw = &c->switches[q];

		snprintf(sw->name, sizeof(sw->name), "ocs%u", q);
		sw->n_ports = duplex ? n_servers * degree : n_servers;
		sw->reconfiguration_ns = SYNTHETIC_RECONFIGURATION_NS;
	}
	for (unsigned int i = 0; i < n_servers; i++) {
		struct to_server *server = &c->servers[i];

		snprintf(server->name, sizeof(server->name), "s%u", i);
		to_cluster_default_address(&server->address, 0, i + 1);
		server->ports = calloc(degree, sizeof(*server->ports));
		if (!server->ports)
			return -ENOMEM;
		server->n_ports = degree;
		for (unsigned int q = 0; q < degree; q++) {
			struct to_port *port = &server->ports[q];

			cluster_synthetic_port(port, i + 1, q, bandwidth);
			port->optical_switch = duplex ? 0 : q;
			port->optical_port = duplex ? i * degree + q + 1 : i + 1;
		}
	}
	return 0;
}

struct to_cluster *to_cluster_synthetic(unsigned int n_servers,
					unsigned int degree, uint64_t bandwidth,
					enum to_link_mode mode,
					struct to_error *err)
{
	struct to_cluster *c;

	if (n_servers < 2 || n_servers > SYNTHETIC_SERVERS_MAX) {
		to_error_set(err, -ERANGE,
			     "%u servers: the default addresses are for 2 to %u",
			     n_servers, SYNTHETIC_SERVERS_MAX);
		return NULL;
	}
	if (degree < 1 || degree > SYNTHETIC_DEGREE_MAX) {
		to_error_set(err, -ERANGE,
			     "degree %u: the default addresses are for 1 to %u",
			     degree, SYNTHETIC_DEGREE_MAX);
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	if (c)
		c->link_mode = mode;
	if (!c ||
	    cluster_synthetic_fill(c, n_servers, degree,
				   bandwidth ? bandwidth : TO_SYNTHETIC_BANDWIDTH) ||
	    to_cluster_sort(c)) {
		to_error_set(err, -ENOMEM, "out of memory");
		to_cluster_free(c);
		return NULL;
	}
	return c;
}

void to_cluster_free(struct to_cluster *c)
{
	if (!c)
		return;
	for (unsigned int i = 0; i < c->n_servers; i++) {
		free(c->servers[i].ports);
		free(c->servers[i].pcie);
	}
	free(c->servers);
	free(c->switches);
	free(c->packet_switches);
	free(c->links);
	free(c->by_name);
	free(c);
}

static void *cluster_copy(const void *data, size_t count, size_t size)
{
	void *new = calloc(count ? count : 1, size);

	if (new && count)
		memcpy(new, data, count * size);
	return new;
}

struct to_cluster *to_cluster_copy(const struct to_cluster *c)
{
	struct to_cluster *new = cluster_copy(c, 1, sizeof(*c));
	bool copied;

	if (!new)
		return NULL;
	new->servers = calloc(c->n_servers + 1, sizeof(*new->servers));
	new->switches = cluster_copy(c->switches, c->n_switches, sizeof(*c->switches));
	new->packet_switches = cluster_copy(c->packet_switches, c->n_packet_switches,
					    sizeof(*c->packet_switches));
	new->links = cluster_copy(c->links, c->n_links, sizeof(*c->links));
	new->by_name = cluster_copy(c->by_name, c->n_servers, sizeof(*c->by_name));
	copied = new->servers && new->switches && new->packet_switches && new->links &&
		 new->by_name;
	for (new->n_servers = 0; copied && new->n_servers < c->n_servers; new->n_servers++) {
		const struct to_server *from = &c->servers[new->n_servers];
		struct to_server *to = &new->servers[new->n_servers];

		*to = *from;
		to->ports = cluster_copy(from->ports, from->n_ports, sizeof(*from->ports));
		to->pcie = cluster_copy(from->pcie, from->n_pcie, sizeof(*from->pcie));
		copied = to->ports && to->pcie;
	}
	if (copied)
		return new;
	if (!new->servers)
		new->n_servers = 0;
	to_cluster_free(new);
	return NULL;
}

static int cluster_compare(const void *a, const void *b, void *data)
{
	const struct to_cluster *c = data;
	const uint32_t *x = a, *y = b;
	int order = strcmp(c->servers[*x].name, c->servers[*y].name);

	return order ? order : (*x > *y) - (*x < *y);
}

int to_cluster_sort(struct to_cluster *c)
{
	free(c->by_name);
	c->by_name = calloc(c->n_servers, sizeof(*c->by_name));
	if (!c->by_name)
		return -ENOMEM;
	for (unsigned int i = 0; i < c->n_servers; i++)
		c->by_name[i] = i;
	qsort_r(c->by_name, c->n_servers, sizeof(*c->by_name), cluster_compare, c);
	return 0;
}

/* Servers with a port on packet switch @on, as to_port.packet_switch: how many, and which. */
static unsigned int cluster_on(const struct to_cluster *c, unsigned int on,
			       struct to_port_ref *ports)
{
	unsigned int n = 0;

	for (uint32_t x = 0; x < c->n_servers; x++) {
		int q = to_cluster_find_on(&c->servers[x], on);

		if (q >= 0)
			ports[n++] = (struct to_port_ref){ x, q };
	}
	return n;
}

int to_cluster_join_shared(struct to_cluster *c)
{
	struct to_port_ref *ports = calloc(c->n_servers, sizeof(*ports));
	int ret = ports ? 0 : -ENOMEM;

	for (unsigned int on = 1; !ret && on <= c->n_packet_switches; on++) {
		size_t n = cluster_on(c, on, ports);
		struct to_link *links = reallocarray(c->links, c->n_links + n * n / 2 + 1,
						     sizeof(*links));

		if (!links) {
			ret = -ENOMEM;
			break;
		}
		c->links = links;
		for (size_t i = 0; i < n; i++)
			for (size_t k = i + 1; k < n; k++)
				links[c->n_links++] = (struct to_link){
					.a = ports[i], .b = ports[k], .use = TO_LINK_FIXED,
					.ring = -1, .tree = -1 };
	}
	free(ports);
	return ret;
}

/* Whether port @p is the first on its cable. */
static bool cluster_first_on_cable(const struct to_server *server, unsigned int p)
{
	for (unsigned int q = 0; q < p; q++)
		if (to_port_shares_cable(server, p, q))
			return false;
	return true;
}

int to_cluster_reach(const struct to_cluster *c, unsigned int *reach)
{
	unsigned int *used = calloc(c->n_packet_switches + 1, sizeof(*used));

	if (!used)
		return -ENOMEM;
	for (uint32_t x = 0; x < c->n_servers; x++)
		for (unsigned int q = 0; q < c->servers[x].n_ports; q++)
			used[c->servers[x].ports[q].packet_switch]++;
	for (uint32_t x = 0; x < c->n_servers; x++) {
		reach[x] = 0;
		for (unsigned int q = 0; q < c->servers[x].n_ports; q++) {
			unsigned int on = c->servers[x].ports[q].packet_switch;

			/* functions that share a cable lead to one server */
			reach[x] += on ? used[on] - 1 : cluster_first_on_cable(&c->servers[x], q);
		}
	}
	free(used);
	return 0;
}

int to_cluster_find_server(const struct to_cluster *c, const char *name)
{
	unsigned int low = 0, high = c->n_servers;

	while (low < high) {
		unsigned int middle = low + (high - low) / 2;
		int order = strcmp(name, c->servers[c->by_name[middle]].name);

		if (!order)
			return c->by_name[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return -1;
}

/* Length of @name up to its first dot; whole where it is an IPv4 address. */
static size_t cluster_first_part(const char *name)
{
	struct in_addr address;

	return inet_pton(AF_INET, name, &address) == 1 ? strlen(name) : strcspn(name, ".");
}

bool to_server_fits_host(const struct to_server *server, const char *host)
{
	const size_t length = cluster_first_part(host);

	return cluster_first_part(server->name) == length && !strncmp(server->name, host, length);
}

int to_cluster_find_host(const struct to_cluster *c, const char *host)
{
	int found = to_cluster_find_server(c, host);

	if (found >= 0)
		return found;
	found = -ENOENT;
	for (uint32_t s = 0; s < c->n_servers; s++) {
		if (!to_server_fits_host(&c->servers[s], host))
			continue;
		if (found >= 0)
			return -EEXIST;
		found = s;
	}
	return found;
}

int to_cluster_find_port(const struct to_server *server, const char *name)
{
	for (unsigned int q = 0; q < server->n_ports; q++)
		if (!strcmp(server->ports[q].name, name))
			return q;
	return -1;
}

int to_cluster_find_on(const struct to_server *server, unsigned int packet_switch)
{
	for (unsigned int q = 0; packet_switch && q < server->n_ports; q++)
		if (server->ports[q].packet_switch == packet_switch)
			return q;
	return -1;
}

bool to_port_shares_cable(const struct to_server *server, unsigned int p, unsigned int q)
{
	return server->ports[p].cable[0] &&
	       !strcmp(server->ports[p].cable, server->ports[q].cable);
}

uint64_t to_server_cable_bandwidth(const struct to_server *server, unsigned int p)
{
	uint64_t sum = server->ports[p].bandwidth;

	for (unsigned int q = 0; q < server->n_ports; q++)
		if (q != p && to_port_shares_cable(server, p, q))
			sum += server->ports[q].bandwidth;
	return sum;
}

bool to_port_is_function(const struct to_server *server, unsigned int p)
{
	for (unsigned int q = 0; q < server->n_ports; q++)
		if (q != p && to_port_shares_cable(server, p, q))
			return true;
	return false;
}

bool to_cluster_shares_cables(const struct to_cluster *c)
{
	for (uint32_t s = 0; s < c->n_servers; s++)
		if (to_server_cables(&c->servers[s]) < c->servers[s].n_ports)
			return true;
	return false;
}

/* Whether a link before @link joins the cables that it joins. */
static bool cluster_on_earlier_cable(const struct to_cluster *c, const struct to_link *link)
{
	const struct to_server *server = &c->servers[link->a.server];

	for (const struct to_link *l = c->links; l < link; l++)
		if ((l->a.server == link->a.server &&
		     to_port_shares_cable(server, l->a.port, link->a.port)) ||
		    (l->b.server == link->a.server &&
		     to_port_shares_cable(server, l->b.port, link->a.port)))
			return true;
	return false;
}

unsigned int to_cluster_cables(const struct to_cluster *c)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->n_links; i++)
		n += !to_link_is_shared(c, &c->links[i]) && !cluster_on_earlier_cable(c, &c->links[i]);
	return n;
}

unsigned int to_server_cables(const struct to_server *server)
{
	unsigned int n = 0;

	for (unsigned int p = 0; p < server->n_ports; p++)
		n += cluster_first_on_cable(server, p);
	return n;
}

const char *to_port_rdma(const struct to_port *port)
{
	bool two = memcmp(port->mac, port->relay_mac, sizeof(port->mac));

	return two && port->transmit[0] ? port->transmit : port->name;
}
