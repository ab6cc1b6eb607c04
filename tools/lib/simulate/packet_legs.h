/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_LEGS_H
#define TOPOOPT_PACKET_LEGS_H

/* What the servers of an AllReduce send each other, in chunks, and what waits for what. */

#include "data/taskgraph.h"

/** to_packet_leg.link of one that is routed. */
#define TO_LEG_ROUTED UINT32_MAX

/**
 * struct to_packet_leg - chunks from one server to another
 * @link: that it takes, or TO_LEG_ROUTED
 * @then: from the packet switch where that leads; 0, the first link of a server, for none
 * @transfer: of the tasks, UINT32_MAX for an AllReduce
 * @chunk: bytes of each of its @n_chunks, 1 or more
 * @ahead: its chunk i may go when chunk i - @ahead of all its feeders has arrived
 * @first_feeder, @n_feeders: at to_packet_legs.feeders; without any, all may go at once
 */
struct to_packet_leg {
	uint32_t from, to, link, then, transfer;
	uint64_t chunk;
	uint32_t n_chunks, ahead, first_feeder, n_feeders;
};

/**
 * struct to_packet_legs - of one task; all zero before the first
 * @feeders: indices of legs
 * @failed: no memory for one of them
 */
struct to_packet_legs {
	uint32_t n, max, n_feeders, max_feeders;
	struct to_packet_leg *legs;
	uint32_t *feeders;
	bool failed;
};

void to_packet_legs_free(struct to_packet_legs *legs);

/** to_packet_legs_clear() - without any, memory is kept */
void to_packet_legs_clear(struct to_packet_legs *legs);

/** to_packet_legs_transfer() - all of @transfer, the @index-th of the tasks, at once */
void to_packet_legs_transfer(struct to_packet_legs *legs, const struct to_transfer *transfer,
			     uint32_t index);

/**
 * to_packet_legs_ring() - AllReduce of a buffer of @bytes round a ring
 * @order: of the @n servers, 2 or more
 * @reverse: from each to the one before it
 *
 * 2(n - 1) steps of 1/n of the buffer; a server sends what it has received in the step
 * before. The leg from order[i] is the i-th.
 */
void to_packet_legs_ring(struct to_packet_legs *legs, const uint32_t *order, uint32_t n,
			 bool reverse, double bytes);

/**
 * to_packet_legs_tree() - AllReduce of @bytes to the root of a tree and back
 * @parents: per member its parent, a server; TO_SERVER_NONE at the root
 *
 * In pieces that follow each other. The legs from and to the first member's parent come
 * first, and so on.
 */
void to_packet_legs_tree(struct to_packet_legs *legs, const uint32_t *members,
			 const uint32_t *parents, uint32_t n, double bytes);

/** to_packet_legs_halving_doubling() - as TO_ALGORITHM_HALVING_DOUBLING */
void to_packet_legs_halving_doubling(struct to_packet_legs *legs, const uint32_t *members,
				     uint32_t n, double bytes);

#endif
