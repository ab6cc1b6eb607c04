// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/apply_kept.h"

#include <string.h>

static void kept_forget(struct to_apply_kept *kept)
{
	to_kernel_table_free(&kept->table);
	to_entries_free(&kept->own);
	to_entries_free(&kept->foreign);
	kept->entries_of = 0;
}

void to_apply_kept_close(struct to_apply_kept *kept)
{
	to_netlink_close(&kept->rt);
	to_genl_close(&kept->genl);
	kept_forget(kept);
	kept->device = 0;
}

int to_apply_kept_route(struct to_apply_kept *kept, struct to_error *err)
{
	return kept->rt.socket ? 0 : to_netlink_open(&kept->rt, NETLINK_ROUTE, err);
}

int to_apply_kept_device(struct to_apply_kept *kept, uint32_t device, struct to_error *err)
{
	int ret;

	if (kept->device == device)
		return 0;
	to_genl_close(&kept->genl);
	kept_forget(kept);
	ret = to_genl_open(&kept->genl, err);
	kept->device = ret ? 0 : device;
	return ret;
}

bool to_apply_kept_take(struct to_apply_kept *kept, const struct to_device *device,
			struct to_kernel_table *table)
{
	if (kept->device != device->ifindex || kept->table.generation != device->generation)
		return false;
	*table = kept->table;
	memset(&kept->table, 0, sizeof(kept->table));
	return true;
}

void to_apply_kept_give(struct to_apply_kept *kept, struct to_kernel_table *table)
{
	to_kernel_table_free(&kept->table);
	kept->table = *table;
	memset(table, 0, sizeof(*table));
}

bool to_apply_kept_entries(struct to_apply_kept *kept, const struct to_device *device,
			   struct to_entries *own, struct to_entries *foreign)
{
	if (!kept->further || kept->device != device->ifindex || !kept->entries_of ||
	    kept->entries_of != device->generation)
		return false;
	*own = kept->own;
	*foreign = kept->foreign;
	kept->own = kept->foreign = (struct to_entries){ NULL };
	kept->entries_of = 0;
	return true;
}

void to_apply_kept_leave(struct to_apply_kept *kept, uint64_t generation,
			 struct to_entries *own, struct to_entries *foreign)
{
	to_entries_free(&kept->own);
	to_entries_free(&kept->foreign);
	kept->own = *own;
	kept->foreign = *foreign;
	kept->entries_of = generation;
	*own = *foreign = (struct to_entries){ NULL };
}
