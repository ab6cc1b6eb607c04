/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_ACCOUNT_STATE_H
#define TOPOOPT_TM_ACCOUNT_STATE_H

/* The state of an account (tm_account.h), which the renewals of counters (tm_renewal.h) share. */

#include <stdbool.h>
#include <stdint.h>

#include "data/tm.h"

/** enum to_tm_side - an end of a link */
enum to_tm_side { TO_TM_SENT, TO_TM_RECEIVED, TO_TM_SIDES };

/** struct to_tm_amount - packets and bytes; negative where they are owed */
struct to_tm_amount {
	int64_t packets, bytes;
};

/** No column is before this one. */
#define TO_TM_NEVER INT64_MIN

/** struct to_tm_sighting - one flow at one end in one column */
struct to_tm_sighting {
	uint32_t src, dst, column;
	uint8_t class, side;
	bool relayed;			/* by its source */
	struct to_tm_amount amount;
};

/** Moves of counters that tell when they are renewed. */
#define TO_TM_RENEWALS 16

/** struct to_tm_renewals - the last moves of counters in columns that settled */
struct to_tm_renewals {
	unsigned int n;
	int64_t columns[TO_TM_RENEWALS];	/* from the first that has not settled */
	int64_t numbers[TO_TM_RENEWALS];	/* of renewals; some without bytes lie between */
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

/** struct to_tm_cell - a link in a column */
struct to_tm_cell {
	struct to_tm_amount counted[TO_TM_SIDES];	/* by the NICs at both ends */
	struct to_tm_link_bytes row;			/* of the result */
	bool both;					/* both ends recorded */
	bool renewed;					/* see to_tm_renewal_find() */
};

/** Gaps that tell how often a NIC renews its statistics. */
#define TO_TM_GAPS 7

/** struct to_tm_nic - recent reads of a NIC, which may renew its statistics more rarely */
struct to_tm_nic {
	bool stale;		/* it renews more rarely; stays true once it is */
	unsigned int passing;	/* recent columns in which kernels saw bytes pass */
	unsigned int standing;	/* columns of @passing in which its counters stood still */
	unsigned int n_gaps;
	uint16_t gaps[TO_TM_GAPS];	/* last columns from one move of its counters to the next */
};

/**
 * struct to_tm_account - the account of one direction of one link
 *
 * What is said of the last column that settled is of all before it where there was none.
 */
struct to_tm_account {
	struct to_tm_sighting *sightings;	/* of columns that have not settled */
	uint32_t n_sightings, room_sightings;
	struct account_past *past;	/* pairs and classes that were seen before, sorted */
	uint32_t n_past;
	struct to_tm_amount owed;	/* counted by NICs, neither seen nor credited to RDMA */
	struct to_tm_amount direct;	/* owed to the pair at the ends: credited or seen */
	struct to_tm_amount pending;	/* seen and credited since counters were last renewed */
	struct to_tm_amount counted[TO_TM_SIDES];	/* in the last column that settled */
	int64_t before;			/* bytes seen in that column; -1: there was none */
	int64_t renewed;		/* last column with a renewal, from the first not settled */
	int64_t moved;			/* last column in which the sending NIC's counters moved */
	int64_t received;		/* bytes its NIC counted, neither seen nor credited */
	int64_t lead;			/* bytes it counted beyond those of the sending one */
	int64_t lead_most;		/* most that @lead lately was */
	double level;			/* bytes that no kernel saw, per column, before that */
	double ahead;			/* bytes by which @received is too few, if @knows_ahead */
	unsigned int looked;		/* columns that were looked at, see to_tm_account_look() */
	unsigned int gap;		/* columns between renewals, 0: not known */
	unsigned int age;		/* columns that settled */
	bool saw, partial;		/* since then kernels saw bytes; an end missed some */
	bool knows_ahead;
	bool stale[TO_TM_SIDES];	/* what the caller thinks of the NICs */
	struct to_tm_renewals renewals;	/* of the sending NIC's counters */
	struct to_tm_nic nics[TO_TM_SIDES];
};

/** struct to_tm_rows - work space that all accounts share when they settle; arrays per column */
struct to_tm_rows {
	unsigned int n;			/* columns */
	unsigned int settled;		/* first columns, which settle */
	bool last;			/* no column will follow */
	int64_t *oldest;		/* gets the column up to which an account was known */
	struct to_tm_portions *portions;	/* get what pairs sent */
	int64_t *seen[2];		/* packets and bytes that kernels saw */
	int64_t *direct[2];		/* packets and bytes of the pair at the link's two ends */
	int64_t *rest[2];		/* packets and bytes counted and not seen */
	int64_t *lead;			/* to_tm_account.lead from this column on at least */
	struct to_tm_amount *after;	/* part of @rest that follows a renewal, see tm_renewal.h */
	bool *saw;			/* kernels saw bytes */
	struct account_past *past;	/* @room_past of them */
	uint32_t room_past;
};

#endif
