/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_PORT_H
#define TOPOOPT_PACKET_PORT_H

/* From the queue of a link over it to a switch; PFC, marks and drops. */

#include "packets/state.h"

/** to_packet_port_queue() - Queue a packet on the link that it is at */
void to_packet_port_queue(struct to_packet_simulator *s, uint32_t packet);

/** to_packet_port_offer() - Queue a flow on its link and start the link if it is idle */
void to_packet_port_offer(struct to_packet_simulator *s, uint32_t flow);

/** to_packet_port_free() - Send the next packet over a link that has become free */
void to_packet_port_free(struct to_packet_simulator *s, uint32_t link);

/** to_packet_port_arrive() - Take a packet that has come over its link to a switch */
void to_packet_port_arrive(struct to_packet_simulator *s, uint32_t packet);

/** to_packet_port_pause() - Pause a link as its receiver's PAUSE asks for */
void to_packet_port_pause(struct to_packet_simulator *s, uint32_t link);

/** to_packet_port_resume() - End the pause of a link */
void to_packet_port_resume(struct to_packet_simulator *s, uint32_t link);

/**
 * to_packet_port_hold() - Take room at the end of a link
 * @wire: bytes that came over @link
 *
 * Return: false where there is no room.
 */
bool to_packet_port_hold(struct to_packet_simulator *s, uint32_t link, uint32_t wire);

/** to_packet_port_release() - Release bytes held by to_packet_port_hold() at the end of a link */
void to_packet_port_release(struct to_packet_simulator *s, uint32_t link, uint32_t wire);

/** to_packet_port_drop() - Drop a packet and count it for @link */
void to_packet_port_drop(struct to_packet_simulator *s, uint32_t link, uint32_t packet);

#endif
