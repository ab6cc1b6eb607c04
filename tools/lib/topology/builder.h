/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_BUILDER_H
#define TOPOOPT_BUILDER_H

/*
 * A layout in the making: what is left of the ports of every server, and
 * the steps of Algorithm 1 that use them up.
 */

#include <stdbool.h>

#include "data/demand.h"
#include "data/graph.h"
#include "data/layout.h"

/**
 * struct to_builder - links and rings so far
 * @duplex: a link takes one port at both ends; else a transmitter at one and a
 *	receiver at the other
 * @transmit, @receive: ports left, per server; one array on duplex links
 * @reserved: of these, kept for rings: what is left of d_AllReduce, per server
 * @effort: TO_EFFORT_MIN to TO_EFFORT_MAX
 */
struct to_builder {
	const struct to_cluster *cluster;
	const struct to_demand *demand;
	unsigned int n, degree, effort;
	bool duplex;
	uint64_t seed;
	unsigned int *transmit, *receive, *reserved;
	struct to_layout layout;
};

/**
 * to_builder_init() - nothing built yet
 * @reserve: d_AllReduce, ports of a server that rings may take
 *
 * Return: 0 or -ENOMEM.
 */
int to_builder_init(struct to_builder *b, const struct to_cluster *cluster,
		    const struct to_demand *demand, unsigned int degree,
		    unsigned int reserve, uint64_t seed, unsigned int effort);
void to_builder_free(struct to_builder *b);

/**
 * to_builder_link() - use a port of @x and one of @y
 * @ring: as in struct to_link
 */
void to_builder_link(struct to_builder *b, uint32_t x, uint32_t y,
		     enum to_link_use use, int ring);

/**
 * to_builder_ring() - link a ring, and record it
 * @order: servers in ring order, taken over
 * @jump: as in struct to_ring
 * @group: that the ring reduces; -1 when it is only there to connect
 */
void to_builder_ring(struct to_builder *b, uint32_t *order, unsigned int n,
		     unsigned int jump, int group);

/**
 * typedef to_builder_lay - how a family lays the rings of one group
 * @members: servers of the group
 * @n: how many, 2 or more
 * @n_rings: how many to_builder_ring()s it must make; ports are there
 * @group: for to_builder_ring()
 *
 * Return: 0 or -ENOMEM.
 */
typedef int to_builder_lay(struct to_builder *b, const uint32_t *members,
			   unsigned int n, unsigned int n_rings, int group);

/**
 * to_builder_lay_all() - rings of all groups (lines 5 to 11)
 * @backbone: rings over all servers, laid first. They are those of the group of
 *	all servers that reduces most; where there is none they are only there to
 *	connect.
 *
 * Return: 0 or -ENOMEM.
 */
int to_builder_lay_all(struct to_builder *b, unsigned int backbone, to_builder_lay *lay);

/** to_builder_connect() - join parts by single links. 0, -ENOMEM, -ENOSPC. */
int to_builder_connect(struct to_builder *b);

/** to_builder_match() - links for MP transfers (lines 13 to 18) */
int to_builder_match(struct to_builder *b);

/** to_builder_shorten() - use up the ports left on far pairs */
int to_builder_shorten(struct to_builder *b);

/**
 * to_builder_share() - rings over several hops for groups without ring or tree
 * @graph: of the links
 */
int to_builder_share(struct to_builder *b, const struct to_graph *graph);

#endif
