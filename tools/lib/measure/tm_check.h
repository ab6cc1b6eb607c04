/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_CHECK_H
#define TOPOOPT_TM_CHECK_H

/* Which recordings can be merged. */

#include "base/error.h"
#include "data/tm.h"

/**
 * to_tm_check_record() - can this recording of one server be merged with others?
 *
 * Return: 0; -EINVAL with @err when it is merged already, has no sample, or two
 * samples begin in one interval; -EOVERFLOW when it counts more than TO_RECORD_SUM_MAX.
 */
int to_tm_check_record(const struct to_tm *record, struct to_error *err);

/**
 * to_tm_check_records() - can these @n be merged with each other?
 * @by_server: array of the servers; gets the recording of each that has one
 *
 * Return: 0; a negative errno with @err: one that cannot be merged, different plans or
 * intervals, a server twice, no common time.
 */
int to_tm_check_records(struct to_tm *const *records, unsigned int n,
			const struct to_tm **by_server, struct to_error *err);

#endif
