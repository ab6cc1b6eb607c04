/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_WINDOW_H
#define TOPOOPT_PACKET_WINDOW_H

/* The window of a TCP or DCTCP sender (RFC 5681, 6582, 8257). */

#include "simulate/packet_core.h"

/** Packets that a receiver takes ahead of the one it expects, and most of a window. */
#define TO_WINDOW_MAX 1024

void to_packet_window_begin(struct packet_tcp *t);

/** to_packet_window_allows() - may another packet go, or one again? */
bool to_packet_window_allows(const struct packet_flow *f);

/**
 * to_packet_window_acked() - an ACK that expects @number has come
 * @marked: it echoes congestion
 * @ecn: DCTCP
 */
void to_packet_window_acked(struct packet_flow *f, uint32_t number, bool marked, bool ecn);

/** to_packet_window_timeout() - nothing came */
void to_packet_window_timeout(struct packet_flow *f);

#endif
