// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/discovery.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE (TO_NAME_MAX + IFNAMSIZ + 2)
#define NONE UINT32_MAX

/**
 * struct wire - an interface that could be a port
 * @heard: those of other servers that answered here, ascending, without repetition
 * @overheard: one of them that asked here and did not answer, else NONE
 * @strangers: answers with a MAC address that no listed interface has
 */
struct wire {
	uint32_t server;
	const struct to_inventory_nic *nic;
	unsigned int n_heard, strangers;
	uint32_t *heard, overheard;
};

struct wires {
	const struct to_discovery_server *servers;
	unsigned int n_servers, n;
	struct wire *items;
	struct to_checks *checks;
};

static bool discovery_has(const struct to_inventory *inventory, struct in_addr address)
{
	for (unsigned int i = 0; i < inventory->n_addresses; i++)
		if (inventory->addresses[i].s_addr == address.s_addr)
			return true;
	return false;
}

int to_discovery_targets(const struct to_discovery_server *servers, unsigned int n,
			 struct in_addr *targets, struct to_error *err)
{
	for (unsigned int s = 0; s < n; s++) {
		const struct to_inventory *own = &servers[s].inventory;
		unsigned int found = own->n_addresses;

		for (unsigned int i = 0; i < own->n_addresses && found == own->n_addresses; i++) {
			bool others = false;

			for (unsigned int t = 0; t < n; t++)
				others |= t != s && discovery_has(&servers[t].inventory,
								  own->addresses[i]);
			if (!others)
				found = i;
		}
		if (found == own->n_addresses)
			return to_error_set(err, -ENOENT, "%s: no IPv4 address that no other server has: others cannot ask for it",
					    servers[s].name);
		targets[s] = own->addresses[found];
	}
	return 0;
}

static void wire_name(const struct wires *w, uint32_t i, char text[NAME_SIZE])
{
	snprintf(text, NAME_SIZE, "%s:%s", w->servers[w->items[i].server].name,
		 w->items[i].nic->name);
}

static uint32_t wire_of_mac(const struct wires *w, const uint8_t *mac)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (!memcmp(w->items[i].nic->mac, mac, 6))
			return i;
	return NONE;
}

