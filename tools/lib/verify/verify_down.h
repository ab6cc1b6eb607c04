/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_VERIFY_DOWN_H
#define TOPOOPT_VERIFY_DOWN_H

/* What a plan's tables do while given ports and servers are down, before anybody repairs it. */

#include "data/down.h"
#include "data/pcie.h"
#include "verify/verify.h"

/**
 * struct to_verify_down - what is lost, and what the rest carries
 * @pairs: of a server and an address, both alive, whose packets arrive while nothing
 *	is broken
 * @cases: those among them whose packets meet what is down
 * @looping: of the cases that are not covered, those whose packets can go round until
 *	their TTL ends
 * @n_unprotected, @unprotected: the first of cases.uncovered; no link is named
 * @max_mp_link_load, @max_link_load, @comm_time: as in to_figures, with the packets
 *	where the kernel sends them; flows spread over next hops by weight
 * @busiest: the port of @comm_time, if that is not 0; of a cable the one that sends
 * @receives: it is busy with what comes to it over a packet switch, or to a PCIe link
 * @pcie_binds: the busiest is @pcie, a PCIe link behind @busiest
 * @left_out: bytes of the demand that nothing is known to carry: of servers that are
 *	down, and of pairs whose packets can be lost
 *
 * Hops of rings and trees whose link is dark go to the node address of the next server,
 * as TCP does; RDMA needs other NICs. What is sent over a packet switch to a port that is
 * down is lost: only its own server sees that. Cards pass nothing on: all bytes in transit
 * cross the PCIe links of their relays.
 */
struct to_verify_down {
	uint64_t pairs, looping;
	struct to_failure_cases cases;
	unsigned int n_unprotected;
	struct to_unprotected unprotected[TO_UNPROTECTED_MAX];
	double max_mp_link_load, max_link_load, comm_time;
	struct to_port_ref busiest;
	bool receives, pcie_binds;
	struct to_pcie_way pcie;
	double left_out;
};

/**
 * to_verify_down() - what becomes of packets and loads
 * @plan: without violations
 * @down: of its cluster; several failures at once are several of its names
 *
 * Return: 0 or -ENOMEM.
 */
int to_verify_down(const struct to_plan *plan, const struct to_down *down,
		   struct to_verify_down *found);

/** to_verify_down_takes_nic() - tell whether a server that is up loses the RDMA NIC of a port */
bool to_verify_down_takes_nic(const struct to_cluster *cluster, const struct to_down *down,
			      struct to_port_ref at);

/** to_verify_down_json() - JSON object of what is down and lost, NULL when out of memory */
json_t *to_verify_down_json(const struct to_plan *plan, const struct to_down *down,
			    const struct to_verify_down *found);

#endif
