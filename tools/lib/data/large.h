/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DATA_LARGE_H
#define TOPOOPT_DATA_LARGE_H

/* Limits on servers, whose matrices take memory and time by the square. */

#include <errno.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/limits.h"
#include "data/cluster.h"

/** to_large_most() - tell how many servers a job may have, with --large or without */
static inline unsigned int to_large_most(bool large)
{
	return large ? TO_SERVERS_MAX : TO_SERVERS_USUAL;
}

/** to_large_check() - refuse @n servers of the file @path; 0 or -ERANGE with @err */
static inline int to_large_check(const char *path, unsigned int n, bool large,
				 struct to_error *err)
{
	if (n <= TO_SERVERS_USUAL || large)
		return 0;
	return to_error_set(err, -ERANGE, "%s: servers: %u are more than %u: --large allows that",
			    path, n, TO_SERVERS_USUAL);
}

#endif
