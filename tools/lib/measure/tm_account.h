/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_ACCOUNT_H
#define TOPOOPT_TM_ACCOUNT_H

/*
 * The account of one direction of one link: what NICs counted on it, what kernels saw of
 * that at either end, and so what pairs sent into it. It is kept over columns, an
 * interval each. Columns that have settled leave it, with a balance that stays; those
 * after them are looked at before one settles.
 */

#include "measure/tm_account_state.h"

/** to_tm_portions_add() - Append a portion unless it is nothing; 0 or -ENOMEM */
int to_tm_portions_add(struct to_tm_portions *portions, const struct to_tm_portion *portion);

void to_tm_account_init(struct to_tm_account *account);
void to_tm_account_free(struct to_tm_account *account);

/** to_tm_account_see() - Add a sighting to an account; 0 or -ENOMEM */
int to_tm_account_see(struct to_tm_account *account, const struct to_tm_sighting *sighting);

/** to_tm_rows_init() - Allocate for @n columns; 0 or -ENOMEM. The caller sets all else. */
int to_tm_rows_init(struct to_tm_rows *rows, unsigned int n);
void to_tm_rows_free(struct to_tm_rows *rows);

/** to_tm_account_look() - Find stale NICs by the columns that were not yet looked at */
void to_tm_account_look(struct to_tm_account *account, const struct to_tm_cell *cells,
			struct to_tm_rows *rows);

/** to_tm_account_waits() - Tell whether bytes are unknown until statistics are renewed */
bool to_tm_account_waits(const struct to_tm_account *account);

/**
 * to_tm_account_settle() - Settle the first columns, which leave the account
 * @cells: of all columns
 *
 * Return: 0 or -ENOMEM.
 */
int to_tm_account_settle(struct to_tm_account *account, const struct to_tm_link *link,
			 struct to_tm_cell *cells, struct to_tm_rows *rows);

#endif
