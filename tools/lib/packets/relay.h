/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_RELAY_H
#define TOPOOPT_PACKET_RELAY_H

/*
 * A server that relays. PFC protects the ring of its NIC. Softirq takes one packet of a link
 * after the other to the queue of the next link, which drops packets when it is full.
 */

#include "packets/state.h"

/** to_packet_relay_arrive() - Take a packet that is for another server */
void to_packet_relay_arrive(struct to_packet_simulator *s, uint32_t packet);

/** to_packet_relay_forward() - Move a packet from softirq to the queue of its next link */
void to_packet_relay_forward(struct to_packet_simulator *s, uint32_t packet);

#endif
