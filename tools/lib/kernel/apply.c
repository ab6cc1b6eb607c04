// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/apply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct to_nic *apply_nic_at(const struct to_apply *a, uint32_t ifindex)
{
	return to_rtnl_nic_by_index(a->nics, a->n_nics, ifindex);
}

static const char *apply_name_of(const struct to_apply *a, uint32_t ifindex)
{
	const struct to_nic *nic = apply_nic_at(a, ifindex);

	return nic ? nic->name : a->device;
}

static void apply_set_owner(struct to_nic *nics, unsigned int n, uint32_t ifindex,
			    uint32_t owner)
{
	for (unsigned int i = 0; i < n; i++)
		if (nics[i].ifindex == ifindex)
			nics[i].owner = owner;
}

/*
 * What the other topoopt devices of the namespace use: themselves, their ports,
 * and what those transmit through, which has their addresses and no master.
 */
static int apply_find_owners(struct to_nic *nics, unsigned int n, uint32_t device,
			     struct to_error *err)
{
	bool connected = false;
	struct to_genl genl;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < n; i++) {
		struct to_kernel_port *ports = NULL;
		unsigned int n_ports = 0;

		if (strcmp(nics[i].kind, "topoopt") || nics[i].ifindex == device)
			continue;
		ret = connected ? 0 : to_genl_open(&genl, err);
		if (ret)
			break;
		connected = true;
		ret = to_genl_ports(&genl, nics[i].ifindex, &ports, &n_ports, err);
		apply_set_owner(nics, n, nics[i].ifindex, nics[i].ifindex);
		for (unsigned int p = 0; p < n_ports; p++) {
			apply_set_owner(nics, n, ports[p].ifindex, nics[i].ifindex);
			apply_set_owner(nics, n, ports[p].tx_ifindex, nics[i].ifindex);
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

/* Forgets entries that belong to another topoopt device of the namespace. */
static void apply_drop_foreign(struct to_entries *list, const struct to_nic *nics,
			       unsigned int n_nics)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < list->n; i++) {
		const struct to_entry *e = &list->items[i];
		const struct to_nic *nic;

		nic = to_rtnl_nic_by_index(nics, n_nics, e->kind == TO_ENTRY_RULE ?
					   e->table - TO_RTNL_TABLE(0) : e->ifindex);
		if (!nic || !nic->owner)
			list->items[n++] = *e;
	}
	list->n = n;
}

static bool apply_ipv6_enabled(const char *name)
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

/* Entries of interfaces without IPv6 cannot be made: leave them out. */
static void apply_drop_ipv6(struct to_apply *a, struct to_entries *list)
{
	uint32_t checked[2 * TO_PORTS_MAX + 1];
	bool enabled[2 * TO_PORTS_MAX + 1];
	unsigned int n_checked = 0, n = 0;

	for (unsigned int i = 0; i < list->n; i++) {
		const struct to_entry *e = &list->items[i];
		uint32_t ifindex = e->kind == TO_ENTRY_RULE ?
				   e->table - TO_RTNL_TABLE(0) : e->ifindex;
		unsigned int c = 0;

		while (c < n_checked && checked[c] != ifindex)
			c++;
		if (c == n_checked) {
			checked[c] = ifindex;
			enabled[c] = apply_ipv6_enabled(ifindex ? apply_name_of(a, ifindex) :
							"default");
			a->no_ipv6 += !enabled[c];
			n_checked++;
		}
		if (e->family == AF_INET || enabled[c])
			list->items[n++] = *e;
	}
	list->n = n;
}

static void apply_mac_text(const uint8_t *mac, char text[18])
{
	snprintf(text, 18, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
		 mac[2], mac[3], mac[4], mac[5]);
}

/* An interface of @port must have this of the plan's MAC addresses. */
static int apply_check_mac(const struct to_apply *a, const struct to_port *port,
			   const struct to_nic *nic, const char *key,
			   const uint8_t *mac, struct to_error *err)
{
	char planned[18], found[18];

	if (!memcmp(nic->mac, mac, 6))
		return 0;
	apply_mac_text(mac, planned);
	apply_mac_text(nic->mac, found);
	return to_error_set(err, -EINVAL,
			    "server %s: port %s: interface %s has MAC %s, the plan's %s is %s",
			    a->plan->cluster->servers[a->server].name, port->name,
			    nic->name, found, key, planned);
}

