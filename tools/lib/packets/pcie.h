/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_PCIE_H
#define TOPOOPT_PACKET_PCIE_H

/*
 * PCIe links between NICs and memory. Each takes one packet at a time, like a shaper with a
 * burst of one packet: a NIC reads a packet from memory as its link begins to send it, and
 * writes one to memory in the order of arrival. ACKs, NAKs and CNPs are small and do not
 * wait. Relays are kernels here: all packets in transit cross twice.
 */

#include "packets/state.h"

/** to_packet_pcie_init() - Set the rates from s->network. Return: 0 or -ENOMEM. */
int to_packet_pcie_init(struct to_packet_simulator *s);

/**
 * to_packet_pcie_free_at() - Find when a packet can cross
 * @link: that the packet is sent over
 * @to_host: from the NIC at its end to memory; else from memory to the NIC at its beginning
 *
 * Return: the time, s->now if nothing is in the way.
 */
uint64_t to_packet_pcie_free_at(const struct to_packet_simulator *s, uint32_t link, bool to_host);

/** to_packet_pcie_cross() - Let a packet of @wire bytes cross from time @at on */
void to_packet_pcie_cross(struct to_packet_simulator *s, uint32_t link, bool to_host, uint64_t at,
			  uint32_t wire);

#endif
