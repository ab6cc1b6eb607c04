/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_TRANSPORT_H
#define TOPOOPT_PACKET_TRANSPORT_H

/* Packets that arrive at the ends of a flow: data, and what acknowledges them. */

#include "packets/state.h"

/** to_packet_transport_ack_every() - Return the packets of a chunk after which an ACK is due */
uint32_t to_packet_transport_ack_every(const struct to_packet_simulator *s);

/** to_packet_transport_answer_wire() - Return the bytes of an ACK, NAK or CNP on a link */
uint32_t to_packet_transport_answer_wire(const struct to_packet_simulator *s,
					 enum to_packet_kind kind);

/** to_packet_transport_begin() - Begin a flow whose paths and sizes are set */
void to_packet_transport_begin(struct to_packet_simulator *s, uint32_t flow);

/** to_packet_transport_wake() - Let a flow send if it may */
void to_packet_transport_wake(struct to_packet_simulator *s, uint32_t flow);

/** to_packet_transport_paced() - Let a flow send that has waited for its rate */
void to_packet_transport_paced(struct to_packet_simulator *s, uint32_t flow);

/** to_packet_transport_deliver() - Take a packet at the end of its path */
void to_packet_transport_deliver(struct to_packet_simulator *s, uint32_t packet);

/** to_packet_transport_timeout() - Send again what no ACK has come for within the timeout */
void to_packet_transport_timeout(struct to_packet_simulator *s, uint32_t flow);

#endif
