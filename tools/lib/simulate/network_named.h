/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_NETWORK_NAMED_H
#define TOPOOPT_NETWORK_NAMED_H

/* Networks that a word names, such as "fat-tree:8,oversub=2". */

#include <stdbool.h>

#include "cost/prices.h"
#include "simulate/network.h"

/**
 * struct to_network_setting - what a server has
 * @degree, @bandwidth: so many times so many bits/s
 * @latency: of a link, seconds
 * @prices: of cost-equivalent
 */
struct to_network_setting {
	uint32_t servers;
	unsigned int degree;
	uint64_t bandwidth;
	double latency;
	const struct to_prices *prices;
};

/** What to_network_named() understands, for help and messages. */
#define TO_NETWORK_WORDS \
	"ideal, switch, fat-tree:K[,oversub=R], cost-equivalent, expander[:SEED], " \
	"rail:G[,pod=P], elect-flat, elect-cluster[:G,RATE]"

/** The same and those of simulate/optical.h. */
#define TO_FABRIC_WORDS \
	TO_NETWORK_WORDS ", topoopt-reconfig[,relay], sip-ring[,relay], " \
	"ocs:DARK[,every=T][,relay], sip-ring:W,REACH, sip-ocs:Q"

/**
 * to_network_named() - the network that @word names
 *
 *	switch			one non-blocking switch, a NIC of degree x bandwidth a server
 *	fat-tree:K		k-ary fat-tree (Al-Fares, Loukissas and Vahdat, SIGCOMM
 *				2008), all links as fast as that NIC
 *	fat-tree:K,oversub=R	with one in R of the uplinks of its ToR switches
 *	ideal			the smallest fat-tree that has room
 *	cost-equivalent		the same, as fast as to_cost() says
 *	expander:SEED		connected random graph of degree links a server, by random
 *				switches of pairs of its edges
 *	rail:G			one NIC of each server on each of G leaf switches
 *	rail:G,pod=P		such leaves for each P servers, and G spines that they reach
 *				without oversubscription
 *	elect-flat		as switch (SiP-ML, section 4.1)
 *	elect-cluster:G,RATE	such a switch for each G servers, which has RATE bits/s to a
 *				switch of all (SiP-ML: 8, 400G, which elect-cluster stands for)
 *
 * Return: NULL with @err set: no such word, more servers than it has room for, a degree
 * or bandwidth that does not suit it.
 */
struct to_network *to_network_named(const char *word, const struct to_network_setting *setting,
				    struct to_error *err);

/** to_network_named_balanced() - is @word thought of as without collisions, unless one says so? */
bool to_network_named_balanced(const char *word);

#endif
