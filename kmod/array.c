// SPDX-License-Identifier: GPL-2.0
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "array.h"

void *topoopt_array_push(struct topoopt_array *array)
{
	u32 chunk = array->count / TOPOOPT_ARRAY_CHUNK;

	if (chunk == ARRAY_SIZE(array->chunk))
		return NULL;
	if (!array->chunk[chunk]) {
		array->chunk[chunk] = kvmalloc_array(TOPOOPT_ARRAY_CHUNK,
						     array->size,
						     GFP_KERNEL_ACCOUNT);
		if (!array->chunk[chunk])
			return NULL;
	}
	return topoopt_array_at(array, array->count++);
}

void topoopt_array_truncate(struct topoopt_array *array, u32 count)
{
	u32 i = DIV_ROUND_UP(count, TOPOOPT_ARRAY_CHUNK);

	for (; i < ARRAY_SIZE(array->chunk) && array->chunk[i]; i++) {
		kvfree(array->chunk[i]);
		array->chunk[i] = NULL;
	}
	array->count = count;
}
