/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_VERIFY_FAILURES_H
#define TOPOOPT_VERIFY_FAILURES_H

/* The part of to_verify() that breaks one link, server or packet switch after the other. */

#include "verify/failures.h"
#include "verify/verify_links.h"

/**
 * struct to_verify_failures - packets of one address, and what was found of links
 * @whole_links, @whole_servers, @whole_switches, @whole_ports: whether all others reach
 *	each other without it, as far as that was needed; ports [server * TO_PORTS_MAX + port]
 * @broken: packet switches and then ports that were broken for the address, by @mark
 */
struct to_verify_failures {
	struct to_failures packets;
	const struct to_verify_out *out;
	uint8_t *whole_links, *whole_servers, *whole_switches, *whole_ports;
	uint32_t *broken, mark;
	struct to_arena arena;		/* has all arrays */
};

/** to_verify_failures_init() - Return: 0 or -ENOMEM */
int to_verify_failures_init(struct to_verify_failures *o, struct to_forwarding *f,
			    const struct to_verify_out *out);
void to_verify_failures_free(struct to_verify_failures *o);

/** to_verify_failures() - count every failure that meets o->packets */
void to_verify_failures(struct to_verify_failures *o);

#endif
