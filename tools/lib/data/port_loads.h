/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PORT_LOADS_H
#define TOPOOPT_PORT_LOADS_H

/*
 * What links put on the ports at their ends, and on the PCIe links behind these. A cable is
 * one way in each direction. A port on a packet switch has a link to each other port there
 * and its bandwidth once, which makes two ways: out and in. A PCIe link is a way out for all
 * bytes that leave its server by its ports, and a way in for all that arrive by them.
 */

#include <stdint.h>

#include "base/arena.h"
#include "data/graph.h"
#include "data/pcie.h"

/** struct to_port_loads - bytes on all ways */
struct to_port_loads {
	const struct to_graph *graph;	/* borrowed */
	/*
	 * Ways. The first graph->n_arcs belong to the arcs of these numbers: cables without
	 * PCIe links. An arc that shares ways has others, after those, and nothing is on its own.
	 */
	uint32_t n;
	uint32_t n_ports;	/* ways through ports; PCIe links have those after them */
	uint32_t *first;	/* per arc and one more: offset into @way */
	uint32_t *way;		/* ways of arc a: way[first[a]] to way[first[a + 1] - 1]; out first */
	double *bytes;		/* per way */
	double *seconds_per_byte;	/* per way; of an arc that shares ways, of the slowest */
	struct to_pcie_way *pcie;	/* of way n_ports + i: pcie[i] */
	struct to_arena arena;	/* has all arrays */
};

/** to_port_loads_init() - begin with the links of @graph between @cluster's ports; 0 or -ENOMEM */
int to_port_loads_init(struct to_port_loads *loads, const struct to_graph *graph,
		       const struct to_cluster *cluster);
void to_port_loads_free(struct to_port_loads *loads);

/** to_port_loads_shares() - tell whether the bytes of @arc are on ways that other arcs share */
static inline bool to_port_loads_shares(const struct to_port_loads *loads, uint32_t arc)
{
	return loads->n > loads->graph->n_arcs && loads->way[loads->first[arc]] != arc;
}

/** to_port_loads_set() - load all ways with @bytes, per arc */
void to_port_loads_set(struct to_port_loads *loads, const double *bytes);

/** to_port_loads_most() - bytes through the port with most of them, one way */
double to_port_loads_most(const struct to_port_loads *loads);

/** to_port_loads_way_seconds() - seconds that the bytes on @way keep it busy */
static inline double to_port_loads_way_seconds(const struct to_port_loads *loads, uint32_t way)
{
	return loads->bytes[way] * loads->seconds_per_byte[way];
}

/** to_port_loads_seconds() - seconds that the busiest way is busy */
double to_port_loads_seconds(const struct to_port_loads *loads);

/** Times that are this part of another differ by no more than the rounding of a plan file. */
#define TO_PORT_LOADS_EQUAL (1 - 1e-6)

/**
 * to_port_loads_pcie() - find the busiest way of a PCIe link
 *
 * Return: the first of those that are as busy, UINT32_MAX if there is no PCIe link.
 */
uint32_t to_port_loads_pcie(const struct to_port_loads *loads);

#endif
