// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/utilisation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UTILISATION_FIRST 1e-9	/* seconds, before it doubles */

/* Boundaries of intervals. */
#define UTILISATION_BOUNDS (TO_UTILISATION_INTERVALS + 1)

int to_utilisation_init(struct to_utilisation *u, const struct to_network *network,
			uint32_t n_classes)
{
	*u = (struct to_utilisation){ .interval = UTILISATION_FIRST, .n_links = network->n_links,
				      .n_capacities = to_network_capacities(network),
				      .n_classes = n_classes };
	u->bytes = calloc((size_t)u->n_capacities * TO_UTILISATION_INTERVALS + 1, sizeof(*u->bytes));
	u->served = calloc((size_t)n_classes * UTILISATION_BOUNDS + 1, sizeof(*u->served));
	if (u->bytes && u->served)
		return 0;
	to_utilisation_free(u);
	return -ENOMEM;
}

void to_utilisation_free(struct to_utilisation *u)
{
	free(u->bytes);
	free(u->served);
	*u = (struct to_utilisation){ 0 };
}

void to_utilisation_clear(struct to_utilisation *u)
{
	u->interval = UTILISATION_FIRST;
	memset(u->bytes, 0, (size_t)u->n_capacities * TO_UTILISATION_INTERVALS * sizeof(*u->bytes));
}

/* Two intervals become one. */
static void utilisation_double(struct to_utilisation *u)
{
	const unsigned int half = TO_UTILISATION_INTERVALS / 2;

	for (uint32_t link = 0; link < u->n_capacities; link++) {
		double *bytes = u->bytes + (size_t)link * TO_UTILISATION_INTERVALS;

		for (unsigned int i = 0; i < half; i++)
			bytes[i] = bytes[2 * i] + bytes[2 * i + 1];
		memset(bytes + half, 0, half * sizeof(*bytes));
	}
	for (uint32_t class = 0; class < u->n_classes; class++) {
		double *served = u->served + (size_t)class * UTILISATION_BOUNDS;

		for (unsigned int i = 0; i <= half; i++)
			served[i] = served[2 * i];
	}
	u->interval *= 2;
}

/* The interval that @time is in; the last one holds its end, too. */
static unsigned int utilisation_index(const struct to_utilisation *u, double time)
{
	return fmin(time / u->interval, TO_UTILISATION_INTERVALS - 1);
}

void to_utilisation_pass(struct to_utilisation *u, uint32_t class, double from, double to,
			 double served, double rate)
{
	double *bounds = u->served + (size_t)class * UTILISATION_BOUNDS;
	unsigned int last;

	while (to > u->interval * TO_UTILISATION_INTERVALS)
		utilisation_double(u);
	last = utilisation_index(u, to);
	for (unsigned int i = utilisation_index(u, from) + 1; i <= last; i++)
		bounds[i] = served + rate * (i * u->interval - from);
}

void to_utilisation_add(struct to_utilisation *u, const struct to_share *shares, uint32_t n,
			const struct to_utilisation_span *span)
{
	const double *bounds = u->served + (size_t)span->class * UTILISATION_BOUNDS;
	const unsigned int first = utilisation_index(u, span->from);
	const unsigned int last = utilisation_index(u, span->to);

	for (unsigned int i = first; i <= last; i++) {
		const double part = (i == last ? span->end : bounds[i + 1]) -
				    (i == first ? span->begin : bounds[i]);

		for (uint32_t k = 0; k < n && part > 0; k++)
			u->bytes[(size_t)shares[k].arc * TO_UTILISATION_INTERVALS + i] +=
				shares[k].bytes * part;
	}
}

static int utilisation_compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct to_utilised to_utilisation_at(const struct to_utilisation *u, unsigned int index,
				     const struct to_network *w, const uint32_t *alike,
				     double length, double *scratch)
{
	struct to_utilised found = { 0 };

	for (uint32_t link = 0; link < u->n_links; link++) {
		const uint32_t counts = alike ? alike[link] : link;
		const double bytes = u->bytes[(size_t)counts * TO_UTILISATION_INTERVALS + index];

		scratch[link] = bytes / (w->links[link].capacity * length);
		found.mean += scratch[link] / u->n_links;
	}
	if (!u->n_links)
		return found;
	qsort(scratch, u->n_links, sizeof(*scratch), utilisation_compare);
	found.p90 = scratch[(uint32_t)ceil(0.9 * u->n_links) - 1];
	found.most = scratch[u->n_links - 1];
	return found;
}
