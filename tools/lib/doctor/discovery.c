// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/discovery.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/wires.h"
#include "format/names.h"

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

/* A MAC address that two interfaces have. */
static bool discovery_check_macs(const struct to_wires *w)
{
	char name[TO_WIRE_NAME], other[TO_WIRE_NAME];
	bool fine = true;

	for (uint32_t i = 0; i < w->n; i++) {
		const uint32_t first = to_wires_of_mac(w, w->items[i].nic->mac);

		if (first == i)
			continue;
		to_wires_name(w, i, name);
		to_wires_name(w, first, other);
		to_check_add(w->checks, TO_CHECK_FAIL, "mac", name,
			     "give one of them another: ip link set DEV address MAC",
			     "has the MAC address of %s, too", other);
		fine = false;
	}
	return fine;
}

static void discovery_check_speed(const struct to_wires *w, uint32_t i, uint64_t most)
{
	const struct to_inventory_nic *nic = w->items[i].nic;
	char name[TO_WIRE_NAME];

	to_wires_name(w, i, name);
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

/* One relays for the other, if just one of the two functions on a cable has RDMA. */
static bool discovery_fuses(const struct to_wires *w, const uint32_t *list, unsigned int n)
{
	return n == 2 && !w->items[list[0]].nic->rdma[0] != !w->items[list[1]].nic->rdma[0];
}

/* The ports at wire @i's end of its cable, each by its first wire. Return: how many. */
static unsigned int discovery_ends(const struct to_wires *w, uint32_t i, uint32_t *list)
{
	const unsigned int n = to_wires_siblings(w, i, list);

	if (!discovery_fuses(w, list, n))
		return n;
	if (list[1] < list[0])
		list[0] = list[1];
	return 1;
}

/* PCIe link @link of @server, a branch of @within; as to_port.pcie, 0 when out of memory. */
static unsigned int discovery_pcie_link(struct to_server *server, unsigned int within,
					const struct to_hardware_link *link)
{
	struct to_pcie_link *pcie;

	for (unsigned int i = 0; i < server->n_pcie; i++)
		if (!strcmp(server->pcie[i].name, link->name))
			return 1 + i;
	pcie = reallocarray(server->pcie, server->n_pcie + 1, sizeof(*pcie));
	if (!pcie)
		return 0;
	server->pcie = pcie;
	pcie[server->n_pcie] = (struct to_pcie_link){ .within = within, .rate = link->rate };
	strcpy(pcie[server->n_pcie].name, link->name);
	return ++server->n_pcie;
}

static int discovery_set_pcie(struct to_server *server, struct to_port *port,
			      const struct to_hardware *hardware)
{
	for (unsigned int i = 0; i < hardware->n_links; i++) {
		port->pcie = discovery_pcie_link(server, port->pcie, &hardware->links[i]);
		if (!port->pcie)
			return -ENOMEM;
	}
	return 0;
}

/* Whether wire @i is the first of its server on its card. */
static bool discovery_first_on_card(const struct to_wires *w, uint32_t i)
{
	const char *const card = w->items[i].nic->hardware.card;

	for (uint32_t k = 0; k < i; k++)
		if (w->items[k].server == w->items[i].server &&
		    !strcmp(w->items[k].nic->hardware.card, card))
			return false;
	return card[0];
}

/* A card's name in the file: a number, in the order of its first interface. */
static void discovery_set_card(const struct to_wires *w, struct to_port *port, uint32_t i)
{
	const char *const card = w->items[i].nic->hardware.card;
	unsigned int number = 0;

	if (!card[0])
		return;
	for (uint32_t k = 0; k < i; k++) {
		if (w->items[k].server != w->items[i].server || !discovery_first_on_card(w, k))
			continue;
		if (!strcmp(w->items[k].nic->hardware.card, card))
			break;
		number++;
	}
	snprintf(port->card, sizeof(port->card), "card%u", number);
}

/* The connector's own name, unless another cable of @server has it. */
static void discovery_set_cable(struct to_server *server, struct to_port *port, const char *connector)
{
	bool taken = !to_names_is_interface(connector);

	for (unsigned int q = 0; q + 1 < server->n_ports; q++)
		taken |= !strcmp(server->ports[q].cable, connector);
	if (taken)
		snprintf(port->cable, sizeof(port->cable), "c%u", server->n_ports - 1);
	else
		snprintf(port->cable, sizeof(port->cable), "%s", connector);
}

/* Add the port whose first wire is @i, of the @n in @list on its cable. */
static int discovery_add_port(const struct to_wires *w, struct to_server *server, uint32_t i,
			      const uint32_t *list, unsigned int n, const uint32_t *port_of,
			      const struct to_discovery_options *options)
{
	struct to_port *port = &server->ports[server->n_ports++];
	const struct to_inventory_nic *rdma = w->items[i].nic, *relay = rdma;
	const bool fused = discovery_fuses(w, list, n);
	char name[TO_WIRE_NAME];

	to_wires_name(w, i, name);
	if (fused) {
		rdma = w->items[list[!w->items[list[0]].nic->rdma[0]]].nic;
		relay = w->items[list[!!w->items[list[0]].nic->rdma[0]]].nic;
		snprintf(port->transmit, sizeof(port->transmit), "%s", rdma->name);
	} else {
		port->transit = rdma->takes_roce ? TO_TRANSIT_NONE : TO_TRANSIT_KERNEL;
	}
	discovery_set_port(port, relay, rdma, options, name, w->checks);
	/* each function names the speed of the connector */
	if (!fused)
		port->bandwidth /= n;
	discovery_set_card(w, port, i);
	for (unsigned int k = 0; !fused && k < n; k++)
		if (list[k] < i)
			strcpy(port->cable, server->ports[port_of[list[k]]].cable);
	if (n > 1 && !fused && !port->cable[0])
		discovery_set_cable(server, port, rdma->hardware.connector);
	return discovery_set_pcie(server, port, &rdma->hardware);
}

/* @port_of: the port of each wire on its server, TO_WIRE_NONE for those that are none */
static int discovery_fill(const struct to_wires *w, struct to_cluster *c, const bool *cabled,
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
		uint32_t list[TO_PORTS_MAX];
		const unsigned int n = cabled[i] ? to_wires_siblings(w, i, list) : 0;
		const bool fused = discovery_fuses(w, list, n);

		port_of[i] = TO_WIRE_NONE;
		if (!n)
			continue;
		if (fused && (list[0] < i || list[1] < i)) {
			port_of[i] = port_of[list[0] == i ? list[1] : list[0]];
			continue;
		}
		if (server->n_ports == TO_PORTS_MAX)
			return to_error_set(err, -ERANGE, "%s: more than %u ports", server->name,
					    TO_PORTS_MAX);
		port_of[i] = server->n_ports;
		if (discovery_add_port(w, server, i, list, n, port_of, options))
			return to_error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

/*
 * The port at the other end for number @rank of the @n at this one, both in the order of PCI
 * addresses: the one of that rank; where one end has fewer, the one of the same PCI domain.
 * TO_WIRE_NONE for none.
 */
static uint32_t discovery_partner(const struct to_wires *w, const uint32_t *here, unsigned int n,
				  unsigned int rank, const uint32_t *there, unsigned int far)
{
	const char *const pci = w->items[here[rank]].nic->hardware.pci;
	const size_t domain = strcspn(pci, ":");

	if (n == far || (!pci[0] && rank < far))
		return there[rank];
	for (unsigned int k = 0; pci[0] && k < far; k++)
		if (!strncmp(pci, w->items[there[k]].nic->hardware.pci, domain + 1))
			return there[k];
	return TO_WIRE_NONE;
}

/* A link for each two ports at the ends of a cable. */
static int discovery_link(const struct to_wires *w, struct to_cluster *c, const bool *cabled,
			  const uint32_t *port_of)
{
	char name[TO_WIRE_NAME], other[TO_WIRE_NAME];
	uint32_t here[TO_PORTS_MAX], there[TO_PORTS_MAX];

	c->links = calloc(w->n + 1, sizeof(*c->links));
	if (!c->links)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->n; i++) {
		const unsigned int n = cabled[i] ? discovery_ends(w, i, here) : 0;
		unsigned int rank = 0, far;
		uint32_t k;

		while (rank < n && here[rank] != i)
			rank++;
		if (rank == n || !cabled[w->items[i].joined[0]])
			continue;
		far = discovery_ends(w, w->items[i].joined[0], there);
		k = discovery_partner(w, here, n, rank, there, far);
		to_wires_name(w, i, name);
		to_wires_name(w, k == TO_WIRE_NONE ? there[0] : k, other);
		if (k == TO_WIRE_NONE)
			to_check_add(w->checks, TO_CHECK_WARN, "cabling", name,
				     "is the other function there down, left out, or the only one without RDMA?",
				     "shares its cable, and %s is alone at the other end", other);
		if (k == TO_WIRE_NONE || k < i)
			continue;
		c->links[c->n_links++] = (struct to_link){
			.a = { w->items[i].server, port_of[i] },
			.b = { w->items[k].server, port_of[k] },
			.use = TO_LINK_FIXED, .ring = -1, .tree = -1 };
		to_check_add(w->checks, TO_CHECK_OK, "cabling", name, NULL, "leads to %s", other);
		to_wires_check_mtu(w->checks, w->servers[w->items[i].server].name, w->items[i].nic,
				   w->servers[w->items[k].server].name, w->items[k].nic);
	}
	return 0;
}

/* Interfaces that were left out and may be missed, with what takes them in. */
static void discovery_check_left_out(const struct to_wires *w, const struct to_cluster *c)
{
	char name[TO_WIRE_NAME], fix[80];

	for (unsigned int s = 0; s < w->n_servers; s++) {
		const struct to_inventory *inventory = &w->servers[s].inventory;
		const enum to_verdict verdict = c->servers[s].n_ports ? TO_CHECK_OK : TO_CHECK_WARN;

		if (inventory->unmatched[0])
			to_check_add(w->checks, TO_CHECK_WARN, "ports", w->servers[s].name,
				     "correct --ports; toctl discover on the server lists its interfaces",
				     "no interface is called %s", inventory->unmatched);
		for (unsigned int i = 0; i < inventory->n_nics; i++) {
			const struct to_inventory_nic *nic = &inventory->nics[i];

			if (!nic->not_a_port[0] || !strncmp(nic->not_a_port, "is ", 3))
				continue;
			snprintf(name, sizeof(name), "%s:%s", w->servers[s].name, nic->name);
			snprintf(fix, sizeof(fix), "to take it: --ports %s", nic->name);
			to_check_add(w->checks, verdict, "left out", name, fix, "%s", nic->not_a_port);
		}
	}
}

/* Servers whose NICs let none of the RoCEv2 for others through to the kernel. */
static void discovery_check_transit(const struct to_wires *w, const struct to_cluster *c)
{
	for (unsigned int s = 0; s < c->n_servers; s++) {
		unsigned int none = 0;

		for (unsigned int q = 0; q < c->servers[s].n_ports; q++)
			none += c->servers[s].ports[q].transit == TO_TRANSIT_NONE;
		if (none)
			to_check_add(w->checks, TO_CHECK_WARN, "transit", c->servers[s].name,
				     "relay by a second interface of each cable, as Documentation/nics.md says",
				     "the NICs of %u of its ports take RoCEv2 for other servers: it relays none of that",
				     none);
	}
}

static uint32_t discovery_root(uint32_t *part, uint32_t s)
{
	while (part[s] != s)
		s = part[s] = part[part[s]];
	return s;
}

/* Servers that no path joins to the first. */
static int discovery_check_parts(const struct to_wires *w, const struct to_cluster *c)
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
	struct to_wires w;
	int ret = -ENOMEM;

	if (!c || to_wires_open(&w, servers, n, checks)) {
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
		cabled[i] = to_wires_is_cabled(&w, i);
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
	if (!ret) {
		discovery_check_transit(&w, c);
		discovery_check_left_out(&w, c);
	}
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
	to_wires_close(&w);
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
	char name[TO_WIRE_NAME];

	if (!relay || !rdma)
		return to_error_set(err, -ENODEV, "%s has no interface %s", server->name,
				    relay ? rdma_name : wanted->name);
	snprintf(name, sizeof(name), "%s:%s", server->name, wanted->name);
	snprintf(port->transmit, sizeof(port->transmit), "%s", wanted->rdma);
	discovery_set_port(port, relay, rdma, options, name, checks);
	return 0;
}

/* Refuse a MAC address that ports of two servers have. */
static int discovery_named_macs(const struct to_cluster *c, struct to_error *err)
{
	for (unsigned int s = 0; s < c->n_servers; s++)
		for (unsigned int p = 0; p < c->servers[s].n_ports; p++)
			for (unsigned int t = 0; t < s; t++)
				for (unsigned int q = 0; q < c->servers[t].n_ports; q++)
					if (!memcmp(c->servers[s].ports[p].mac, c->servers[t].ports[q].mac, 6))
						return to_error_set(err, -EEXIST,
								    "%s:%s has the MAC address of %s:%s, too: give one of them another",
								    c->servers[s].name, c->servers[s].ports[p].name,
								    c->servers[t].name, c->servers[t].ports[q].name);
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
	if (to_cluster_sort(c))
		return to_error_set(err, -ENOMEM, "out of memory");
	return discovery_named_macs(c, err);
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
