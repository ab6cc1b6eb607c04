/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ROUTE_TRACE_H
#define TOPOOPT_ROUTE_TRACE_H

/* The path that packets take through the tables of a plan. */

#include <jansson.h>

#include "base/error.h"
#include "data/plan.h"

/** struct to_route_end - an address of a plan: @slot as in struct to_table */
struct to_route_end {
	uint32_t server;
	unsigned int slot;
};

/**
 * to_route_trace_find() - whose address @text is
 * @text: an address, or "SERVER", or "SERVER:PORT"
 * @family: gets AF_INET or AF_INET6
 * @address: gets it, 4 or 16 bytes
 */
int to_route_trace_find(const struct to_plan *plan, const char *text,
			struct to_route_end *end, int *family, uint8_t *address,
			struct to_error *err);

/**
 * to_route_trace() - the tree of paths from @server to @dst
 * @src: who sends them; packets from a port's address leave @server by that port,
 *	as a queue pair sends by its own NIC, those of a node address by the table
 * @dst: packets for a port's address are RoCEv2, which leaves @dst once more when it
 *	arrived by another port
 *
 * Object { server, arrives | unreachable | loop | seen, next: [ { port,
 * weight, backup, ingress, peer, then: {...} } ] }. What lies behind a backup next
 * hop is left out, and so is what another branch has shown already. @ingress is the
 * port of an alternate, which is shown alone where packets take it, and else not.
 */
json_t *to_route_trace(const struct to_plan *plan, uint32_t server,
		       struct to_route_end src, struct to_route_end dst);

/**
 * to_route_trace_shares() - share of RDMA traffic to send to each port of a server
 * @src: server that sends
 * @dst: server that receives
 *
 * Return: object {PORT: share, 0 to 1}; NULL if the plan has no shares for this pair.
 */
json_t *to_route_trace_shares(const struct to_plan *plan, uint32_t src, uint32_t dst);

#endif
