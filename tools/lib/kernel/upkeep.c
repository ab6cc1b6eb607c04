// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/upkeep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/desired_state.h"
#include "kernel/diff.h"

static const struct to_nic *upkeep_nic(const struct to_upkeep *u, uint32_t ifindex)
{
	return to_rtnl_nic_by_index(u->found.nics, u->found.n_nics, ifindex);
}

static const char *upkeep_name(const struct to_upkeep *u, uint32_t ifindex)
{
	const struct to_nic *nic = upkeep_nic(u, ifindex);

	return nic ? nic->name : "?";
}

static bool upkeep_is_up(const struct to_upkeep *u, uint32_t ifindex)
{
	const struct to_nic *nic = upkeep_nic(u, ifindex);

	return nic && nic->flags & IFF_UP;
}

bool to_upkeep_is_down(const struct to_upkeep *u, uint32_t ifindex)
{
	for (unsigned int i = 0; i < u->n_down; i++)
		if (u->down[i] == ifindex)
			return true;
	return false;
}

static void upkeep_find_ports(struct to_upkeep *u, const struct to_server *self)
{
	for (unsigned int p = 0; p < self->n_ports; p++) {
		const uint32_t *ends[] = { &u->found.port[p], &u->found.transmit[p] };

		u->missing[p] = to_resolve_port(&u->found, self, p, &u->why[p]);
		for (unsigned int i = 0; !u->missing[p] && i < 2; i++)
			if (!upkeep_is_up(u, *ends[i]) && !to_upkeep_is_down(u, *ends[i]))
				u->down[u->n_down++] = *ends[i];
	}
}

static void upkeep_compare_links(struct to_upkeep *u, const struct to_server *self,
				 const struct to_kernel_port *ports, unsigned int n_ports)
{
	for (unsigned int p = 0; p < self->n_ports; p++) {
		const uint32_t port = u->found.port[p], transmit = u->found.transmit[p];
		uint32_t now = port;
		unsigned int i = 0;

		if (u->missing[p])
			continue;
		while (i < n_ports && ports[i].ifindex != port)
			i++;
		if (i == n_ports)
			u->lost[u->n_lost++] = (struct to_lost){
				.kind = TO_LOST_PORT, .ifindex = port };
		else
			now = ports[i].tx_ifindex;
		if (now != transmit)
			u->lost[u->n_lost++] = (struct to_lost){
				.kind = TO_LOST_TRANSMIT, .ifindex = port, .transmit = transmit };
	}
	if (!upkeep_is_up(u, u->found.device))
		u->lost[u->n_lost++] = (struct to_lost){
			.kind = TO_LOST_UP, .ifindex = u->found.device };
}

/* Entries of ports that are not as planned cannot be made: leave them out. */
static void upkeep_drop_missing(struct to_upkeep *u)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < u->entries.n; i++)
		if (to_entry_interface(&u->entries.items[i]))
			u->entries.items[n++] = u->entries.items[i];
	u->entries.n = n;
}

/* A rule stands without its port. */
static bool upkeep_is_due(const struct to_upkeep *u, const struct to_change *change)
{
	return change->entry.kind == TO_ENTRY_RULE ||
	       !to_upkeep_is_down(u, to_entry_interface(&change->entry));
}

static void upkeep_add_entries(struct to_upkeep *u, const struct to_change *changes, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (upkeep_is_due(u, &changes[i]))
			u->lost[u->n_lost++] = (struct to_lost){
				.kind = TO_LOST_ENTRY, .change = changes[i],
				.ifindex = to_entry_interface(&changes[i].entry) };
}

/* Find entries that are to be made: @n of @changes, to be freed. */
static int upkeep_compare_entries(struct to_upkeep *u, const struct to_plan *plan,
				  unsigned int server, struct to_apply_kept *kept,
				  struct to_change **changes, unsigned int *n, struct to_error *err)
{
	struct to_entries own = {}, foreign = {};
	unsigned int n_changes;
	int ret = to_rtnl_entries(&kept->rt, &own, &foreign, err);

	ret = ret ? ret : to_desired_state_entries(plan, server, u->found.rdma, u->found.device,
						   &u->entries, err);
	if (!ret) {
		to_resolve_entries(&u->found, &own);
		to_resolve_drop_ipv6(&u->found, &u->entries);
		upkeep_drop_missing(u);
		ret = to_diff_entries(&own, &foreign, &u->entries, changes, &n_changes, n, err);
	}
	to_entries_free(&own);
	to_entries_free(&foreign);
	return ret;
}

