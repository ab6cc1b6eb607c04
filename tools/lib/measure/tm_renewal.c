// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/tm_renewal.h"

#include <math.h>
#include <string.h>

#define RENEWAL_EVEN 0.05	/* levels of traffic that differ by less are the same */
#define RENEWAL_APART 2		/* columns by which two counts of what passed are the same */

unsigned int to_tm_renewal_gap(const struct to_tm_nic *nic)
{
	const unsigned int n = nic->n_gaps < TO_TM_GAPS ? nic->n_gaps : TO_TM_GAPS;
	unsigned int below;

	/* the median: counters also stand still where nothing passes */
	for (unsigned int i = 0; i < n; i++) {
		below = 0;
		for (unsigned int k = 0; k < n; k++)
			below += nic->gaps[k] < nic->gaps[i] ||
				 (k < i && nic->gaps[k] == nic->gaps[i]);
		if (below == (n - 1) / 2)
			return nic->gaps[i];
	}
	return 0;
}

void to_tm_renewal_note(struct to_tm_nic *nic, int64_t columns)
{
	nic->gaps[nic->n_gaps % TO_TM_GAPS] = columns < UINT16_MAX ? columns : UINT16_MAX;
	nic->n_gaps++;
	if (nic->n_gaps == 2 * TO_TM_GAPS)
		nic->n_gaps = TO_TM_GAPS;
}

void to_tm_renewal_find(struct to_tm_account *a, struct to_tm_cell *cells,
			struct to_tm_rows *rows)
{
	const int64_t gap = a->gap, late = gap + gap / 4 + 1;
	int64_t last = a->renewed == TO_TM_NEVER ? -1 - (int64_t)a->age : a->renewed;
	bool *saw = rows->saw;
	bool seen = a->saw;

	memset(saw, 0, rows->n * sizeof(*saw));
	for (uint32_t i = 0; i < a->n_sightings; i++)
		saw[a->sightings[i].column] = true;
	for (int64_t k = 0, next = last + 2; k < rows->n; k++) {
		cells[k].renewed = cells[k].counted[TO_TM_SENT].bytes;
		if (cells[k].renewed) {
			last = k;
			next = k + 2;	/* the other end may see it a column later */
			seen = false;
			continue;
		}
		if (!gap || k - last < late)
			continue;
		for (; next <= last + gap; next++)
			seen |= next >= 0 && saw[next];
		if (seen)
			continue;
		last += gap;
		next = last + 2;
		if (last >= 0)
			cells[last].renewed = true;
	}
}

unsigned int to_tm_renewal_known(const struct to_tm_cell *cells, unsigned int n)
{
	unsigned int last = n;

	while (last && !cells[last - 1].renewed)
		last--;
	if (!last || !cells[last - 1].counted[TO_TM_SENT].bytes)
		return last;
	for (last--; last && !cells[last - 1].renewed; last--)
		;
	return last;
}

/**
 * struct window - columns from one renewal to the next
 * @sum: what passed unseen
 * @middle: column in which the receiving NIC renewed its statistics, negative: none
 * @received: bytes of @sum that had passed then, but for a constant
 */
struct window {
	int64_t first, last;
	struct to_tm_amount sum;
	int64_t middle, received;
};

/**
 * struct windows - one after the other
 * @open: the last one, which waits for what comes after it; none while @first is negative
 * @level: bytes a column before it
 * @guess: it is not known how much of what was counted for it passed in these columns
 */
struct windows {
	struct to_tm_account *account;
	struct to_tm_rows *rows;
	struct window open;
	double level;
	bool guess;
};

static double window_level(const struct window *w)
{
	return w->sum.bytes > 0 ? (double)w->sum.bytes / (w->last - w->first + 1) : 0;
}

static struct to_tm_amount window_part(const struct to_tm_amount *sum, double share)
{
	return (struct to_tm_amount){ sum->packets * share, sum->bytes * share };
}

/*
 * The share of @w that had passed after @columns of it: as much as @before until it became
 * @after, if that can be, or evenly.
 */
static double window_passed(const struct window *w, double before, double after, double columns)
{
	const double level = window_level(w), n = w->last - w->first + 1;
	double step;

	if (!(level > 0) || before == after || (before < level) != (level < after))
		return columns / n;
	step = n * (after - level) / (after - before);
	return (before * fmin(columns, step) + after * fmax(columns - step, 0)) / (level * n);
}

static void window_spread(const struct window *w, double before, double after,
			  struct to_tm_rows *rows)
{
	struct to_tm_amount done = { 0 };

	for (int64_t k = w->first; k <= w->last; k++) {
		const double share = window_passed(w, before, after, k - w->first + 1);
		const struct to_tm_amount to = k < w->last ? window_part(&w->sum, share) : w->sum;

		rows->rest[0][k] = to.packets - done.packets;
		rows->rest[1][k] = to.bytes - done.bytes;
		rows->lead[k] = before;
		done = to;
	}
}

/*
 * Whether by the receiving NIC, whose renewals are at other times, much more or less of @w had
 * passed in the middle than one would think; @share: by it. As neither NIC counts from
 * zero, they are off by a constant, which shows where traffic is even.
 */
static bool window_differs(struct to_tm_account *a, const struct window *w, double before,
			   double after, double *share)
{
	const double level = window_level(w), sum = level * (w->last - w->first + 1);
	const double columns = w->middle - w->first + 1;
	const double even = level * columns - w->received;

	if (fabs(before - level) <= RENEWAL_EVEN * level &&
	    fabs(after - level) <= RENEWAL_EVEN * level) {
		a->ahead = a->knows_ahead ? a->ahead + (even - a->ahead) / 4 : even;
		a->knows_ahead = true;
	}
	if (!a->knows_ahead || sum <= 0)
		return false;
	*share = fmin(fmax((w->received + a->ahead) / sum, 0), 1);
	return fabs(*share - window_passed(w, before, after, columns)) * sum >
	       RENEWAL_APART * fmax(level, fmax(before, after));
}