static int apply_resolve_port(struct to_apply *a, unsigned int p, struct to_error *err)
{
	const struct to_server *self = &a->plan->cluster->servers[a->server];
	const struct to_port *port = &self->ports[p];
	const bool two = memcmp(port->mac, port->relay_mac, 6);
	const struct to_nic *nic, *tx, *rdma;
	int ret;

	nic = to_rtnl_nic_find(a->nics, a->n_nics, port->name);
	if (!nic)
		return to_error_set(err, -ENODEV,
				    "server %s: port %s: no such interface here",
				    self->name, port->name);
	tx = nic;
	if (port->transmit[0]) {
		tx = to_rtnl_nic_find(a->nics, a->n_nics, port->transmit);
		if (!tx)
			return to_error_set(err, -ENODEV,
					    "server %s: port %s: no interface %s to transmit through",
					    self->name, port->name, port->transmit);
	}
	if (two && tx == nic)
		return to_error_set(err, -EINVAL,
				    "server %s: port %s: has a relay_mac of its own, but no \"transmit\" that names the interface with its mac",
				    self->name, port->name);
	rdma = to_rtnl_nic_find(a->nics, a->n_nics, to_port_rdma(port));
	ret = apply_check_mac(a, port, nic, two ? "relay_mac" : "mac", port->relay_mac, err);
	if (!ret)
		ret = apply_check_mac(a, port, rdma, "mac", port->mac, err);
	if (ret)
		return ret;
	if (nic->master && nic->master != a->ifindex)
		return to_error_set(err, -EBUSY,
				    "server %s: port %s belongs to %s already",
				    self->name, port->name, apply_name_of(a, nic->master));
	if (nic->owner || tx->owner)
		return to_error_set(err, -EBUSY,
				    "server %s: port %s: %s transmits through %s already",
				    self->name, port->name,
				    apply_name_of(a, nic->owner ? nic->owner : tx->owner),
				    nic->owner ? nic->name : tx->name);
	a->port[p] = nic->ifindex;
	a->transmit[p] = tx->ifindex;
	a->rdma[p] = rdma->ifindex;
	return 0;
}

static int apply_resolve(struct to_apply *a, struct to_error *err)
{
	const struct to_server *self = &a->plan->cluster->servers[a->server];
	const struct to_nic *device;
	int ret;

	device = to_rtnl_nic_find(a->nics, a->n_nics, a->device);
	if (device && strcmp(device->kind, "topoopt"))
		return to_error_set(err, -EEXIST,
				    "%s exists and is not a topoopt device",
				    a->device);
	a->ifindex = device ? device->ifindex : 0;
	ret = apply_find_owners(a->nics, a->n_nics, a->ifindex, err);
	for (unsigned int p = 0; !ret && p < self->n_ports; p++)
		ret = apply_resolve_port(a, p, err);
	return ret;
}

static void apply_add_step(struct to_apply *a, enum to_step_verb verb,
			   uint32_t ifindex, uint32_t value, uint32_t old)
{
	a->steps[a->n_steps++] = (struct to_step){
		.verb = verb, .ifindex = ifindex, .value = value, .old = old,
	};
}

static void apply_plan_up(struct to_apply *a, uint32_t ifindex)
{
	const struct to_nic *nic = apply_nic_at(a, ifindex);

	if (!nic || !(nic->flags & IFF_UP))
		apply_add_step(a, TO_STEP_UP, ifindex, 0, 0);
}

static int apply_plan_steps(struct to_apply *a, struct to_error *err)
{
	const struct to_server *self = &a->plan->cluster->servers[a->server];
	struct to_kernel_port *ports = NULL;
	unsigned int n_ports = 0, p, i;
	int ret;

	if (a->ifindex) {
		ret = to_genl_ports(&a->genl, a->ifindex, &ports, &n_ports, err);
		if (ret)
			return ret;
	} else {
		apply_add_step(a, TO_STEP_CREATE, 0, 0, 0);
	}
	for (p = 0; p < self->n_ports; p++) {
		for (i = 0; i < n_ports && ports[i].ifindex != a->port[p]; i++)
			;
		if (i == n_ports)
			apply_add_step(a, TO_STEP_ENSLAVE, a->port[p], 0, 0);
		apply_plan_up(a, a->port[p]);
		if (a->transmit[p] != a->port[p])
			apply_plan_up(a, a->transmit[p]);
		if (a->transmit[p] != (i < n_ports ? ports[i].tx_ifindex : a->port[p]))
			apply_add_step(a, TO_STEP_TRANSMIT, a->port[p], a->transmit[p],
				       i < n_ports ? ports[i].tx_ifindex : 0);
	}
	apply_plan_up(a, a->ifindex);
	a->n_early = a->n_steps;
	for (i = 0; i < n_ports; i++) {
		for (p = 0; p < self->n_ports && a->port[p] != ports[i].ifindex; p++)
			;
		if (p == self->n_ports)
			apply_add_step(a, TO_STEP_RELEASE, ports[i].ifindex, 0,
				       ports[i].tx_ifindex);
	}
	free(ports);
	return 0;
}

