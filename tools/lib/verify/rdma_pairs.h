/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RDMA_PAIRS_H
#define TOPOOPT_RDMA_PAIRS_H

/* Pairs that RDMA reaches, where not every port takes RoCEv2 in transit. */

#include "data/plan.h"

/** struct to_rdma_pairs - pairs of a server and a port address of another server */
struct to_rdma_pairs {
	uint64_t pairs;		/* that routes join: TCP reaches them */
	uint64_t reached;	/* of @pairs, that RDMA reaches, too */
};

/** to_rdma_pairs_limited() - tell whether the kernel does not take all RoCEv2 in transit */
bool to_rdma_pairs_limited(const struct to_cluster *cluster);

/**
 * to_rdma_pairs_find() - count pairs that RDMA reaches
 * @src: source of the pairs, TO_SERVER_NONE for all servers
 * @pairs: set
 *
 * RDMA reaches a port where every relay on all paths of the tables takes RoCEv2 on: the
 * kernel of a port whose transit is "kernel", the card of one whose transit is "nic", to
 * ports of that card alone. Backups and routes of single sources are not looked at.
 *
 * Return: 0 or -ENOMEM.
 */
int to_rdma_pairs_find(const struct to_plan *plan, uint32_t src, struct to_rdma_pairs *pairs);

#endif
