/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_WALK_H
#define TOPOOPT_WALK_H

/* The way that packets take through the tables of a plan. */

#include <jansson.h>

#include "base/error.h"
#include "data/plan.h"

/** struct to_walk_end - an address of a plan: @slot as in struct to_table */
struct to_walk_end {
	uint32_t server;
	unsigned int slot;
};

/**
 * to_walk_find() - whose address @text is
 * @text: an address, or "SERVER", or "SERVER:PORT"
 * @family: gets AF_INET or AF_INET6
 * @address: gets it, 4 or 16 bytes
 */
int to_walk_find(const struct to_plan *plan, const char *text,
		 struct to_walk_end *end, int *family, uint8_t *address,
		 struct to_error *err);

/** to_walk_group() - group of @server's table for packets from @src to @dst */
const struct to_group *to_walk_group(const struct to_plan *plan, uint32_t server,
				     int src, struct to_walk_end dst);

/**
 * to_walk() - the tree of paths from @server to @dst
 * @src: who sends them; packets from a port's address leave @server by that port,
 *	as a queue pair sends by its own NIC, those of a node address by the table
 *
 * Object { server, arrives | unreachable | loop | seen, next: [ { port,
 * weight, backup, peer, then: {...} } ] }. What lies behind a backup next hop
 * is left out, and so is what another branch has shown already.
 */
json_t *to_walk(const struct to_plan *plan, uint32_t server,
		struct to_walk_end src, struct to_walk_end dst);

#endif