static int apply_compare_table(struct to_apply *a, bool full, struct to_error *err)
{
	int ret;

	if (!a->ifindex || !a->current.generation) {
		a->has_table = true;
	} else if (full || (a->current.routes == a->want.n_routes &&
			    a->current.groups == a->want.n_groups)) {
		ret = to_genl_table(&a->genl, a->ifindex, false, &a->have, err);
		if (ret)
			return ret;
		a->has_table = true;
	}
	if (!a->has_table)
		return 0;
	return to_diff_tables(&a->have, &a->want, &a->routes, NULL, NULL, NULL, err);
}

static int apply_compare_entries(struct to_apply *a, struct to_error *err)
{
	struct to_entries own = {}, foreign = {}, want = {};
	int ret;

	ret = to_rtnl_entries(&a->rt, &own, &foreign, err);
	if (!ret)
		ret = to_desired_state_entries(a->plan, a->server, a->rdma, a->ifindex,
					       &want, err);
	if (!ret) {
		apply_drop_foreign(&own, a->nics, a->n_nics);
		apply_drop_ipv6(a, &want);
		ret = to_diff_entries(&own, &foreign, &want, &a->changes,
				      &a->n_changes, &a->n_added, err);
	}
	to_entries_free(&own);
	to_entries_free(&foreign);
	to_entries_free(&want);
	return ret;
}

int to_apply_open(struct to_apply *a, const struct to_plan *plan,
		  unsigned int server, const char *device, bool full,
		  struct to_error *err)
{
	int ret;

	memset(a, 0, sizeof(*a));
	a->plan = plan;
	a->server = server;
	if (strlen(device) >= sizeof(a->device))
		return to_error_set(err, -EINVAL,
				    "%s: an interface name has at most %zu characters",
				    device, sizeof(a->device) - 1);
	strcpy(a->device, device);
	ret = to_netlink_open(&a->rt, NETLINK_ROUTE, err);
	if (!ret)
		ret = to_rtnl_nics(&a->rt, &a->nics, &a->n_nics, err);
	if (!ret)
		ret = apply_resolve(a, err);
	if (!ret)
		ret = to_desired_state_table(plan, server, a->port, &a->want, err);
	if (!ret && a->ifindex) {
		ret = to_genl_open(&a->genl, err);
		a->connected = !ret;
		if (!ret)
			ret = to_genl_device(&a->genl, a->ifindex, &a->current, err);
	}
	if (!ret)
		ret = apply_plan_steps(a, err);
	if (!ret)
		ret = apply_compare_table(a, full, err);
	if (!ret)
		ret = apply_compare_entries(a, err);
	if (ret)
		to_apply_close(a);
	return ret;
}

void to_apply_close(struct to_apply *a)
{
	for (unsigned int i = 0; i < a->n_steps; i++)
		to_xdp_let_go(&a->steps[i].xdp);
	if (a->connected)
		to_genl_close(&a->genl);
	to_netlink_close(&a->rt);
	to_kernel_table_free(&a->want);
	to_kernel_table_free(&a->have);
	free(a->changes);
	free(a->nics);
	memset(a, 0, sizeof(*a));
}

bool to_apply_table_differs(const struct to_apply *a)
{
	return !a->has_table || !a->current.generation || a->routes.added ||
	       a->routes.removed || a->routes.changed;
}

bool to_apply_differs(const struct to_apply *a)
{
	return to_apply_table_differs(a) || a->n_steps || a->n_changes;
}

static void apply_print_step(const struct to_apply *a, const struct to_step *s,
			     to_diff_line line, void *arg)
{
	static const char *const what[] = {
		[TO_STEP_CREATE] = "device", [TO_STEP_ENSLAVE] = "port",
		[TO_STEP_UP] = "up", [TO_STEP_TRANSMIT] = "port",
		[TO_STEP_RELEASE] = "port",
	};
	char text[64];

	if (s->verb == TO_STEP_TRANSMIT)
		snprintf(text, sizeof(text), "%s transmits through %s",
			 apply_name_of(a, s->ifindex), apply_name_of(a, s->value));
	else
		snprintf(text, sizeof(text), "%s", apply_name_of(a, s->ifindex));
	line(s->verb == TO_STEP_RELEASE ? '-' : '+', what[s->verb], text, arg);
}

