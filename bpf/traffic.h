/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_TRAFFIC_H
#define TOPOOPT_TRAFFIC_H

/*
 * Record of the traffic counters, shared by the BPF programs that count and
 * the reader in user space.
 */

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* Server field of an address that no server owns. */
#define TRAFFIC_SERVER_NONE 0xffff

/* Classes as in enum topoopt_traffic_class. */
#define TRAFFIC_CLASS_BITS 2

/* Programs of traffic_tc.bpf.c look addresses up as IPv6, IPv4 being mapped. */
struct traffic_address {
	__u32 word[4];	/* network order */
};

/**
 * struct traffic_key - what is counted apart
 * @in: ifindex of the ingress port, 0 for what this server originated
 * @out: ifindex of the egress port, 0 for what was delivered here
 * @servers: source << 16 | destination, indices of the plan
 *
 * @in has the traffic class in its upper bits, which an ifindex never needs:
 * twelve bytes hash and compare in half the instructions of sixteen.
 */
struct traffic_key {
	__u32 in;
	__u32 out;
	__u32 servers;
};

#define TRAFFIC_IFINDEX_BITS (32 - TRAFFIC_CLASS_BITS)
#define TRAFFIC_IFINDEX_MAX ((1u << TRAFFIC_IFINDEX_BITS) - 1)

/**
 * struct traffic_value - frames of one key on the wire
 * @packets: frames; a GSO packet counts its segments
 * @bytes: their bytes with Ethernet header and VLAN tag, without FCS
 */
struct traffic_value {
	__u64 packets;
	__u64 bytes;
};

#endif
