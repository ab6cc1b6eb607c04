/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CHANGE_PRICE_H
#define TOPOOPT_CHANGE_PRICE_H

/* What it costs to take a running fabric to other links. */

#include "data/cluster.h"
#include "data/graph.h"

/**
 * struct to_change_from - a fabric at work
 * @graph: of its links
 * @load: bytes on them in the measurement, per arc
 * @bytes: that were sent, n x n, row = source
 * @seconds: of the measurement
 * @busy: seconds of them in which the busiest link was busy
 * @dark: seconds that changed links are dark in each step; negative: as the
 *	switches say
 */
struct to_change_from {
	const struct to_cluster *cluster;
	const struct to_graph *graph;
	const double *load;
	uint64_t *bytes;
	double seconds, busy, dark;
};

/**
 * struct to_change_price - what a change costs
 * @cut, @made: cross-connects that go and that come
 * @steps: in so many, see rewire_steps.h
 * @dark: seconds in which some of them are dark, of all steps
 * @delayed: bytes that would have crossed those that are cut while each is dark
 * @lost: seconds of the job's progress that are lost meanwhile: it goes as slow as
 *	on the links that the first step leaves; where these do not reach everybody,
 *	it stands still
 */
struct to_change_price {
	unsigned int cut, made, steps;
	double dark, delayed, lost;
};

/** to_change_price() - price a change to @links. Return: 0 or -ENOMEM. */
int to_change_price(const struct to_change_from *from, const struct to_link *links,
		    unsigned int n_links, struct to_change_price *price);

#endif