int to_apply_print(struct to_apply *a, to_diff_line line, void *arg,
		   struct to_error *err)
{
	static const char *const kinds[] = {
		"address", "neighbour", "route", "rule"
	};
	const struct to_diff_names names = { a->nics, a->n_nics };
	struct to_diff_count count;

	for (unsigned int i = 0; i < a->n_steps; i++)
		apply_print_step(a, &a->steps[i], line, arg);
	for (unsigned int i = 0; i < a->n_changes; i++) {
		const struct to_change *c = &a->changes[i];
		char text[192];

		if (c->verb != TO_CHANGE_ADD) {
			to_entry_text(&c->old, apply_name_of(a, c->old.ifindex), text,
				      sizeof(text));
			line('-', kinds[c->entry.kind], strchr(text, ' ') + 1, arg);
		}
		if (c->verb != TO_CHANGE_DELETE) {
			to_entry_text(&c->entry, apply_name_of(a, c->entry.ifindex), text,
				      sizeof(text));
			line('+', kinds[c->entry.kind], strchr(text, ' ') + 1, arg);
		}
	}
	return to_diff_tables(&a->have, &a->want, &count, line, &names, arg, err);
}

static int apply_do_step(struct to_apply *a, struct to_step *s, struct to_error *err)
{
	int ret;

	switch (s->verb) {
	case TO_STEP_CREATE:
		return to_rtnl_create(&a->rt, a->device, TO_DEVICE_ALIAS, err);
	case TO_STEP_ENSLAVE:
		return to_rtnl_set_master(&a->rt, s->ifindex, a->ifindex, err);
	case TO_STEP_UP:
		return to_rtnl_set_up(&a->rt, s->ifindex ? s->ifindex : a->ifindex,
				      true, err);
	case TO_STEP_TRANSMIT:
		return to_genl_port_set(&a->genl, a->ifindex, s->ifindex, s->value,
					err);
	case TO_STEP_RELEASE:
		to_xdp_detach(s->ifindex, &s->xdp, NULL);
		ret = to_rtnl_set_master(&a->rt, s->ifindex, 0, err);
		if (ret)
			to_xdp_give_back(s->ifindex, &s->xdp);
		return ret;
	}
	return -EINVAL;
}

/* Takes back the steps from @first on, last first. */
static void apply_undo_steps(struct to_apply *a, unsigned int first)
{
	for (unsigned int i = a->n_steps; i-- > first;) {
		struct to_step *s = &a->steps[i];

		if (!s->done)
			continue;
		s->done = false;
		switch (s->verb) {
		case TO_STEP_CREATE:
			to_rtnl_delete(&a->rt, a->ifindex, NULL);
			break;
		case TO_STEP_ENSLAVE:
			to_rtnl_set_master(&a->rt, s->ifindex, 0, NULL);
			break;
		case TO_STEP_UP:
			if (s->ifindex)
				to_rtnl_set_up(&a->rt, s->ifindex, false, NULL);
			break;
		case TO_STEP_TRANSMIT:
			to_genl_port_set(&a->genl, a->ifindex, s->ifindex, s->old,
					 NULL);
			break;
		case TO_STEP_RELEASE:
			to_rtnl_set_master(&a->rt, s->ifindex, a->ifindex, NULL);
			to_genl_port_set(&a->genl, a->ifindex, s->ifindex, s->old, NULL);
			to_xdp_give_back(s->ifindex, &s->xdp);
			break;
		}
	}
}

/* The device is there now: say which interface its entries mean. */
static int apply_device_made(struct to_apply *a, struct to_error *err)
{
	a->ifindex = if_nametoindex(a->device);
	if (!a->ifindex)
		return to_error_set(err, -ENODEV, "%s vanished", a->device);
	for (unsigned int i = 0; i < a->n_changes; i++) {
		struct to_entry *e = &a->changes[i].entry;

		if (e->kind == TO_ENTRY_RULE || e->ifindex)
			continue;
		e->ifindex = a->ifindex;
		if (e->kind != TO_ENTRY_ROUTE)
			e->key_ifindex = a->ifindex;
	}
	if (!to_genl_open(&a->genl, err))
		a->connected = true;
	return a->connected ? 0 : -ENOENT;
}

