/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_STALE_H
#define TOPOOPT_TM_STALE_H

/* Which NICs' counters stand still while the kernel sees their bytes pass. */

#include "data/tm.h"
#include "measure/tm_account.h"
#include "measure/tm_segments.h"

/**
 * to_tm_note_stale() - fill @tm->stale with the ports whose counters stand still
 * @accounts: of @tm->links
 * @segments: the ports that share packet switches
 *
 * Return: 0 or -ENOMEM.
 */
int to_tm_note_stale(struct to_tm *tm, const struct to_tm_account *accounts,
		     const struct to_tm_segments *segments);

#endif
