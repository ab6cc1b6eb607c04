// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "graph/coinchange.h"
#include "graph/permutation.h"
#include "graph/totient.h"

#define PERMUTATION_STEPS 150000000.0	/* difference-coin steps of one search */

struct permutation {
	unsigned int n, n_jumps, n_candidates;
	bool duplex;
	const uint64_t *demand;
	uint32_t *candidates;	/* totient jumps */
	uint32_t *coins, *order, *try, *best;
	uint16_t *count;
	struct to_permutation_score score;	/* of @best */
	double steps;
};

static int permutation_init(struct permutation *s, unsigned int n, const uint64_t *demand,
			    unsigned int n_jumps, bool duplex)
{
	*s = (struct permutation){ .n = n, .n_jumps = n_jumps, .demand = demand,
				   .duplex = duplex, .steps = PERMUTATION_STEPS };
	s->candidates = calloc(2 * (size_t)n + 4 * (size_t)n_jumps + 1, sizeof(*s->candidates));
	s->count = calloc(n, sizeof(*s->count));
	if (!s->candidates || !s->count)
		return -ENOMEM;
	s->order = s->candidates + n;
	s->coins = s->order + n;
	s->try = s->coins + 2 * n_jumps;
	s->best = s->try + n_jumps;
	return 0;
}

static void permutation_free(struct permutation *s)
{
	free(s->candidates);
	free(s->count);
}

static struct to_permutation_score permutation_rate(struct permutation *s, const uint32_t *jumps)
{
	struct to_permutation_score score = { 0 };
	unsigned int n_coins = 0, i;
	uint32_t difference;

	for (i = 0; i < s->n_jumps; i++) {
		s->coins[n_coins++] = jumps[i];
		if (s->duplex && 2 * jumps[i] != s->n)
			s->coins[n_coins++] = s->n - jumps[i];
	}
	to_coinchange_solve(s->n, s->coins, n_coins, s->count, s->order);
	for (difference = 1; difference < s->n; difference++) {
		unsigned int hops = s->count[difference];

		if (hops == TO_COINS_NONE)
			hops = s->n;
		if (hops > score.diameter)
			score.diameter = hops;
		if (hops == 1)
			score.satisfied += s->demand[difference];
		score.hops += hops;
		score.byte_hops += (double)s->demand[difference] * hops;
	}
	s->steps -= (double)s->n * (n_coins + 2);
	return score;
}

static bool permutation_better(const struct to_permutation_score *a,
			       const struct to_permutation_score *b)
{
	if (a->byte_hops != b->byte_hops)
		return a->byte_hops < b->byte_hops;
	if (a->hops != b->hops)
		return a->hops < b->hops;
	if (a->diameter != b->diameter)
		return a->diameter < b->diameter;
	return a->satisfied > b->satisfied;
}

/* Keep @try when it is better. Return: whether it was. */
static bool permutation_offer(struct permutation *s)
{
	struct to_permutation_score score = permutation_rate(s, s->try);

	if (s->best[0] && !permutation_better(&score, &s->score))
		return false;
	memcpy(s->best, s->try, s->n_jumps * sizeof(*s->best));
	s->score = score;
	return true;
}

/* Algorithm 4, line 4: every n_candidates / n_jumps-th, from every start. */
static void permutation_even(struct permutation *s)
{
	unsigned int start, i;

	for (start = 0; start < s->n_candidates && s->steps > PERMUTATION_STEPS / 2; start++) {
		for (i = 0; i < s->n_jumps; i++)
			s->try[i] = s->candidates[(start + (uint64_t)i * s->n_candidates /
						   s->n_jumps) % s->n_candidates];
		permutation_offer(s);
	}
}

static bool permutation_has(const uint32_t *jumps, unsigned int n, uint32_t jump)
{
	while (n--)
		if (jumps[n] == jump)
			return true;
	return false;
}

/* Jumps near 1, r, r^2, ...: a number system with digits up to r. */
static void permutation_geometric(struct permutation *s)
{
	double span = s->duplex ? s->n / 2.0 : s->n, scale;
	unsigned int i, c;

	for (scale = 0.4; scale < 1.3; scale += 0.05) {
		double ratio = pow(span, 1.0 / s->n_jumps) * scale, target = 1;

		if (ratio < 1)
			continue;
		for (i = 0; i < s->n_jumps; i++, target *= ratio) {
			uint32_t best = 0;

			for (c = 0; c < s->n_candidates; c++) {
				uint32_t jump = s->candidates[c];

				if (permutation_has(s->try, i, jump))
					continue;
				if (!best || fabs(jump - target) < fabs(best - target))
					best = jump;
			}
			s->try[i] = best;
		}
		permutation_offer(s);
	}
}

/* Exchange one jump for another candidate until nothing improves. */
static void permutation_exchange(struct permutation *s, uint64_t seed)
{
	bool improved = true;

	while (improved && s->steps > 0) {
		unsigned int slot, i;

		improved = false;
		for (slot = 0; slot < s->n_jumps; slot++) {
			/* a random start, or a search that runs out of steps
			 * would only ever try small jumps */
			unsigned int start = to_random_below(&seed, s->n_candidates);

			for (i = 0; i < s->n_candidates && s->steps > 0; i++) {
				uint32_t jump = s->candidates[(start + i) % s->n_candidates];

				if (permutation_has(s->best, s->n_jumps, jump))
					continue;
				memcpy(s->try, s->best, s->n_jumps * sizeof(*s->try));
				s->try[slot] = jump;
				improved |= permutation_offer(s);
			}
		}
	}
}

static int permutation_ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

int to_permutation_rate(unsigned int n, const uint64_t *demand,
			const uint32_t *jumps, unsigned int n_jumps,
			bool duplex, struct to_permutation_score *score)
{
	struct permutation s;
	int ret = permutation_init(&s, n, demand, n_jumps, duplex);

	if (!ret)
		*score = permutation_rate(&s, jumps);
	permutation_free(&s);
	return ret;
}

int to_permutation_select(unsigned int n, const uint64_t *demand,
			  unsigned int n_jumps, bool duplex, uint64_t seed,
			  uint32_t *jumps)
{
	struct permutation s;
	int ret = permutation_init(&s, n, demand, n_jumps, duplex);

	if (ret)
		goto out;
	s.n_candidates = to_totient_jumps(n, duplex, s.candidates);
	if (s.n_candidates > n_jumps) {
		permutation_even(&s);
		permutation_geometric(&s);
		permutation_exchange(&s, seed);
	} else {
		n_jumps = s.n_candidates;
		memcpy(s.best, s.candidates, n_jumps * sizeof(*s.best));
	}
	ret = n_jumps;
	qsort(s.best, n_jumps, sizeof(*s.best), permutation_ascending);
	memcpy(jumps, s.best, n_jumps * sizeof(*jumps));
out:
	permutation_free(&s);
	return ret;
}
