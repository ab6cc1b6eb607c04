/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_COINCHANGE_H
#define TOPOOPT_COINCHANGE_H

/*
 * CoinChangeMod (TopoOpt, Algorithm 3): on a union of regular rings the path
 * from server i to server j is change for (j - i) mod n in coins p. It rates
 * rings before there are links. Of the links, spf.h then holds every change
 * with the fewest coins where the paper's back-trace keeps one, to spread load
 * and to have a path left when a link fails.
 */

#include <stdint.h>

#define TO_COINS_NONE UINT16_MAX

/**
 * to_coinchange_solve() - fewest coins for every difference
 * @n: servers of the ring
 * @coins: jumps, 1..n-1; with duplex links both p and n - p
 * @n_coins: how many
 * @count: n numbers of coins (hops), count[0] = 0, TO_COINS_NONE where the
 *	coins cannot make the difference
 * @order: those that can be made, by increasing count; n
 *
 * Return: the number of differences that can be made, 0 included.
 */
unsigned int to_coinchange_solve(unsigned int n, const uint32_t *coins,
				 unsigned int n_coins, uint16_t *count,
				 uint32_t *order);

#endif
