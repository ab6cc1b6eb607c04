// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/top_pairs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/allreduce.h"

static double pairs_sum(const uint64_t *bytes, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n * n; i++)
		sum += i % (n + 1) ? bytes[i] : 0;
	return sum > 0 ? sum : 1;
}

static void pairs_fill(struct to_top_pairs *pairs, const struct to_traffic *traffic,
		       const uint64_t *planned)
{
	const size_t n = traffic->n;
	const double all = pairs_sum(traffic->bytes, n), job = pairs_sum(planned, n);

	for (size_t i = 0; i < n * n; i++) {
		struct to_top_pair *pair = &pairs->items[pairs->n];

		if (!(i % (n + 1)) || (!traffic->bytes[i] && !planned[i]))
			continue;
		*pair = (struct to_top_pair){ .from = i / n, .to = i % n,
			.rate = 8 * traffic->bytes[i] / traffic->seconds,
			.share = traffic->bytes[i] / all, .planned = planned[i] / job };
		if (pair->rate > pairs->hottest)
			pairs->hottest = pair->rate;
		pairs->n++;
	}
}

static int pairs_make(struct to_top_pairs *pairs, const struct to_plan *plan,
		      const struct to_traffic *traffic)
{
	const size_t cells = (size_t)traffic->n * traffic->n;
	uint64_t *planned = calloc(cells + 1, sizeof(*planned));

	free(pairs->items);
	pairs->n = 0;
	pairs->hottest = 0;
	pairs->items = calloc(cells + 1, sizeof(*pairs->items));
	if (!planned || !pairs->items) {
		free(planned);
		return -ENOMEM;
	}
	to_allreduce_and_mp(plan, 1, planned);
	pairs_fill(pairs, traffic, planned);
	free(planned);
	return 0;
}

void to_top_pairs_stop(struct to_top_pairs *pairs)
{
	to_pairs_stop(&pairs->counting);
	free(pairs->items);
	*pairs = (struct to_top_pairs){};
}

void to_top_pairs_count(struct to_top_pairs *pairs, const struct to_plan *plan,
			const struct to_fabric_options *options, uint64_t interval_ns)
{
	struct to_pairs *counting = &pairs->counting;
	struct to_traffic traffic = {};
	struct to_error err;

	if (counting->plan && counting->plan != plan)
		to_top_pairs_stop(pairs);
	pairs->trouble[0] = '\0';
	if (!counting->plan && to_pairs_start(counting, plan, options, interval_ns, &err))
		snprintf(pairs->trouble, sizeof(pairs->trouble), "%.150s", err.text);
	if (counting->plan)
		to_pairs_take(counting, &traffic, pairs->trouble);
	if (traffic.seconds > 0)
		pairs_make(pairs, plan, &traffic);
	to_traffic_free(&traffic);
}
