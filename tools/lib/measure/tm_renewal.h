/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_RENEWAL_H
#define TOPOOPT_TM_RENEWAL_H

/*
 * A link of which the NICs at both ends renew their statistics more rarely than they are
 * read. What passed between two renewals, and no kernel saw, is known when the second one
 * comes, but not in which columns it passed. What comes before and after tells: where
 * traffic began or ended in between, it was as much as before until then, and as much as
 * after from then on. So one waits for one more renewal. Where the receiving NIC, which
 * renews its statistics at another time, says that it was otherwise, it is believed.
 *
 * That counters moved says in which column they were renewed. When in it is found from the
 * last renewals, which come at even times, as far as they do.
 */

#include "measure/tm_account_state.h"

/** to_tm_renewal_gap() - columns from one renewal to the next; 0: not known */
unsigned int to_tm_renewal_gap(const struct to_tm_nic *nic);

/** to_tm_renewal_note() - counters of @nic moved, @columns after they had moved before */
void to_tm_renewal_note(struct to_tm_nic *nic, int64_t columns);

/**
 * to_tm_renewal_find() - which of all @rows->n columns end with a renewal
 *
 * The counters moved; or they had to, and no kernel saw anything pass, so nothing did.
 */
void to_tm_renewal_find(struct to_tm_account *account, struct to_tm_cell *cells,
			struct to_tm_rows *rows);

/** to_tm_renewal_known() - how many of the first @n columns can settle */
unsigned int to_tm_renewal_known(const struct to_tm_cell *cells, unsigned int n);

/**
 * to_tm_renewal_count() - what NICs counted and no kernel saw, by column, into the rest
 * @rows: with what was seen
 */
void to_tm_renewal_count(struct to_tm_account *account, struct to_tm_cell *cells,
			 struct to_tm_rows *rows);

#endif
