// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/apply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/desired_state.h"
#include "kernel/module.h"
#include "kernel/rtnl.h"
#include "kernel/xdp_program.h"

/* Alias of a device that apply made, so that clear knows to remove it. */
#define DEVICE_ALIAS "made by toctl apply"

/* A change of the links. */
enum step_verb {
	STEP_CREATE,	/* the device */
	STEP_ENSLAVE,	/* a port */
	STEP_UP,	/* a port or the device */
	STEP_TRANSMIT,	/* a port through another interface */
	STEP_RELEASE,	/* a port that the plan does not have */
};

/**
 * struct step - one of them
 * @ifindex: the interface, 0 for the device while it is not there
 * @value: interface to transmit through
 * @old: the same before
 * @xdp: program that a released port had
 * @pass: program that the interface had which the port transmitted through
 */
struct step {
	enum step_verb verb;
	uint32_t ifindex, value, old;
	struct to_xdp_program xdp, pass;
	bool done;
};

/**
 * struct to_apply - see apply.h
 * @kept: sockets, and what is known; @own: of one that keeps nothing
 * @found: interfaces; its device is 0 until there is one
 * @current: the device as it was when read
 * @want: table of the plan
 * @have: table of the kernel, known when @has_table
 * @active: the one of them that is active, NULL: not known
 * @routes: how they differ
 * @checks: lines in which their checks and neighbours differ
 * @unchecked: the plan has checks and the module has none: links follow light
 * @steps: link changes; the last @n_steps - @n_early come after the commit
 * @changes: entries; the last @n_changes - @n_added come after the commit
 * @entries: of the plan, but those that are there as @foreign addresses
 * @complete: all of them are there, and no others
 */
struct to_apply {
	const struct to_plan *plan;
	unsigned int server;
	char device[IFNAMSIZ];
	struct to_apply_kept *kept, own;
	struct to_interfaces found;
	struct to_device current;
	struct to_kernel_table want, have, *active;
	bool has_table;
	struct to_diff_count routes;
	unsigned int checks;
	bool unchecked;
	struct step steps[5 * TO_PORTS_MAX + 2];
	unsigned int n_steps, n_early;
	struct to_change *changes;
	unsigned int n_changes, n_added;
	struct to_entries entries, foreign;
	bool complete;
};

static const struct to_nic *apply_nic_at(const struct to_apply *a, uint32_t ifindex)
{
	return to_rtnl_nic_by_index(a->found.nics, a->found.n_nics, ifindex);
}

static const char *apply_name_of(const struct to_apply *a, uint32_t ifindex)
{
	const struct to_nic *nic = apply_nic_at(a, ifindex);

	return nic ? nic->name : a->device;
}

static void apply_add_step(struct to_apply *a, enum step_verb verb,
			   uint32_t ifindex, uint32_t value, uint32_t old)
{
	a->steps[a->n_steps++] = (struct step){
		.verb = verb, .ifindex = ifindex, .value = value, .old = old,
	};
}

static void apply_plan_up(struct to_apply *a, uint32_t ifindex)
{
	const struct to_nic *nic = apply_nic_at(a, ifindex);

	if (!nic || !(nic->flags & IFF_UP))
		apply_add_step(a, STEP_UP, ifindex, 0, 0);
}