static int upkeep_compare(struct to_upkeep *u, const struct to_plan *plan, unsigned int server,
			  struct to_apply_kept *kept, struct to_error *err)
{
	struct to_kernel_port *ports = NULL;
	struct to_change *changes = NULL;
	unsigned int n_ports = 0, n = 0;
	int ret;

	ret = to_genl_ports(&kept->genl, u->found.device, &ports, &n_ports, err);
	ret = ret ? ret : upkeep_compare_entries(u, plan, server, kept, &changes, &n, err);
	if (!ret) {
		u->lost = calloc(2 * TO_PORTS_MAX + 1 + (size_t)n, sizeof(*u->lost));
		ret = u->lost ? 0 : to_error_set(err, -ENOMEM, "out of memory");
	}
	if (!ret) {
		upkeep_compare_links(u, &plan->cluster->servers[server], ports, n_ports);
		upkeep_add_entries(u, changes, n);
	}
	free(ports);
	free(changes);
	return ret;
}

int to_upkeep_look(struct to_upkeep *u, const struct to_plan *plan, unsigned int server,
		   const char *device, struct to_apply_kept *kept, struct to_error *err)
{
	int ret;

	*u = (struct to_upkeep){};
	ret = to_apply_kept_route(kept, err);
	ret = ret ? ret : to_resolve_nics(&kept->rt, device, &u->found, err);
	if (!ret && !u->found.device)
		ret = to_error_set(err, -ENODEV, "there is no device %s", device);
	ret = ret ? ret : to_apply_kept_device(kept, u->found.device, err);
	if (ret)
		return ret;
	upkeep_find_ports(u, &plan->cluster->servers[server]);
	return upkeep_compare(u, plan, server, kept, err);
}

static int upkeep_restore_link(struct to_upkeep *u, const struct to_lost *lost,
			       struct to_apply_kept *kept, struct to_error *err)
{
	switch (lost->kind) {
	case TO_LOST_UP:
		return to_rtnl_set_up(&kept->rt, lost->ifindex, true, err);
	case TO_LOST_PORT:
		return to_rtnl_set_master(&kept->rt, lost->ifindex, u->found.device, err);
	case TO_LOST_TRANSMIT:
		return to_genl_port_set(&kept->genl, u->found.device, lost->ifindex,
					lost->transmit, err);
	case TO_LOST_ENTRY:
		break;
	}
	return 0;
}

static int upkeep_restore_entries(struct to_upkeep *u, struct to_apply_kept *kept,
				  struct to_error *err)
{
	struct to_change *changes = calloc((size_t)u->n_lost + 1, sizeof(*changes));
	unsigned int n = 0, done = 0;
	int ret;

	if (!changes)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < u->n_lost; i++)
		if (u->lost[i].restore && u->lost[i].kind == TO_LOST_ENTRY)
			changes[n++] = u->lost[i].change;
	ret = to_rtnl_change(&kept->rt, changes, n, err);
	for (unsigned int i = 0; i < u->n_lost; i++)
		if (u->lost[i].restore && u->lost[i].kind == TO_LOST_ENTRY)
			u->lost[i].restored = changes[done++].done;
	free(changes);
	return ret;
}

int to_upkeep_restore(struct to_upkeep *u, struct to_apply_kept *kept, struct to_error *err)
{
	struct to_error why = {};
	int ret = 0;

	for (unsigned int i = 0; i < u->n_lost; i++) {
		struct to_lost *lost = &u->lost[i];
		int failed;

		if (!lost->restore || lost->kind == TO_LOST_ENTRY)
			continue;
		failed = upkeep_restore_link(u, lost, kept, ret ? &why : err);
		lost->restored = !failed;
		ret = ret ? ret : failed;
	}
	return upkeep_restore_entries(u, kept, ret ? &why : err) ?: ret;
}

void to_upkeep_text(const struct to_upkeep *u, const struct to_lost *lost, char *text, size_t size)
{
	const char *name = upkeep_name(u, lost->ifindex);

	switch (lost->kind) {
	case TO_LOST_UP:
		snprintf(text, size, "%s up", name);
		break;
	case TO_LOST_PORT:
		snprintf(text, size, "%s as a port of %s", name, upkeep_name(u, u->found.device));
		break;
	case TO_LOST_TRANSMIT:
		snprintf(text, size, "%s transmits through %s", name,
			 upkeep_name(u, lost->transmit));
		break;
	case TO_LOST_ENTRY:
		to_entry_text(&lost->change.entry, name, text, size);
		break;
	}
}

void to_upkeep_close(struct to_upkeep *u)
{
	to_interfaces_free(&u->found);
	to_entries_free(&u->entries);
	free(u->lost);
	u->lost = NULL;
	u->n_lost = 0;
}
