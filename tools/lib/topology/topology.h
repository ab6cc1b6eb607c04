/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TOPOLOGY_H
#define TOPOOPT_TOPOLOGY_H

/* TopologyFinder (TopoOpt, Algorithm 1): links and rings for one job. */

#include "data/graph.h"
#include "data/layout.h"

struct to_builder;
struct to_planner_knobs;

/**
 * struct to_topology - a layout, how it came about and what it is worth
 * @family: name of the family it is of, the @rank-th of to_families
 * @ports: ports of a server that AllReduce could take
 * @backbone: rings over all servers that were laid first
 * @cuts: servers without which the others are not connected: some of their
 *	ports can then not be entered from everywhere
 * @layout: links with their ports, rings and trees
 * @time: seconds that the busiest link is busy in one iteration, AllReduce and
 *	MP transfers together, as estimated while topologies are compared
 * @bound: no routes come below this many seconds, AllReduce and all
 * @shared_bound: the same where AllReduce may go over any trees
 * @byte_hops: bytes times hops of what is routed
 * @hops: hops summed over all pairs of servers
 */
struct to_topology {
	const char *family;
	unsigned int rank, ports, backbone, cuts;
	struct to_layout layout;
	double time, bound, shared_bound, byte_hops;
	uint64_t hops;
};

/**
 * to_topology_find() - topologies for @demand, the best estimate first
 * @cluster: the servers of the job, links not looked at
 * @knobs: degree, effort, seed and family count; degree and effort are set
 * @found: array, to be freed, with the layout of each
 *
 * Lines 2 and 3 of Algorithm 1 split the degree by bytes; here every family
 * makes every split, so the first is by estimate never worse than the paper's.
 * The servers are always connected: where no group spans the job, a ring over
 * all servers competes with joining the parts by single links.
 *
 * Return: how many, or -ENOMEM, or -ENOSPC when no connected topology fits the
 * ports.
 */
int to_topology_find(const struct to_cluster *cluster,
		     const struct to_demand *demand, const struct to_planner_knobs *knobs,
		     struct to_topology **found, struct to_error *err);

/**
 * to_topology_finish() - a topology of what is built already
 * @t: family, rank, backbone and ports are set; gets the rest
 * @b: its layout is taken; ports that are left connect, carry MP transfers or
 *	shorten paths
 *
 * Return: 0, -ENOMEM, or -ENOSPC when not all servers can be connected or the
 * optical switches cannot join what is needed, then with @err set.
 */
int to_topology_finish(struct to_topology *t, struct to_builder *b, struct to_error *err);

/**
 * to_topology_rate() - estimate to_topology.time, byte_hops and hops
 * @graph: of the links
 *
 * MP transfers and routed rings take shortest paths, spread in a few shares per
 * server so that the busiest link is little busy.
 *
 * Return: 0, -ENOMEM, or -ENOSPC when the links do not connect all servers.
 */
int to_topology_rate(struct to_topology *topology, const struct to_cluster *cluster,
		     const struct to_demand *demand, const struct to_graph *graph);

/**
 * to_topology_add_rings() - more rings, on links that no ring or tree owns
 * @layout: gets them
 * @most: per group, rings that it is to have at most; NULL: as many as there are
 *	links for
 *
 * One at a time, to the group with most bytes for each that it has. A group without
 * any, nor trees, gets one that shares links or takes several hops. The links need
 * not connect all servers.
 *
 * Return: 0 or -ENOMEM.
 */
int to_topology_add_rings(const struct to_cluster *cluster, const struct to_demand *demand,
			  struct to_layout *layout, const unsigned int *most);

/**
 * to_topology_share_ports() - rings where links share the ports of packet switches
 * @layout: its links and no rings; gets no more for each group than make the busiest port
 *	less busy
 * @graph: of the links
 *
 * Return: 0 or -ENOMEM.
 */
int to_topology_share_ports(const struct to_cluster *cluster, const struct to_demand *demand,
			    struct to_layout *layout, const struct to_graph *graph);

/**
 * to_topology_fixed() - rings on the links that @cluster has
 *
 * Every group gets as many rings of its own links as there are, else a ring
 * that shares links or takes several hops.
 *
 * Return: 0, -ENOMEM, or -ENOTCONN when the links do not connect all servers.
 */
int to_topology_fixed(const struct to_cluster *cluster,
		      const struct to_demand *demand,
		      struct to_layout *layout, struct to_error *err);

#endif
