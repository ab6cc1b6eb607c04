/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_VERIFY_LINKS_H
#define TOPOOPT_VERIFY_LINKS_H

/* The part of to_verify() that needs no tables. */

#include "verify/verify.h"

/** struct to_verify_out - where violations go */
struct to_verify_out {
	to_verify_line *line;
	void *data;
	struct to_verify_report *report;
};

void to_verify_say(const struct to_verify_out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * to_verify_links() - links, cross-connects, rings and trees
 *
 * Return: 0, 1 when the links are so wrong that no graph can be made of them,
 * or -ENOMEM.
 */
int to_verify_links(const struct to_plan *plan, const struct to_verify_out *out);

#endif
