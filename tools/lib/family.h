/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FAMILY_H
#define TOPOOPT_FAMILY_H

/* Families of topologies, which compete for every job. */

#include "builder.h"

/**
 * struct to_family - one way to lay the AllReduce of a job
 * @name: as plans call it
 * @build: lay the rings of all groups and their links, or other links that
 *	AllReduce runs on, on a builder with nothing built yet. It may take
 *	to_builder.reserved ports of each server; all others are matched to MP
 *	transfers later. @backbone is how many rings over all servers to lay
 *	first, see to_builder_backbone(). Returns 0, -ENOMEM, or -ENOSPC when
 *	the family has nothing for this split of the ports.
 */
struct to_family {
	const char *name;
	int (*build)(struct to_builder *b, unsigned int backbone);
};

/* All families, NULL at the end; of equal topologies the first one's wins. */
extern const struct to_family *const to_families[];

/* Regular rings i -> i + p (TotientPerms). */
extern const struct to_family to_family_totient;

#endif
