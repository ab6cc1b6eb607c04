// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/tm_renewal.h"

#include <math.h>
#include <string.h>

#include "base/limits.h"

#define RENEWAL_EVEN 0.05	/* levels of traffic that differ by less are the same */
#define RENEWAL_APART 2		/* columns by which two counts of what passed are the same */
#define RENEWAL_FAR 8		/* gaps without a move, after which renewals are counted anew */
#define RENEWAL_FEW 4		/* renewals that a line does not tell more of than each itself */
#define RENEWAL_STEPS 24	/* of the search for a period: to 10^-4 of a column */
#define RENEWAL_SLACK 0.99	/* columns that a line may be shifted by when it tells nothing */
#define RENEWAL_LEAST (1.0 / 32)	/* columns between anything and a renewal */
#define RENEWAL_MOST TO_RECORD_SUM_MAX	/* bytes a column: more is said by who makes them up */

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

/* ---- when ---- */

/* The oldest one goes. */
static void renewals_drop(struct to_tm_renewals *r)
{
	r->n--;
	memmove(r->columns, r->columns + 1, r->n * sizeof(*r->columns));
	memmove(r->numbers, r->numbers + 1, r->n * sizeof(*r->numbers));
}

/* Counters moved in @column, if not in the renewal after the last one then in one that follows. */
static void renewals_add(struct to_tm_renewals *r, int64_t column, unsigned int gap)
{
	const int64_t passed = r->n ? column - r->columns[r->n - 1] : 0;
	const int64_t number = gap ? (2 * passed + gap) / (2 * gap) : 0;

	if (number < 1 || number > RENEWAL_FAR)
		r->n = 0;
	if (r->n == TO_TM_RENEWALS)
		renewals_drop(r);
	r->columns[r->n] = column;
	r->numbers[r->n] = r->n ? r->numbers[r->n - 1] + number : 0;
	r->n++;
}

/**
 * struct line - when renewals come
 * @first: one of them, in columns from the first that has not settled
 * @period: columns from each to the next, 0: not known
 */
struct line {
	double first, period;
};

/*
 * By how many columns renewals each @period can be shifted and all fall into the columns in
 * which counters moved; negative: there are none that do. @first: number 0 of those in between
 */
static double line_slack(const struct to_tm_renewals *r, double period, double *first)
{
	double least = INFINITY, most = -INFINITY;

	for (unsigned int i = 0; i < r->n; i++) {
		const double begin = r->columns[i] - r->numbers[i] * period;

		least = fmin(least, begin);
		most = fmax(most, begin);
	}
	*first = (least + most + 1) / 2;
	return least + 1 - most;
}

/*
 * The one with most room to either side, for as many of the last moves as there is any for.
 * Each move says only in which column a renewal was. Where the period is no multiple of a
 * column, many together say it to a fraction of that. Uses up @r.
 */
static struct line line_fit(struct to_tm_renewals *r, unsigned int gap)
{
	while (r->n >= RENEWAL_FEW) {
		double low = gap - 1.0, high = gap + 1.0, first, slack;

		for (unsigned int i = 0; i < RENEWAL_STEPS; i++) {
			const double a = low + (high - low) / 3, b = high - (high - low) / 3;

			if (line_slack(r, a, &first) < line_slack(r, b, &first))
				low = a;
			else
				high = b;
		}
		slack = line_slack(r, low, &first);
		if (slack > RENEWAL_SLACK)
			break;
		if (slack >= 0)
			return (struct line){ first, low };
		renewals_drop(r);
	}
	return (struct line){ 0 };
}

/* When in column @k there was one, but not at its end; in its middle, for all one knows. */
static double line_time(const struct line *line, int64_t k)
{
	const double middle = k + 0.5;

	if (line->period <= 0)
		return middle;
	return fmin(fmax(line->first + line->period *
			 round((middle - line->first) / line->period), k), k + 1 - RENEWAL_LEAST);
}

/* ---- what passed between two of them ---- */

/**
 * struct window - from one renewal to the next, in columns
 * @sum: what passed unseen
 * @middle: when the receiving NIC renewed its statistics, negative: it did not
 * @received: bytes of @sum that had passed then, but for a constant
 */
struct window {
	double begin, end;
	struct to_tm_amount sum;
	double middle;
	int64_t received;
};

/**
 * struct windows - one after the other
 * @open: the last one, which waits for what comes after it; none while @begin is negative
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
	return fmin(fmax(w->sum.bytes / (w->end - w->begin), 0), RENEWAL_MOST);
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
	const double level = window_level(w), n = w->end - w->begin;
	double step;

	if (!(level > 0) || before == after || (before < level) != (level < after))
		return columns / n;
	step = n * (after - level) / (after - before);
	return (before * fmin(columns, step) + after * fmax(columns - step, 0)) / (level * n);
}

static void window_spread(const struct window *w, double before, double after,
			  struct to_tm_rows *rows)
{
	const int64_t first = w->begin;
	struct to_tm_amount done = { 0 };

	for (int64_t k = first; k < w->end; k++) {
		const double share = window_passed(w, before, after, k + 1 - w->begin);
		const struct to_tm_amount to = k + 1 < w->end ? window_part(&w->sum, share) : w->sum;

		rows->rest[0][k] += to.packets - done.packets;
		rows->rest[1][k] += to.bytes - done.bytes;
		rows->lead[k] = before;
		if (k == first)
			rows->after[k] = to;
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
	const double level = window_level(w), sum = level * (w->end - w->begin);
	const double columns = w->middle - w->begin;
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

	if (w->begin < 0)
		return;
	/* rather before all columns than more than afterwards */
	if (windows->guess && after < window_level(w))
		w->sum = window_part(&w->sum, after / window_level(w));
	if (windows->guess)
		windows->level = window_level(w);
	windows->guess = false;
	rest = *w;
	if (w->middle > w->begin &&
	    window_differs(windows->account, w, windows->level, after, &share)) {
		w->end = w->middle;
		w->sum = window_part(&w->sum, share);
		rest.begin = w->middle;
		rest.sum.packets -= w->sum.packets;
		rest.sum.bytes -= w->sum.bytes;
		window_spread(w, windows->level, window_level(&rest), windows->rows);
		windows->level = window_level(w);
	}
	window_spread(&rest, windows->level, after, windows->rows);
	windows->level = window_level(&rest);
	w->begin = -1;
}

