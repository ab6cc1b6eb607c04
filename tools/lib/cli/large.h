/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LARGE_H
#define TOPOOPT_LARGE_H

/* --large, of commands that make a matrix of as many servers as a small file names. */

#include <errno.h>

#include "base/limits.h"
#include "cli/command.h"
#include "data/cluster.h"

/** TO_LARGE_OPTION - the option, for a flag of the arguments at @at */
#define TO_LARGE_OPTION(at) \
	{ "large", 0, TO_OPTION_FLAG, .offset = (at), \
	  .help = "allow more than 1024 servers, whose matrices take 8 bytes for each pair" }

/** to_large_most() - servers that a job may have */
static inline unsigned int to_large_most(bool large)
{
	return large ? TO_SERVERS_MAX : TO_SERVERS_USUAL;
}

/** to_large_check() - refuse @n servers of @path; 0 or -ERANGE with @err */
static inline int to_large_check(const char *path, unsigned int n, bool large,
				 struct to_error *err)
{
	if (n <= TO_SERVERS_USUAL || large)
		return 0;
	return to_error_set(err, -ERANGE, "%s: servers: %u are more than %u: --large allows that",
			    path, n, TO_SERVERS_USUAL);
}

#endif
