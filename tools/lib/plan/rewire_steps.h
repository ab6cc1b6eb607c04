/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_REWIRE_STEPS_H
#define TOPOOPT_REWIRE_STEPS_H

/*
 * The order in which links are cut and made, so that those which stay meanwhile
 * reach all servers: where all at once would cut too many, a part waits until
 * others are made, as fabrics of optical switches are rewired while they are in
 * use (incremental rewiring).
 */

#include <stdbool.h>

#include "data/cluster.h"

/**
 * struct to_rewire_steps - the steps from old links to new ones
 * @n: how many, 0 when nothing changes
 * @whole: in each of them the links that stay reach all servers; else in all
 *	but the last one
 * @cut: per old link, the step that cuts it, from 0; @n for one that stays
 * @made: per new link, the step that makes it; @n for one that was there
 *
 * A port has one link at a time, so a link is made when those of its ports are
 * cut. On a ring that is no step: two links that are cut part it, and the ports
 * of one have no other partner than each other. With three ports per server and
 * duplex links there always was one in all that was tried.
 */
struct to_rewire_steps {
	unsigned int n;
	bool whole;
	unsigned int *cut, *made;
};

/**
 * to_rewire_steps_make() - few steps from the links of @old to @links
 * @links: between ports of the same servers
 *
 * Each step takes all that it can, in an order that follows cut and made links
 * from port to port; what no step can take is done at once at the end.
 *
 * Return: 0 or -ENOMEM.
 */
int to_rewire_steps_make(const struct to_cluster *old, const struct to_link *links,
			 unsigned int n_links, struct to_rewire_steps *steps);
void to_rewire_steps_free(struct to_rewire_steps *steps);

/**
 * to_rewire_steps_links() - links that are lit when step @step begins
 * @links: room for those of both sides; those that the step leaves come first
 * @n_stay: gets how many these are
 *
 * Return: how many in all.
 */
unsigned int to_rewire_steps_links(const struct to_rewire_steps *steps,
				   const struct to_cluster *old, const struct to_link *next,
				   unsigned int n_next, unsigned int step,
				   struct to_link *links, unsigned int *n_stay);

#endif
