// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/link_loss.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

const char *const to_link_verdict_names[] = {
	[TO_LINK_UNPROVEN] = "unproven", [TO_LINK_CLEAN] = "clean", [TO_LINK_LOSSY] = "lossy",
};

#define FILTERED_PER_S 1.0	/* frames that NICs keep to themselves */
#define CLEAN_AGAIN 0.5		/* share of a threshold that is clean again */

struct to_link_point to_link_point(const struct to_link_end *from, const struct to_link_end *to,
				   uint64_t checks, uint64_t checks_lost, uint64_t time_ns,
				   uint64_t span_ns)
{
	const bool phy = from->has_phy && to->has_phy;

	return (struct to_link_point){
		.time_ns = time_ns, .span_ns = span_ns, .phy = phy,
		.sent = phy ? from->phy.tx : from->device.tx,
		.received = phy ? to->phy.rx : to->device.rx,
		.missed = phy ? 0 : to->missed,
		.errors = to->errors,
		.carrier_changes = from->carrier_changes + to->carrier_changes,
		.checks = checks, .checks_lost = checks_lost,
	};
}

void to_link_loss_reset(struct to_link_loss *loss)
{
	*loss = (struct to_link_loss){};
}

/* Tell whether counters go on from @a to @b. */
static bool loss_goes_on(const struct to_link_point *a, const struct to_link_point *b)
{
	return b->time_ns > a->time_ns && b->phy == a->phy && b->sent >= a->sent &&
	       b->received >= a->received && b->missed >= a->missed &&
	       b->errors >= a->errors && b->carrier_changes >= a->carrier_changes &&
	       b->checks >= a->checks && b->checks_lost >= a->checks_lost;
}

/* Keep a point. Those that are too near, and every second of the older half, make room. */
static void loss_keep(struct to_link_loss *l, const struct to_link_point *point)
{
	struct to_link_point *p = l->points;

	if (l->n > 1 && p[l->n - 1].time_ns - p[l->n - 2].time_ns < TO_LINK_LOSS_STEP_NS)
		l->n--;
	if (l->n == TO_LINK_LOSS_POINTS) {
		const unsigned int half = TO_LINK_LOSS_POINTS / 2;

		for (unsigned int i = 0; i < half / 2; i++)
			p[i] = p[2 * i];
		memmove(p + half / 2, p + half, half * sizeof(*p));
		l->n -= half / 2;
	}
	while (l->n && point->time_ns - p[0].time_ns > TO_LINK_LOSS_WINDOW_NS)
		memmove(p, p + 1, --l->n * sizeof(*p));
	p[l->n++] = *point;
}

/* Return the packets that may pass while points @i and the last are read: as in the busiest step. */
static double loss_under_way(const struct to_link_loss *l, unsigned int i)
{
	const double span = l->points[i].span_ns + (double)l->points[l->n - 1].span_ns;
	double busiest = 0;

	for (unsigned int k = i ? i : 1; k < l->n; k++) {
		const struct to_link_point *a = &l->points[k - 1], *b = &l->points[k];

		busiest = fmax(busiest, (double)(b->sent - a->sent) / (b->time_ns - a->time_ns));
	}
	return busiest * span;
}

/* Fill in the window from point @i to the last. Return what it lost; negative: more came. */
static double loss_window(const struct to_link_loss *l, unsigned int i, struct to_link_figures *f)
{
	const struct to_link_point *a = &l->points[i], *b = &l->points[l->n - 1];
	const uint64_t missed = b->missed - a->missed;
	const double sent = b->sent - a->sent;
	const double lost = sent - (double)(b->received - a->received) - missed;
	const double seconds = (b->time_ns - a->time_ns) / (double)TO_NS_PER_S;
	const double error = loss_under_way(l, i) + FILTERED_PER_S * seconds;

	*f = (struct to_link_figures){
		.seconds = seconds, .sent = sent, .lost = lost > 0 ? lost : 0,
		.error = ceil(error), .missed = missed, .errors = b->errors - a->errors,
		.carrier_changes = b->carrier_changes - a->carrier_changes,
		.checks = b->checks - a->checks + b->checks_lost - a->checks_lost,
		.checks_lost = b->checks_lost - a->checks_lost,
		.comparable = lost >= -error,
	};
	return lost;
}

