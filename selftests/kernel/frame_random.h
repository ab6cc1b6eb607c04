/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FRAME_RANDOM_H
#define FRAME_RANDOM_H

/* Frames that a relay may meet, and the dice of its fuzzer. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame_model.h"

#define FRAME_MAX 10000		/* bytes */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct frame {
	uint8_t data[FRAME_MAX];
	size_t len;
};

/** frame_random_init() - frames for the ports and routes of @model; the same for a seed */
void frame_random_init(const struct model *model, uint64_t seed);

/** below() - 0 to @bound - 1 */
uint32_t below(uint32_t bound);

/** one_in() - true once in @n times */
bool one_in(uint32_t n);

/** put16() - append @value in network byte order */
void put16(struct frame *f, unsigned int value);

/** frame_random_make() - a frame that arrives at @port, most of them well formed */
void frame_random_make(struct frame *f, unsigned int port);

/** frame_random_mutate() - damage some fields of @f, or cut it */
void frame_random_mutate(struct frame *f);

#endif
