/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_MESSAGES_H
#define TOPOOPT_PACKET_MESSAGES_H

/* What the servers of a task send each other, in chunks, and which chunk waits for which. */

#include "data/taskgraph.h"

/** to_packet_message.link of a message that is routed. */
#define TO_MESSAGE_ROUTED UINT32_MAX

/** struct to_packet_message - chunks from one server to another */
struct to_packet_message {
	uint32_t from, to;		/* servers */
	uint32_t link;			/* first link of its path, or TO_MESSAGE_ROUTED */
	uint32_t then;			/* link out of a packet switch after @link; 0 for none */
	uint32_t transfer;		/* index in the task graph; UINT32_MAX for AllReduce */
	uint64_t chunk;			/* bytes of a chunk */
	uint32_t n_chunks;		/* 1 or more */
	uint32_t ahead;			/* chunk i waits for chunk i - @ahead of every feeder */
	uint32_t first_feeder;		/* index in to_packet_messages.feeders */
	uint32_t n_feeders;		/* 0: no chunk waits */
};

/** struct to_packet_messages - messages of one task; all zero before the first */
struct to_packet_messages {
	uint32_t n, max;		/* messages in @list; room in it */
	uint32_t n_feeders, max_feeders;
	struct to_packet_message *list;
	uint32_t *feeders;		/* indices in @list */
	bool failed;			/* a message found no memory and is missing */
};

void to_packet_messages_free(struct to_packet_messages *messages);

/** to_packet_messages_clear() - Remove all messages and keep their memory */
void to_packet_messages_clear(struct to_packet_messages *messages);

/**
 * to_packet_messages_transfer() - Add a message of one chunk for a transfer
 * @index: of @transfer in the task graph
 */
void to_packet_messages_transfer(struct to_packet_messages *messages,
				 const struct to_transfer *transfer, uint32_t index);

/**
 * to_packet_messages_ring() - Add the messages of an AllReduce round a ring
 * @order: the @n servers of the ring, 2 or more
 * @reverse: each server sends to the one before it
 * @bytes: size of the buffer
 *
 * A message has 2(n - 1) chunks of 1/n of the buffer. A server sends the chunk that it
 * received in the step before. The message from order[i] is the i-th.
 */
void to_packet_messages_ring(struct to_packet_messages *messages, const uint32_t *order,
			     uint32_t n, bool reverse, double bytes);

/**
 * to_packet_messages_tree() - Add the messages of an AllReduce up and down a tree
 * @members: the @n servers of the tree
 * @parents: per member its parent, a server; TO_SERVER_NONE at the root
 * @bytes: size of the buffer
 *
 * The buffer moves in pieces, which follow each other. Member by member, the message to its
 * parent comes first, then the one from its parent.
 */
void to_packet_messages_tree(struct to_packet_messages *messages, const uint32_t *members,
			     const uint32_t *parents, uint32_t n, double bytes);

/** to_packet_messages_halving_doubling() - Add the messages of recursive halving and doubling */
void to_packet_messages_halving_doubling(struct to_packet_messages *messages,
					 const uint32_t *members, uint32_t n, double bytes);

#endif
