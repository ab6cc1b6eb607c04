/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_LEG_H
#define TOPOOPT_PACKET_LEG_H

/* Messages on their way: which of their chunks may go, and which have arrived. */

#include "packets/state.h"

/**
 * to_packet_leg_start() - Start a leg for each message of s->scratch
 * @task: that they belong to
 *
 * Return: 0 or a negative errno with s->err set.
 */
int to_packet_leg_start(struct to_packet_simulator *s, uint32_t task);

/** to_packet_leg_chunks() - Count chunks that have arrived on every flow of a leg */
uint32_t to_packet_leg_chunks(const struct to_packet_simulator *s, uint32_t leg);

/** to_packet_leg_arrived() - Note that a chunk is complete on @flow */
void to_packet_leg_arrived(struct to_packet_simulator *s, uint32_t flow);

/** to_packet_leg_allow() - Let another chunk of a leg go, or all where it has no feeders */
void to_packet_leg_allow(struct to_packet_simulator *s, uint32_t leg);

#endif
