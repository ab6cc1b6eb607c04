/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_ARRAY_H
#define TOPOOPT_ARRAY_H

/* An array that grows at the end by chunks, so that elements never move. */

#include <linux/types.h>
#include <linux/topoopt.h>

#define TOPOOPT_ARRAY_CHUNK	4096	/* elements */

/**
 * struct topoopt_array - array that grows at the end
 * @size: of an element, in bytes
 * @count: elements
 * @chunk: TOPOOPT_ARRAY_CHUNK elements each, NULL where not reached yet
 */
struct topoopt_array {
	size_t size;
	u32 count;
	void *chunk[TOPOOPT_MAX_ROUTES / TOPOOPT_ARRAY_CHUNK];
};

static inline void *topoopt_array_at(const struct topoopt_array *array,
				     u32 index)
{
	return array->chunk[index / TOPOOPT_ARRAY_CHUNK] +
	       index % TOPOOPT_ARRAY_CHUNK * array->size;
}

/*
 * Return: the new last element, not initialised, or NULL without memory or
 * beyond TOPOOPT_MAX_ROUTES elements.
 */
void *topoopt_array_push(struct topoopt_array *array);

/* Keep the first @count elements. */
void topoopt_array_truncate(struct topoopt_array *array, u32 count);

#endif