static int apply_plan_steps(struct to_apply *a, struct to_error *err)
{
	const struct to_server *self = &a->plan->cluster->servers[a->server];
	struct to_kernel_port *ports = NULL;
	unsigned int n_ports = 0, p, i;
	int ret;

	if (a->found.device) {
		ret = to_genl_ports(&a->kept->genl, a->found.device, &ports, &n_ports, err);
		if (ret)
			return ret;
	} else {
		apply_add_step(a, STEP_CREATE, 0, 0, 0);
	}
	for (p = 0; p < self->n_ports; p++) {
		if (!a->found.port[p])
			continue;
		for (i = 0; i < n_ports && ports[i].ifindex != a->found.port[p]; i++)
			;
		if (i == n_ports)
			apply_add_step(a, STEP_ENSLAVE, a->found.port[p], 0, 0);
		apply_plan_up(a, a->found.port[p]);
		if (a->found.transmit[p] != a->found.port[p])
			apply_plan_up(a, a->found.transmit[p]);
		if (a->found.transmit[p] != (i < n_ports ? ports[i].tx_ifindex : a->found.port[p]))
			apply_add_step(a, STEP_TRANSMIT, a->found.port[p], a->found.transmit[p],
				       i < n_ports ? ports[i].tx_ifindex : 0);
	}
	apply_plan_up(a, a->found.device);
	a->n_early = a->n_steps;
	for (i = 0; i < n_ports; i++) {
		for (p = 0; p < self->n_ports && a->found.port[p] != ports[i].ifindex; p++)
			;
		if (p == self->n_ports)
			apply_add_step(a, STEP_RELEASE, ports[i].ifindex, 0,
				       ports[i].tx_ifindex);
	}
	free(ports);
	return 0;
}

/* A module without checks gets none, unless the plan insists on them. */
static int apply_fit_module(struct to_apply *a, struct to_error *err)
{
	const struct to_module *module = &a->kept->genl.module;

	if (to_module_has(module, TOPOOPT_FEATURE_CHECKS) ||
	    a->want.check.interval == TOPOOPT_CHECK_INTERVAL_OFF)
		return 0;
	if (to_continuity_is_chosen(&a->plan->cluster->continuity))
		return to_module_require(module, TOPOOPT_FEATURE_CHECKS, "\"checks\" of the plan",
					 err);
	a->unchecked = true;
	a->want.check = (struct to_kernel_check){ 0 };
	a->want.n_peers = 0;
	return 0;
}

static int apply_compare_table(struct to_apply *a, bool full, struct to_error *err)
{
	int ret;

	if (!a->found.device || !a->current.generation ||
	    to_apply_kept_take(a->kept, &a->current, &a->have)) {
		a->has_table = true;
	} else if (full || (a->current.routes == a->want.n_routes &&
			    a->current.groups == a->want.n_groups)) {
		ret = to_genl_table(&a->kept->genl, a->found.device, false, &a->have, err);
		if (ret)
			return ret;
		a->has_table = true;
	}
	if (!a->has_table)
		return 0;
	a->active = &a->have;
	a->checks = to_diff_checks(&a->have, &a->want, NULL, NULL, NULL);
	return to_diff_tables(&a->have, &a->want, &a->routes, NULL, NULL, NULL, err);
}

static int apply_compare_entries(struct to_apply *a, struct to_error *err)
{
	struct to_entries own = {};
	int ret = 0;

	if (!to_apply_kept_entries(a->kept, &a->current, &own, &a->foreign)) {
		ret = to_rtnl_entries(&a->kept->rt, &own, &a->foreign, err);
		to_resolve_entries(&a->found, &own);
	}
	if (!ret)
		ret = to_desired_state_entries(a->plan, a->server, a->found.rdma,
					       a->found.device, &a->entries, err);
	if (!ret) {
		to_resolve_drop_ipv6(&a->found, &a->entries);
		ret = to_diff_entries(&own, &a->foreign, &a->entries, &a->changes,
				      &a->n_changes, &a->n_added, err);
	}
	to_entries_free(&own);
	return ret;
}

static int apply_compare(struct to_apply *a, bool full, struct to_error *err)
{
	int ret;

	ret = to_apply_kept_route(a->kept, err);
	if (!ret)
		ret = to_resolve_nics(&a->kept->rt, a->device, &a->found, err);
	if (!ret)
		ret = to_resolve_ports(&a->found, a->plan, a->server, err);
	if (!ret)
		ret = to_desired_state_table(a->plan, a->server, a->found.port, &a->want, err);
	if (!ret && a->found.device) {
		ret = to_apply_kept_device(a->kept, a->found.device, err);
		if (!ret)
			ret = to_genl_device(&a->kept->genl, a->found.device, &a->current, err);
		if (!ret)
			ret = apply_fit_module(a, err);
	}
	if (!ret)
		ret = apply_plan_steps(a, err);
	if (!ret)
		ret = apply_compare_table(a, full, err);
	if (!ret)
		ret = apply_compare_entries(a, err);
	return ret;
}

