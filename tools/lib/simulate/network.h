/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_NETWORK_H
#define TOPOOPT_NETWORK_H

/* Servers and packet switches, and the directed links between them. */

#include "base/error.h"
#include "data/cluster.h"
#include "data/graph.h"
#include "data/pcie.h"

/**
 * struct to_delays - what bytes wait for besides bandwidth, seconds
 * @link: from the end of a link that sends to the one that receives, where the link
 *	has no latency of its own
 * @relay: a server between the two ends of a path, to pass a packet on
 * @step: each step of a collective, and each MP transfer, to begin
 */
struct to_delays {
	double link, relay, step;
};

/** struct to_network_link - @capacity in bytes/s, @latency in seconds; @port of @from, or -1 */
struct to_network_link {
	uint32_t from, to;
	int port;
	double capacity, latency;
};

/**
 * struct to_network - vertices 0 to n_servers - 1 are servers, the others packet switches
 * @names: of all vertices
 * @links: by @from; those that leave vertex x are out[x] up to out[x + 1] - 1
 * @failed: an addition found no memory; to_network_finish() tells
 */
struct to_network {
	uint32_t n_servers, n_vertices, n_links, max_links;
	char (*names)[TO_NAME_MAX];
	struct to_network_link *links;
	uint32_t *out;
	bool failed;
	/* PCIe links behind the ports of servers, from memory and to memory; not among @links */
	uint32_t n_pcie;
	double *pcie_capacity;	/* bytes/s, of @n_pcie */
	uint32_t *first_pcie;	/* per link and one more: offset into @pcie; NULL without any */
	uint32_t *pcie;		/* below @n_pcie: what bytes on a link cross, too */
};

/** to_network_pcie_to_host() - tell whether direction @index of a PCIe link is towards memory */
static inline bool to_network_pcie_to_host(uint32_t index)
{
	return index % 2;
}

/** to_network_capacities() - count what flows share: links, and behind them PCIe links */
static inline uint32_t to_network_capacities(const struct to_network *network)
{
	return network->n_links + network->n_pcie;
}

/**
 * to_network_new() - vertices without links; servers are s0, s1, ..., switches nameless
 *
 * Return: NULL when out of memory.
 */
struct to_network *to_network_new(uint32_t n_servers, uint32_t n_switches);
void to_network_free(struct to_network *network);

/** to_network_add() - a link in one direction; after the last one to_network_finish() */
void to_network_add(struct to_network *network, uint32_t from, uint32_t to, double capacity,
		    double latency);

/** to_network_join() - links in both directions */
void to_network_join(struct to_network *network, uint32_t a, uint32_t b, double capacity,
		     double latency);

/** to_network_finish() - order the links, as they were added per vertex; 0 or -ENOMEM */
int to_network_finish(struct to_network *network);

/**
 * to_network_distances() - links from every vertex to every server
 *
 * Return: [server * n_vertices + vertex], TO_DISTANCE_NONE where there is no path, to be
 * freed; NULL when out of memory.
 */
uint16_t *to_network_distances(const struct to_network *network);

#define TO_NETWORK_LINK_NONE UINT32_MAX

/**
 * to_network_of_graph() - what the arcs of @graph are made of, with the ports of @cluster
 * @links: gets the links that an arc takes, per arc: a cable is one, and the second
 *	TO_NETWORK_LINK_NONE; through a packet switch an arc takes two, to it and from it,
 *	which are those of all arcs of the port
 *
 * Without packet switches, links are in the order of arcs. PCIe links of @cluster are
 * behind those of the ports. Return: NULL when out of memory.
 */
struct to_network *to_network_of_graph(const struct to_graph *graph,
				       const struct to_cluster *cluster, double latency,
				       uint32_t (*links)[2]);

#endif
