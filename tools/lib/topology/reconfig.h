/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RECONFIG_H
#define TOPOOPT_RECONFIG_H

/*
 * TopoOpt-reconfig (TopoOpt, appendix D, Algorithm 5): links for the present
 * demand, found quickly.
 */

#include "topology/builder.h"

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
 * struct to_reconfig - Algorithm 5 at work on a topology
 * @builder: ports left and links so far; its demand's MP transfers are the
 *	unsatisfied demand
 * @discount: of parallel links, for up to builder->knobs.degree of them
 * @now: links that every pair has now, n x n, row = source, symmetric when
 *	duplex: among pairs of equal demand these come first, so that less is
 *	moved; NULL for none
 * @spread: demand gets half of the ports of every server only; the rest keep the
 *	paths to all others short
 * @n_kept: of the links, the first so many stay whatever comes
 * @bytes: demand of every pair, n x n: a duplex link's is that of both
 *	directions, and symmetric
 * @count: links of every pair so far, as @now
 */
struct to_reconfig {
	struct to_builder *builder;
	enum to_discount discount;
	const uint8_t *now;
	bool spread;
	unsigned int n_kept;
	double *bytes;
	uint8_t *count;
};

/**
 * to_reconfig_init() - begin with the links that @builder has, which stay
 *
 * Return: 0 or -ENOMEM.
 */
int to_reconfig_init(struct to_reconfig *r, struct to_builder *builder, enum to_discount discount,
		     const uint8_t *now);
void to_reconfig_free(struct to_reconfig *r);

/**
 * to_reconfig_greedy() - Algorithm 5
 *
 * One link after the other to the pair that gains most by Equation 1, while two
 * servers have ports for one. It ends: every link takes ports. Where the gain is
 * equal, pairs that lose a present link come first, others in an order
 * drawn from the seed; where it is nothing, only the former get one, and with
 * @spread only when they have none.
 *
 * Return: 0 or -ENOMEM.
 */
int to_reconfig_greedy(struct to_reconfig *r);

/**
 * to_reconfig_repair() - make a path from every server to every other
 *
 * Parts are joined through ports that are left; where none are, the link that
 * is worth least and whose part holds without it gives up its ports. Ports that
 * are left in the end shorten the longest paths.
 *
 * Return: 0, -ENOMEM, or -ENOSPC when the ports do not suffice, or would only
 * without the links that stay.
 */
int to_reconfig_repair(struct to_reconfig *r);

#endif
