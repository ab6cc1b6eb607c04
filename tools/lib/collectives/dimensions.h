/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DIMENSIONS_H
#define TOPOOPT_DIMENSIONS_H

/*
 * A network of several dimensions: rank r has a digit for each of them, innermost first,
 * and reaches the ranks that differ in one digit only through that dimension. dims.json.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define TO_DIMENSIONS_MAX 8
#define TO_DIMENSIONS_RANKS_MAX (1u << 20)

/**
 * enum to_dimension_kind - what joins the ranks of a dimension, and so how they reduce
 * @TO_DIMENSION_RING: a ring of links; the ring algorithm, size - 1 steps
 * @TO_DIMENSION_DIRECT: a link between any two; all at once, 1 step
 * @TO_DIMENSION_SWITCH: a switch; halving and doubling, log2(size) steps, rounded up
 *
 * All of them send size - 1 of size parts of what they scatter (Themis, Table 1).
 */
enum to_dimension_kind { TO_DIMENSION_RING, TO_DIMENSION_DIRECT, TO_DIMENSION_SWITCH };

/** Names of the kinds in files, NULL-terminated. */
extern const char *const to_dimension_kinds[];

/**
 * struct to_dimension - one of them
 * @size: ranks that it joins
 * @bandwidth: of a rank into it, all links together, one way, bits/s
 * @latency_ns: of a step: the least message between two ranks
 */
struct to_dimension {
	enum to_dimension_kind kind;
	unsigned int size;
	uint64_t bandwidth, latency_ns;
};

/** struct to_dimensions - innermost first; @ranks is the product of their sizes */
struct to_dimensions {
	unsigned int n, ranks;
	struct to_dimension list[TO_DIMENSIONS_MAX];
};

/** to_dimensions_parse() - dims.json from memory; @name is for errors */
int to_dimensions_parse(const char *data, size_t len, const char *name,
			struct to_dimensions *dims, struct to_error *err);

/**
 * to_dimensions_put_inside() - add @inner as the innermost dimension
 *
 * Every rank becomes as many as @inner has, which share what it had: their bandwidth in the
 * other dimensions is that part of it.
 *
 * Return: 0; -ERANGE beyond what there may be.
 */
int to_dimensions_put_inside(struct to_dimensions *dims, const struct to_dimension *inner,
			     struct to_error *err);

/**
 * to_dimensions_divide() - groups of @ranks ranks next to each other
 * @inner: dimensions inside of a group, @outer: between ranks of the same number in all groups;
 *	a switch or direct dimension may be divided, both parts have its bandwidth
 *
 * Return: 0; -EINVAL where @ranks are no such groups.
 */
int to_dimensions_divide(const struct to_dimensions *dims, unsigned int ranks,
			 struct to_dimensions *inner, struct to_dimensions *outer,
			 struct to_error *err);

/** to_dimension_steps() - of a reduce-scatter or all-gather */
unsigned int to_dimension_steps(const struct to_dimension *d);

#endif
