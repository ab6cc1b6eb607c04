/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_STRAGGLERS_H
#define TOPOOPT_STRAGGLERS_H

/* Servers that compute slower than others, anew in each iteration. */

#include <stdint.h>

#include "base/error.h"

/** What to_stragglers_parse() understands, for help and messages. */
#define TO_STRAGGLERS_WORDS "slow:P,F, lognormal:SIGMA, exponential:MEAN"

enum to_stragglers_kind {
	TO_STRAGGLERS_NONE, TO_STRAGGLERS_SLOW, TO_STRAGGLERS_LOGNORMAL, TO_STRAGGLERS_EXPONENTIAL
};

/**
 * struct to_stragglers - how many times as long a server computes
 * @kind: @factor with @probability, else 1; e^(@factor Z) with a standard normal Z, whose
 *	median is 1; 1 and an exponential of mean @factor
 */
struct to_stragglers {
	enum to_stragglers_kind kind;
	double probability, factor;
};

/** to_stragglers_parse() - "slow:0.01,3". Return: 0 or -EINVAL with @err set. */
int to_stragglers_parse(const char *text, struct to_stragglers *stragglers, struct to_error *err);

/** to_stragglers_draw() - @factors of @n servers, by @random */
void to_stragglers_draw(const struct to_stragglers *stragglers, uint32_t n, double *factors,
			uint64_t *random);

#endif
