/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PREDICT_H
#define TOPOOPT_PREDICT_H

/* What a plan does with its demand, beside what no topology could better. */

#include <jansson.h>

#include "verify/allreduce_latency.h"
#include "verify/flow_split.h"
#include "verify/pcie_load.h"
#include "verify/route_hops.h"

/**
 * struct to_figures - figures of a plan and their bounds
 * @family: see to_family_name()
 * @degree: most cables of a server: ports, of functions that share a cable one
 * @ports: most ports of a server
 * @reach: most servers that a server reaches at one hop: @degree, but for packet switches
 * @diameter, @mean_hops: over all pairs of servers; the bounds are Moore's for
 *	@reach: d servers at one hop, then d - 1 (duplex) or d (simplex) more for each
 * @hops: of the routes, zero before to_predict_routes(); @diameter and @mean_hops are
 *	those of shortest paths
 * @max_mp_link_load: bytes of MP transfers on the link that carries most of them, or
 *	through the port of a packet switch, per direction and iteration; the bound is
 *	egress or ingress of a server over its ports, or the bytes of every server sorted and laid on Moore
 *	distances, over all ports
 * @max_mp_link_load_rdma: the same when all of them are RDMA, on the routes to the
 *	addresses of ports, divided over these as the plan says, by queue pairs on
 *	the ports that the tables of their servers send by; without routes of
 *	single sources
 * @max_mp_link_load_rdma_ports: the same by queue pairs on all ports of their
 *	servers alike, see to_link_loads_rdma()
 * @max_mp_link_load_flows: the same when each transfer is so many flows, see
 *	flow_split.h; zero before to_predict_flows()
 * @max_link_load: @max_mp_link_load with AllReduce
 * @bandwidth_tax: bytes on links for each byte of demand; the bound has MP
 *	bytes on Moore distances
 * @allreduce_time: seconds that the busiest link is busy with AllReduce, be it a PCIe
 *	link; the bound is 2(n - 1) times the buffer over all ports of a group, or the
 *	buffers of a server over its ports, which is all that a leaf of a tree
 *	sends; ports are as fast as the PCIe links behind them let them be together
 * @allreduce_pcie: busiest PCIe link of AllReduce alone
 * @allreduce_latency: what its steps take beside, see allreduce_latency.h; 0 where the plan
 *	does not say latencies
 * @comm_time: seconds that the busiest link is busy in one iteration, or the busiest port
 *	of a packet switch, or the busiest PCIe link
 * @comm_pcie: that PCIe link
 */
struct to_figures {
	const char *family;
	unsigned int servers, degree, ports, reach, links;
	unsigned int diameter, diameter_bound;
	double mean_hops, mean_hops_bound;
	struct to_route_hops hops;
	double max_mp_link_load, max_mp_link_load_bound;
	double max_mp_link_load_rdma, max_mp_link_load_rdma_ports;
	struct to_flow_split max_mp_link_load_flows[TO_FLOW_SPLIT_COUNTS];
	double max_link_load, max_link_load_bound;
	double bandwidth_tax, bandwidth_tax_bound;
	double allreduce_time, allreduce_time_bound;
	struct to_pcie_load allreduce_pcie;
	struct to_latency_parts allreduce_latency;
	double comm_time, comm_time_bound;
	struct to_pcie_load comm_pcie;
};

/** to_predict_figures() - all figures but hops of routes and flows. Return: 0 or -ENOMEM. */
int to_predict_figures(struct to_forwarding *f, struct to_figures *figures);

/** to_predict_time() - seconds of communication, and what AllReduce waits for beside bandwidth */
static inline double to_predict_time(const struct to_figures *figures)
{
	return figures->comm_time + figures->allreduce_latency.seconds;
}

/** to_predict_routes() - also hops of routes. Return: 0 or -ENOMEM. */
int to_predict_routes(struct to_forwarding *f, struct to_figures *figures);

/**
 * to_predict_flows() - also those of flows
 *
 * It draws many paths of each transfer, which takes as long as making a plan does.
 *
 * Return: 0 or -ENOMEM.
 */
int to_predict_flows(struct to_forwarding *f, struct to_figures *figures);

/** to_predict_plan() - predict the figures of a plan */
int to_predict_plan(const struct to_plan *plan, struct to_figures *figures);

/** to_predict_plan_routes() - predict figures and hops of routes of a plan */
int to_predict_plan_routes(const struct to_plan *plan, struct to_figures *figures);

/** to_predict_plan_flows() - predict figures, hops of routes and figures of flows of a plan */
int to_predict_plan_flows(const struct to_plan *plan, struct to_figures *figures);

/**
 * to_predict_bounds() - the bounds alone, of a plan that may have no links yet
 *
 * That of the bandwidth tax is in bytes on links still. Return: 0 or -ENOMEM.
 */
int to_predict_bounds(const struct to_plan *plan, struct to_figures *figures);

/**
 * to_predict_moore() - most servers that can be exactly @hops away (Moore)
 * @first: ports of the server itself
 * @degree: ports of all others
 */
double to_predict_moore(unsigned int first, unsigned int degree, bool duplex, unsigned int hops);

/** to_predict_json() - JSON object of the figures of @plan, NULL when out of memory */
json_t *to_predict_json(const struct to_plan *plan, const struct to_figures *figures);

#endif
