/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_APPLY_H
#define TOPOOPT_APPLY_H

/*
 * Applies a plan to a server's kernel, all or nothing: the links, the table of
 * the topoopt device, and the entries that rtnetlink holds.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "data/plan.h"
#include "kernel/apply_kept.h"
#include "kernel/diff.h"
#include "kernel/genl.h"
#include "kernel/resolve.h"

/** struct to_apply - one server's plan beside one server's kernel */
struct to_apply;

/**
 * to_apply_open() - check the plan against this server's kernel and compare
 * @plan: must outlive the apply
 * @server: index in the plan
 * @device: name of the topoopt device
 * @full: read the kernel's table even when its size tells that it differs
 * @kept: of the applies before on this device, outlives this one; NULL: there is no other
 *
 * Changes nothing.
 *
 * Return: NULL with @err: an interface is missing or is not as planned, the
 * device is of another kind, the kernel refuses.
 */
struct to_apply *to_apply_open(const struct to_plan *plan, unsigned int server,
			       const char *device, bool full, struct to_apply_kept *kept,
			       struct to_error *err);
void to_apply_close(struct to_apply *apply);

/** to_apply_current() - the device as it was when opened; zeroed: there was none */
const struct to_device *to_apply_current(const struct to_apply *apply);

/** to_apply_interfaces() - the server's interfaces on this host */
const struct to_interfaces *to_apply_interfaces(const struct to_apply *apply);

/**
 * struct to_apply_counts - sizes of the plan's table, and of what differs
 * @routes, @groups: of the plan's table
 * @differing: routes that the kernel's table lacks, has too many or has
 *	otherwise; 0 when it was not read
 * @checks: settings of continuity checks and neighbours that differ; 0 when it was not read
 * @entries_added: addresses, neighbours, routes and rules to add or replace
 * @entries_removed: those to remove
 */
struct to_apply_counts {
	unsigned int routes, groups;
	struct to_diff_count differing;
	unsigned int checks, entries_added, entries_removed;
};

struct to_apply_counts to_apply_count(const struct to_apply *apply);

/** to_apply_table_differs() - whether there is a table to stage and commit */
bool to_apply_table_differs(const struct to_apply *apply);

/** to_apply_routes_differ() - tell whether routes differ, or no table is active; checks do not count */
bool to_apply_routes_differ(const struct to_apply *apply);

/**
 * to_apply_is_unchecked() - tell whether the plan's checks are left out, as the module has none
 *
 * Known when there was a device, and of all others after to_apply_stage().
 */
bool to_apply_is_unchecked(const struct to_apply *apply);

/** to_apply_differs() - whether there is anything to do */
bool to_apply_differs(const struct to_apply *apply);

/** to_apply_print() - a line for everything that comes and goes */
int to_apply_print(struct to_apply *apply, to_diff_line line, void *arg,
		   struct to_error *err);

/** to_apply_links_differ() - whether to_apply_links() has anything to do */
bool to_apply_links_differ(const struct to_apply *apply);

/**
 * to_apply_links() - create the device, enslave its ports, set all of them up
 *
 * Undoes on failure what it has done.
 */
int to_apply_links(struct to_apply *apply, struct to_error *err);

/** to_apply_stage() - stage the table; @prepare: so that it outlives this process */
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
 * to_apply_revert() - undo to_apply_commit() and all before it
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