struct to_apply *to_apply_open(const struct to_plan *plan, unsigned int server,
			       const char *device, bool full, struct to_apply_kept *kept,
			       struct to_error *err)
{
	struct to_apply *a;

	if (strlen(device) >= sizeof(a->device)) {
		to_error_set(err, -EINVAL, "%s: an interface name has at most %zu characters",
			     device, sizeof(a->device) - 1);
		return NULL;
	}
	a = calloc(1, sizeof(*a));
	if (!a) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	a->kept = kept ? kept : &a->own;
	a->plan = plan;
	a->server = server;
	strcpy(a->device, device);
	if (apply_compare(a, full, err)) {
		to_apply_close(a);
		return NULL;
	}
	return a;
}

void to_apply_close(struct to_apply *a)
{
	if (!a)
		return;
	for (unsigned int i = 0; i < a->n_steps; i++) {
		to_xdp_program_release(&a->steps[i].xdp);
		to_xdp_program_release(&a->steps[i].pass);
	}
	if (a->active && a->complete)
		to_apply_kept_leave(a->kept, a->active->generation, &a->entries, &a->foreign);
	if (a->active)
		to_apply_kept_give(a->kept, a->active);
	to_apply_kept_close(&a->own);
	to_kernel_table_free(&a->want);
	to_kernel_table_free(&a->have);
	to_interfaces_free(&a->found);
	to_entries_free(&a->entries);
	to_entries_free(&a->foreign);
	free(a->changes);
	free(a);
}

const struct to_device *to_apply_current(const struct to_apply *a)
{
	return &a->current;
}

const struct to_interfaces *to_apply_interfaces(const struct to_apply *a)
{
	return &a->found;
}

struct to_apply_counts to_apply_count(const struct to_apply *a)
{
	return (struct to_apply_counts){
		.routes = a->want.n_routes, .groups = a->want.n_groups,
		.differing = a->routes, .checks = a->checks, .entries_added = a->n_added,
		.entries_removed = a->n_changes - a->n_added,
	};
}

bool to_apply_routes_differ(const struct to_apply *a)
{
	return !a->has_table || !a->current.generation || to_diff_any(&a->routes);
}

bool to_apply_table_differs(const struct to_apply *a)
{
	return to_apply_routes_differ(a) || a->checks;
}

bool to_apply_is_unchecked(const struct to_apply *a)
{
	return a->unchecked;
}

bool to_apply_differs(const struct to_apply *a)
{
	return to_apply_table_differs(a) || a->n_steps || a->n_changes;
}

static void apply_print_step(const struct to_apply *a, const struct step *s,
			     to_diff_line line, void *arg)
{
	static const char *const what[] = {
		[STEP_CREATE] = "device", [STEP_ENSLAVE] = "port",
		[STEP_UP] = "up", [STEP_TRANSMIT] = "port",
		[STEP_RELEASE] = "port",
	};
	char text[64];

	if (s->verb == STEP_TRANSMIT)
		snprintf(text, sizeof(text), "%s transmits through %s",
			 apply_name_of(a, s->ifindex), apply_name_of(a, s->value));
	else
		snprintf(text, sizeof(text), "%s", apply_name_of(a, s->ifindex));
	line(s->verb == STEP_RELEASE ? '-' : '+', what[s->verb], text, arg);
}

