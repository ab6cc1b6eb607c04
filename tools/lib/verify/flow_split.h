/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FLOW_SPLIT_H
#define TOPOOPT_FLOW_SPLIT_H

/*
 * What MP transfers put on links when each is a few flows, which the kernel does not
 * divide: the loads of link_loads.h are the mean of many.
 */

#include "routing/forwarding.h"

#define TO_FLOW_SPLIT_COUNTS 3	/* numbers of flows per pair that are looked at */
#define TO_FLOW_SPLIT_DRAWS 100
#define TO_FLOW_SPLIT_SEED 1

/** Flows that the MP transfer of a pair consists of, each with an equal part of it. */
extern const unsigned int to_flow_split_counts[TO_FLOW_SPLIT_COUNTS];

/**
 * struct to_flow_split - bytes of MP transfers on the link that carries most of them,
 *	per direction and iteration
 * @mean, @p99: mean and 99th percentile of TO_FLOW_SPLIT_DRAWS draws
 */
struct to_flow_split {
	double mean, p99;
};

/**
 * to_flow_split_buckets() - how many of the kernel's buckets every next hop has
 * @weight: @n weights, none of which is below 1/256 of them all
 * @buckets: gets @n numbers that add up to 256
 *
 * As kmod/nexthop.c has it: in proportion, rounded down, then one more for the largest
 * remainders.
 */
void to_flow_split_buckets(const uint32_t *weight, unsigned int n, unsigned int *buckets);

/**
 * to_flow_split_find() - draw the paths of all flows
 * @split: gets one for each of to_flow_split_counts
 *
 * At each server a flow gets one of 256 buckets, all alike, and with it the next hop.
 * Servers choose independently: each has a hash seed of its own. Same plan, same
 * draws.
 *
 * Return: 0 or -ENOMEM.
 */
int to_flow_split_find(struct to_forwarding *f, struct to_flow_split *split);

#endif
