// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/totient.h"

static uint32_t totient_gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

unsigned int to_totient_jumps(unsigned int n, bool duplex, uint32_t *jumps)
{
	unsigned int last = duplex ? n / 2 : n - 1;
	unsigned int count = 0;
	uint32_t p;

	if (n < 2)
		return 0;
	for (p = 1; p <= last; p++)
		if (totient_gcd(p, n) == 1)
			jumps[count++] = p;
	return count;
}

void to_totient_ring(const uint32_t *members, unsigned int n, uint32_t p,
		     uint32_t *order)
{
	uint64_t at = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		order[i] = members[at];
		at = (at + p) % n;
	}
}
