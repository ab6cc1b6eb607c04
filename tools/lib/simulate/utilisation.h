/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_UTILISATION_H
#define TOPOOPT_UTILISATION_H

/* How busy links are, over the time of an iteration whose length nobody knows yet. */

#include "graph/maxmin.h"
#include "simulate/network.h"

/** Intervals of equal length that an iteration is divided into, at most. */
#define TO_UTILISATION_INTERVALS 256

/**
 * struct to_utilisation - bytes per link and interval
 * @interval: seconds; doubles when the iteration lasts longer than all of them
 * @bytes: per capacity of the network, TO_UTILISATION_INTERVALS each
 * @served: of @n_classes, what each had served when an interval began, one more each
 */
struct to_utilisation {
	double interval;
	uint32_t n_links, n_capacities, n_classes;
	double *bytes, *served;
};

/** struct to_utilisation_span - what one of @class was served: from @begin to @end bytes of it */
struct to_utilisation_span {
	uint32_t class;
	double from, to, begin, end;
};

/** to_utilisation_init() - @n_classes: of flows that have the same rate. Return: 0 or -ENOMEM */
int to_utilisation_init(struct to_utilisation *u, const struct to_network *network,
			uint32_t n_classes);
void to_utilisation_free(struct to_utilisation *u);
void to_utilisation_clear(struct to_utilisation *u);

/** to_utilisation_pass() - @class has served @served bytes at @from, and on at @rate until @to */
void to_utilisation_pass(struct to_utilisation *u, uint32_t class, double from, double to,
			 double served, double rate);

/**
 * to_utilisation_add() - what a flow has been served, after to_utilisation_pass() over that time
 * @shares: @n of them; bytes on a link for each byte
 */
void to_utilisation_add(struct to_utilisation *u, const struct to_share *shares, uint32_t n,
			const struct to_utilisation_span *span);

/** struct to_utilised - of an interval, over links: parts of their bandwidth, 0 to 1 */
struct to_utilised {
	double mean, p90, most;
};

/**
 * to_utilisation_at() - of interval @index
 * @network: of the links
 * @alike: per link, the one that counts for it, or NULL
 * @length: seconds of the interval, less than @interval in the last one
 * @scratch: a value per link
 */
struct to_utilised to_utilisation_at(const struct to_utilisation *u, unsigned int index,
				     const struct to_network *network, const uint32_t *alike,
				     double length, double *scratch);

#endif
