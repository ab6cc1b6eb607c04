/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RING_CHECK_H
#define TOPOOPT_RING_CHECK_H

/* Tells from a measured matrix whether the bytes of a job stayed on the links of its rings. */

#include "data/tm.h"
#include "job/ranks.h"

/** struct to_ring_traffic - traffic that was measured, n x n cells, row = source */
struct to_ring_traffic {
	size_t n;		/* number of servers */
	uint64_t *bytes;	/* bytes of each pair */
	uint64_t *carried;	/* bytes on links between the pair, by NICs or kernels: the larger */
};

/** to_ring_traffic_init() - make empty traffic of @n servers; return 0 or -ENOMEM with @err */
int to_ring_traffic_init(struct to_ring_traffic *traffic, unsigned int n, struct to_error *err);

/** to_ring_traffic_free() - free the cells */
void to_ring_traffic_free(struct to_ring_traffic *traffic);

/**
 * to_ring_traffic_add() - add the samples of a merged matrix
 * @tm: of @traffic's servers, in their order
 *
 * Return: 0 or -ENOMEM with @err.
 */
int to_ring_traffic_add(struct to_ring_traffic *traffic, const struct to_tm *tm,
			struct to_error *err);

/** struct to_ring_bytes - what one direction of a ring carried */
struct to_ring_bytes {
	unsigned int ring;	/* index into the rings of the plan */
	bool reverse;		/* direction against the order of the ring */
	bool linked;		/* each hop has a link; else hops are routed and on_links says little */
	bool shared;		/* a hop has a link over a packet switch, see to_ring_check.shared */
	uint64_t bytes;		/* bytes from each server to its next one */
	uint64_t on_links;	/* most of these bytes that links between the two can have carried */
};

/** struct to_stray - bytes that no ring, tree or MP transfer of the plan explains */
struct to_stray {
	uint32_t from, to;	/* servers */
	uint64_t bytes;
};

/** struct to_ring_check - a matrix beside the rings and trees of a plan */
struct to_ring_check {
	uint64_t bytes;		/* bytes between all pairs */
	uint64_t stray;		/* bytes of all strays */
	uint64_t off_links;	/* bytes between neighbours beyond what links between them carried */
	uint64_t relayed;	/* bytes between servers without a link */
	/*
	 * Bytes between servers on one packet switch, beyond what cables between them carried.
	 * A port on the switch counts what it sends to all others, so that nobody knows which of
	 * these bytes left their links. They count as bytes that stayed.
	 */
	uint64_t shared;
	unsigned int n_rings;
	struct to_ring_bytes *rings;	/* each direction of each ring */
	unsigned int n_strays;
	struct to_stray *strays;	/* pairs that are no neighbours on a ring or tree, most first */
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

/** to_ring_check_free() - free rings and strays */
void to_ring_check_free(struct to_ring_check *check);

#endif