static void windows_close(struct windows *windows, double after)
{
	struct window *w = &windows->open, rest;
	double share;

	if (w->first < 0)
		return;
	/* rather before all columns than more than afterwards */
	if (windows->guess && after < window_level(w))
		w->sum = window_part(&w->sum, after / window_level(w));
	if (windows->guess)
		windows->level = window_level(w);
	windows->guess = false;
	rest = *w;
	if (w->middle >= w->first &&
	    window_differs(windows->account, w, windows->level, after, &share)) {
		w->last = w->middle;
		w->sum = window_part(&w->sum, share);
		rest.first = w->middle + 1;
		rest.sum.packets -= w->sum.packets;
		rest.sum.bytes -= w->sum.bytes;
		window_spread(w, windows->level, window_level(&rest), windows->rows);
		windows->level = window_level(w);
	}
	window_spread(&rest, windows->level, after, windows->rows);
	windows->level = window_level(&rest);
	w->first = -1;
}

static void windows_add(struct windows *windows, const struct window *w)
{
	windows_close(windows, window_level(w));
	windows->open = *w;
}

/* The window that ends at @k; @renewed: before it; @pending: seen and credited in it. */
static struct window window_make(const struct to_tm_account *a, const struct to_tm_cell *cells,
				 int64_t renewed, int64_t k, const struct to_tm_amount *pending)
{
	struct window w = { .first = renewed < 0 ? 0 : renewed + 1, .last = k,
			    .sum = cells[k].counted[TO_TM_SENT], .middle = -1 };

	if (renewed == TO_TM_NEVER && a->age + k + 1 < a->gap)
		w.sum = window_part(&w.sum, (double)(a->age + k + 1) / a->gap);
	w.sum.packets -= pending->packets;
	w.sum.bytes -= pending->bytes;
	if (renewed == TO_TM_NEVER && (w.sum.bytes < 0 || !a->gap))
		w.sum = (struct to_tm_amount){ 0 };
	return w;
}

/* The first columns settle. */
static void renewal_settle(struct to_tm_account *a, struct to_tm_cell *cells,
			   const struct to_tm_rows *rows)
{
	for (int64_t k = 0; k < rows->settled; k++) {
		const int64_t packets = rows->seen[0][k] + rows->rest[0][k];
		const int64_t bytes = rows->seen[1][k] + rows->rest[1][k];

		cells[k].row.carried = cells[k].counted[TO_TM_SENT].bytes;
		cells[k].row.seen = rows->seen[1][k];
		cells[k].row.lost = 0;
		a->pending.packets += packets;
		a->pending.bytes += bytes;
		a->received += cells[k].counted[TO_TM_RECEIVED].bytes - bytes;
		a->saw |= rows->seen[1][k] && k > a->renewed + 1;
		a->partial |= !cells[k].both;
		if (!cells[k].renewed)
			continue;
		a->pending = (struct to_tm_amount){ rows->seen[0][k] / 2, rows->seen[1][k] / 2 };
		a->saw = a->partial = false;
		a->renewed = k;
	}
	if (rows->settled)
		a->level = rows->lead[rows->settled];
}

void to_tm_renewal_count(struct to_tm_account *a, struct to_tm_cell *cells,
			 struct to_tm_rows *rows)
{
	struct windows windows = { .account = a, .rows = rows, .open.first = -1, .level = a->level,
				   .guess = a->renewed == TO_TM_NEVER };
	struct to_tm_amount pending = a->pending;
	int64_t renewed = a->renewed, received = a->received, passed = 0;
	int64_t middle = -1, bytes = 0;
	bool partial = a->partial;

	for (int64_t k = 0; k < rows->n; k++) {
		partial |= !cells[k].both;
		pending.packets += rows->seen[0][k];
		pending.bytes += rows->seen[1][k];
		received += cells[k].counted[TO_TM_RECEIVED].bytes - rows->seen[1][k];
		if (cells[k].counted[TO_TM_RECEIVED].bytes && renewed != TO_TM_NEVER &&
		    k - renewed >= a->gap / 4) {
			middle = k;
			bytes = received - passed;
		}
		if (cells[k].renewed) {
			/* a NIC does so in the middle of a column, for all one knows */
			const struct to_tm_amount after = { rows->seen[0][k] / 2, rows->seen[1][k] / 2 };
			struct window w;

			pending.packets -= after.packets;
			pending.bytes -= after.bytes;
			w = window_make(a, cells, renewed, k, &pending);
			if (partial)
				w.sum = (struct to_tm_amount){ 0 };
			passed += w.sum.bytes;
			if (k - middle >= a->gap / 4) {
				w.middle = middle;
				w.received = bytes;
			}
			windows_add(&windows, &w);
			pending = after;
			partial = false;
			renewed = k;
			middle = -1;
		}
		if (rows->oldest[k] > renewed)
			rows->oldest[k] = renewed;
	}
	windows_close(&windows, windows.open.first < 0 ? 0 : window_level(&windows.open));
	/* and then it goes on as before, until it is known */
	for (int64_t k = renewed < 0 ? 0 : renewed + 1; k <= rows->n; k++) {
		rows->rest[0][k] = 0;
		rows->rest[1][k] = windows.level;
		rows->lead[k] = windows.level;
	}
	renewal_settle(a, cells, rows);
}
