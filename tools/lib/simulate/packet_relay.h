/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_RELAY_H
#define TOPOOPT_PACKET_RELAY_H

/*
 * A server that relays: the ring of its NIC, which PFC protects, softirq, one packet of
 * a link after the other, and the queue of the next link, which nothing does.
 */

#include "simulate/packet_core.h"

/** to_packet_relay_arrive() - @packet has come over its link, for others than its end */
void to_packet_relay_arrive(struct to_packet_simulator *s, uint32_t packet);

/** to_packet_relay_forward() - softirq has made a decision about it */
void to_packet_relay_forward(struct to_packet_simulator *s, uint32_t packet);

#endif