static void windows_add(struct windows *windows, const struct window *w)
{
	windows_close(windows, window_level(w));
	windows->open = *w;
}

/* The window that ends at @k; @pending: seen and credited in it. */
static struct window window_make(const struct to_tm_account *a, const struct to_tm_cell *cells,
				 int64_t renewed, int64_t k, const struct line *line,
				 const struct to_tm_amount *pending)
{
	struct window w = { .begin = renewed < 0 ? 0 : line_time(line, renewed),
			    .sum = cells[k].counted[TO_TM_SENT], .middle = -1 };

	/* what is before it may have settled */
	w.end = fmax(line_time(line, k), w.begin + RENEWAL_LEAST);
	if (renewed == TO_TM_NEVER && a->age + w.end < a->gap)
		w.sum = window_part(&w.sum, (a->age + w.end) / a->gap);
	w.sum.packets -= pending->packets;
	w.sum.bytes -= pending->bytes;
	if (renewed == TO_TM_NEVER && (w.sum.bytes < 0 || !a->gap))
		w.sum = (struct to_tm_amount){ 0 };
	return w;
}

/* Of what was seen in column @k, that after the renewal. */
static struct to_tm_amount renewal_seen_after(const struct to_tm_rows *rows,
					      const struct line *line, int64_t k)
{
	const struct to_tm_amount seen = { rows->seen[0][k], rows->seen[1][k] };

	return window_part(&seen, k + 1 - line_time(line, k));
}

/* The first columns settle. */
static void renewal_settle(struct to_tm_account *a, struct to_tm_cell *cells,
			   const struct line *line, const struct to_tm_rows *rows)
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
		if (cells[k].counted[TO_TM_SENT].bytes)
			renewals_add(&a->renewals, k, a->gap);
		if (!cells[k].renewed)
			continue;
		a->pending = renewal_seen_after(rows, line, k);
		a->pending.packets += rows->after[k].packets;
		a->pending.bytes += rows->after[k].bytes;
		a->saw = a->partial = false;
		a->renewed = k;
	}
	if (rows->settled)
		a->level = rows->lead[rows->settled];
}

/* By all moves that are known, those in columns that have not settled, too. */
static struct line renewal_line(const struct to_tm_account *a, const struct to_tm_cell *cells,
				unsigned int n)
{
	struct to_tm_renewals renewals = a->renewals;

	for (unsigned int k = 0; k < n; k++)
		if (cells[k].counted[TO_TM_SENT].bytes)
			renewals_add(&renewals, k, a->gap);
	return line_fit(&renewals, a->gap);
}

void to_tm_renewal_count(struct to_tm_account *a, struct to_tm_cell *cells,
			 struct to_tm_rows *rows)
{
	struct windows windows = { .account = a, .rows = rows, .open.begin = -1, .level = a->level,
				   .guess = a->renewed == TO_TM_NEVER };
	const struct line line = renewal_line(a, cells, rows->n);
	struct to_tm_amount pending = a->pending;
	int64_t renewed = a->renewed, received = a->received, passed = 0;
	int64_t middle = -1, bytes = 0;
	bool partial = a->partial;
	double from;

	for (unsigned int i = 0; i < 2; i++)
		memset(rows->rest[i], 0, (rows->n + 1) * sizeof(int64_t));
	for (int64_t k = 0; k < rows->n; k++) {
		partial |= !cells[k].both;
		pending.packets += rows->seen[0][k];
		pending.bytes += rows->seen[1][k];
		received += cells[k].counted[TO_TM_RECEIVED].bytes - rows->seen[1][k];
		if (cells[k].counted[TO_TM_RECEIVED].bytes && renewed != TO_TM_NEVER &&
		    k - renewed >= a->gap / 4) {
			middle = k;
			bytes = received + rows->seen[1][k] / 2 - passed;
		}
		if (cells[k].renewed) {
			const struct to_tm_amount after = renewal_seen_after(rows, &line, k);
			struct window w;

			pending.packets -= after.packets;
			pending.bytes -= after.bytes;
			w = window_make(a, cells, renewed, k, &line, &pending);
			if (partial)
				w.sum = (struct to_tm_amount){ 0 };
			passed += w.sum.bytes;
			if (middle >= 0 && k - middle >= a->gap / 4) {
				w.middle = middle + 0.5;
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
	windows_close(&windows, windows.open.begin < 0 ? 0 : window_level(&windows.open));
	/* and then it goes on as before, until it is known */
	from = renewed < 0 ? 0 : line_time(&line, renewed);
	for (int64_t k = from; k <= rows->n; k++) {
		rows->after[k] = (struct to_tm_amount){
			.bytes = windows.level * fmin(k + 1 - from, 1),
		};
		rows->rest[1][k] += rows->after[k].bytes;
		rows->lead[k] = windows.level;
	}
	renewal_settle(a, cells, &line, rows);
}
