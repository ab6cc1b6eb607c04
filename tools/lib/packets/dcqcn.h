/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_DCQCN_H
#define TOPOOPT_PACKET_DCQCN_H

/* The rate of a DCQCN sender (Zhu et al., SIGCOMM 2015, section 3). */

#include "packets/state.h"

/** to_packet_dcqcn_begin() - Begin at the rate of a line, bytes/s */
void to_packet_dcqcn_begin(struct packet_dcqcn *d, double line, uint64_t now);

/** to_packet_dcqcn_notified() - Cut the rate for a CNP that has come */
void to_packet_dcqcn_notified(struct packet_dcqcn *d, double line, uint64_t now);

/**
 * to_packet_dcqcn_sent() - Count a packet of @wire bytes that goes at @now
 *
 * Return: picoseconds until the next packet may go.
 */
uint64_t to_packet_dcqcn_sent(struct packet_dcqcn *d, double line, uint32_t wire, uint64_t now);

/** to_packet_dcqcn_notifies() - Tell whether the receiver of a marked packet sends a CNP */
bool to_packet_dcqcn_notifies(struct packet_dcqcn *d, uint64_t now);

#endif
