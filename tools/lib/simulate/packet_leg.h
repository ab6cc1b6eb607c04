/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_LEG_H
#define TOPOOPT_PACKET_LEG_H

/* Legs of tasks, each over one or several flows, and what of them may go. */

#include "simulate/packet_core.h"

/** to_packet_leg_start() - send s->scratch for @task; 0 or a negative errno with s->err set */
int to_packet_leg_start(struct to_packet_simulator *s, uint32_t task);

/** to_packet_leg_chunks() - of @leg, that all its flows have brought */
uint32_t to_packet_leg_chunks(const struct to_packet_simulator *s, uint32_t leg);

/** to_packet_leg_arrived() - a chunk of @flow is complete */
void to_packet_leg_arrived(struct to_packet_simulator *s, uint32_t flow);

/** to_packet_leg_allow() - another chunk of @leg may go; all where it waits for none */
void to_packet_leg_allow(struct to_packet_simulator *s, uint32_t leg);

#endif
