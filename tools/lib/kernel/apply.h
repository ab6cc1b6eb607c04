/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_APPLY_H
#define TOPOOPT_APPLY_H

/*
 * Brings a server's kernel to what a plan says, all or nothing: the links, the
 * table of the topoopt device, and the entries that rtnetlink holds.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "data/plan.h"
#include "kernel/desired_state.h"
#include "kernel/diff.h"
#include "kernel/genl.h"
#include "kernel/rtnl.h"
#include "kernel/xdp.h"

/** Alias of a device that apply made, so that clear knows to remove it. */
#define TO_DEVICE_ALIAS "made by toctl apply"

/** enum to_step_verb - a change of the links */
enum to_step_verb {
	TO_STEP_CREATE,		/* the device */
	TO_STEP_ENSLAVE,	/* a port */
	TO_STEP_UP,		/* a port or the device */
	TO_STEP_TRANSMIT,	/* a port through another interface */
	TO_STEP_RELEASE,	/* a port that the plan does not have */
};

/**
 * struct to_step - one of them
 * @ifindex: the interface, 0 for the device while it is not there
 * @value: interface to transmit through
 * @old: the same before
 * @xdp: program that a released port had
 */
struct to_step {
	enum to_step_verb verb;
	uint32_t ifindex, value, old;
	struct to_xdp_held xdp;
	bool done;
};

/**
 * struct to_apply - one server's plan beside one server's kernel
 * @ifindex: of the device, 0 when there is none
 * @current: the device as it was when read
 * @port: interfaces of the plan's ports
 * @transmit: what they transmit through
 * @rdma: of the two the one with the port's mac and address
 * @want, @have: the table, and that of the kernel
 * @routes: how they differ
 * @steps: link changes; the last @n_steps - @n_early come after the commit
 * @changes: entries; the last @n_changes - @n_added come after the commit
 * @no_ipv6: interfaces on which IPv6 is switched off; their entries are left out
 */
struct to_apply {
	const struct to_plan *plan;
	unsigned int server;
	char device[IFNAMSIZ];
	struct to_netlink rt;
	struct to_genl genl;
	bool connected;
	struct to_nic *nics;
	unsigned int n_nics;
	uint32_t ifindex;
	struct to_device current;
	uint32_t port[TO_PORTS_MAX], transmit[TO_PORTS_MAX], rdma[TO_PORTS_MAX];
	struct to_kernel_table want, have;
	bool has_table;
	struct to_diff_count routes;
	struct to_step steps[5 * TO_PORTS_MAX + 2];
	unsigned int n_steps, n_early;
	struct to_change *changes;
	unsigned int n_changes, n_added;
	unsigned int no_ipv6;
};

/**
 * to_apply_open() - check the plan against this server's kernel and compare
 * @server: index in the plan
 * @device: name of the topoopt device
 * @full: read the kernel's table even when its size tells that it differs
 *
 * Changes nothing. Return: 0, or a negative errno; then nothing is left open.
 */
int to_apply_open(struct to_apply *apply, const struct to_plan *plan,
		  unsigned int server, const char *device, bool full,
		  struct to_error *err);
void to_apply_close(struct to_apply *apply);

/** to_apply_table_differs() - whether there is a table to stage and commit */
bool to_apply_table_differs(const struct to_apply *apply);

/** to_apply_differs() - whether there is anything to do */
bool to_apply_differs(const struct to_apply *apply);

/** to_apply_print() - a line for everything that comes and goes */
int to_apply_print(struct to_apply *apply, to_diff_line line, void *arg,
		   struct to_error *err);

/**
 * to_apply_links() - make the device, its ports and their links
 *
 * On failure what was done is undone.
 */
int to_apply_links(struct to_apply *apply, struct to_error *err);

/** to_apply_stage() - stage the table; @prepare: so that it outlives us */
int to_apply_stage(struct to_apply *apply, bool prepare, struct to_error *err);

/**
 * to_apply_commit() - add entries, commit the stage, remove what is stale
 * @staged: there is a stage; else only the entries change
 * @base: generation that the commit replaces
 * @generation: what the new table gets, 0 for the next; gets the active one
 *
 * When it fails, entries and links are as they were, the stage is gone and the
 * old table forwards.
 */
int to_apply_commit(struct to_apply *apply, bool staged, uint64_t base,
		    uint64_t *generation, struct to_error *err);

/** to_apply_abort() - drop what to_apply_stage() staged, and new links */
int to_apply_abort(struct to_apply *apply, struct to_error *err);

/**
 * to_apply_revert() - after to_apply_commit(), back to how it was found
 * @base: generation that is active
 * @generation: as for to_apply_commit(); gets 0 where there was no device
 *
 * For an @apply that was opened with @full. When it fails, the plan's table
 * forwards.
 */
int to_apply_revert(struct to_apply *apply, uint64_t base, uint64_t *generation,
		    struct to_error *err);

/** to_apply_check_stage() - whether the prepared stage is this plan's table */
int to_apply_check_stage(struct to_apply *apply, struct to_error *err);

/** struct to_cleared - what to_apply_clear() removed */
struct to_cleared {
	unsigned int entries;
	uint32_t routes;
	bool device;
};

/**
 * to_apply_clear() - remove what apply made around @device
 *
 * A device that apply made goes with its ports and table; another one keeps
 * its ports and gets an empty table.
 */
int to_apply_clear(const char *device, struct to_cleared *cleared,
		   struct to_error *err);

#endif
