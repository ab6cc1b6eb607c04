/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_WINDOW_H
#define TOPOOPT_PACKET_WINDOW_H

/* The window of a TCP or DCTCP sender (RFC 5681, 6582, 8257). */

#include "packets/state.h"

/** Packets that a receiver takes ahead of the expected one; the limit of a window. */
#define TO_WINDOW_MAX 1024

/** to_packet_window_begin() - Set the window of a connection that begins */
void to_packet_window_begin(struct packet_tcp *t);

/** to_packet_window_allows() - Tell whether the window has room, or a packet is to go again */
bool to_packet_window_allows(const struct packet_flow *f);

/**
 * to_packet_window_acked() - Update the window for an ACK
 * @number: packet that the ACK expects
 * @marked: the ACK echoes congestion
 * @ecn: the window is that of DCTCP
 */
void to_packet_window_acked(struct packet_flow *f, uint32_t number, bool marked, bool ecn);

/** to_packet_window_timeout() - Go back to the first unacknowledged packet, with a window of one */
void to_packet_window_timeout(struct packet_flow *f);

#endif
