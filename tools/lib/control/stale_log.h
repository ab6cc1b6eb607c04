/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_STALE_LOG_H
#define TOPOOPT_STALE_LOG_H

/* NICs whose counters stand still, in the log of the closed loop. */

#include "control/run_log.h"
#include "data/tm.h"

/**
 * to_stale_log() - say which ports' counters stand still while bytes pass
 * @n: how many were said last; gets how many there are. Nothing is said when that is
 *	the same
 */
void to_stale_log(const struct to_run_log *log, const struct to_tm *tm, unsigned int *n);

#endif
