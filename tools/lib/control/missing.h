/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_MISSING_H
#define TOPOOPT_MISSING_H

/* Which servers gave no recording that counts, and why, told when that changes. */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "control/fabric.h"
#include "control/note_limit.h"

/** struct to_missing - servers without a recording in the last sample, and reasons told so far */
struct to_missing {
	unsigned int n_servers;		/* servers of the fabric */
	unsigned int n;			/* servers whose recordings are missing */
	char names[256];		/* their names, each after a blank, as many as fit */
	struct to_error why;		/* "s1: reason; s2: reason", as many as fit; "" for none */
	struct to_note_limit *limits;	/* per server */
	uint64_t *told;			/* per server, hash of the reason that was told; 0: none */
};

/** to_missing_init() - begin, with nothing told; -ENOMEM */
int to_missing_init(struct to_missing *missing, unsigned int n_servers);
void to_missing_free(struct to_missing *missing);

/**
 * to_missing_look() - find out whose recordings a sample lacks
 * @tm: what to_fabric_sample() gave
 * @servers: see to_fabric_servers(), after that call
 * @back: servers that are no longer missing are to be told, too
 *
 * Numbers in a reason do not make it another one. Too many reasons of a server are not told.
 *
 * Return: whether something is to be told.
 */
bool to_missing_look(struct to_missing *missing, const struct to_tm *tm,
		     const struct to_fabric_server *servers, bool back);

/**
 * to_missing_may_tell() - tell whether the failure of a whole sample may be printed
 * @servers: see to_fabric_servers(), after that failure
 *
 * It may not if all servers that failed had too many lines.
 */
bool to_missing_may_tell(struct to_missing *missing, const struct to_fabric_server *servers);

/**
 * to_missing_rest() - count what was not told of a server, see to_note_limit_rest()
 *
 * What is the case now is told by the next to_missing_look().
 */
unsigned int to_missing_rest(struct to_missing *missing, unsigned int server, bool end);

#endif
