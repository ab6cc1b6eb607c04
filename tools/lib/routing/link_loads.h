/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LINK_LOADS_H
#define TOPOOPT_LINK_LOADS_H

/* What the tables of a plan put on its links. */

#include "routing/forwarding.h"

/**
 * to_link_loads() - bytes per arc and iteration, from rings and tables
 * @rings: gets those of rings on their own links, and of rings that are routed
 * @mp: gets those of MP transfers
 *
 * Return: 0 or -ENOMEM.
 */
int to_link_loads(struct to_forwarding *f, double *rings, double *mp);

/** struct to_link_bypass - what cards pass on: of AllReduce, and of MP transfers */
struct to_link_bypass {
	struct to_bypass rings, mp;
};

/** to_link_loads_bypass() - find the loads of links, and of these what cards pass on */
int to_link_loads_bypass(struct to_forwarding *f, double *rings, double *mp,
			 struct to_link_bypass *bypass);

/**
 * to_link_loads_rdma() - bytes per arc and iteration of MP transfers by RDMA
 * @routed: gets those of queue pairs on the ports that their servers' tables send by
 * @bound: gets those of queue pairs on all ports of their servers alike. A queue pair
 *	sends by its own port, whatever the table says, so packets may come back through
 *	their source, follow alternates, and enter their destination by a wrong port,
 *	which it leaves once more by the right one.
 *
 * Transfers divide over the ports of their destination as the plan says, or over all
 * alike when it does not say. Without routes of single sources.
 *
 * Return: 0 or -ENOMEM.
 */
int to_link_loads_rdma(struct to_forwarding *f, double *routed, double *bound);

#endif
