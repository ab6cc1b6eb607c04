/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_TEXT_H
#define TOPOOPT_TM_TEXT_H

/* A traffic matrix as text and as JSON. */

#include <jansson.h>
#include <stdio.h>

#include "base/error.h"
#include "data/tm.h"

/** to_tm_text_classes - words of to_tm_text.class, ends with NULL */
extern const char *const to_tm_text_classes[];

/** to_tm_text_views - words of enum to_tm_view, ends with NULL */
extern const char *const to_tm_text_views[];

/** struct to_tm_text - a part of a traffic matrix */
struct to_tm_text {
	const struct to_tm *tm;
	int class;			/* 0: all, else 1 + class of traffic */
	int view;			/* enum to_tm_view, of a server's recording */
	int sample;			/* index; negative: the sum of all samples */
	uint64_t top;			/* busiest pairs to list instead of the matrix; 0: the default */
	uint64_t *bytes;		/* n x n, row = source */
	uint64_t other;			/* bytes between addresses of no pair of servers */
	uint64_t total;			/* bytes of all pairs */
	uint64_t by_class[TO_TM_CLASSES];	/* bytes of all pairs, per class of traffic */
};

/**
 * to_tm_text_make() - sum up the bytes of pairs
 * @text: members down to top are set; bytes is for free(), also on failure
 *
 * Return: 0 or a negative errno with @err.
 */
int to_tm_text_make(struct to_tm_text *text, struct to_error *err);

/** to_tm_text_print() - print the matrix or its busiest pairs. Return: 0 or -ENOMEM with @err. */
int to_tm_text_print(FILE *out, const struct to_tm_text *text, struct to_error *err);

/** to_tm_text_json() - JSON object, NULL when out of memory */
json_t *to_tm_text_json(const struct to_tm_text *text);

#endif
