/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_NAMES_H
#define TOPOOPT_TM_NAMES_H

/*
 * The names of servers in recordings, and fingerprints by which two tell that they mean
 * the same: 64-bit FNV-1a, as hexadecimal text.
 *
 * A controller and its agents have the same names. A thousand agents that list a thousand
 * names in every interval would keep it from reading anything else, so they need not.
 */

#include "base/error.h"
#include "data/cluster.h"

/**
 * struct to_tm_names - names that writer and reader of a recording have
 * @servers: @n
 * @by_name: their indices, sorted by name
 * @fingerprint: see to_tm_names_fingerprint()
 */
struct to_tm_names {
	char (*servers)[TO_NAME_MAX];
	uint32_t *by_name;
	unsigned int n;
	char fingerprint[17];
};

/** to_tm_names_init() - copy the names of @cluster. Return: 0 or -ENOMEM. */
int to_tm_names_init(struct to_tm_names *names, const struct to_cluster *cluster);
void to_tm_names_free(struct to_tm_names *names);

/** to_tm_names_sort() - indices of the names in their order; NULL when memory is short */
uint32_t *to_tm_names_sort(const char (*servers)[TO_NAME_MAX], unsigned int n);

/** to_tm_names_fingerprint() - make the fingerprint of names in their order */
void to_tm_names_fingerprint(const char (*servers)[TO_NAME_MAX], unsigned int n,
			     char fingerprint[17]);

/**
 * to_tm_fingerprint() - make the fingerprint of a plan file
 *
 * Tells apart recordings that were made under different plans.
 */
int to_tm_fingerprint(const char *plan_path, char fingerprint[17], struct to_error *err);

#endif
