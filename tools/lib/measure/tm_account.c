// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/tm_account.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "measure/tm_renewal.h"

#define ACCOUNT_MAX ((int64_t)1 << 60)	/* nothing is owed beyond this: no sum overflows */

/* So often, and in half of the last columns with traffic, a NIC that is stale stands still. */
#define ACCOUNT_STANDS 3
#define ACCOUNT_COLUMNS 64

/**
 * struct account_past - of one pair and class, what columns that settled leave
 * @side: by whose sightings it counts
 * @relayed: its source relayed some of it
 * @idle: columns without a sighting
 * @owed: by what the ends saw, each beyond what the pair got
 */
struct account_past {
	uint32_t src, dst;
	uint8_t class, side;
	bool relayed;
	uint16_t idle;
	struct to_tm_amount owed[TO_TM_SIDES];
};

int to_tm_portions_add(struct to_tm_portions *p, const struct to_tm_portion *portion)
{
	if (!portion->amount.packets && !portion->amount.bytes)
		return 0;
	if (p->n == p->room) {
		size_t room = p->room ? 2 * p->room : 1024;
		struct to_tm_portion *list = reallocarray(p->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		p->list = list;
		p->room = room;
	}
	p->list[p->n++] = *portion;
	return 0;
}

void to_tm_account_init(struct to_tm_account *a)
{
	*a = (struct to_tm_account){ .before = -1, .renewed = TO_TM_NEVER, .moved = TO_TM_NEVER };
}

void to_tm_account_free(struct to_tm_account *a)
{
	free(a->sightings);
	free(a->past);
}

int to_tm_account_see(struct to_tm_account *a, const struct to_tm_sighting *sighting)
{
	if (a->n_sightings == a->room_sightings) {
		uint32_t room = a->room_sightings ? 2 * a->room_sightings : 16;
		struct to_tm_sighting *s = reallocarray(a->sightings, room, sizeof(*s));

		if (!s)
			return -ENOMEM;
		a->sightings = s;
		a->room_sightings = room;
	}
	a->sightings[a->n_sightings++] = *sighting;
	return 0;
}

int to_tm_rows_init(struct to_tm_rows *rows, unsigned int n)
{
	bool failed = false;

	*rows = (struct to_tm_rows){ .n = n };
	for (unsigned int i = 0; i < 2; i++) {
		rows->seen[i] = calloc(n + 1, sizeof(int64_t));
		rows->direct[i] = calloc(n + 1, sizeof(int64_t));
		rows->rest[i] = calloc(n + 1, sizeof(int64_t));
		failed |= !rows->seen[i] || !rows->direct[i] || !rows->rest[i];
	}
	rows->lead = calloc(n + 1, sizeof(int64_t));
	rows->saw = calloc(n + 1, sizeof(bool));
	rows->after = calloc(n + 1, sizeof(*rows->after));
	return failed || !rows->lead || !rows->saw || !rows->after ? -ENOMEM : 0;
}

void to_tm_rows_free(struct to_tm_rows *rows)
{
	for (unsigned int i = 0; i < 2; i++) {
		free(rows->seen[i]);
		free(rows->direct[i]);
		free(rows->rest[i]);
	}
	free(rows->lead);
	free(rows->saw);
	free(rows->after);
	free(rows->past);
}

static int account_compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static uint64_t account_pair(uint32_t src, uint32_t dst)
{
	return (uint64_t)src << 32 | dst;
}

static int account_compare(const void *a, const void *b)
{
	const struct to_tm_sighting *x = a, *y = b;
	int order = account_compare_u64(account_pair(x->src, x->dst),
					account_pair(y->src, y->dst));

	order = order ? order : (int)x->class - y->class;
	order = order ? order : (int)x->side - y->side;
	return order ? order : account_compare_u64(x->column, y->column);
}

static int account_compare_past(const struct account_past *p, const struct to_tm_sighting *s)
{
	int order = account_compare_u64(account_pair(p->src, p->dst),
					account_pair(s->src, s->dst));

	return order ? order : (int)p->class - s->class;
}

static bool account_same_pair(const struct to_tm_sighting *a, const struct to_tm_sighting *b)
{
	return a->src == b->src && a->dst == b->dst && a->class == b->class;
}

static void account_add(struct to_tm_amount *to, const struct to_tm_amount *by, int sign)
{
	to->packets += sign * by->packets;
	to->bytes += sign * by->bytes;
}

/* What one agent makes up for a long time must not overflow what is owed. */
static int64_t account_bounded(int64_t value)
{
	return value > ACCOUNT_MAX ? ACCOUNT_MAX : value < -ACCOUNT_MAX ? -ACCOUNT_MAX : value;
}

static void account_bound(struct to_tm_amount *amount)
{
	amount->packets = account_bounded(amount->packets);
	amount->bytes = account_bounded(amount->bytes);
}

/*
 * @rest is how much more one place saw than another did, by column; @owed of it is from
 * columns before. Cumulated, up to column k, credit the least that this comes to at k or
 * later, so that no credit is ever too early to stand. @rest gets the credits of the
 * columns that settle, @owed what is left. Return: the sum of the credits.
 */
static int64_t account_credit(int64_t *rest, unsigned int n, unsigned int settled, int64_t *owed)
{
	int64_t before = 0, last;

	if (!settled)
		return 0;
	rest[0] += *owed;
	for (unsigned int k = 1; k < n; k++)
		rest[k] += rest[k - 1];
	last = rest[settled - 1];
	for (unsigned int k = n - 1; k-- > 0;)
		if (rest[k] > rest[k + 1])
			rest[k] = rest[k + 1];
	for (unsigned int k = 0; k < settled; k++) {
		const int64_t sum = rest[k] > before ? rest[k] : before;

		rest[k] = sum - before;
		before = sum;
	}
	*owed = last - before;
	return before;
}

/* ---- what both ends saw, by the end that saw more ---- */

/*
 * By which end a pair counts. Clocks of the ends differ by less than a column: the sender
 * saw what the receiver did no later than a column after it, if it saw it at all. Where no
 * column follows there is nothing to wait for.
 */
static enum to_tm_side account_choose(const struct to_tm_sighting *s,
				      const struct to_tm_sighting *next,
				      const struct account_past *past,
				      const struct to_tm_rows *rows)
{
	const struct to_tm_sighting *sent = s, *received = s;
	int64_t lead = past->owed[TO_TM_RECEIVED].bytes - past->owed[TO_TM_SENT].bytes;

	while (received < next && received->side == TO_TM_SENT)
		received++;
	if (rows->last) {
		for (; s < next; s++)
			lead += s->side == TO_TM_RECEIVED ? s->amount.bytes : -s->amount.bytes;
		return lead > 0 ? TO_TM_RECEIVED : TO_TM_SENT;
	}
	for (unsigned int k = 0; k + 1 < rows->n; k++) {
		for (; received < next && received->column <= k; received++)
			lead += received->amount.bytes;
		for (; sent < next && sent->side == TO_TM_SENT && sent->column <= k + 1; sent++)
			lead -= sent->amount.bytes;
		if (lead > 0)
			return TO_TM_RECEIVED;
	}
	return TO_TM_SENT;
}

/* +1: it counts for the pair, -1: its source relayed it, hardware had sent it before. */
static int account_sign(const struct to_tm_sighting *s, enum to_tm_side side)
{
	return (s->side == side) - s->relayed;
}

/* A pair from its source on. Return: 0 or -ENOMEM; @past gets what remains owed. */
static int account_emit(const struct to_tm_sighting *s, const struct to_tm_sighting *next,
			struct account_past *past, struct to_tm_rows *rows)
{
	struct to_tm_amount *owed = &past->owed[past->side];
	struct to_tm_portion portion = { .src = past->src, .dst = past->dst,
					 .class = past->class };
	struct to_tm_amount paid = { 0 };
	int ret = 0;

	if (!past->relayed && !owed->packets && !owed->bytes) {
		for (; !ret && s < next; s++) {
			if (s->side != past->side || s->column >= rows->settled)
				continue;
			portion.sample = s->column;
			portion.amount = s->amount;
			account_add(&paid, &s->amount, 1);
			ret = to_tm_portions_add(rows->portions, &portion);
		}
	} else {
		struct to_tm_amount left = *owed;

		memset(rows->rest[0], 0, rows->n * sizeof(int64_t));
		memset(rows->rest[1], 0, rows->n * sizeof(int64_t));
		for (; s < next; s++) {
			rows->rest[0][s->column] += account_sign(s, past->side) *
						    s->amount.packets;
			rows->rest[1][s->column] += account_sign(s, past->side) *
						    s->amount.bytes;
		}
		paid.packets = account_credit(rows->rest[0], rows->n, rows->settled,
					      &left.packets);
		paid.bytes = account_credit(rows->rest[1], rows->n, rows->settled,
					    &left.bytes);
		for (unsigned int k = 0; !ret && k < rows->settled; k++) {
			portion.sample = k;
			portion.amount = (struct to_tm_amount){ rows->rest[0][k],
								rows->rest[1][k] };
			ret = to_tm_portions_add(rows->portions, &portion);
		}
	}
	account_add(&past->owed[TO_TM_SENT], &paid, -1);
	account_add(&past->owed[TO_TM_RECEIVED], &paid, -1);
	return ret;
}

/* The columns that settle leave a balance. */
static void account_leave(const struct to_tm_sighting *s, const struct to_tm_sighting *next,
			  struct account_past *past, const struct to_tm_rows *rows)
{
	for (; s < next; s++) {
		if (s->column >= rows->settled)
			continue;
		account_add(&past->owed[s->side], &s->amount, 1);
		if (!s->relayed)
			continue;
		account_add(&past->owed[TO_TM_SENT], &s->amount, -1);
		account_add(&past->owed[TO_TM_RECEIVED], &s->amount, -1);
	}
}

/* One pair and class in one account; @past, all zero but for the pair where there is none. */
static int account_weigh(struct to_tm_account *a, const struct to_tm_link *link,
			 const struct to_tm_sighting *s, const struct to_tm_sighting *next,
			 struct account_past *past, struct to_tm_rows *rows)
{
	const bool sent = link->from.server == past->src;
	const bool direct = sent && link->to.server == past->dst && past->class == TO_TM_ROCE;
	const enum to_tm_side side = account_choose(s, next, past, rows);
	struct to_tm_amount turned;
	int ret = 0;

	if (side != past->side) {
		turned = past->owed[side];
		account_add(&turned, &past->owed[past->side], -1);
		account_add(&a->owed, &turned, -1);
		if (direct)
			account_add(&a->direct, &turned, 1);
		past->side = side;
	}
	for (const struct to_tm_sighting *i = s; i < next; i++) {
		past->relayed |= i->relayed;
		if (i->side == side) {
			rows->seen[0][i->column] += i->amount.packets;
			rows->seen[1][i->column] += i->amount.bytes;
		}
		if (direct) {
			rows->direct[0][i->column] += account_sign(i, side) *
						      i->amount.packets;
			rows->direct[1][i->column] += account_sign(i, side) *
						      i->amount.bytes;
		}
	}
	if (sent && !direct) {
		ret = account_emit(s, next, past, rows);
		account_leave(s, next, past, rows);
	} else {
		account_leave(s, next, past, rows);
		turned = past->owed[side];
		account_add(&past->owed[TO_TM_SENT], &turned, -1);
		account_add(&past->owed[TO_TM_RECEIVED], &turned, -1);
	}
	account_bound(&past->owed[TO_TM_SENT]);
	account_bound(&past->owed[TO_TM_RECEIVED]);
	return ret;
}

/* Whether @past will be needed: there is more to come, or something to remember. */
static bool account_keep(const struct to_tm_sighting *s, const struct to_tm_sighting *next,
			 struct account_past *past, const struct to_tm_rows *rows)
{
	const struct to_tm_amount *owed = &past->owed[past->side];

	for (const struct to_tm_sighting *i = s; i < next; i++)
		if (i->column >= rows->settled)
			return true;
	if (s < next)
		past->idle = 0;
	else
		past->idle += rows->settled;
	return past->idle < TO_LIVE_MEMORY &&
	       (past->side == TO_TM_RECEIVED || owed->packets || owed->bytes);
}

/* Every pair: of those seen before, and of those seen now, both sorted. */
static int account_weigh_all(struct to_tm_account *a, const struct to_tm_link *link,
			     struct to_tm_rows *rows)
{
	const struct to_tm_sighting *s = a->sightings, *end = s + a->n_sightings, *next;
	const struct account_past *old = a->past, *last = old + a->n_past;
	uint32_t n = 0;
	int ret = 0;

	if (rows->room_past < a->n_past + a->n_sightings) {
		rows->room_past = 2 * (a->n_past + a->n_sightings);
		free(rows->past);
		rows->past = malloc(rows->room_past * sizeof(*rows->past));
		if (!rows->past) {
			rows->room_past = 0;
			return -ENOMEM;
		}
	}
	while (!ret && (s < end || old < last)) {
		const int order = s == end ? -1 : old == last ? 1 : account_compare_past(old, s);
		struct account_past *past = &rows->past[n];

		next = s;
		if (order <= 0)
			*past = *old++;
		else
			*past = (struct account_past){ .src = s->src, .dst = s->dst,
						       .class = s->class };
		while (order >= 0 && next < end && account_same_pair(s, next))
			next++;
		ret = account_weigh(a, link, s, next, past, rows);
		n += !rows->last && account_keep(s, next, past, rows);
		s = next;
	}
	if (!ret && n > a->n_past) {
		struct account_past *room = reallocarray(a->past, n, sizeof(*room));

		if (!room)
			return -ENOMEM;
		a->past = room;
	}
	if (n)
		memcpy(a->past, rows->past, n * sizeof(*a->past));
	a->n_past = n;
	return ret;
}

/* ---- what NICs counted ---- */

/* All through, from before to after, kernels saw bytes pass; the counters did not move. */
static bool account_stands(const struct to_tm_account *a, const struct to_tm_cell *cells,
			   const int64_t *seen, enum to_tm_side side, unsigned int k)
{
	const int64_t after = seen[k + 1];
	const int64_t before = k ? seen[k - 1] : a->before < 0 ? after : a->before;

	if (cells[k].counted[side].bytes || !before || !after)
		return false;
	return 2 * seen[k] > (before < after ? before : after);
}

/* A NIC that stands still again and again renews its statistics less often than it is read. */
static void account_look(struct to_tm_account *a, const struct to_tm_cell *cells,
			 const int64_t *seen, enum to_tm_side side, unsigned int k)
{
	struct to_tm_nic *nic = &a->nics[side];

	nic->standing += account_stands(a, cells, seen, side, k);
	nic->passing++;
	nic->stale |= nic->standing >= ACCOUNT_STANDS && 2 * nic->standing >= nic->passing;
	if (nic->passing == ACCOUNT_COLUMNS) {
		nic->standing /= 2;
		nic->passing /= 2;
	}
}

void to_tm_account_look(struct to_tm_account *a, const struct to_tm_cell *cells,
			struct to_tm_rows *rows)
{
	int64_t **seen = rows->direct;

	memset(seen[0], 0, rows->n * sizeof(int64_t));
	memset(seen[1], 0, rows->n * sizeof(int64_t));
	for (uint32_t i = 0; i < a->n_sightings; i++)
		seen[a->sightings[i].side][a->sightings[i].column] += a->sightings[i].amount.bytes;
	for (unsigned int k = 0; k < rows->n; k++)
		if (seen[0][k] < seen[1][k])
			seen[0][k] = seen[1][k];
	/* the last column waits for what comes after it */
	for (; a->looked + 1 < rows->n; a->looked++) {
		const unsigned int k = a->looked;

		if (cells[k].counted[TO_TM_SENT].bytes) {
			if (a->moved != TO_TM_NEVER)
				to_tm_renewal_note(&a->nics[TO_TM_SENT], k - a->moved);
			a->moved = k;
		}
		if (!cells[k].both || !seen[0][k])
			continue;
		account_look(a, cells, seen[0], TO_TM_SENT, k);
		account_look(a, cells, seen[0], TO_TM_RECEIVED, k);
	}
}

/*
 * How far the receiving NIC's count is ahead of the sending one's: by column the least
 * from there on.
 */
static void account_lead(const struct to_tm_account *a, const struct to_tm_cell *cells,
			 const struct to_tm_rows *rows)
{
	int64_t lead = a->lead;

	for (unsigned int k = 0; k < rows->n; k++) {
		if (cells[k].both)
			lead += cells[k].counted[TO_TM_RECEIVED].bytes -
				cells[k].counted[TO_TM_SENT].bytes;
		rows->lead[k] = lead;
	}
	for (unsigned int k = rows->n - 1; k-- > 0;)
		if (rows->lead[k] > rows->lead[k + 1])
			rows->lead[k] = rows->lead[k + 1];
}

/*
 * Whether the sending NIC was reset in column @k: it, which had counted, counted nothing,
 * what the other one counted then it never made up for.
 */
static bool account_was_reset(const struct to_tm_account *a, const struct to_tm_cell *cells,
			      const struct to_tm_rows *rows, unsigned int k, int64_t filled)
{
	const struct to_tm_amount *before = k ? cells[k - 1].counted : a->counted;
	const int64_t received = cells[k].counted[TO_TM_RECEIVED].bytes;

	return !cells[k].counted[TO_TM_SENT].bytes && received && before[TO_TM_SENT].bytes &&
	       2 * received >= before[TO_TM_RECEIVED].bytes &&
	       2 * (rows->lead[k] - filled - a->lead_most) >= received;
}

/* One column settles: how far the receiving NIC leads; the most that it lately did. */
static void account_settle_lead(struct to_tm_account *a, const struct to_tm_cell *cell,
				int64_t sent)
{
	if (cell->both)
		a->lead = account_bounded(a->lead + cell->counted[TO_TM_RECEIVED].bytes - sent);
	if (a->lead > a->lead_most)
		a->lead_most = a->lead;
	else
		a->lead_most -= (a->lead_most - a->lead) / ACCOUNT_COLUMNS;
	memcpy(a->counted, cell->counted, sizeof(a->counted));
}

/*
 * What NICs counted and no kernel saw, by column, into the rest; in the columns that
 * both ends recorded. Where the sending NIC is stale or was reset, the other one's
 * count is taken.
 */
static void account_count(struct to_tm_account *a, struct to_tm_cell *cells,
			  struct to_tm_rows *rows)
{
	const bool stale = a->stale[TO_TM_SENT];
	const enum to_tm_side side = stale ? TO_TM_RECEIVED : TO_TM_SENT;
	int64_t filled = 0;

	account_lead(a, cells, rows);
	for (int64_t k = 0; k < rows->n; k++) {
		struct to_tm_amount counted = cells[k].counted[side];

		if (cells[k].both && !stale && account_was_reset(a, cells, rows, k, filled)) {
			counted = cells[k].counted[TO_TM_RECEIVED];
			filled += counted.bytes;
		}
		rows->rest[0][k] = cells[k].both ? counted.packets - rows->seen[0][k] : 0;
		rows->rest[1][k] = cells[k].both ? counted.bytes - rows->seen[1][k] : 0;
		if (rows->oldest[k] > k)
			rows->oldest[k] = k;
		if (k >= rows->settled)
			continue;
		cells[k].row.carried = counted.bytes;
		cells[k].row.seen = rows->seen[1][k];
		cells[k].row.lost = cells[k].both && !stale && !filled ?
				    cells[k].counted[TO_TM_SENT].bytes -
				    cells[k].counted[TO_TM_RECEIVED].bytes : 0;
		if (cells[k].counted[TO_TM_SENT].bytes)
			a->renewed = k;
		account_settle_lead(a, &cells[k], stale ? cells[k].counted[TO_TM_SENT].bytes :
							  counted.bytes);
	}
}

/* What no kernel saw is RoCE of the two ends, beside what was seen of that. */
static int account_conserve(struct to_tm_account *a, const struct to_tm_link *link,
			    struct to_tm_cell *cells, struct to_tm_rows *rows)
{
	const unsigned int n = rows->n, settled = rows->settled;
	struct to_tm_portion portion = { .src = link->from.server, .dst = link->to.server,
					 .class = TO_TM_ROCE };
	struct to_tm_amount owed = a->owed;
	int ret = 0;

	account_credit(rows->rest[0], n, settled, &owed.packets);
	if (account_credit(rows->rest[1], n, settled, &owed.bytes)) {
		a->owed = owed;
	} else {	/* residual, not bypass */
		for (unsigned int k = 0; k < settled; k++) {
			owed.packets += rows->rest[0][k];
			rows->rest[0][k] = 0;
		}
		a->owed = owed;
	}
	for (unsigned int k = 0; k < settled; k++) {
		cells[k].row.bypass = rows->rest[1][k];
		rows->direct[0][k] += rows->rest[0][k];
		rows->direct[1][k] += rows->rest[1][k];
	}
	account_credit(rows->direct[0], n, settled, &a->direct.packets);
	account_credit(rows->direct[1], n, settled, &a->direct.bytes);
	for (unsigned int k = 0; !ret && k < settled; k++) {
		portion.sample = k;
		portion.amount = (struct to_tm_amount){ rows->direct[0][k], rows->direct[1][k] };
		ret = to_tm_portions_add(rows->portions, &portion);
	}
	account_bound(&a->owed);
	account_bound(&a->direct);
	return ret;
}

/* Columns that have settled go. */
static void account_advance(struct to_tm_account *a, const struct to_tm_rows *rows)
{
	const unsigned int settled = rows->settled;
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->n_sightings; i++)
		if (a->sightings[i].column >= settled) {
			a->sightings[n] = a->sightings[i];
			a->sightings[n++].column -= settled;
		}
	a->n_sightings = n;
	a->age += settled < UINT_MAX - a->age ? settled : 0;
	a->looked -= settled < a->looked ? settled : a->looked;
	if (a->renewed != TO_TM_NEVER)
		a->renewed -= settled;
	if (a->moved != TO_TM_NEVER)
		a->moved -= settled;
	for (unsigned int i = 0; i < a->renewals.n; i++)
		a->renewals.columns[i] -= settled;
	if (settled)
		a->before = rows->seen[1][settled - 1];
}

bool to_tm_account_waits(const struct to_tm_account *a)
{
	return a->stale[TO_TM_SENT] && a->stale[TO_TM_RECEIVED];
}

int to_tm_account_settle(struct to_tm_account *a, const struct to_tm_link *link,
			 struct to_tm_cell *cells, struct to_tm_rows *rows)
{
	const size_t size = rows->n * sizeof(int64_t);
	int ret;

	for (unsigned int i = 0; i < 2; i++) {
		memset(rows->seen[i], 0, size);
		memset(rows->direct[i], 0, size);
	}
	if (a->n_sightings)
		qsort(a->sightings, a->n_sightings, sizeof(*a->sightings), account_compare);
	ret = account_weigh_all(a, link, rows);
	if (ret)
		return ret;
	if (to_tm_account_waits(a)) {
		to_tm_renewal_count(a, cells, rows);
		account_bound(&a->pending);
		a->received = account_bounded(a->received);
	} else {
		account_count(a, cells, rows);
	}
	ret = account_conserve(a, link, cells, rows);
	account_advance(a, rows);
	return ret;
}
