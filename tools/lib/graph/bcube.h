/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_BCUBE_H
#define TOPOOPT_BCUBE_H

/*
 * BCube(n, k): n^k servers of k ports, and k levels of packet switches of n ports. Port l
 * of a server is on a switch of level l, with all servers that differ in digit l only.
 *
 * Wang et al., "BML: A High-performance, Low-cost Gradient Synchronization Algorithm for
 * DML Training", NeurIPS 2018; Guo et al., "BCube", SIGCOMM 2009.
 */

#include <stdint.h>

#include "base/error.h"
#include "data/cluster.h"

#define TO_BCUBE_LEVELS_MAX 16

/**
 * struct to_bcube - the network
 * @n: ports of a switch, values of a digit
 * @k: levels, digits of a server
 * @servers: n^k
 * @weight: n^l, of digit l
 */
struct to_bcube {
	unsigned int n, k;
	uint32_t servers;
	uint32_t weight[TO_BCUBE_LEVELS_MAX + 1];
};

/**
 * to_bcube_init() - BCube(@n, @k)
 *
 * Return: 0, or -ERANGE with @err set for fewer than 2 ports or 1 level, or more than
 * TO_SERVERS_MAX servers.
 */
int to_bcube_init(struct to_bcube *bcube, unsigned int n, unsigned int k, struct to_error *err);

/** to_bcube_digit() - digit @level of @server */
unsigned int to_bcube_digit(const struct to_bcube *bcube, uint32_t server, unsigned int level);

/** to_bcube_neighbour() - the server with @digit as its digit @level, else like @server */
uint32_t to_bcube_neighbour(const struct to_bcube *bcube, uint32_t server, unsigned int level,
			    unsigned int digit);

/**
 * to_bcube_path() - from @a to @b, correcting one digit after the other, digit 0 first
 * @path: gets the servers after @a, @b the last; TO_BCUBE_LEVELS_MAX
 *
 * Return: how many, one for each digit that differs.
 */
unsigned int to_bcube_path(const struct to_bcube *bcube, uint32_t a, uint32_t b, uint32_t *path);

/**
 * to_bcube_ring() - all servers in a ring of which each step changes one digit
 * @order: gets to_bcube.servers
 *
 * The modular Gray code: each step adds one to a digit, modulo n.
 */
void to_bcube_ring(const struct to_bcube *bcube, uint32_t *order);

/*
 * Bytes that the busiest port sends in a gradient synchronisation, in parts of the
 * gradients; where no step waits for a slower port, the time in T_F, which one port takes
 * for the gradients.
 */

/** to_bcube_bml_time() - 2(N - 1)/(k N) */
double to_bcube_bml_time(const struct to_bcube *bcube);

/**
 * to_bcube_ps_time() - a parameter server on each server, relayed: 2(n - 1)/n
 *
 * A transfer crosses a level if its ends differ in that digit, whatever the order in which
 * they are corrected. The paper's text has twice the time of BML instead (section 3.3).
 */
double to_bcube_ps_time(const struct to_bcube *bcube);

/** to_bcube_ring_time() - one ring, also on any other network: 2(N - 1)/N */
double to_bcube_ring_time(const struct to_bcube *bcube);

#endif