void to_link_loss_longest(const struct to_link_loss *l, struct to_link_figures *figures)
{
	*figures = (struct to_link_figures){};
	if (l->n > 1)
		loss_window(l, 0, figures);
}

/*
 * Judge by packets. Much loss is proven however large the error is. A window whose error is
 * small beside the threshold is clean if it lost little. A cut loses packets, too: windows
 * over a change of carrier prove nothing. Return: whether a window proves something.
 */
static bool loss_by_packets(struct to_link_loss *l, const struct to_link_loss_config *config)
{
	for (unsigned int i = l->n - 1; i-- > 0;) {
		struct to_link_figures f;
		const double lost = loss_window(l, i, &f), allowed = config->rate * f.sent;

		if (f.carrier_changes)
			break;
		if (f.sent < config->packets || !f.comparable)
			continue;
		l->figures = f;
		if (lost - f.error > allowed) {
			l->by_packets = true;
			return true;
		}
		if (f.error > CLEAN_AGAIN * allowed + FILTERED_PER_S * f.seconds)
			continue;
		if (lost - FILTERED_PER_S * f.seconds <= CLEAN_AGAIN * allowed)
			l->by_packets = false;
		return true;
	}
	return false;
}

/* Judge by checks. Return: whether a window proves something. */
static bool loss_by_checks(struct to_link_loss *l, const struct to_link_loss_config *config)
{
	for (unsigned int i = l->n - 1; i-- > 0;) {
		struct to_link_figures f;
		double allowed;

		loss_window(l, i, &f);
		if (f.carrier_changes)
			break;
		if (f.checks < config->checks)
			continue;
		allowed = (double)config->missed / config->checks * f.checks;
		if (f.checks_lost >= allowed) {
			l->by_checks = true;
			l->figures = f;
			l->figures.by_checks = true;
		} else if (f.checks_lost < CLEAN_AGAIN * allowed) {
			l->by_checks = false;
		}
		return true;
	}
	return false;
}

void to_link_loss_add(struct to_link_loss *l, const struct to_link_loss_config *config,
		      const struct to_link_point *point)
{
	bool packets, checks;
	struct to_link_figures longest;

	if (l->n && !loss_goes_on(&l->points[l->n - 1], point))
		l->n = 0;
	loss_keep(l, point);
	to_link_loss_longest(l, &longest);
	l->figures = longest;
	l->proven = false;
	if (l->n < 2)
		return;
	packets = loss_by_packets(l, config);
	checks = loss_by_checks(l, config);
	/* a verdict that nothing supports any more ends with the window */
	if (!packets && longest.seconds * TO_NS_PER_S > TO_LINK_LOSS_WINDOW_NS / 2.0)
		l->by_packets = false;
	l->proven = packets || checks;
}

enum to_link_verdict to_link_loss_verdict(const struct to_link_loss *l)
{
	if (l->by_packets || l->by_checks)
		return TO_LINK_LOSSY;
	return l->proven ? TO_LINK_CLEAN : TO_LINK_UNPROVEN;
}

bool to_link_damages(const struct to_link_figures *f)
{
	return f->errors >= TO_LINK_DAMAGED && f->errors >= TO_LINK_DAMAGED_SHARE * f->sent;
}

bool to_link_flaps(const struct to_link_figures *f)
{
	return f->carrier_changes >= TO_LINK_FLAPS;
}

const char *to_link_figures_text(const struct to_link_figures *f, char text[TO_LINK_LOSS_TEXT])
{
	if (f->by_checks || !f->sent)
		snprintf(text, TO_LINK_LOSS_TEXT, "loses %" PRIu64 " of %" PRIu64 " checks",
			 f->checks_lost, f->checks);
	else
		snprintf(text, TO_LINK_LOSS_TEXT,
			 "loses %.3g %% of %" PRIu64 " packets (off by %.2g %%)",
			 100.0 * f->lost / f->sent, f->sent, 100.0 * f->error / f->sent);
	return text;
}
