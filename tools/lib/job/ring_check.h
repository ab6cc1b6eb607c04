/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RING_CHECK_H
#define TOPOOPT_RING_CHECK_H

/* Did the bytes of a job stay on the links of its rings? From a measured matrix. */

#include "data/tm.h"
#include "job/ranks.h"

/**
 * struct to_ring_traffic - what was measured so far; n x n, row = source
 * @bytes: of each pair
 * @carried: by links from the one server to the other, as their NICs counted or as the
 *	kernels at their ends saw, whichever is more
 */
struct to_ring_traffic {
	size_t n;
	uint64_t *bytes, *carried;
};

/** to_ring_traffic_init() - nothing, of @n servers. Return: 0 or -ENOMEM with @err */
int to_ring_traffic_init(struct to_ring_traffic *traffic, unsigned int n, struct to_error *err);
void to_ring_traffic_free(struct to_ring_traffic *traffic);

/**
 * to_ring_traffic_add() - the samples of a merged matrix, too
 * @tm: of the same servers, in their order
 *
 * Return: 0 or -ENOMEM with @err.
 */
int to_ring_traffic_add(struct to_ring_traffic *traffic, const struct to_tm *tm,
			struct to_error *err);

/**
 * struct to_ring_bytes - what one direction of a ring carried
 * @ring: index into the plan's
 * @bytes: from each server to the next
 * @on_links: of these, as many as the links between the two carried at most
 * @linked: each hop has a link; else hops are routed, and @on_links says little
 * @shared: some hops have one over a packet switch, see to_ring_check.shared
 */
struct to_ring_bytes {
	unsigned int ring;
	bool reverse, linked, shared;
	uint64_t bytes, on_links;
};

/** struct to_stray - bytes that no ring, tree or MP transfer of the plan explains */
struct to_stray {
	uint32_t from, to;
	uint64_t bytes;
};

/**
 * struct to_ring_check - the verdict
 * @bytes: between all pairs
 * @stray: of @strays in all
 * @off_links: between neighbours, beyond what the links between them carried
 * @relayed: between servers without a link
 * @shared: between servers on one packet switch, beyond what cables between them carried.
 *	Ports there count what they send to all others, so nobody knows what went astray of
 *	this: it is taken to have stayed
 * @strays: pairs that are no neighbours on a ring or tree, most first
 */
struct to_ring_check {
	uint64_t bytes, stray, off_links, relayed, shared;
	unsigned int n_rings, n_strays;
	struct to_ring_bytes *rings;
	struct to_stray *strays;
};

/**
 * to_ring_check() - compare what was measured with the rings and trees of a plan
 * @check: for to_ring_check_free()
 * @iterations: number of iterations whose MP transfers may go between any servers
 * @slack: further bytes of a pair that are no finding: connections and control traffic
 *
 * Neighbours are those of all groups, in both directions: receivers acknowledge. A matrix
 * does not tell which packets took which path. So the bytes that left their links are a
 * lower bound: bytes of a pair beyond what the links between the two carried.
 *
 * Return: 0, or -ENOMEM.
 */
int to_ring_check(struct to_ring_check *check, const struct to_plan *plan,
		  const struct to_ring_traffic *traffic, double iterations, uint64_t slack,
		  struct to_error *err);

void to_ring_check_free(struct to_ring_check *check);

#endif
