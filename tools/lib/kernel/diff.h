/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DIFF_H
#define TOPOOPT_DIFF_H

/* What changes from one table or list of entries to another. */

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "kernel/genl.h"
#include "kernel/rtnl.h"

/**
 * typedef to_diff_line - one thing that goes ('-') or comes ('+')
 * @what: "relay", "check", "address", "neighbour", "route", "rule", "port", "device"
 * @text: it, as a person would write it
 */
typedef void (*to_diff_line)(char sign, const char *what, const char *text,
			     void *arg);

/** struct to_diff_names - names of interfaces, for the lines */
struct to_diff_names {
	const struct to_nic *nics;
	unsigned int n;
};

/** struct to_diff_count - routes that come, go and change */
struct to_diff_count {
	unsigned int added, removed, changed;
};

/** to_diff_any() - whether two tables differ at all */
static inline bool to_diff_any(const struct to_diff_count *count)
{
	return count->added || count->removed || count->changed;
}

/**
 * to_diff_tables() - compare the tables of a topoopt device
 * @line: called for every route that comes or goes (both when it changes);
 *	NULL to only count
 *
 * Groups count by content, not by id. Both tables' routes may be reordered.
 */
int to_diff_tables(struct to_kernel_table *have, struct to_kernel_table *want,
		   struct to_diff_count *count, to_diff_line line,
		   const struct to_diff_names *names, void *arg,
		   struct to_error *err);

/**
 * to_diff_checks() - compare how two tables are checked, and the neighbours that they expect
 * @line: called for what comes or goes; NULL to only count. No key is told,
 *	and one that the kernel hides is not compared
 *
 * Both tables' neighbours may be reordered. Return: the number of lines.
 */
unsigned int to_diff_checks(struct to_kernel_table *have, struct to_kernel_table *want,
			    to_diff_line line, const struct to_diff_names *names, void *arg);

/**
 * to_diff_entries() - changes that lead from @have to @want
 * @foreign: addresses that are there already, made by others
 * @want: loses those
 * @changes: first @n_added that add or replace, in the order of enum
 *	to_entry_kind, then those that delete, in the opposite order; for free()
 */
int to_diff_entries(struct to_entries *have, struct to_entries *foreign,
		    struct to_entries *want, struct to_change **changes,
		    unsigned int *n, unsigned int *n_added,
		    struct to_error *err);

#define TO_ROUTE_TEXT (128 + 64 * (TOPOOPT_MAX_NEXTHOPS + TOPOOPT_MAX_PORTS))

/**
 * to_route_text() - "10.200.0.3/32 from 10.200.0.1/32 via eth0 02:54:..."
 * @group: next hops of a unicast route, or NULL
 * @size: TO_ROUTE_TEXT holds all of it
 */
void to_route_text(const struct to_kernel_route *route,
		   const struct to_kernel_group *group,
		   const struct to_diff_names *names, char *text, size_t size);

/** to_route_json() - the same as an object */
json_t *to_route_json(const struct to_kernel_route *route,
		      const struct to_kernel_group *group,
		      const struct to_diff_names *names);

#endif
