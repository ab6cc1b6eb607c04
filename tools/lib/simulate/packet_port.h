/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_PORT_H
#define TOPOOPT_PACKET_PORT_H

/* From the queue of a link over it to the next queue; PFC, marks and drops. */

#include "simulate/packet_core.h"

/** to_packet_queue_add() - behind the others */
void to_packet_queue_add(struct to_packet_store *store, struct packet_queue *queue,
			 uint32_t packet);

/** to_packet_port_queue() - @packet into the queue of the link that it is at */
void to_packet_port_queue(struct to_packet_simulator *s, uint32_t packet);

/** to_packet_port_line_up() - @flow has a packet for its link, which is sending */
void to_packet_port_line_up(struct to_packet_simulator *s, uint32_t flow);

/** to_packet_port_offer() - the same; the link may be free */
void to_packet_port_offer(struct to_packet_simulator *s, uint32_t flow);

/** to_packet_port_send() - the next packet, if there is one; the link is free */
void to_packet_port_send(struct to_packet_simulator *s, uint32_t link);

/** to_packet_port_arrive() - @packet has come over its link */
void to_packet_port_arrive(struct to_packet_simulator *s, uint32_t packet);

/** to_packet_port_pause() - PAUSE, or resume, has come for @link */
void to_packet_port_pause(struct to_packet_simulator *s, uint32_t link, bool paused);

/**
 * to_packet_port_hold() - what came over @link takes @wire bytes at its end
 *
 * Return: false where there is no room.
 */
bool to_packet_port_hold(struct to_packet_simulator *s, uint32_t link, uint32_t wire);

/** to_packet_port_release() - no more */
void to_packet_port_release(struct to_packet_simulator *s, uint32_t link, uint32_t wire);

/** to_packet_port_drop() - @packet, which counts for @link */
void to_packet_port_drop(struct to_packet_simulator *s, uint32_t link, uint32_t packet);

#endif