static int wire_compare(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static int wire_read_answers(const struct wires *w, struct wire *wire)
{
	unsigned int n = 0;

	wire->heard = calloc(wire->nic->n_answers + 1, sizeof(*wire->heard));
	if (!wire->heard)
		return -ENOMEM;
	for (unsigned int i = 0; i < wire->nic->n_answers; i++) {
		const uint32_t other = wire_of_mac(w, wire->nic->answers[i].mac);

		if (other == NONE)
			wire->strangers++;
		else if (w->items[other].server == wire->server)
			continue;
		else if (wire->nic->answers[i].address.s_addr)
			wire->heard[n++] = other;
		else
			wire->overheard = other;
	}
	qsort(wire->heard, n, sizeof(*wire->heard), wire_compare);
	for (unsigned int i = 0; i < n; i++)
		if (!wire->n_heard || wire->heard[wire->n_heard - 1] != wire->heard[i])
			wire->heard[wire->n_heard++] = wire->heard[i];
	return 0;
}

static void wires_close(struct wires *w)
{
	for (unsigned int i = 0; w->items && i < w->n; i++)
		free(w->items[i].heard);
	free(w->items);
}

static int wires_open(struct wires *w, const struct to_discovery_server *servers, unsigned int n,
		      struct to_checks *checks)
{
	unsigned int room = 0;
	int ret = 0;

	*w = (struct wires){ servers, n, 0, NULL, checks };
	for (unsigned int s = 0; s < n; s++)
		room += servers[s].inventory.n_nics;
	w->items = calloc(room + 1, sizeof(*w->items));
	if (!w->items)
		return -ENOMEM;
	for (unsigned int s = 0; s < n; s++)
		for (unsigned int i = 0; i < servers[s].inventory.n_nics; i++)
			if (!servers[s].inventory.nics[i].not_a_port[0])
				w->items[w->n++] = (struct wire){
					.server = s, .nic = &servers[s].inventory.nics[i],
					.overheard = NONE };
	for (uint32_t i = 0; !ret && i < w->n; i++)
		ret = wire_read_answers(w, &w->items[i]);
	if (ret)
		wires_close(w);
	return ret;
}

/* The only other server that was heard, NONE when there are more or none. */
static uint32_t wire_peer_server(const struct wires *w, const struct wire *wire)
{
	uint32_t server = wire->n_heard ? w->items[wire->heard[0]].server : NONE;

	for (unsigned int i = 1; i < wire->n_heard; i++)
		if (w->items[wire->heard[i]].server != server)
			return NONE;
	return server;
}

static bool wire_hears(const struct wires *w, uint32_t i, uint32_t other)
{
	return bsearch(&other, w->items[i].heard, w->items[i].n_heard, sizeof(other), wire_compare);
}

/*
 * The other interface on the cable of @i: of the same server, and hears the same. NONE
 * when there is none, @i itself when there are several.
 */
static uint32_t wire_twin(const struct wires *w, uint32_t i)
{
	const struct wire *a = &w->items[i];
	uint32_t twin = NONE;

	for (uint32_t k = 0; k < w->n; k++) {
		const struct wire *b = &w->items[k];

		if (k == i || b->server != a->server || b->n_heard != a->n_heard ||
		    memcmp(a->heard, b->heard, a->n_heard * sizeof(*a->heard)))
			continue;
		twin = twin == NONE ? k : i;
	}
	return twin;
}

/* Is @i on a cable, both ends of which agree? Says what is wrong if not. */
static bool wire_is_cabled(const struct wires *w, uint32_t i)
{
	const struct wire *wire = &w->items[i];
	const struct to_inventory_nic *nic = wire->nic;
	char name[NAME_SIZE], other[NAME_SIZE], fix[200];

	wire_name(w, i, name);
	if (!nic->up || !nic->carrier) {
		snprintf(fix, sizeof(fix), nic->up ? "check cable, transceiver and the other end" :
			 "ip link set %s up, or toctl discover --up", nic->name);
		to_check_add(w->checks, TO_CHECK_WARN, "carrier", name, fix, "%s",
			     nic->up ? "no light" : "down");
		return false;
	}
	if (!wire->n_heard && wire->overheard != NONE) {
		wire_name(w, wire->overheard, other);
		to_check_add(w->checks, TO_CHECK_FAIL, "cabling", name,
			     "check the fibre that goes there, and the transceivers at its ends",
			     "hears %s, which does not hear it", other);
		return false;
	}
	if (!wire->n_heard && nic->lldp[0]) {
		to_check_add(w->checks, TO_CHECK_WARN, "cabling", name,
			     "leave it out by --ports, if it is not to be cabled otherwise",
			     "light, but no server answers; %s says to be there (LLDP)", nic->lldp);
		return false;
	}
	if (!wire->n_heard) {
		to_check_add(w->checks, TO_CHECK_WARN, "cabling", name,
			     "is the server at the other end listed, its interface up, and arp_ignore 0 there?",
			     wire->strangers ?
			     "light, and answers from interfaces that are not listed as ports" :
			     "light, but no server answers");
		return false;
	}
	wire_name(w, wire->heard[0], other);
	if (wire_peer_server(w, wire) == NONE || wire_twin(w, i) == i || wire->n_heard > 2) {
		to_check_add(w->checks, TO_CHECK_WARN, "cabling", name,
			     "leave it out by --ports, if it is not to be cabled otherwise",
			     "%u interfaces answer, %s first: a network, no cable", wire->n_heard, other);
		return false;
	}
	for (unsigned int k = 0; k < wire->n_heard; k++) {
		wire_name(w, wire->heard[k], other);
		if (wire_hears(w, wire->heard[k], i)) {
			/* some switches keep ports from each other, not from this one */
			if (wire_peer_server(w, &w->items[wire->heard[k]]) != NONE)
				continue;
			to_check_add(w->checks, TO_CHECK_WARN, "cabling", name,
				     "leave it out by --ports, if it is not to be cabled otherwise",
				     "leads to %s, as others do: a network, no cable", other);
			return false;
		}
		to_check_add(w->checks, TO_CHECK_FAIL, "cabling", name,
			     "try again; if it stays so, check cable and transceivers",
			     "%s answers it, and got no answer itself", other);
		return false;
	}
	return true;
}

/* A MAC address that two interfaces have. */
static bool discovery_check_macs(const struct wires *w)
{
	char name[NAME_SIZE], other[NAME_SIZE];
	bool fine = true;

	for (uint32_t i = 0; i < w->n; i++) {
		const uint32_t first = wire_of_mac(w, w->items[i].nic->mac);

		if (first == i)
			continue;
		wire_name(w, i, name);
		wire_name(w, first, other);
		to_check_add(w->checks, TO_CHECK_FAIL, "mac", name,
			     "give one of them another: ip link set DEV address MAC",
			     "has the MAC address of %s, too", other);
		fine = false;
	}
	return fine;
}

static void discovery_check_speed(const struct wires *w, uint32_t i, uint64_t most)
{
	const struct to_inventory_nic *nic = w->items[i].nic;
	char name[NAME_SIZE];

	wire_name(w, i, name);
	if (nic->bandwidth && nic->bandwidth < most)
		to_check_add(w->checks, TO_CHECK_WARN, "speed", name,
			     "check cable and transceiver, and the speed of the other end",
			     "%llu Mbit/s, others have %llu",
			     (unsigned long long)nic->bandwidth / 1000000,
			     (unsigned long long)most / 1000000);
}

/* @port relays by @relay, and @rdma has its address. */
static void discovery_set_port(struct to_port *port, const struct to_inventory_nic *relay,
			       const struct to_inventory_nic *rdma,
			       const struct to_discovery_options *options, const char *name,
			       struct to_checks *checks)
{
	snprintf(port->name, sizeof(port->name), "%s", relay->name);
	memcpy(port->mac, rdma->mac, 6);
	memcpy(port->relay_mac, relay->mac, 6);
	port->optical_switch = -1;
	port->bandwidth = rdma->bandwidth ? rdma->bandwidth :
			  options->bandwidth ? options->bandwidth : TO_SYNTHETIC_BANDWIDTH;
	if (!rdma->bandwidth && !options->bandwidth)
		to_check_add(checks, TO_CHECK_WARN, "speed", name, "give --bandwidth",
			     "the driver names no speed, 100 Gbit/s are taken");
}

/* The port that wire @i is, or that it and @twin are. */
static void discovery_fill_port(const struct wires *w, struct to_port *port, uint32_t i,
				uint32_t twin, const struct to_discovery_options *options)
{
	const struct to_inventory_nic *rdma = w->items[i].nic, *relay = rdma;
	char name[NAME_SIZE];

	wire_name(w, i, name);
	if (twin != NONE) {
		relay = w->items[twin].nic;
		if (relay->rdma[0] && !rdma->rdma[0]) {
			rdma = relay;
			relay = w->items[i].nic;
		}
		snprintf(port->transmit, sizeof(port->transmit), "%s", rdma->name);
		if (rdma->rdma[0] && relay->rdma[0])
			to_check_add(w->checks, TO_CHECK_WARN, "rdma", name,
				     "turn RDMA off on the interface that is to relay",
				     "shares its cable with %s, and both have RDMA: %s is taken to relay",
				     w->items[twin].nic->name, relay->name);
	}
	discovery_set_port(port, relay, rdma, options, name, w->checks);
}

/* @port_of: the port of each wire on its server, NONE for those that are none */
static int discovery_fill(const struct wires *w, struct to_cluster *c, const bool *cabled,
			  uint32_t *port_of, const struct to_discovery_options *options,
			  struct to_error *err)
{
	for (unsigned int s = 0; s < w->n_servers; s++) {
		struct to_server *server = &c->servers[s];

		snprintf(server->name, sizeof(server->name), "%s", w->servers[s].name);
		server->ports = calloc(w->servers[s].inventory.n_nics + 1, sizeof(*server->ports));
		if (!server->ports)
			return to_error_set(err, -ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; i < w->n; i++) {
		struct to_server *server = &c->servers[w->items[i].server];
		const uint32_t twin = cabled[i] ? wire_twin(w, i) : NONE;
		struct to_port *port = &server->ports[server->n_ports];

		if (!cabled[i])
			continue;
		if (twin != NONE && twin < i) {
			port_of[i] = port_of[twin];
			continue;
		}
		port_of[i] = server->n_ports++;
		if (server->n_ports > TO_PORTS_MAX)
			return to_error_set(err, -ERANGE, "%s: more than %u ports", server->name,
					    TO_PORTS_MAX);
		discovery_fill_port(w, port, i, twin, options);
	}
	return 0;
}

static int discovery_link(const struct wires *w, struct to_cluster *c, const bool *cabled,
			  const uint32_t *port_of)
{
	char name[NAME_SIZE], other[NAME_SIZE];

	c->links = calloc(w->n + 1, sizeof(*c->links));
	if (!c->links)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->n; i++) {
		const uint32_t twin = cabled[i] ? wire_twin(w, i) : NONE;
		const uint32_t k = cabled[i] ? w->items[i].heard[0] : NONE;

		/* once for a cable: from the lower end, of two interfaces the first */
		if (!cabled[i] || !cabled[k] || k < i || (twin != NONE && twin < i))
			continue;
		c->links[c->n_links++] = (struct to_link){
			.a = { w->items[i].server, port_of[i] },
			.b = { w->items[k].server, port_of[k] },
			.use = TO_LINK_FIXED, .ring = -1, .tree = -1 };
		wire_name(w, i, name);
		wire_name(w, k, other);
		to_check_add(w->checks, TO_CHECK_OK, "cabling", name, NULL, "leads to %s", other);
	}
	return 0;
}

static uint32_t discovery_root(uint32_t *part, uint32_t s)
{
	while (part[s] != s)
		s = part[s] = part[part[s]];
	return s;
}

/* Servers that no path joins to the first. */
static int discovery_check_parts(const struct wires *w, const struct to_cluster *c)
{
	uint32_t *part = calloc(c->n_servers, sizeof(*part));

	if (!part)
		return -ENOMEM;
	for (uint32_t s = 0; s < c->n_servers; s++)
		part[s] = s;
	for (unsigned int i = 0; i < c->n_links; i++)
		part[discovery_root(part, c->links[i].a.server)] =
			discovery_root(part, c->links[i].b.server);
	for (uint32_t s = 1; s < c->n_servers; s++)
		if (discovery_root(part, s) != discovery_root(part, 0))
			to_check_add(w->checks, TO_CHECK_FAIL, "path", c->servers[s].name,
				     "add a cable", c->servers[s].n_ports ?
				     "no path leads to %s" : "has no cable, nor a path to %s",
				     c->servers[0].name);
	free(part);
	return 0;
}

struct to_cluster *to_discovery_cluster(const struct to_discovery_server *servers, unsigned int n,
					const struct to_discovery_options *options,
					struct to_checks *checks, struct to_error *err)
{
	struct to_cluster *c = calloc(1, sizeof(*c));
	uint32_t *port_of = NULL;
	bool *cabled = NULL;
	uint64_t most = 0;
	struct wires w;
	int ret = -ENOMEM;

	if (!c || wires_open(&w, servers, n, checks)) {
		free(c);
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	c->n_servers = n;
	c->servers = calloc(n, sizeof(*c->servers));
	cabled = calloc(w.n + 1, sizeof(*cabled));
	port_of = calloc(w.n + 1, sizeof(*port_of));
	if (!c->servers || !cabled || !port_of) {
		to_error_set(err, -ENOMEM, "out of memory");
		goto out;
	}
	if (!discovery_check_macs(&w)) {
		ret = to_error_set(err, -EINVAL, "a MAC address is there twice");
		goto out;
	}
	for (uint32_t i = 0; i < w.n; i++) {
		cabled[i] = wire_is_cabled(&w, i);
		if (cabled[i] && w.items[i].nic->bandwidth > most)
			most = w.items[i].nic->bandwidth;
	}
	for (uint32_t i = 0; i < w.n; i++)
		if (cabled[i])
			discovery_check_speed(&w, i, most);
	ret = discovery_fill(&w, c, cabled, port_of, options, err);
	if (!ret && (discovery_link(&w, c, cabled, port_of) || to_cluster_sort(c) ||
		     discovery_check_parts(&w, c)))
		ret = to_error_set(err, -ENOMEM, "out of memory");
	if (!ret && !c->n_links)
		ret = to_error_set(err, -ENOENT, "no cable was found between these servers");
	if (!ret)
		ret = to_addresses_number(c, &options->prefix, err);
	for (unsigned int s = 0; !ret && s < n; s++)
		if (!c->servers[s].n_ports)
			ret = to_error_set(err, -ENOENT, "%s has no cable: leave it out", servers[s].name);
out:
	free(cabled);
	free(port_of);
	wires_close(&w);
	if (!ret)
		return c;
	to_cluster_free(c);
	return NULL;
}

static const struct to_inventory_nic *discovery_find_nic(const struct to_inventory *inventory,
							  const char *name)
{
	for (unsigned int i = 0; i < inventory->n_nics; i++)
		if (!strcmp(inventory->nics[i].name, name))
			return &inventory->nics[i];
	return NULL;
}

static int discovery_named_port(const struct to_discovery_server *server, struct to_port *port,
				const struct to_discovery_port *wanted,
				const struct to_discovery_options *options,
				struct to_checks *checks, struct to_error *err)
{
	const char *const rdma_name = wanted->rdma[0] ? wanted->rdma : wanted->name;
	const struct to_inventory_nic *relay = discovery_find_nic(&server->inventory, wanted->name);
	const struct to_inventory_nic *rdma = discovery_find_nic(&server->inventory, rdma_name);
	char name[NAME_SIZE];

	if (!relay || !rdma)
		return to_error_set(err, -ENODEV, "%s has no interface %s", server->name,
				    relay ? rdma_name : wanted->name);
	snprintf(name, sizeof(name), "%s:%s", server->name, wanted->name);
	snprintf(port->transmit, sizeof(port->transmit), "%s", wanted->rdma);
	discovery_set_port(port, relay, rdma, options, name, checks);
	return 0;
}

static int discovery_named(const struct to_discovery_server *servers, struct to_cluster *c,
			   const struct to_discovery_port *ports, unsigned int n_ports,
			   const struct to_discovery_options *options, struct to_checks *checks,
			   struct to_error *err)
{
	for (unsigned int s = 0; s < c->n_servers; s++) {
		struct to_server *server = &c->servers[s];

		snprintf(server->name, sizeof(server->name), "%s", servers[s].name);
		server->ports = calloc(n_ports, sizeof(*server->ports));
		if (!server->ports)
			return to_error_set(err, -ENOMEM, "out of memory");
		server->n_ports = n_ports;
		for (unsigned int p = 0; p < n_ports; p++) {
			int ret = discovery_named_port(&servers[s], &server->ports[p], &ports[p],
						       options, checks, err);

			if (ret)
				return ret;
		}
	}
	return to_cluster_sort(c) ? to_error_set(err, -ENOMEM, "out of memory") : 0;
}

struct to_cluster *to_discovery_named(const struct to_discovery_server *servers, unsigned int n,
				      const struct to_discovery_port *ports, unsigned int n_ports,
				      const struct to_discovery_options *options,
				      struct to_checks *checks, struct to_error *err)
{
	struct to_cluster *c = calloc(1, sizeof(*c));

	if (c)
		c->servers = calloc(n, sizeof(*c->servers));
	if (!c || !c->servers) {
		free(c);
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	c->n_servers = n;
	if (!discovery_named(servers, c, ports, n_ports, options, checks, err))
		return c;
	to_cluster_free(c);
	return NULL;
}

/* Port of @cluster with @mac. */
static bool discovery_find_port(const struct to_cluster *cluster, const uint8_t *mac,
				struct to_port_ref *ref)
{
	for (uint32_t s = 0; s < cluster->n_servers; s++)
		for (uint32_t p = 0; p < cluster->servers[s].n_ports; p++)
			if (!memcmp(cluster->servers[s].ports[p].mac, mac, 6) ||
			    !memcmp(cluster->servers[s].ports[p].relay_mac, mac, 6)) {
				*ref = (struct to_port_ref){ s, p };
				return true;
			}
	return false;
}

static void discovery_port_name(const struct to_cluster *c, struct to_port_ref ref,
				char text[NAME_SIZE])
{
	snprintf(text, NAME_SIZE, "%s:%s", c->servers[ref.server].name,
		 c->servers[ref.server].ports[ref.port].name);
}

/* Where a link of @cluster leads from @at by its file. */
static bool discovery_expected(const struct to_cluster *cluster, struct to_port_ref at,
			       struct to_port_ref *peer)
{
	for (unsigned int i = 0; i < cluster->n_links; i++) {
		const struct to_link *link = &cluster->links[i];

		*peer = link->b;
		if (link->a.server == at.server && link->a.port == at.port)
			return true;
		*peer = link->a;
		if (link->b.server == at.server && link->b.port == at.port)
			return true;
	}
	return false;
}

/* The port of @cluster that answered @nic as the @i-th. Return: whether one of others did. */
static bool discovery_answered(const struct to_inventory_nic *nic, unsigned int i,
			       const struct to_cluster *cluster, uint32_t server,
			       struct to_port_ref *heard)
{
	return nic->answers[i].address.s_addr &&
	       discovery_find_port(cluster, nic->answers[i].mac, heard) && heard->server != server;
}

static bool discovery_hears(const struct to_inventory_nic *nic, const struct to_port *port)
{
	for (unsigned int i = 0; i < nic->n_answers; i++)
		if (nic->answers[i].address.s_addr && (!memcmp(nic->answers[i].mac, port->mac, 6) ||
						       !memcmp(nic->answers[i].mac, port->relay_mac, 6)))
			return true;
	return false;
}

/* Who is on the packet switch of @at hears all others there, and nobody else. */
static void discovery_compare_shared(const struct to_inventory_nic *nic,
				     const struct to_cluster *cluster, struct to_port_ref at,
				     const char *name, struct to_checks *checks)
{
	const unsigned int on = cluster->servers[at.server].ports[at.port].packet_switch;
	const char *const segment = cluster->packet_switches[on - 1].name;
	char other[NAME_SIZE], fix[200];
	unsigned int others = 0, silent = 0;
	struct to_port_ref heard;

	for (unsigned int i = 0; i < nic->n_answers; i++) {
		if (!discovery_answered(nic, i, cluster, at.server, &heard) ||
		    cluster->servers[heard.server].ports[heard.port].packet_switch == on)
			continue;
		discovery_port_name(cluster, heard, other);
		snprintf(fix, sizeof(fix), "check the cables of %.70s and %.70s, or correct the file",
			 name, other);
		to_check_add(checks, TO_CHECK_FAIL, "cabling", name, fix,
			     "%s answers there, which by the file is not on %s", other, segment);
		return;
	}
	for (uint32_t s = 0; s < cluster->n_servers; s++) {
		const int p = s == at.server ? -1 : to_cluster_find_on(&cluster->servers[s], on);

		if (p < 0)
			continue;
		others++;
		if (discovery_hears(nic, &cluster->servers[s].ports[p]))
			continue;
		if (!silent++)
			discovery_port_name(cluster, (struct to_port_ref){ s, p }, other);
	}
	if (!silent) {
		to_check_add(checks, TO_CHECK_OK, "cabling", name, NULL, "on %s with %u others",
			     segment, others);
		return;
	}
	snprintf(fix, sizeof(fix), "check the cables to %.80s, and that all are up", segment);
	to_check_add(checks, TO_CHECK_FAIL, "cabling", name, fix,
		     "of %u others on %s %u do not answer, %s first", others, segment, silent, other);
}

static void discovery_compare_port(const struct to_inventory *inventory,
				   const struct to_cluster *cluster, struct to_port_ref at,
				   struct to_checks *checks)
{
	const struct to_port *port = &cluster->servers[at.server].ports[at.port];
	char name[NAME_SIZE], found[NAME_SIZE] = "nobody", wanted[NAME_SIZE] = "nobody", fix[200];
	const struct to_inventory_nic *nic = NULL;
	struct to_port_ref peer, heard;
	bool expected = discovery_expected(cluster, at, &peer), answered = false;

	discovery_port_name(cluster, at, name);
	for (unsigned int i = 0; i < inventory->n_nics; i++)
		if (!memcmp(inventory->nics[i].mac, port->mac, 6))
			nic = &inventory->nics[i];
	if (nic && strcmp(nic->name, to_port_rdma(port)))
		to_check_add(checks, TO_CHECK_FAIL, "port", name, "correct the file, or rename the interface",
			     "its MAC address is that of %s", nic->name);
	if (!nic) {
		to_check_add(checks, TO_CHECK_FAIL, "port", name, "correct its mac in the file",
			     "no interface of the server has its MAC address");
		return;
	}
	if (port->packet_switch) {
		discovery_compare_shared(nic, cluster, at, name, checks);
		return;
	}
	for (unsigned int i = 0; i < nic->n_answers && !answered; i++)
		answered = discovery_answered(nic, i, cluster, at.server, &heard);
	if (answered)
		discovery_port_name(cluster, heard, found);
	else if (nic->lldp[0])
		snprintf(found, sizeof(found), "%s (LLDP)", nic->lldp);
	if (expected)
		discovery_port_name(cluster, peer, wanted);
	if (!strcmp(found, wanted)) {
		to_check_add(checks, TO_CHECK_OK, "cabling", name, NULL,
			     expected ? "leads to %s" : "leads to %s, as in the file", found);
		return;
	}
	if (expected && !answered)
		snprintf(fix, sizeof(fix), "check the cable to %.80s, and that both are up", wanted);
	else if (expected)
		snprintf(fix, sizeof(fix), "move the cable from %.80s to %.80s", found, wanted);
	else
		snprintf(fix, sizeof(fix), "remove the cable, or add the link to the file");
	to_check_add(checks, TO_CHECK_FAIL, "cabling", name, fix, "leads to %s, the file says %s",
		     found, wanted);
}

void to_discovery_compare(const struct to_discovery_server *servers,
			  const struct to_cluster *cluster, struct to_checks *checks)
{
	for (uint32_t s = 0; s < cluster->n_servers; s++)
		for (uint32_t p = 0; p < cluster->servers[s].n_ports; p++)
			discovery_compare_port(&servers[s].inventory, cluster,
					       (struct to_port_ref){ s, p }, checks);
}
