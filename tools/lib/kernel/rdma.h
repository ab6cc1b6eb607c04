/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RDMA_H
#define TOPOOPT_RDMA_H

/* RDMA devices of network interfaces, as sysfs shows them. */

#include "base/address.h"

/**
 * struct to_rdma_port - port of an RDMA device
 * @device: "" when there is none
 * @gid: the one that is RoCEv2 with the planned address, -1 when there is none
 * @before: one before it that is RoCEv2 of IPv4, too, -1 when there is none
 */
struct to_rdma_port {
	char device[64], port[8];
	int gid, before;
};

/**
 * to_rdma_find() - the RDMA device of interface @name
 * @address: the planned one, of which IPv4 goes first; NULL when there is no plan
 */
void to_rdma_find(struct to_rdma_port *found, const char *name,
		  const struct to_address *address);

#endif