/* Says whose kernel refused; @what was tried, or "". Returns @ret. */
static int apply_blame(const struct to_apply *a, int ret, const char *what,
		       const struct to_error *why, struct to_error *err)
{
	return to_error_set(err, ret, "server %s: %s%s%s",
			    a->plan->cluster->servers[a->server].name, what,
			    what[0] ? ": " : "", why->text);
}

int to_apply_links(struct to_apply *a, struct to_error *err)
{
	static const char *const verbs[] = {
		[TO_STEP_CREATE] = "create", [TO_STEP_ENSLAVE] = "enslave",
		[TO_STEP_UP] = "set up", [TO_STEP_TRANSMIT] = "set transmit of",
	};
	struct to_error why = {};
	char what[64];
	int ret = 0;

	for (unsigned int i = 0; !ret && i < a->n_early; i++) {
		struct to_step *s = &a->steps[i];

		ret = apply_do_step(a, s, &why);
		s->done = !ret;
		if (!ret && s->verb == TO_STEP_CREATE)
			ret = apply_device_made(a, &why);
		else if (ret == -EOPNOTSUPP && s->verb == TO_STEP_CREATE)
			to_error_set(&why, ret,
				     "the kernel knows no such device, load the module with: modprobe topoopt_fwd");
		snprintf(what, sizeof(what), "%s %s", verbs[s->verb],
			 apply_name_of(a, s->ifindex));
	}
	if (ret) {
		apply_undo_steps(a, 0);
		apply_blame(a, ret, what, &why, err);
	}
	return ret;
}

int to_apply_stage(struct to_apply *a, bool prepare, struct to_error *err)
{
	struct to_error why = {};
	int ret;

	ret = to_genl_stage(&a->genl, a->ifindex, &a->want, &why);
	if (ret == -EBUSY)
		to_error_set(&why, ret,
			     "%s has a stage already: commit it (toctl apply --commit PLAN) or drop it (toctl apply --abort)",
			     a->device);
	if (!ret && prepare) {
		ret = to_genl_prepare(&a->genl, a->ifindex, &why);
		if (ret)
			to_genl_abort(&a->genl, a->ifindex, NULL);
	}
	if (ret) {
		apply_undo_steps(a, 0);
		apply_blame(a, ret, "", &why, err);
	}
	return ret;
}

int to_apply_commit(struct to_apply *a, bool staged, uint64_t base,
		    uint64_t *generation, struct to_error *err)
{
	struct to_error why = {};
	int ret;

	ret = to_rtnl_change(&a->rt, a->changes, a->n_added, &why);
	if (!ret && staged)
		ret = to_genl_commit(&a->genl, a->ifindex, base, generation, &why);
	else if (!ret)
		*generation = a->current.generation;
	if (ret) {
		*generation = a->current.generation;
		to_rtnl_undo(&a->rt, a->changes, a->n_added);
		if (staged)
			to_genl_abort(&a->genl, a->ifindex, NULL);
		apply_undo_steps(a, 0);
		return apply_blame(a, ret, "", &why, err);
	}
	/* The new table forwards; what is left over can only be reported. */
	ret = to_rtnl_change(&a->rt, a->changes + a->n_added,
			     a->n_changes - a->n_added, &why);
	for (unsigned int i = a->n_early; !ret && i < a->n_steps; i++) {
		ret = apply_do_step(a, &a->steps[i], &why);
		a->steps[i].done = !ret;
	}
	return ret ? apply_blame(a, ret, "the plan is active, but", &why, err) : 0;
}

int to_apply_abort(struct to_apply *a, struct to_error *err)
{
	int ret = to_genl_abort(&a->genl, a->ifindex, err);

	apply_undo_steps(a, 0);
	return ret;
}

int to_apply_revert(struct to_apply *a, uint64_t base, uint64_t *generation,
		    struct to_error *err)
{
	struct to_error why = {};
	int ret = 0;

	/* The old table may name ports that were released. */
	apply_undo_steps(a, a->n_early);
	to_rtnl_undo(&a->rt, a->changes + a->n_added, a->n_changes - a->n_added);
	if (!a->current.ifindex) {
		*generation = 0;
	} else {
		ret = to_genl_stage(&a->genl, a->ifindex, &a->have, &why);
		if (!ret) {
			ret = to_genl_commit(&a->genl, a->ifindex, base, generation, &why);
			if (ret)
				to_genl_abort(&a->genl, a->ifindex, NULL);
		}
		if (ret)
			return apply_blame(a, ret, "go back", &why, err);
	}
	to_rtnl_undo(&a->rt, a->changes, a->n_added);
	apply_undo_steps(a, 0);
	return 0;
}

