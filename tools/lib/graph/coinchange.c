// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "graph/coinchange.h"

/*
 * Algorithm 3 relaxes all differences once per round; every coin costs one, so
 * round r only adds those that need r coins and a breadth-first queue does the
 * same in n * n_coins steps.
 */
unsigned int to_coinchange_solve(unsigned int n, const uint32_t *coins,
				 unsigned int n_coins, uint16_t *count,
				 uint32_t *order)
{
	unsigned int head, tail = 0, c;

	memset(count, 0xff, n * sizeof(*count));
	count[0] = 0;
	order[tail++] = 0;
	for (head = 0; head < tail; head++) {
		for (c = 0; c < n_coins; c++) {
			uint32_t next = order[head] + coins[c];

			if (next >= n)
				next -= n;
			if (count[next] != TO_COINS_NONE)
				continue;
			count[next] = count[order[head]] + 1;
			order[tail++] = next;
		}
	}
	return tail;
}
