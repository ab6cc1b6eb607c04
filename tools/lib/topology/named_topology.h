/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_NAMED_TOPOLOGY_H
#define TOPOOPT_NAMED_TOPOLOGY_H

/* Synthetic clusters for a job: without links, or with the links of a topology that has a name. */

#include "data/cluster.h"
#include "data/demand.h"

/** TO_NAMED_TOPOLOGIES - the words that to_named_topology() takes */
#define TO_NAMED_TOPOLOGIES "mesh:n,k, bcube:n,k, rail:g, sip-ring:W,REACH or sip-ocs:Q"

/**
 * to_named_topology_none() - make a cluster without links, its servers named as in @demand
 * @degree: ports of a server
 * @bandwidth: of a port, bits/s; 0 for TO_SYNTHETIC_BANDWIDTH
 *
 * Return: the cluster, NULL with @err set.
 */
struct to_cluster *to_named_topology_none(const struct to_demand *demand, unsigned int degree,
					  uint64_t bandwidth, enum to_link_mode mode,
					  struct to_error *err);

/**
 * to_named_topology() - make a cluster with the links of topology @word
 * @word: bcube:n,k, packet switches of n ports that join servers which differ in one of the
 *	k digits, to base n, of their number; mesh:n,k, cables instead of these switches;
 *	rail:g, g ports, each on a packet switch with the ports of all servers;
 *	sip-ring:W,REACH or sip-ocs:Q, see sip.h
 * @bandwidth: of a port, bits/s; 0 for the default of the topology
 *
 * Return: the cluster, NULL with @err set.
 */
struct to_cluster *to_named_topology(const char *word, const struct to_demand *demand,
				     uint64_t bandwidth, struct to_error *err);

#endif