int to_apply_print(struct to_apply *a, to_diff_line line, void *arg,
		   struct to_error *err)
{
	static const char *const kinds[] = {
		"address", "neighbour", "route", "rule"
	};
	const struct to_diff_names names = { a->found.nics, a->found.n_nics };
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
	to_diff_checks(&a->have, &a->want, line, &names, arg);
	return to_diff_tables(&a->have, &a->want, &count, line, &names, arg, err);
}

/* Set what a port transmits through. What it transmitted through no longer needs a program. */
static int apply_transmit(struct to_apply *a, struct step *s, struct to_error *err)
{
	int ret;

	to_xdp_program_detach(s->old, TO_XDP_PASS, &s->pass, NULL);
	ret = to_genl_port_set(&a->kept->genl, a->found.device, s->ifindex, s->value, err);
	if (ret)
		to_xdp_program_give_back(s->old, &s->pass);
	return ret;
}

static int apply_release(struct to_apply *a, struct step *s, struct to_error *err)
{
	int ret;

	to_xdp_program_detach(s->ifindex, TO_XDP_NOBODY, &s->xdp, NULL);
	to_xdp_program_detach(s->old, TO_XDP_PASS, &s->pass, NULL);
	ret = to_rtnl_set_master(&a->kept->rt, s->ifindex, 0, err);
	if (ret) {
		to_xdp_program_give_back(s->ifindex, &s->xdp);
		to_xdp_program_give_back(s->old, &s->pass);
	}
	return ret;
}

static int apply_do_step(struct to_apply *a, struct step *s, struct to_error *err)
{
	switch (s->verb) {
	case STEP_CREATE:
		return to_rtnl_create(&a->kept->rt, a->device, DEVICE_ALIAS, err);
	case STEP_ENSLAVE:
		return to_rtnl_set_master(&a->kept->rt, s->ifindex, a->found.device, err);
	case STEP_UP:
		return to_rtnl_set_up(&a->kept->rt, s->ifindex ? s->ifindex : a->found.device,
				      true, err);
	case STEP_TRANSMIT:
		return apply_transmit(a, s, err);
	case STEP_RELEASE:
		return apply_release(a, s, err);
	}
	return -EINVAL;
}

/* Takes back the steps from @first on, last first. */
static void apply_undo_steps(struct to_apply *a, unsigned int first)
{
	for (unsigned int i = a->n_steps; i-- > first;) {
		struct step *s = &a->steps[i];

		if (!s->done)
			continue;
		s->done = false;
		switch (s->verb) {
		case STEP_CREATE:
			to_rtnl_delete(&a->kept->rt, a->found.device, NULL);
			break;
		case STEP_ENSLAVE:
			to_rtnl_set_master(&a->kept->rt, s->ifindex, 0, NULL);
			break;
		case STEP_UP:
			if (s->ifindex)
				to_rtnl_set_up(&a->kept->rt, s->ifindex, false, NULL);
			break;
		case STEP_TRANSMIT:
			to_genl_port_set(&a->kept->genl, a->found.device, s->ifindex, s->old,
					 NULL);
			to_xdp_program_give_back(s->old, &s->pass);
			break;
		case STEP_RELEASE:
			to_rtnl_set_master(&a->kept->rt, s->ifindex, a->found.device, NULL);
			to_genl_port_set(&a->kept->genl, a->found.device, s->ifindex, s->old, NULL);
			to_xdp_program_give_back(s->ifindex, &s->xdp);
			to_xdp_program_give_back(s->old, &s->pass);
			break;
		}
	}
}

/* The device is there now: say which interface its entries mean. */
static int apply_device_made(struct to_apply *a, struct to_error *err)
{
	a->found.device = if_nametoindex(a->device);
	if (!a->found.device)
		return to_error_set(err, -ENODEV, "%s vanished", a->device);
	for (unsigned int i = 0; i < a->n_changes; i++) {
		struct to_entry *e = &a->changes[i].entry;

		if (e->kind == TO_ENTRY_RULE || e->ifindex)
			continue;
		e->ifindex = a->found.device;
		if (e->kind != TO_ENTRY_ROUTE)
			e->key_ifindex = a->found.device;
	}
	return to_apply_kept_device(a->kept, a->found.device, err);
}

