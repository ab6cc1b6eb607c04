/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_HAMILTON_H
#define TOPOOPT_HAMILTON_H

/*
 * Unions of Hamiltonian cycles. A ring AllReduce runs on any of them, and a
 * union of random ones has nearly the shortest paths that its degree allows
 * (Bollobas and de la Vega, "The diameter of random regular graphs", 1982);
 * local search serves the demand on top of that.
 */

#include <stdbool.h>
#include <stdint.h>

/**
 * struct to_hamilton_job - what the cycles are for
 * @n: servers, 3 or more
 * @n_cycles: how many
 * @ports: of a server, that MP transfers may leave through
 * @duplex: links carry both directions
 * @demand: bytes of MP transfers, n x n, row = source
 * @links: n x n, row = source: how many links there are already
 * @steps: exchanges of links to try, at most
 */
struct to_hamilton_job {
	unsigned int n, n_cycles, ports;
	bool duplex;
	const uint64_t *demand;
	const uint8_t *links;
	unsigned long steps;
	uint64_t seed;
};

/**
 * struct to_hamilton_score - what cycles are worth; all less is better
 * @repeats: links that another link of theirs or of the job repeats
 * @hops: hops summed over all ordered pairs of servers, counted up to
 *	TO_HAMILTON_HOPS
 * @cost: what the search brings down: hops weighted with the demand, and how
 *	far the demand of a server and its busiest neighbours is beyond the
 *	links that leave them
 */
struct to_hamilton_score {
	unsigned int repeats;
	uint64_t hops;
	double cost;
};

#define TO_HAMILTON_HOPS 16

/**
 * to_hamilton_search() - cycles that serve the demand
 * @order: n_cycles x n, row = servers of a cycle in its order
 * @start: score of the random cycles that the search starts from
 * @score: of those in @order; repeats none wherever the search could help it
 *
 * Links are exchanged within one cycle so that it stays one: two on duplex
 * links (2-opt), three on simplex links, whose direction must not turn. No
 * exchange that makes it worse is kept.
 *
 * Return: 0 or -ENOMEM.
 */
int to_hamilton_search(const struct to_hamilton_job *job, uint32_t *order,
		       struct to_hamilton_score *start, struct to_hamilton_score *score);

#endif
