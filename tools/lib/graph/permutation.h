/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PERMUTATION_H
#define TOPOOPT_PERMUTATION_H

/*
 * TopPermutations (TopoOpt, Algorithm 4): which regular rings of a group serve
 * the MP transfers best.
 */

#include <stdbool.h>
#include <stdint.h>

/**
 * struct to_permutation_score - what a set of jumps is worth; less is better
 * @byte_hops: bytes times hops of the MP transfers inside the group
 * @hops: hops summed over all differences 1..n-1; a difference that cannot be
 *	made counts n
 * @diameter: most hops of any difference
 * @satisfied: MP bytes with a direct link, the paper's metric; more is better
 */
struct to_permutation_score {
	double byte_hops;
	uint64_t hops;
	unsigned int diameter;
	double satisfied;
};

/**
 * to_permutation_rate() - score of one set of jumps
 * @n: servers of the group
 * @demand: MP bytes by difference: demand[(j - i) mod n]
 * @jumps: the set
 * @duplex: every jump p also gives n - p
 *
 * Return: 0 or -ENOMEM.
 */
int to_permutation_rate(unsigned int n, const uint64_t *demand,
			const uint32_t *jumps, unsigned int n_jumps,
			bool duplex, struct to_permutation_score *score);

/**
 * to_permutation_select() - the best set of jumps that was found
 * @n_jumps: rings wanted
 * @seed: of the random part of the search
 * @jumps: up to n_jumps values, ascending
 *
 * The paper's choice (jumps spread evenly over the candidates, from every
 * start) competes with jumps in geometric progression, which keep the diameter
 * small where the demand says nothing; the best of them is improved by
 * exchanging one jump at a time. So it is never worse than the paper's.
 *
 * Return: how many jumps, fewer than wanted when the group has fewer regular
 * rings; or -ENOMEM.
 */
int to_permutation_select(unsigned int n, const uint64_t *demand,
			  unsigned int n_jumps, bool duplex, uint64_t seed,
			  uint32_t *jumps);

#endif