/* Says whose kernel refused; @what was tried, or "". Returns @ret. */
static int apply_blame(const struct to_apply *a, int ret, const char *what,
		       const struct to_error *why, struct to_error *err)
{
	return to_error_set(err, ret, "server %s: %s%s%s",
			    a->plan->cluster->servers[a->server].name, what,
			    what[0] ? ": " : "", why->text);
}

bool to_apply_links_differ(const struct to_apply *a)
{
	return a->n_early;
}

int to_apply_links(struct to_apply *a, struct to_error *err)
{
	static const char *const verbs[] = {
		[STEP_CREATE] = "create", [STEP_ENSLAVE] = "enslave",
		[STEP_UP] = "set up", [STEP_TRANSMIT] = "set transmit of",
	};
	struct to_error why = {};
	char what[64];
	int ret = 0;

	for (unsigned int i = 0; !ret && i < a->n_early; i++) {
		struct step *s = &a->steps[i];

		ret = apply_do_step(a, s, &why);
		s->done = !ret;
		if (!ret && s->verb == STEP_CREATE)
			ret = apply_device_made(a, &why);
		else if (ret == -EOPNOTSUPP && s->verb == STEP_CREATE)
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

	ret = apply_fit_module(a, &why);
	if (!ret)
		ret = to_genl_stage(&a->kept->genl, a->found.device, &a->want, &why);
	if (ret == -EBUSY)
		to_error_set(&why, ret,
			     "%s has a stage already: commit it (toctl apply --commit PLAN) or drop it (toctl apply --abort)",
			     a->device);
	if (!ret && prepare) {
		ret = to_genl_prepare(&a->kept->genl, a->found.device, &why);
		if (ret)
			to_genl_abort(&a->kept->genl, a->found.device, NULL);
	}
	if (ret) {
		apply_undo_steps(a, 0);
		apply_blame(a, ret, "", &why, err);
	}
	return ret;
}

/* The stage, which is @table. */
static int apply_commit_table(struct to_apply *a, struct to_kernel_table *table, uint64_t base,
			      uint64_t *generation, struct to_error *err)
{
	int ret;

	a->active = NULL;
	ret = to_genl_commit(&a->kept->genl, a->found.device, base, generation, err);
	if (ret)
		return ret;
	table->generation = *generation;
	a->active = table;
	return 0;
}

int to_apply_commit(struct to_apply *a, bool staged, uint64_t base,
		    uint64_t *generation, struct to_error *err)
{
	struct to_error why = {};
	int ret;

	ret = to_rtnl_change(&a->kept->rt, a->changes, a->n_added, &why);
	if (!ret && staged)
		ret = apply_commit_table(a, &a->want, base, generation, &why);
	else if (!ret)
		*generation = a->current.generation;
	if (ret) {
		*generation = a->current.generation;
		to_rtnl_undo(&a->kept->rt, a->changes, a->n_added);
		if (staged)
			to_genl_abort(&a->kept->genl, a->found.device, NULL);
		apply_undo_steps(a, 0);
		return apply_blame(a, ret, "", &why, err);
	}
	/* The new table forwards; what is left over can only be reported. */
	ret = to_rtnl_change(&a->kept->rt, a->changes + a->n_added,
			     a->n_changes - a->n_added, &why);
	for (unsigned int i = a->n_early; !ret && i < a->n_steps; i++) {
		ret = apply_do_step(a, &a->steps[i], &why);
		a->steps[i].done = !ret;
	}
	a->complete = !ret;
	return ret ? apply_blame(a, ret, "the plan is active, but", &why, err) : 0;
}

int to_apply_abort(struct to_apply *a, struct to_error *err)
{
	int ret = to_genl_abort(&a->kept->genl, a->found.device, err);

	apply_undo_steps(a, 0);
	return ret;
}

int to_apply_revert(struct to_apply *a, uint64_t base, uint64_t *generation,
		    struct to_error *err)
{
	struct to_error why = {};
	int ret = 0;

	a->complete = false;
	/* The old table may name ports that were released. */
	apply_undo_steps(a, a->n_early);
	to_rtnl_undo(&a->kept->rt, a->changes + a->n_added, a->n_changes - a->n_added);
	if (!a->current.ifindex) {
		*generation = 0;
	} else {
		ret = to_genl_stage(&a->kept->genl, a->found.device, &a->have, &why);
		if (!ret) {
			ret = apply_commit_table(a, &a->have, base, generation, &why);
			if (ret)
				to_genl_abort(&a->kept->genl, a->found.device, NULL);
		}
		if (ret)
			return apply_blame(a, ret, "go back", &why, err);
	}
	to_rtnl_undo(&a->kept->rt, a->changes, a->n_added);
	apply_undo_steps(a, 0);
	return 0;
}

int to_apply_check_stage(struct to_apply *a, struct to_error *err)
{
	struct to_kernel_table stage = {};
	struct to_diff_count count;
	struct to_device device;
	int ret;

	if (!a->found.device)
		return to_error_set(err, -ENODEV, "there is no device %s", a->device);
	ret = to_genl_device(&a->kept->genl, a->found.device, &device, err);
	if (ret)
		return ret;
	if (!device.prepared)
		return to_error_set(err, -ENOENT,
				    "%s has no prepared stage: make one with: toctl apply --stage PLAN",
				    a->device);
	ret = to_genl_table(&a->kept->genl, a->found.device, true, &stage, err);
	if (!ret)
		ret = to_diff_tables(&stage, &a->want, &count, NULL, NULL, NULL, err);
	if (!ret && to_diff_any(&count))
		ret = to_error_set(err, -EINVAL,
				   "the stage of %s is another plan's: %u routes missing, %u too many, %u different",
				   a->device, count.added, count.removed,
				   count.changed);
	to_kernel_table_free(&stage);
	return ret;
}

static int apply_clear_entries(struct to_netlink *rt, const struct to_interfaces *found,
			       struct to_cleared *cleared, struct to_error *err)
{
	struct to_entries own = {}, none = {};
	struct to_change *changes = NULL;
	unsigned int n, n_added;
	int ret;

	ret = to_rtnl_entries(rt, &own, NULL, err);
	if (!ret) {
		to_resolve_entries(found, &own);
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

/*
 * From ports of the device and what they transmit through, and from those it had before it
 * was removed. What other devices use keeps its programs.
 */
static int apply_clear_xdp(const struct to_interfaces *found, struct to_error *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < found->n_nics; i++) {
		const struct to_nic *nic = &found->nics[i];

		if (!nic->owner && (!nic->master || nic->master == found->device))
			ret = to_xdp_program_detach(nic->ifindex, TO_XDP_NOBODY, NULL, err);
	}
	return ret;
}

int to_apply_clear(const char *name, struct to_cleared *cleared,
		   struct to_error *err)
{
	struct to_interfaces found;
	struct to_netlink rt;
	int ret;

	memset(cleared, 0, sizeof(*cleared));
	ret = to_netlink_open(&rt, NETLINK_ROUTE, err);
	if (ret)
		return ret;
	ret = to_resolve_nics(&rt, name, &found, err);
	if (!ret && found.device)
		ret = apply_clear_table(found.device, cleared, err);
	if (!ret)
		ret = apply_clear_entries(&rt, &found, cleared, err);
	if (!ret)
		ret = apply_clear_xdp(&found, err);
	if (!ret && found.device &&
	    !strcmp(to_rtnl_nic_find(found.nics, found.n_nics, name)->alias, DEVICE_ALIAS)) {
		ret = to_rtnl_delete(&rt, found.device, err);
		cleared->device = !ret;
	}
	to_interfaces_free(&found);
	to_netlink_close(&rt);
	return ret;
}
