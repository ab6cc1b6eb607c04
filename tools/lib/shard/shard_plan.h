/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SHARD_PLAN_H
#define TOPOOPT_SHARD_PLAN_H

/* The plan of a shard: on which servers, and what has to be moved for it. */

#include "plan/planner.h"
#include "shard/shards.h"

/**
 * struct to_shard_request - what is asked for
 * @name: of the shard
 * @demand: what its job sends
 * @of: a shard whose servers count as free, too: the plan is to be its next one; or NULL
 * @allowed: per server of the cluster: it may be chosen; NULL: any
 * @servers: names, demand->n of them in its order, which must be free; NULL: free ones are
 *	chosen, unless the demand names its own
 * @planner: how to plan; degree and family do not count
 */
struct to_shard_request {
	const char *name;
	const struct to_shard *of;
	const struct to_demand *demand;
	const bool *allowed;
	const char *const *servers;
	struct to_planner_knobs planner;
};

/** struct to_shard_moves - cross-connects that end and that are made, sorted */
struct to_shard_moves {
	unsigned int n_cut, n_made;
	struct to_cross_connect *cut, *made;
};

/**
 * to_shard_plan() - plan @request on servers that are free
 *
 * Where servers are chosen, these are compared: neighbours on the optical switches, out
 * of the smallest group of servers on the same switches that has enough; and those with
 * the most links in place between them. Both are planned, and the one with fewer moves is
 * taken, the first when that is equal. Links keep the cross-connects that are in place
 * where they can, see to_crossconnect_reassign(). Fixed links take the second choice.
 *
 * Return: the plan, whose job has the shard's name, or NULL with @err.
 */
struct to_plan *to_shard_plan(const struct to_shards *s, const struct to_shard_request *request,
			      struct to_error *err);

/**
 * to_shard_part() - a cluster of the @n @servers of @cluster alone, with the links between them
 *
 * Return: it, NULL when out of memory.
 */
struct to_cluster *to_shard_part(const struct to_cluster *cluster, const uint32_t *servers,
				 unsigned int n);

/**
 * to_shard_cabling() - links in place when those of @plan are
 * @n: how many; links of its servers that it does not have are gone, but for cables on
 *	no optical switch, which stay
 *
 * Return: an array for to_cluster.links, NULL when out of memory.
 */
struct to_link *to_shard_cabling(const struct to_shards *s, const struct to_plan *plan,
				 unsigned int *n);

/**
 * to_shard_moves() - from the links in place to to_shard_cabling()
 * @moves: for to_shard_moves_free(), also on failure
 */
int to_shard_moves(const struct to_shards *s, const struct to_plan *plan,
		   struct to_shard_moves *moves, struct to_error *err);
void to_shard_moves_free(struct to_shard_moves *moves);

#endif
