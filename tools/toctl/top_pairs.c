// SPDX-License-Identifier: GPL-2.0-or-later
#include "top_pairs.h"

#include <errno.h>
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

int to_top_pairs_make(struct to_top_pairs *pairs, const struct to_plan *plan,
		      const struct to_traffic *traffic)
{
	const size_t cells = (size_t)traffic->n * traffic->n;
	uint64_t *planned = calloc(cells + 1, sizeof(*planned));

	*pairs = (struct to_top_pairs){ .items = calloc(cells + 1, sizeof(*pairs->items)) };
	if (!planned || !pairs->items) {
		free(planned);
		to_top_pairs_free(pairs);
		return -ENOMEM;
	}
	to_allreduce_and_mp(plan, 1, planned);
	pairs_fill(pairs, traffic, planned);
	free(planned);
	return 0;
}

void to_top_pairs_free(struct to_top_pairs *pairs)
{
	free(pairs->items);
	*pairs = (struct to_top_pairs){};
}
