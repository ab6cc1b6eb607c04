/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_STORE_H
#define TOPOOPT_PACKET_STORE_H

/* Packets that are somewhere in the network, in one array. */

#include <stdbool.h>
#include <stdint.h>

#define TO_PACKET_NONE UINT32_MAX

/**
 * enum to_packet_kind - what it says
 * @TO_PACKET_NAK: an ACK that asks to go back to where it points
 * @TO_PACKET_CNP: congestion notification of DCQCN
 */
enum to_packet_kind { TO_PACKET_DATA, TO_PACKET_ACK, TO_PACKET_NAK, TO_PACKET_CNP };

/**
 * struct to_packet - 20 bytes
 * @number: of data, from 0 in its flow; of an ACK or NAK that of the data expected next
 * @at: place in the list of paths: the link that it is on or waits for
 * @next: in its queue, or of the free ones
 * @wire: bytes of link time, headers included
 * @hop: links before this one
 * @marked: congestion experienced; of an ACK, that the data were
 */
struct to_packet {
	uint32_t flow, number, at, next;
	uint16_t wire;
	uint8_t kind : 2, marked : 1;
	uint8_t hop;
};

/** struct to_packet_store - @used of them are in the network; @failed: no memory */
struct to_packet_store {
	struct to_packet *packets;
	uint32_t n, max, free, used, used_max;
	bool failed;
};

/** to_packet_store_clear() - without packets; of one that is all zero, too */
void to_packet_store_clear(struct to_packet_store *store);
void to_packet_store_free(struct to_packet_store *store);

/** to_packet_store_add() - its index, TO_PACKET_NONE without memory; moves the packets */
uint32_t to_packet_store_add(struct to_packet_store *store, struct to_packet packet);
void to_packet_store_remove(struct to_packet_store *store, uint32_t packet);

#endif
