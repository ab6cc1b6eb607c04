// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/stragglers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/random.h"

#define STRAGGLERS_FACTOR_MAX 1e6
#define STRAGGLERS_SIGMA_MAX 10

int to_stragglers_parse(const char *text, struct to_stragglers *s, struct to_error *err)
{
	int used = 0;

	*s = (struct to_stragglers){ .probability = 1 };
	if (sscanf(text, "slow:%lf,%lf%n", &s->probability, &s->factor, &used) == 2 && !text[used] &&
	    s->probability >= 0 && s->probability <= 1 && s->factor >= 1 &&
	    s->factor <= STRAGGLERS_FACTOR_MAX)
		s->kind = TO_STRAGGLERS_SLOW;
	else if (sscanf(text, "lognormal:%lf%n", &s->factor, &used) == 1 && !text[used] &&
		 s->factor >= 0 && s->factor <= STRAGGLERS_SIGMA_MAX)
		s->kind = TO_STRAGGLERS_LOGNORMAL;
	else if (sscanf(text, "exponential:%lf%n", &s->factor, &used) == 1 && !text[used] &&
		 s->factor >= 0 && s->factor <= STRAGGLERS_FACTOR_MAX)
		s->kind = TO_STRAGGLERS_EXPONENTIAL;
	else
		return to_error_set(err, -EINVAL, "expected one of " TO_STRAGGLERS_WORDS
				    " (P from 0 to 1, F from 1, SIGMA to %d), not \"%s\"",
				    STRAGGLERS_SIGMA_MAX, text);
	return 0;
}

/* More than 0, up to 1. */
static double stragglers_uniform(uint64_t *random)
{
	return ((to_random_next(random) >> 11) + 1) * 0x1p-53;
}

void to_stragglers_draw(const struct to_stragglers *s, uint32_t n, double *factors,
			uint64_t *random)
{
	for (uint32_t x = 0; x < n; x++) {
		const double first = stragglers_uniform(random), second = stragglers_uniform(random);

		factors[x] = 1;
		if (s->kind == TO_STRAGGLERS_SLOW && first <= s->probability)
			factors[x] = s->factor;
		else if (s->kind == TO_STRAGGLERS_LOGNORMAL)	/* Box and Muller, 1958 */
			factors[x] = exp(s->factor * sqrt(-2 * log(first)) * cos(2 * M_PI * second));
		else if (s->kind == TO_STRAGGLERS_EXPONENTIAL)
			factors[x] = 1 - s->factor * log(first);
	}
}
