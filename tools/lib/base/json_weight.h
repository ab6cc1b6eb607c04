/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_JSON_WEIGHT_H
#define TOPOOPT_JSON_WEIGHT_H

/* What JSON text takes as values, told without making any: "[]" takes 40 times its text. */

#include <stddef.h>

#include "base/error.h"

/** struct to_json_weight - what the text seen so far takes as values */
struct to_json_weight {
	size_t memory;		/* bytes, at most */
	unsigned int depth;	/* arrays and objects that are open */
	unsigned int deepest;	/* most of them at a time */
};

/**
 * to_json_weight_add() - Add what @text takes, @len bytes of a document
 *
 * Linear, and allocates nothing. A string must not go on behind @text.
 */
void to_json_weight_add(struct to_json_weight *weight, const char *text, size_t len);

/**
 * to_json_weight_check() - Refuse text beyond TO_JSON_DEPTH_MAX, or that takes too much
 * @most: bytes that its values may take
 * @name: of the text, for errors
 * @line: where the text begins
 *
 * Return: 0 or -E2BIG with @err set.
 */
int to_json_weight_check(const struct to_json_weight *weight, size_t most, const char *name,
			 unsigned int line, struct to_error *err);

#endif
