/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_TRANSPORT_H
#define TOPOOPT_PACKET_TRANSPORT_H

/* The two ends of a flow: which packet goes next and when, what is acknowledged. */

#include "simulate/packet_core.h"

/** to_packet_transport_ack_every() - as many packets of a chunk, and its end, are acknowledged */
uint32_t to_packet_transport_ack_every(const struct to_packet_simulator *s);

/** to_packet_transport_answer_wire() - bytes of an ACK, NAK or CNP on a link */
uint32_t to_packet_transport_answer_wire(const struct to_packet_simulator *s,
					 enum to_packet_kind kind);

/** to_packet_transport_begin() - @flow, whose paths and sizes are set, may send up to its limit */
void to_packet_transport_begin(struct to_packet_simulator *s, uint32_t flow);

/** to_packet_transport_wake() - @flow may have something to send */
void to_packet_transport_wake(struct to_packet_simulator *s, uint32_t flow);

/**
 * to_packet_transport_next() - the packet of @flow, which was the first of those ready
 *
 * It gets in line again, or waits for its rate, an ACK or its limit. Return:
 * PACKET_NONE without memory.
 */
uint32_t to_packet_transport_next(struct to_packet_simulator *s, uint32_t flow);

/** to_packet_transport_deliver() - @packet is at the end of its path */
void to_packet_transport_deliver(struct to_packet_simulator *s, uint32_t packet);

/** to_packet_transport_lost() - a packet of @flow was dropped */
void to_packet_transport_lost(struct to_packet_simulator *s, uint32_t flow);

/** to_packet_transport_timeout() - as to_packet_transport_lost() asked for */
void to_packet_transport_timeout(struct to_packet_simulator *s, uint32_t flow);

#endif
