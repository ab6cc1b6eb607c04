/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_FAST_FORWARD_H
#define TOPOOPT_PACKET_FAST_FORWARD_H

/*
 * Steady states are skipped: when several windows of time in a row brought each flow the
 * same packets, and queues are as long as before, the clock jumps over many such windows.
 * What is in the network stays there, later and with higher numbers; counters grow by
 * what the windows would have sent (the idea is that of Wormhole, NSDI 2026).
 *
 * A window ends with a chunk of an AllReduce whose chunks are small, so that the steps of
 * its rings are skipped, too; else after some time. Then AllReduces whose flows are all as
 * fast as each other move on by as many packets, others within chunks. Never skipped are the
 * last packet of a chunk that waits for nothing, the end of a computation, a timeout.
 */

#include "packets/state.h"

/** to_packet_fast_forward_new() - Allocate for a network of @n_links; NULL without memory */
struct packet_fast_forward *to_packet_fast_forward_new(uint32_t n_links);
void to_packet_fast_forward_free(struct packet_fast_forward *f);

/** to_packet_fast_forward_reset() - Prepare for an iteration */
void to_packet_fast_forward_reset(struct to_packet_simulator *s);

/** to_packet_fast_forward_chunk() - Note that a chunk of a leg has arrived */
void to_packet_fast_forward_chunk(struct to_packet_simulator *s, uint32_t leg);

/** to_packet_fast_forward_look() - Skip time if all is steady, at s->look_at; 0 or -ENOMEM */
int to_packet_fast_forward_look(struct to_packet_simulator *s);

#endif
