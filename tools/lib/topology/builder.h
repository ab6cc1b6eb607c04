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
#include "topology/planner_knobs.h"

/**
 * struct to_builder - links and rings of a layout in the making
 *
 * Arrays have an entry per server.
 */
struct to_builder {
	const struct to_cluster *cluster;	/* servers and their ports */
	const struct to_demand *demand;		/* what the job sends */
	struct to_planner_knobs knobs;		/* degree, effort and seed count here */
	unsigned int n;			/* servers */
	bool duplex;			/* a link takes a port at both ends, else a transmitter and a receiver */
	unsigned int *transmit;		/* ports left to send by */
	unsigned int *receive;		/* ports left to receive by; @transmit on duplex links */
	unsigned int *reserved;		/* ports left of d_AllReduce, which are kept for rings */
	struct to_layout layout;	/* links, rings and trees so far */
};

/**
 * to_builder_init() - begin a layout without links and rings
 * @reserve: d_AllReduce, ports of a server that rings may take
 * @knobs: copied; degree and effort are set
 *
 * Return: 0 or -ENOMEM.
 */
int to_builder_init(struct to_builder *b, const struct to_cluster *cluster,
		    const struct to_demand *demand, unsigned int reserve,
		    const struct to_planner_knobs *knobs);
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
