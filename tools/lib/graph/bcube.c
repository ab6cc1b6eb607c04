// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/bcube.h"

#include <errno.h>
#include <string.h>

int to_bcube_init(struct to_bcube *bcube, unsigned int n, unsigned int k, struct to_error *err)
{
	uint64_t servers = 1;

	memset(bcube, 0, sizeof(*bcube));
	if (n < 2)
		return to_error_set(err, -ERANGE, "BCube(%u,%u): a switch needs 2 ports or more", n, k);
	if (!k)
		return to_error_set(err, -ERANGE, "BCube(%u,%u): servers need a port or more", n, k);
	bcube->n = n;
	bcube->k = k;
	for (unsigned int l = 0; l < k; l++) {
		servers *= n;
		if (servers > TO_SERVERS_MAX)
			return to_error_set(err, -ERANGE, "BCube(%u,%u) has more than %d servers", n, k,
					    TO_SERVERS_MAX);
		bcube->weight[l] = servers / n;
	}
	bcube->weight[k] = bcube->servers = servers;
	return 0;
}

unsigned int to_bcube_digit(const struct to_bcube *bcube, uint32_t server, unsigned int level)
{
	return server / bcube->weight[level] % bcube->n;
}

uint32_t to_bcube_neighbour(const struct to_bcube *bcube, uint32_t server, unsigned int level,
			    unsigned int digit)
{
	return server + (digit - to_bcube_digit(bcube, server, level)) * bcube->weight[level];
}

unsigned int to_bcube_path(const struct to_bcube *bcube, uint32_t a, uint32_t b, uint32_t *path)
{
	unsigned int hops = 0;

	for (unsigned int l = 0; l < bcube->k; l++) {
		unsigned int digit = to_bcube_digit(bcube, b, l);

		if (to_bcube_digit(bcube, a, l) == digit)
			continue;
		a = to_bcube_neighbour(bcube, a, l, digit);
		path[hops++] = a;
	}
	return hops;
}

void to_bcube_ring(const struct to_bcube *bcube, uint32_t *order)
{
	for (uint32_t i = 0; i < bcube->servers; i++) {
		order[i] = 0;
		for (unsigned int l = 0; l < bcube->k; l++) {
			unsigned int digit = to_bcube_digit(bcube, i, l);
			unsigned int next = l + 1 < bcube->k ? to_bcube_digit(bcube, i, l + 1) : 0;

			order[i] += (digit + bcube->n - next) % bcube->n * bcube->weight[l];
		}
	}
}

double to_bcube_bml_time(const struct to_bcube *bcube)
{
	return to_bcube_ring_time(bcube) / bcube->k;
}

double to_bcube_ps_time(const struct to_bcube *bcube)
{
	return 2.0 * (bcube->n - 1) / bcube->n;
}

double to_bcube_ring_time(const struct to_bcube *bcube)
{
	return 2.0 * (bcube->servers - 1) / bcube->servers;
}
