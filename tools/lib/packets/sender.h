/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_SENDER_H
#define TOPOOPT_PACKET_SENDER_H

/* The sending end of a flow: which packet goes next, and when. */

#include "packets/state.h"

/** to_packet_sender_allows() - Tell whether @f may send a packet, be it for the second time */
bool to_packet_sender_allows(const struct to_packet_simulator *s, const struct packet_flow *f);

/** to_packet_sender_queue() - Queue a flow on its link, which is busy */
void to_packet_sender_queue(struct to_packet_simulator *s, uint32_t flow);

/**
 * to_packet_sender_next() - Make the next packet of a flow, which has left its link's queue
 *
 * Queues the flow again, or lets it wait for its rate, an ACK or its limit.
 *
 * Return: the packet, PACKET_NONE without memory.
 */
uint32_t to_packet_sender_next(struct to_packet_simulator *s, uint32_t flow);

/** to_packet_sender_lost() - Start the retransmission timer: a packet of the flow was dropped */
void to_packet_sender_lost(struct to_packet_simulator *s, uint32_t flow);

#endif
