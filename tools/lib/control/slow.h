/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SLOW_H
#define TOPOOPT_SLOW_H

/*
 * Ports that run at a lower rate than the plan's: 25 of 100 Gbit/s, as a transceiver negotiated.
 *
 *	as planned --(slow at two looks in a row)--> held --(the plan's rate for its hold-down)--> as planned
 *
 * A port is slow when its NIC runs at less than 95 % of what the plan has for its cable. While
 * it is held it is planned for with its share of the rate that was seen last. One without light
 * has no rate. Virtual interfaces have none worth the name.
 */

#include <jansson.h>

#include "control/hold.h"
#include "data/cluster.h"

#define TO_SLOW_SHARE 0.95	/* of the plan's rate, which a port has to run at */

/** struct to_slow_port - one port */
struct to_slow_port {
	struct to_hold hold;
	bool low;		/* it was slow at the last look */
	uint64_t bandwidth;	/* its share of the rate that was seen last, bits/s, while it is held */
};

/** struct to_slow - all ports of a cluster, TO_PORTS_MAX for each server */
struct to_slow {
	uint64_t hold_ns;	/* least time at the plan's rate before a port is as planned */
	unsigned int n_servers, n_held;
	struct to_slow_port *ports;
};

/**
 * to_slow_init() - begin with the ports held that run slower in @now than in @cluster
 * @now: cluster of the plan in force, with the same servers; it may be @cluster
 *
 * Return: 0 or -ENOMEM.
 */
int to_slow_init(struct to_slow *slow, uint64_t hold_ns, const struct to_cluster *cluster,
		 const struct to_cluster *now, uint64_t now_ns);
void to_slow_free(struct to_slow *slow);

/**
 * to_slow_look() - judge a port by a look at its server
 * @at: port of @cluster
 * @mbits: rate of its NIC, Mbit/s; 0: not known
 *
 * Return: whether it is held, is as planned again, or is held with another rate from now on.
 */
bool to_slow_look(struct to_slow *slow, const struct to_cluster *cluster, struct to_port_ref at,
		  uint64_t mbits, uint64_t now_ns);

/** to_slow_port() - Return what is known of port @at */
const struct to_slow_port *to_slow_port(const struct to_slow *slow, struct to_port_ref at);

/** to_slow_bandwidth() - Return what to plan for port @at of @cluster with, bits/s */
uint64_t to_slow_bandwidth(const struct to_slow *slow, const struct to_cluster *cluster,
			   struct to_port_ref at);

#endif
