// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/resolve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/genl.h"

static void resolve_set_owner(struct to_interfaces *f, uint32_t ifindex, uint32_t owner)
{
	for (unsigned int i = 0; i < f->n_nics; i++)
		if (f->nics[i].ifindex == ifindex)
			f->nics[i].owner = owner;
}

/*
 * What the other topoopt devices of the namespace use: themselves, their ports,
 * and what those transmit through, which has their addresses and no master.
 */
static int resolve_owners(struct to_interfaces *f, struct to_error *err)
{
	bool connected = false;
	struct to_genl genl;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < f->n_nics; i++) {
		const uint32_t owner = f->nics[i].ifindex;
		struct to_kernel_port *ports = NULL;
		unsigned int n_ports = 0;

		if (strcmp(f->nics[i].kind, "topoopt") || owner == f->device)
			continue;
		ret = connected ? 0 : to_genl_open(&genl, err);
		if (ret)
			break;
		connected = true;
		ret = to_genl_ports(&genl, owner, &ports, &n_ports, err);
		resolve_set_owner(f, owner, owner);
		for (unsigned int p = 0; p < n_ports; p++) {
			resolve_set_owner(f, ports[p].ifindex, owner);
			resolve_set_owner(f, ports[p].tx_ifindex, owner);
		}
		free(ports);
		/* It was removed since. */
		if (ret == -ENODEV)
			ret = 0;
	}
	if (connected)
		to_genl_close(&genl);
	return ret;
}

int to_resolve_nics(struct to_netlink *rt, const char *device, struct to_interfaces *f,
		    struct to_error *err)
{
	const struct to_nic *nic;
	int ret;

	memset(f, 0, sizeof(*f));
	ret = to_rtnl_nics(rt, &f->nics, &f->n_nics, err);
	if (ret)
		return ret;
	nic = to_rtnl_nic_find(f->nics, f->n_nics, device);
	if (nic && strcmp(nic->kind, "topoopt"))
		return to_error_set(err, -EEXIST, "%s exists and is not a topoopt device",
				    device);
	f->device = nic ? nic->ifindex : 0;
	return resolve_owners(f, err);
}

static void resolve_mac_text(const uint8_t *mac, char text[18])
{
	snprintf(text, 18, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
		 mac[2], mac[3], mac[4], mac[5]);
}

/* An interface of @port must have @mac, which is the plan's @key. */
static int resolve_check_mac(const struct to_server *server, const struct to_port *port,
			     const struct to_nic *nic, const char *key,
			     const uint8_t *mac, struct to_error *err)
{
	char planned[18], found[18];

	if (!memcmp(nic->mac, mac, 6))
		return 0;
	resolve_mac_text(mac, planned);
	resolve_mac_text(nic->mac, found);
	return to_error_set(err, -EINVAL,
			    "server %s: port %s: interface %s has MAC %s, the plan's %s is %s",
			    server->name, port->name, nic->name, found, key, planned);
}

static const char *resolve_name(const struct to_interfaces *f, uint32_t ifindex)
{
	const struct to_nic *nic = to_rtnl_nic_by_index(f->nics, f->n_nics, ifindex);

	return nic ? nic->name : "another device";
}

/* Nothing else on this host may have @nic as its port, or send through @nic or @tx. */
static int resolve_check_free(const struct to_interfaces *f, const struct to_server *server,
			      const struct to_port *port, const struct to_nic *nic,
			      const struct to_nic *tx, struct to_error *err)
{
	const struct to_nic *owned = nic->owner ? nic : tx;

	if (nic->master && nic->master != f->device)
		return to_error_set(err, -EBUSY, "server %s: port %s belongs to %s already",
				    server->name, port->name, resolve_name(f, nic->master));
	if (owned->owner)
		return to_error_set(err, -EBUSY,
				    "server %s: port %s: %s transmits through %s already",
				    server->name, port->name, resolve_name(f, owned->owner),
				    owned->name);
	return 0;
}

