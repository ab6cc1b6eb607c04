/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RECONFIG_H
#define TOPOOPT_RECONFIG_H

/*
 * TopoOpt-reconfig (TopoOpt, appendix D, Algorithm 5): links for the demand of
 * the moment, found in a moment.
 */

#include "cluster.h"

/**
 * enum to_discount - what the x-th parallel link of a pair is worth, in parts of
 *	the pair's demand; Discount(l) is the sum over the first l (Equation 2)
 * @TO_DISCOUNT_EXPONENTIAL: 2^-x, the paper's
 * @TO_DISCOUNT_NONE: 1: every link as much as the first, as SiP-ML
 * @TO_DISCOUNT_LINEAR: (d + 1 - x) / d, down to 1 / d for the d-th of d links
 */
enum to_discount { TO_DISCOUNT_EXPONENTIAL, TO_DISCOUNT_NONE, TO_DISCOUNT_LINEAR };

/** NULL-terminated, in the order of enum to_discount */
extern const char *const to_discount_names[];

/** to_discount() - Discount(@links) on servers of up to @degree ports */
double to_discount(enum to_discount discount, unsigned int links, unsigned int degree);

/**
 * struct to_reconfig - links in the making
 * @n: servers
 * @duplex: a link carries both directions and takes one port at both ends: the
 *	demand of a pair is that of both directions. Else it takes a transmitter
 *	and a receiver.
 * @degree: most ports of a server, for the discount
 * @bytes: unsatisfied demand, n x n, row = source; the diagonal is not looked at
 * @transmit, @receive: ports left, per server; one array when @duplex. Their
 *	sums over the servers are equal.
 * @count: links of every pair, n x n, row = source; symmetric when @duplex
 * @now: links there are at the moment, same form: among pairs of equal demand
 *	these come first, so that less is moved; NULL for none
 * @n_kept: of @links, the first so many were there before and stay
 * @n_links, @links: links so far, without ports; room for all ports
 */
struct to_reconfig {
	unsigned int n, degree;
	bool duplex;
	enum to_discount discount;
	uint64_t seed;
	const uint64_t *bytes;
	unsigned int *transmit, *receive;
	uint8_t *count;
	const uint8_t *now;
	unsigned int n_kept, n_links;
	struct to_link *links;
};

/**
 * to_reconfig_init() - nothing linked yet
 * @ports: per server, that links may take
 * @bytes, @now: see struct to_reconfig; borrowed
 *
 * Return: 0 or -ENOMEM.
 */
int to_reconfig_init(struct to_reconfig *r, unsigned int n, bool duplex, const unsigned int *ports,
		     const uint64_t *bytes, const uint8_t *now);
void to_reconfig_free(struct to_reconfig *r);

/**
 * to_reconfig_keep() - a link that is there and stays
 *
 * Before to_reconfig_greedy(). The caller knows that the ports are there.
 */
void to_reconfig_keep(struct to_reconfig *r, const struct to_link *link);

/**
 * to_reconfig_greedy() - Algorithm 5
 *
 * One link after the other to the pair that gains most by Equation 1, while two
 * servers have ports for one and demand is left. It ends: every link takes ports.
 * Where demand is equal, pairs that have a link at the moment come first, others
 * in an order drawn from the seed.
 *
 * Return: 0 or -ENOMEM.
 */
int to_reconfig_greedy(struct to_reconfig *r);

/**
 * to_reconfig_repair() - a way from every server to every other
 *
 * Parts are joined through ports that are left; where none are, the link that
 * is worth least and whose part holds without it gives up its ports. Ports that
 * are left in the end shorten the farthest ways.
 *
 * Return: 0, -ENOMEM, or -ENOSPC when the ports do not suffice, or would only
 * without the links that stay.
 */
int to_reconfig_repair(struct to_reconfig *r);

/** to_reconfig_utility() - Equation 1 of the links so far, in bytes */
double to_reconfig_utility(const struct to_reconfig *r);

#endif
