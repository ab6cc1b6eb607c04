/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TOTIENT_H
#define TOPOOPT_TOTIENT_H

/*
 * TotientPerms (TopoOpt, Algorithm 2 and Theorem 1): the regular rings of n
 * servers are i -> (i + p) mod n with gcd(p, n) = 1.
 */

#include <stdbool.h>
#include <stdint.h>

/**
 * to_totient_jumps() - the jumps p of all regular rings of @n servers
 * @n: servers of the ring
 * @duplex: leave out n - p, which takes the same duplex links as p
 * @jumps: up to n - 1 values, ascending
 *
 * Return: how many; 0 when @n is below 2.
 */
unsigned int to_totient_jumps(unsigned int n, bool duplex, uint32_t *jumps);

/**
 * to_totient_ring() - @members in the order of the ring with jump @p
 * @members: servers of the group, any subset of the job
 * @n: how many
 * @p: jump, coprime to @n
 * @order: n servers: members[0], members[p mod n], members[2p mod n], ...
 */
void to_totient_ring(const uint32_t *members, unsigned int n, uint32_t p,
		     uint32_t *order);

#endif
