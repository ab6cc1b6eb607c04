/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_CAPTURE_H
#define TOPOOPT_PACKET_CAPTURE_H

/*
 * The packets of a link as a capture file, payloads of zeros: RoCEv2 SENDs, ACKs and CNPs
 * (InfiniBand architecture volume 1, annex A17), or TCP with timestamps.
 */

#include <stdio.h>

#include "packets/state.h"

/** to_packet_capture_begin() - Write the file header: pcap, nanoseconds, Ethernet */
void to_packet_capture_begin(FILE *file);

/** to_packet_capture_add() - Write a packet, which begins to be sent now */
void to_packet_capture_add(const struct to_packet_simulator *s, const struct to_packet *packet);

#endif
