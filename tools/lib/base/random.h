/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RANDOM_H
#define TOPOOPT_RANDOM_H

#include <stdint.h>

/**
 * to_random_next() - next number of the SplitMix64 generator
 * @state: seed at first, then left to this function
 *
 * Same seed, same numbers on every machine, which rand_r() does not promise
 * (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
 * OOPSLA 2014).
 */
static inline uint64_t to_random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/** to_random_below() - a number in 0..@bound-1; @bound is at least 1 */
static inline uint32_t to_random_below(uint64_t *state, uint32_t bound)
{
	return ((to_random_next(state) >> 32) * bound) >> 32;
}

#endif
