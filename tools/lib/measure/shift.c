// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/shift.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const to_shift_verdict_names[] = {
	[TO_SHIFT_NONE] = "none",
	[TO_SHIFT_IDLE_INTERVAL] = "idle",
	[TO_SHIFT_HELD] = "held",
	[TO_SHIFT_STEP] = "step",
	[TO_SHIFT_DRIFT] = "drift",
	NULL
};

static size_t shift_cells(const struct to_shift *shift)
{
	return (size_t)shift->n * shift->n;
}

/* Shares of @from, which may be all zero. */
static void shift_normalise(double *shares, const double *from, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += from[i];
	for (size_t i = 0; i < n; i++)
		shares[i] = sum > 0 ? from[i] / sum : 0;
}

int to_shift_init(struct to_shift *shift, const struct to_shift_config *config,
		  unsigned int n, const double *planned)
{
	*shift = (struct to_shift){
		.config = *config, .n = n, .hold_ns = config->hold_ns,
		.held_until_ns = config->hold_ns, .drift_wait_ns = config->hold_ns,
	};
	shift->reference = calloc(shift_cells(shift), sizeof(double));
	shift->envelope = calloc(shift_cells(shift), sizeof(double));
	shift->mean = calloc(shift_cells(shift), sizeof(double));
	shift->fresh = calloc(shift_cells(shift), sizeof(double));
	shift->pending = calloc(shift_cells(shift), sizeof(double));
	if (!shift->reference || !shift->envelope || !shift->mean || !shift->fresh ||
	    !shift->pending) {
		to_shift_free(shift);
		return -ENOMEM;
	}
	shift_normalise(shift->reference, planned, shift_cells(shift));
	memcpy(shift->envelope, shift->reference, shift_cells(shift) * sizeof(double));
	return 0;
}

void to_shift_free(struct to_shift *shift)
{
	free(shift->reference);
	free(shift->envelope);
	free(shift->pending);
	free(shift->mean);
	free(shift->fresh);
	*shift = (struct to_shift){ 0 };
}

/* Whether the interval says nothing; the busiest rate fades in any case. */
static bool shift_is_idle(struct to_shift *shift, double sum, double seconds, double fade)
{
	double rate = sum / seconds;

	shift->busiest *= fade;
	if (rate < shift->config.idle || rate < TO_SHIFT_IDLE * shift->busiest)
		return true;
	shift->busiest = fmax(shift->busiest, rate);
	return false;
}

/* Share of the bytes that nothing before explains. */
static double shift_novelty(const struct to_shift *shift, const uint64_t *bytes, double sum)
{
	double beyond = 0;

	for (size_t i = 0; i < shift_cells(shift); i++)
		beyond += fmax(0, bytes[i] / sum - shift->envelope[i]);
	return beyond;
}

/* The envelope fades, but what the plan was made for is never new. */
static void shift_fade_envelope(struct to_shift *shift, double fade)
{
	for (size_t i = 0; i < shift_cells(shift); i++)
		shift->envelope[i] = fmax(shift->envelope[i] * fade, shift->reference[i]);
}

static void shift_add_mean(struct to_shift *shift, const uint64_t *bytes, double seconds,
			   double fade)
{
	double sum = 0, apart = 0;

	for (size_t i = 0; i < shift_cells(shift); i++) {
		shift->mean[i] = shift->mean[i] * fade + bytes[i];
		sum += shift->mean[i];
	}
	for (size_t i = 0; i < shift_cells(shift); i++)
		apart += fmax(0, shift->mean[i] / sum - shift->reference[i]);
	shift->span = shift->span * fade + seconds;
	shift->distance = apart;
}

static void shift_learn(double *envelope, const uint64_t *bytes, double sum, size_t n)
{
	for (size_t i = 0; i < n; i++)
		envelope[i] = fmax(envelope[i], bytes[i] / sum);
}

