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

/* Server of an address that no server owns. */
#define TRAFFIC_SERVER_NONE 0xffffffff

/* Programs of traffic_tc.bpf.c look addresses up as IPv6, IPv4 being mapped. */
struct traffic_address {
	__u32 word[4];	/* network order */
};

/**
 * struct traffic_owner - whose an address is
 * @server: index in the plan
 * @port: ifindex of the port of this server that RoCEv2 for it has to enter by, as
 *	the module relays it from any other port to that one; 0 for none
 */
struct traffic_owner {
	__u32 server;
	__u32 port;
};

/**
 * struct traffic_key - what has counters of its own, made by traffic_key()
 * @ports: ifindex of the egress port << 32 | traffic class << 30 | ifindex of
 *	the ingress port; 0 for egress is what was delivered here, 0 for ingress
 *	what this server originated. Never 0.
 * @pair: source << 32 | destination, indices of servers in the plan
 */
struct traffic_key {
	__u64 ports;
	__u64 pair;
};

/* Classes as in enum topoopt_traffic_class. */
#define TRAFFIC_CLASS_SHIFT 30
#define TRAFFIC_CLASS_CHECK 3	/* TOPOOPT_ACCOUNT_CHECK */
#define TRAFFIC_IFINDEX_MAX ((1u << TRAFFIC_CLASS_SHIFT) - 1)

static inline struct traffic_key traffic_key(__u32 in, __u32 out, __u32 src,
					     __u32 dst, __u32 class)
{
	return (struct traffic_key){
		.ports = (__u64)out << 32 | class << TRAFFIC_CLASS_SHIFT | in,
		.pair = (__u64)src << 32 | dst,
	};
}

/**
 * struct traffic_value - frames of one key on the wire
 * @packets: frames; a GSO packet counts its segments
 * @bytes: their bytes with Ethernet header and VLAN tag, without FCS
 */
struct traffic_value {
	__u64 packets;
	__u64 bytes;
};

/* A key with its value; free while the key is 0. */
struct traffic_cell {
	struct traffic_key key;
	struct traffic_value value;
};

/**
 * struct traffic_state - what the reader tells the programs
 * @stride: cells of a CPU, half of them per epoch, a power of two; 0: nobody reads,
 *	do not count
 * @start: where those of the epoch begin, 0 or half of @stride
 * @shift: 65 - log2(@stride)
 * @crowded: not 0: the hash maps have been used
 */
struct traffic_state {
	__u32 stride;
	__u32 start;
	__u32 shift;
	__u32 crowded;
};

#endif
