/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ARENA_H
#define TOPOOPT_ARENA_H

/* Arrays that are freed together. */

#include <stdbool.h>
#include <stddef.h>

struct to_arena_block;

/**
 * struct to_arena - all zero before the first array
 * @failed: an array could not be had; one look after several of them is enough
 */
struct to_arena {
	struct to_arena_block *last;
	bool failed;
};

/**
 * to_arena_array() - @n zeroed elements of @size bytes
 *
 * Return: the array, also where @n is 0; NULL when out of memory.
 */
void *to_arena_array(struct to_arena *arena, size_t n, size_t size);

/** to_arena_free() - free all arrays; @arena is as new then */
void to_arena_free(struct to_arena *arena);

#endif
