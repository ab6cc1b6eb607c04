/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_APPLY_KEPT_H
#define TOPOOPT_APPLY_KEPT_H

/* What an apply leaves to the next one of the same process, so that it is not read again. */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/genl.h"
#include "kernel/netlink.h"
#include "kernel/rtnl.h"

/**
 * struct to_apply_kept - sockets, and what is known of a device; zeroed: nothing
 * @rt, @genl: zeroed until they are open
 * @device: that @genl and @table are of: while it is there, the family keeps its number,
 *	and no generation gets another table
 * @table: as it was active last; its generation is 0 when it is not known
 * @entries_of: generation under which @own and @foreign were left, 0: they are not known
 * @own: what apply has made
 * @foreign: addresses of others
 * @further: entries are as they were left
 */
struct to_apply_kept {
	struct to_netlink rt;
	struct to_genl genl;
	uint32_t device;
	struct to_kernel_table table;
	uint64_t entries_of;
	struct to_entries own, foreign;
	bool further;
};

/** to_apply_kept_close() - nothing is kept any more */
void to_apply_kept_close(struct to_apply_kept *kept);

/** to_apply_kept_route() - open @rt unless it is; returns 0 or a negative errno */
int to_apply_kept_route(struct to_apply_kept *kept, struct to_error *err);

/** to_apply_kept_device() - open @genl for @device unless it is; returns 0 or a negative errno */
int to_apply_kept_device(struct to_apply_kept *kept, uint32_t device, struct to_error *err);

/** to_apply_kept_take() - the active table of @device, if it is known; the caller gets it */
bool to_apply_kept_take(struct to_apply_kept *kept, const struct to_device *device,
			struct to_kernel_table *table);

/** to_apply_kept_entries() - the entries beside it, if they are to be trusted */
bool to_apply_kept_entries(struct to_apply_kept *kept, const struct to_device *device,
			   struct to_entries *own, struct to_entries *foreign);

/** to_apply_kept_give() - @table is active on the device, and is taken over */
void to_apply_kept_give(struct to_apply_kept *kept, struct to_kernel_table *table);

/** to_apply_kept_leave() - so are the entries, under @generation */
void to_apply_kept_leave(struct to_apply_kept *kept, uint64_t generation,
			 struct to_entries *own, struct to_entries *foreign);

#endif