int to_resolve_port(struct to_interfaces *f, const struct to_server *server,
		    unsigned int p, struct to_error *err)
{
	const struct to_port *port = &server->ports[p];
	const bool two = memcmp(port->mac, port->relay_mac, 6);
	const struct to_nic *nic, *tx, *rdma;
	int ret;

	nic = to_rtnl_nic_find(f->nics, f->n_nics, port->name);
	if (!nic)
		return to_error_set(err, -ENODEV,
				    "server %s: port %s: no such interface here",
				    server->name, port->name);
	tx = nic;
	if (port->transmit[0]) {
		tx = to_rtnl_nic_find(f->nics, f->n_nics, port->transmit);
		if (!tx)
			return to_error_set(err, -ENODEV,
					    "server %s: port %s: no interface %s to transmit through",
					    server->name, port->name, port->transmit);
	}
	if (two && tx == nic)
		return to_error_set(err, -EINVAL,
				    "server %s: port %s: has a relay_mac of its own, but no \"transmit\" that names the interface with its mac",
				    server->name, port->name);
	rdma = to_rtnl_nic_find(f->nics, f->n_nics, to_port_rdma(port));
	ret = resolve_check_mac(server, port, nic, two ? "relay_mac" : "mac",
				port->relay_mac, err);
	ret = ret ? ret : resolve_check_mac(server, port, rdma, "mac", port->mac, err);
	ret = ret ? ret : resolve_check_free(f, server, port, nic, tx, err);
	if (ret)
		return ret;
	f->port[p] = nic->ifindex;
	f->transmit[p] = tx->ifindex;
	f->rdma[p] = rdma->ifindex;
	return 0;
}

/* Whether a link of @plan has the port. */
static bool resolve_is_linked(const struct to_plan *plan, struct to_port_ref at)
{
	const struct to_cluster *c = plan->cluster;

	for (unsigned int l = 0; l < c->n_links; l++)
		if (!memcmp(&c->links[l].a, &at, sizeof(at)) ||
		    !memcmp(&c->links[l].b, &at, sizeof(at)))
			return true;
	return false;
}

int to_resolve_ports(struct to_interfaces *f, const struct to_plan *plan, unsigned int server,
		     struct to_error *err)
{
	const struct to_server *self = &plan->cluster->servers[server];
	int ret = 0;

	for (unsigned int p = 0; !ret && p < self->n_ports; p++) {
		ret = to_resolve_port(f, self, p, err);
		if (!ret || resolve_is_linked(plan, (struct to_port_ref){ server, p }))
			continue;
		f->port[p] = f->transmit[p] = f->rdma[p] = 0;
		ret = 0;
	}
	return ret;
}

void to_resolve_entries(const struct to_interfaces *f, struct to_entries *entries)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < entries->n; i++) {
		const struct to_entry *e = &entries->items[i];
		const struct to_nic *nic;

		nic = to_rtnl_nic_by_index(f->nics, f->n_nics, to_entry_interface(e));
		if (!nic || !nic->owner)
			entries->items[n++] = *e;
	}
	entries->n = n;
}

static bool resolve_has_ipv6(const char *name)
{
	char path[96];
	FILE *file;
	int c;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/disable_ipv6", name);
	file = fopen(path, "re");
	if (!file)
		return false;
	c = fgetc(file);
	fclose(file);
	return c == '0';
}

void to_resolve_drop_ipv6(const struct to_interfaces *f, struct to_entries *list)
{
	uint32_t checked[2 * TO_PORTS_MAX + 1];
	bool enabled[2 * TO_PORTS_MAX + 1];
	unsigned int n_checked = 0, n = 0;

	for (unsigned int i = 0; i < list->n; i++) {
		const struct to_entry *e = &list->items[i];
		uint32_t ifindex = to_entry_interface(e);
		const struct to_nic *nic;
		unsigned int c = 0;

		if (e->family == AF_INET) {
			list->items[n++] = *e;
			continue;
		}
		while (c < n_checked && checked[c] != ifindex)
			c++;
		if (c == n_checked) {
			checked[c] = ifindex;
			nic = to_rtnl_nic_by_index(f->nics, f->n_nics, ifindex);
			enabled[c] = resolve_has_ipv6(nic ? nic->name : "default");
			n_checked++;
		}
		if (enabled[c])
			list->items[n++] = *e;
	}
	list->n = n;
}

void to_interfaces_free(struct to_interfaces *f)
{
	free(f->nics);
	memset(f, 0, sizeof(*f));
}
