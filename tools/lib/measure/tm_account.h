/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_ACCOUNT_H
#define TOPOOPT_TM_ACCOUNT_H

/*
 * The account of one direction of one link: what NICs counted on it, what kernels saw of
 * that at either end, and so what pairs sent into it. It is kept over columns, an
 * interval each. Columns that have settled leave it, with a balance that stays; those
 * after them are looked at before one settles.
 */

#include <stdbool.h>
#include <stdint.h>

#include "data/tm.h"

/** enum to_tm_side - an end of a link */
enum to_tm_side { TO_TM_SENT, TO_TM_RECEIVED, TO_TM_SIDES };

/** struct to_tm_amount - may be owed, and then is negative */
struct to_tm_amount {
	int64_t packets, bytes;
};

/** No column is before this one. */
#define TO_TM_NEVER INT64_MIN

/** struct to_tm_sighting - one flow at one end in one column; @relayed: by its source */
struct to_tm_sighting {
	uint32_t src, dst, column;
	uint8_t class, side;
	bool relayed;
	struct to_tm_amount amount;
};

/** Moves of counters that tell when they are renewed. */
#define TO_TM_RENEWALS 16

/**
 * struct to_tm_renewals - the last moves of counters in columns that settled
 * @columns: from the first that has not settled
 * @numbers: of the renewals: those in which nothing was counted have some in between
 */
struct to_tm_renewals {
	unsigned int n;
	int64_t columns[TO_TM_RENEWALS], numbers[TO_TM_RENEWALS];
};

/** struct to_tm_portion - what a pair sent in a column; all of a pair and class make a flow */
struct to_tm_portion {
	uint32_t sample;
	uint32_t src, dst;
	enum to_tm_class class;
	struct to_tm_amount amount;
};

struct to_tm_portions {
	struct to_tm_portion *list;
	size_t n, room;
};

/** to_tm_portions_add() - 0 or -ENOMEM; what is nothing is left out */
int to_tm_portions_add(struct to_tm_portions *portions, const struct to_tm_portion *portion);

/**
 * struct to_tm_cell - a link in a column
 * @counted: by the NICs at both ends
 * @both: both ends recorded
 * @renewed: see to_tm_renewal_find()
 * @row: of the result
 */
struct to_tm_cell {
	struct to_tm_amount counted[TO_TM_SIDES];
	struct to_tm_link_bytes row;
	bool both, renewed;
};

/** Gaps that tell how often a NIC renews its statistics. */
#define TO_TM_GAPS 7

/**
 * struct to_tm_nic - whether a NIC renews its statistics as often as they are read
 * @stale: it does not, it seems; once that was found, for as long as the account is kept
 * @passing, @standing: recent columns in which kernels saw bytes pass, and those of
 *	these in which its counters stood still
 * @gaps: the last @n_gaps numbers of columns from one move of its counters to the next
 */
struct to_tm_nic {
	bool stale;
	unsigned int passing, standing, n_gaps;
	uint16_t gaps[TO_TM_GAPS];
};

/**
 * struct to_tm_account - see above; what is of the last column that settled is of all
 *	before it where there was none
 * @sightings: of columns that have not settled
 * @past: pairs and classes that were seen before, sorted
 * @owed: what NICs counted beyond what was seen and what was credited to RDMA
 *	between the ends
 * @direct: what was credited so, and what was seen of that, beyond what the pair got
 * @pending: seen and credited since counters that stand still were last renewed
 * @saw, @partial: kernels did see bytes since then; an end did not record all of it
 * @received: bytes that the receiving NIC counted beyond what was seen and credited
 * @ahead: bytes by which that is too few, where @knows_ahead
 * @level: bytes that no kernel saw, a column, before that
 * @gap: columns between renewals, 0: not known
 * @age: columns that settled
 * @counted: in the last column that settled
 * @before: bytes seen in it; -1: there was none
 * @lead: bytes that the receiving NIC counted beyond those of the sending one
 * @lead_most: the most that this lately was
 * @renewed: last column in which they were renewed, from the first that has not settled
 * @moved: the same of the last move of the sending NIC's counters that was looked at
 * @looked: columns that were looked at, see to_tm_account_look()
 * @stale: what the caller thinks of the NICs
 * @renewals: of the sending NIC's counters
 */
struct to_tm_account {
	struct to_tm_sighting *sightings;
	uint32_t n_sightings, room_sightings;
	struct account_past *past;
	uint32_t n_past;
	struct to_tm_amount owed, direct, pending, counted[TO_TM_SIDES];
	int64_t before, renewed, moved, received, lead, lead_most;
	double level, ahead;
	unsigned int looked, gap, age;
	bool saw, partial, knows_ahead, stale[TO_TM_SIDES];
	struct to_tm_renewals renewals;
	struct to_tm_nic nics[TO_TM_SIDES];
};

void to_tm_account_init(struct to_tm_account *account);
void to_tm_account_free(struct to_tm_account *account);

/** to_tm_account_see() - 0 or -ENOMEM */
int to_tm_account_see(struct to_tm_account *account, const struct to_tm_sighting *sighting);

/**
 * struct to_tm_rows - what an account is settled with, shared by all
 * @n: columns; @settled: of these settle
 * @last: none will follow
 * @oldest: per column: gets the one until which an account was known there, if that is
 *	earlier
 * @portions: get what pairs sent
 * @after: per column that ends with a renewal, see tm_renewal.h: what of the rest follows it
 * @the rest: n each, work space
 */
struct to_tm_rows {
	unsigned int n, settled;
	bool last;
	int64_t *oldest;
	struct to_tm_portions *portions;
	int64_t *seen[2], *direct[2], *rest[2], *lead;
	struct to_tm_amount *after;
	bool *saw;
	struct account_past *past;
	uint32_t room_past;
};

/** to_tm_rows_init() - for @n columns; 0 or -ENOMEM. The caller sets the rest. */
int to_tm_rows_init(struct to_tm_rows *rows, unsigned int n);
void to_tm_rows_free(struct to_tm_rows *rows);

/** to_tm_account_look() - is a NIC stale? By the columns that were not yet looked at */
void to_tm_account_look(struct to_tm_account *account, const struct to_tm_cell *cells,
			struct to_tm_rows *rows);

/** to_tm_account_waits() - nobody knows what passes before statistics are renewed */
bool to_tm_account_waits(const struct to_tm_account *account);

/**
 * to_tm_account_settle() - the first columns settle and leave
 * @cells: of all columns
 *
 * Return: 0 or -ENOMEM.
 */
int to_tm_account_settle(struct to_tm_account *account, const struct to_tm_link *link,
			 struct to_tm_cell *cells, struct to_tm_rows *rows);

#endif
