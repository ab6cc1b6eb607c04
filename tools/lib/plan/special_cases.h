/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SPECIAL_CASES_H
#define TOPOOPT_SPECIAL_CASES_H

/* Topologies of easier searches, so that a plan falls behind none of theirs. */

#include <stdint.h>

#include "topology/topology.h"

#define TO_SPECIAL_CASES_SEED 1	/* whose plans no other seed's may fall behind */

/**
 * struct to_search - one search for topologies, see to_topology_find()
 * @family: the only one to try, NULL for all
 */
struct to_search {
	const struct to_cluster *cluster;
	const struct to_demand *demand;
	const struct to_family *family;
	unsigned int degree, effort;
	uint64_t seed;
};

/**
 * to_special_cases_find() - to_topology_find(), and what easier searches find
 * @found: array, to be freed, with the layout of each, the best estimate first
 *
 * These are searches with duplex links, each of which is two simplex ones; with fewer
 * ports, the others then used as Algorithm 1 uses up ports; with less effort;
 * with the seed TO_SPECIAL_CASES_SEED; and all combinations of these. Large jobs
 * search with duplex links only, see SPECIAL_CASES_ALL: there other seeds and more
 * effort change less than estimates tell apart, and every split of the ports is
 * in the search itself.
 *
 * Return: as to_topology_find().
 */
int to_special_cases_find(const struct to_search *search, struct to_topology **found,
			  struct to_error *err);

#endif
