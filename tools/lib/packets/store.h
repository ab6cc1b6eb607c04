/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_STORE_H
#define TOPOOPT_PACKET_STORE_H

/* Packets that are somewhere in the network, in one array. */

#include <stdbool.h>
#include <stdint.h>

#define TO_PACKET_NONE UINT32_MAX

/**
 * enum to_packet_kind - what a packet says
 * @TO_PACKET_NAK: an ACK that asks to send again from its number on
 * @TO_PACKET_CNP: congestion notification of DCQCN
 */
enum to_packet_kind { TO_PACKET_DATA, TO_PACKET_ACK, TO_PACKET_NAK, TO_PACKET_CNP };

/** struct to_packet - a packet, 20 bytes */
struct to_packet {
	uint32_t flow;
	uint32_t number;	/* of data, from 0 in its flow; of an ACK: the data expected next */
	uint32_t at;		/* place in the list of paths: link that it is on or waits for */
	uint32_t next;		/* packet after it in its queue, or in the list of free ones */
	uint16_t wire;		/* bytes on a link, headers included */
	uint8_t kind : 2;	/* enum to_packet_kind */
	uint8_t marked : 1;	/* congestion experienced; of an ACK: by the data */
};

/** struct to_packet_store - all packets */
struct to_packet_store {
	struct to_packet *packets;
	uint32_t n, max;	/* packets, free ones included; room for them */
	uint32_t free;		/* first free packet */
	uint32_t used;		/* packets in the network */
	uint32_t used_max;	/* most of them at once */
	bool failed;		/* a packet found no memory and was lost */
};

/** to_packet_store_clear() - Remove all packets; also initialises a store of zeros */
void to_packet_store_clear(struct to_packet_store *store);
void to_packet_store_free(struct to_packet_store *store);

/**
 * to_packet_store_add() - Add a packet, for which others may move
 *
 * Return: its index, TO_PACKET_NONE without memory.
 */
uint32_t to_packet_store_add(struct to_packet_store *store, struct to_packet packet);
void to_packet_store_remove(struct to_packet_store *store, uint32_t packet);

#endif
