/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TRAFFIC_H
#define TOPOOPT_TRAFFIC_H

/* Measured traffic, as the demand of the plan that it was measured under. */

#include "data/plan.h"
#include "data/tm.h"

/**
 * struct to_traffic - measured bytes
 * @n: servers, those of the plan in its order
 * @bytes: n x n, row = source; diagonal not looked at
 * @tcp: of these, what is TCP, n x n; NULL for none. It goes to the addresses of
 *	servers, so it is routed, also where it is AllReduce: no ring has links of its
 *	own for it
 * @seconds: in which they were sent, > 0
 */
struct to_traffic {
	unsigned int n;
	uint64_t *bytes, *tcp;
	double seconds;
};

void to_traffic_free(struct to_traffic *traffic);

/**
 * to_traffic_add() - count a sample of a merged matrix
 * @tm: of the servers of @traffic, which has room for @bytes and @tcp
 */
void to_traffic_add(struct to_traffic *traffic, const struct to_tm *tm, unsigned int sample);

/**
 * to_traffic_of() - sum up the samples of a merged matrix that lack no server's part
 * @plan: plan whose servers @tm must have, by name and in their order
 * @traffic: set, for to_traffic_free()
 *
 * Return: 0, -ENOMEM, or -EINVAL when @tm was recorded by one server, lacks
 * servers, has no samples that are whole, or is of another job; @err then names the key.
 */
int to_traffic_of(const struct to_tm *tm, const struct to_plan *plan,
		  struct to_traffic *traffic, struct to_error *err);

/**
 * to_traffic_demand() - AllReduce told from MP transfers
 * @plan: of the same servers
 * @demand: with the groups of the plan's, to be freed
 *
 * By the rings and trees of the plan, see to_allreduce_take(); a group that sends
 * nothing reduces a byte.
 *
 * Return: 0 or -ENOMEM.
 */
int to_traffic_demand(const struct to_traffic *traffic, const struct to_plan *plan,
		      struct to_demand **demand);

#endif
