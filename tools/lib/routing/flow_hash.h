/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FLOW_HASH_H
#define TOPOOPT_FLOW_HASH_H

/* Which next hop of a group a flow takes, as kmod/flow.h and kmod/nexthop.c choose it. */

#include <stdbool.h>
#include <stdint.h>

#include "data/plan.h"

#define TO_FLOW_BUCKETS 256

/**
 * struct to_flow_tuple - of a flow over IPv4, in host order
 * @queue_pair: destination queue pair of RoCEv2, 0 for TCP
 */
struct to_flow_tuple {
	uint32_t source, destination, queue_pair;
	uint16_t source_port, destination_port;
	uint8_t protocol;
};

/** to_flow_hash() - of topoopt_flow_hash(); @seed: of the server's topoopt device */
uint32_t to_flow_hash(const struct to_flow_tuple *tuple, uint32_t seed);

/**
 * to_flow_buckets() - next hop of each bucket, of the @group of @server's table
 * @buckets: TO_FLOW_BUCKETS indices of next hops; all 0xff where none is usable
 *
 * Of its primaries whose port has a link. Interface indices, which the kernel hashes
 * with MAC addresses, count as 1 + port.
 */
void to_flow_buckets(const struct to_plan *plan, uint32_t server, const struct to_group *group,
		     uint8_t *buckets);

#endif
