// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>

struct to_arena_block {
	struct to_arena_block *before;
	max_align_t data[];
};

void *to_arena_array(struct to_arena *arena, size_t n, size_t size)
{
	struct to_arena_block *block = NULL;

	if (!n || size <= (SIZE_MAX - sizeof(*block)) / n)
		block = calloc(1, sizeof(*block) + n * size);
	if (!block) {
		arena->failed = true;
		return NULL;
	}
	block->before = arena->last;
	arena->last = block;
	return block->data;
}

void to_arena_free(struct to_arena *arena)
{
	while (arena->last) {
		struct to_arena_block *block = arena->last;

		arena->last = block->before;
		free(block);
	}
	arena->failed = false;
}