int to_apply_check_stage(struct to_apply *a, struct to_error *err)
{
	struct to_kernel_table stage = {};
	struct to_diff_count count;
	struct to_device device;
	int ret;

	if (!a->ifindex)
		return to_error_set(err, -ENODEV, "there is no device %s", a->device);
	ret = to_genl_device(&a->genl, a->ifindex, &device, err);
	if (ret)
		return ret;
	if (!device.prepared)
		return to_error_set(err, -ENOENT,
				    "%s has no prepared stage: make one with: toctl apply --stage PLAN",
				    a->device);
	ret = to_genl_table(&a->genl, a->ifindex, true, &stage, err);
	if (!ret)
		ret = to_diff_tables(&stage, &a->want, &count, NULL, NULL, NULL, err);
	if (!ret && (count.added || count.removed || count.changed))
		ret = to_error_set(err, -EINVAL,
				   "the stage of %s is another plan's: %u routes missing, %u too many, %u different",
				   a->device, count.added, count.removed,
				   count.changed);
	to_kernel_table_free(&stage);
	return ret;
}

static int apply_clear_entries(struct to_netlink *rt, const struct to_nic *nics,
			       unsigned int n_nics, struct to_cleared *cleared,
			       struct to_error *err)
{
	struct to_entries own = {}, none = {};
	struct to_change *changes = NULL;
	unsigned int n, n_added;
	int ret;

	ret = to_rtnl_entries(rt, &own, NULL, err);
	if (!ret) {
		apply_drop_foreign(&own, nics, n_nics);
		ret = to_diff_entries(&own, &none, &none, &changes, &n, &n_added, err);
	}
	if (!ret)
		ret = to_rtnl_change(rt, changes, n, err);
	if (!ret)
		cleared->entries = n;
	free(changes);
	to_entries_free(&own);
	return ret;
}

static int apply_clear_table(uint32_t ifindex, struct to_cleared *cleared,
			     struct to_error *err)
{
	static const struct to_kernel_table empty;
	struct to_device device;
	struct to_genl genl;
	int ret;

	ret = to_genl_open(&genl, err);
	if (ret)
		return ret;
	ret = to_genl_device(&genl, ifindex, &device, err);
	if (!ret && device.staged)
		ret = to_genl_abort(&genl, ifindex, err);
	if (!ret && device.routes) {
		ret = to_genl_stage(&genl, ifindex, &empty, err);
		if (!ret)
			ret = to_genl_commit(&genl, ifindex, device.generation,
					     NULL, err);
		if (!ret)
			cleared->routes = device.routes;
	}
	to_genl_close(&genl);
	return ret;
}

/* From ports of the device, and from those it had before it was removed. */
static int apply_clear_xdp(const struct to_nic *nics, unsigned int n_nics,
			   uint32_t ifindex, struct to_error *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < n_nics; i++)
		if (!nics[i].master || nics[i].master == ifindex)
			ret = to_xdp_detach(nics[i].ifindex, NULL, err);
	return ret;
}

int to_apply_clear(const char *name, struct to_cleared *cleared,
		   struct to_error *err)
{
	const struct to_nic *device;
	struct to_nic *nics = NULL;
	unsigned int n_nics = 0;
	struct to_netlink rt;
	int ret;

	memset(cleared, 0, sizeof(*cleared));
	ret = to_netlink_open(&rt, NETLINK_ROUTE, err);
	if (ret)
		return ret;
	ret = to_rtnl_nics(&rt, &nics, &n_nics, err);
	device = to_rtnl_nic_find(nics, n_nics, name);
	if (!ret && device && strcmp(device->kind, "topoopt"))
		ret = to_error_set(err, -EINVAL, "%s is not a topoopt device", name);
	if (!ret)
		ret = apply_find_owners(nics, n_nics, device ? device->ifindex : 0, err);
	if (!ret && device)
		ret = apply_clear_table(device->ifindex, cleared, err);
	if (!ret)
		ret = apply_clear_entries(&rt, nics, n_nics, cleared, err);
	if (!ret)
		ret = apply_clear_xdp(nics, n_nics, device ? device->ifindex : 0, err);
	if (!ret && device && !strcmp(device->alias, TO_DEVICE_ALIAS)) {
		ret = to_rtnl_delete(&rt, device->ifindex, err);
		cleared->device = !ret;
	}
	free(nics);
	to_netlink_close(&rt);
	return ret;
}
