/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SET_H
#define TOPOOPT_SET_H

/*
 * Sets of indices in the notation of the kernel's cpulists, "0-5,9". The
 * order counts where a caller says so (rings).
 */

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/** struct to_range - @first to @last, both inside */
struct to_range {
	uint32_t first, last;
};

/**
 * to_set_next() - next range of a set
 * @text: where to go on; moved behind the range
 * @n: indices are 0 to @n - 1
 *
 * Return: 1 with @range filled, 0 at the end, -EINVAL when @text is no set,
 * -ERANGE when an index is @n or more or a range runs backwards; @err says
 * which.
 */
int to_set_next(const char **text, uint32_t n, struct to_range *range,
		struct to_error *err);

/**
 * to_set_parse() - members of a set in the order written
 * @n: indices are 0 to @n - 1
 * @members: array of @count indices, for free()
 *
 * Return: 0; -EINVAL, -ERANGE (also for an index named twice) or -ENOMEM
 * with @err set.
 */
int to_set_parse(const char *text, uint32_t n, uint32_t **members,
		 unsigned int *count, struct to_error *err);

/** to_set_print() - write @members, runs of ascending neighbours as ranges */
void to_set_print(FILE *out, const uint32_t *members, unsigned int count);

#endif
