/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_BUSY_TIME_H
#define TOPOOPT_BUSY_TIME_H

/*
 * How long a plan's busiest link is busy with traffic that was measured; behind a packet
 * switch, the busiest port; or the busiest PCIe link.
 */

#include "data/port_loads.h"
#include "routing/forwarding.h"
#include "routing/link_loads.h"

/**
 * struct to_busy_time - a plan, to price one matrix after the other on it
 * @plan: held
 * @parts: paths to every server: those to server d are @first[d] to @first[d + 1] - 1.
 *	NULL where sources have routes of their own, or cards pass bytes on
 * @bypass: what cards pass on
 * @load: scratch: bytes per arc, of two kinds
 * @flow: scratch: bytes per server, to as many destinations as are taken at a time
 */
struct to_busy_time {
	struct to_plan *plan;
	struct to_graph *graph;
	struct to_port_loads ports;
	struct to_link_bypass bypass;
	struct to_part *parts;
	uint32_t *first;
	double *load, *flow;
};

/** to_busy_time_init() - read the tables of @plan. Return: 0 or -ENOMEM. */
int to_busy_time_init(struct to_busy_time *busy, const struct to_plan *plan);
void to_busy_time_free(struct to_busy_time *busy);

/**
 * to_busy_time_of() - seconds that the busiest link is busy with @demand
 * @demand: measured bytes, AllReduce told from MP transfers, in the groups of the plan's
 * @load: gets bytes per arc of @busy->graph; NULL when nobody asks
 *
 * Return: 0 or -ENOMEM.
 */
int to_busy_time_of(struct to_busy_time *busy, const struct to_demand *demand, double *load,
		    double *seconds);

/**
 * to_busy_time_bound() - lower bound of that, whatever the links and routes
 * @bytes: n x n, row = source
 *
 * No server sends or receives faster than through all of its ports, or the PCIe links
 * behind them; and all links
 * together carry each byte once, twice where its server has no port left for its
 * destination.
 */
double to_busy_time_bound(const struct to_cluster *cluster, const uint64_t *bytes);

#endif
