/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ADDRESSES_H
#define TOPOOPT_ADDRESSES_H

/*
 * Which addresses the servers of a fabric and their ports get.
 *
 * NCCL finds the NIC for a connection by the subnet of the other end, 24 bits unless it is
 * told (NCCL_IB_SUBNET_AWARE_ROUTING). So each cable is a subnet, as long as cables stay
 * where they are; and behind optical switches, where links move, a port keeps its address.
 */

#include "base/error.h"
#include "data/cluster.h"

#define TO_ADDRESSES_SUBNET 24	/* bits that NCCL compares: NCCL_IB_SUBNET_PREFIX_LEN's default */

/* What to say where to_addresses_subnet() finds none. */
#define TO_ADDRESSES_MIXED \
	"subnets do not tell the cables apart: NCCL may relay what a cable could carry"
#define TO_ADDRESSES_RENUMBER "toctl init --renumber cluster.json -o renumbered.json, then plan by that"

/**
 * struct to_addresses_prefix - prefix that a fabric's IPv4 addresses have
 * @network: in network byte order
 * @length: bits; 0 for the default: servers in 10.200.0.0/16, ports in 10.201.0.0 to 10.254.255.255
 */
struct to_addresses_prefix {
	struct in_addr network;
	unsigned int length;
};

/** to_addresses_prefix_parse() - take "10.210.0.0/16", of 8 to 28 bits and for hosts; else -EINVAL */
int to_addresses_prefix_parse(struct to_addresses_prefix *prefix, const char *text);

/**
 * to_addresses_number() - give all servers and ports of @cluster an address of each family
 *
 * Server n, from 1, is number n of the servers' subnet. Without optical switches, cable k,
 * from 1, has subnet k with its ends as numbers 1 and 2: 10.201.k.0/24 for up to 255 cables
 * that fit into the prefix, else a /30; after them each packet switch, and ports without a
 * cable by their index. IPv6 subnet k is fd00:746f:0:k::/64. With optical switches or
 * without links, port q of all servers is a subnet.
 *
 * Return: 0; -ERANGE with @err when the prefix is too small; -ENOMEM.
 */
int to_addresses_number(struct to_cluster *cluster, const struct to_addresses_prefix *prefix,
			struct to_error *err);

/**
 * to_addresses_subnet() - bits of subnets that tell the cables of a fabric apart
 * @links: its cables; those that packet switches make are left out
 *
 * Return: the least from TO_ADDRESSES_SUBNET on by which both ends of each cable, or all ports
 * on a packet switch, share an IPv4 subnet with no other port; 0 if none does; or -ENOMEM.
 */
int to_addresses_subnet(const struct to_cluster *cluster, const struct to_link *links,
			unsigned int n_links);

#endif
