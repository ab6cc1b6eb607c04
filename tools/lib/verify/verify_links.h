/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_VERIFY_LINKS_H
#define TOPOOPT_VERIFY_LINKS_H

/* The part of to_verify() that needs no tables. */

#include "verify/verify_report.h"

/**
 * to_verify_links() - links, cross-connects, rings and trees
 *
 * Return: 0, 1 when the links are so wrong that no graph can be made of them,
 * or -ENOMEM.
 */
int to_verify_links(const struct to_plan *plan, const struct to_verify_out *out);

#endif