/* The first of them has traffic of before the step, so a second replaces it. */
static void shift_add_fresh(struct to_shift *shift, const uint64_t *bytes, double sum,
			    double seconds)
{
	if (++shift->n_fresh == 1)
		memset(shift->pending, 0, shift_cells(shift) * sizeof(double));
	shift_learn(shift->pending, bytes, sum, shift_cells(shift));
	if (shift->n_fresh <= 2) {
		memset(shift->fresh, 0, shift_cells(shift) * sizeof(double));
		shift->fresh_span = 0;
	}
	for (size_t i = 0; i < shift_cells(shift); i++)
		shift->fresh[i] += bytes[i];
	shift->fresh_span += seconds;
}

/* What was new is known now. */
static void shift_end_fresh(struct to_shift *shift)
{
	for (size_t i = 0; shift->n_fresh && i < shift_cells(shift); i++)
		shift->envelope[i] = fmax(shift->envelope[i], shift->pending[i]);
	shift->n_fresh = 0;
}

/* The mean begins again with what is new. */
static void shift_begin_again(struct to_shift *shift)
{
	shift_end_fresh(shift);
	memcpy(shift->mean, shift->fresh, shift_cells(shift) * sizeof(double));
	shift->span = shift->fresh_span;
	shift->drift_wait_ns = shift->config.hold_ns;
	shift->drift_until_ns = 0;
}

enum to_shift_verdict to_shift_observe(struct to_shift *shift, const uint64_t *bytes,
				       uint64_t elapsed_ns)
{
	const double seconds = elapsed_ns * 1e-9, threshold = shift->config.threshold;
	const double fade = exp(-(double)elapsed_ns / shift->config.memory_ns);
	double sum = 0;
	bool held;

	for (size_t i = 0; i < shift_cells(shift); i++)
		sum += bytes[i];
	if (shift_is_idle(shift, sum, seconds, fade))
		return TO_SHIFT_IDLE_INTERVAL;

	shift->now_ns += elapsed_ns;
	held = shift->now_ns < shift->held_until_ns;
	shift_fade_envelope(shift, fade);
	shift_add_mean(shift, bytes, seconds, fade);
	shift->novelty = shift_novelty(shift, bytes, sum);
	if (shift->novelty > threshold && !held) {
		shift_add_fresh(shift, bytes, sum, seconds);
		if (shift->n_fresh < shift->config.confirm)
			return TO_SHIFT_NONE;
		shift_begin_again(shift);
		return TO_SHIFT_STEP;
	}
	shift_end_fresh(shift);
	shift_learn(shift->envelope, bytes, sum, shift_cells(shift));
	if (held)
		return TO_SHIFT_HELD;
	if (shift->distance > threshold && shift->now_ns >= shift->drift_until_ns &&
	    shift->span >= shift->config.memory_ns * 1e-9 / TO_SHIFT_ITERATIONS)
		return TO_SHIFT_DRIFT;
	return TO_SHIFT_NONE;
}

void to_shift_mean(const struct to_shift *shift, double *rate)
{
	for (size_t i = 0; i < shift_cells(shift); i++)
		rate[i] = shift->span > 0 ? shift->mean[i] / shift->span : 0;
}

static uint64_t shift_twice(uint64_t time, uint64_t once)
{
	return 2 * time < TO_SHIFT_HOLD_MAX * once ? 2 * time : TO_SHIFT_HOLD_MAX * once;
}

void to_shift_decided(struct to_shift *shift, bool changed)
{
	const uint64_t hold = shift->config.hold_ns;

	if (!changed) {
		shift->drift_until_ns = shift->now_ns + shift->drift_wait_ns;
		shift->drift_wait_ns = shift_twice(shift->drift_wait_ns, hold);
		return;
	}
	if (shift->changed_ns &&
	    shift->now_ns - shift->changed_ns < TO_SHIFT_CALM * shift->hold_ns)
		shift->hold_ns = shift_twice(shift->hold_ns, hold);
	else
		shift->hold_ns = hold;
	shift->changed_ns = shift->now_ns;
	shift->held_until_ns = shift->now_ns + shift->hold_ns;
	shift->drift_wait_ns = hold;
	shift->drift_until_ns = 0;
	shift_normalise(shift->reference, shift->mean, shift_cells(shift));
}
