/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ALLREDUCE_LATENCY_H
#define TOPOOPT_ALLREDUCE_LATENCY_H

/*
 * What the steps of AllReduce take beside the bytes that links carry.
 *
 * A message takes a step latency, for which its port is busy, and a relay latency more at
 * each server that passes it on; then the bytes follow (the alpha-beta model, with
 * a message at a time for each port).
 */

#include "routing/forwarding.h"

/** struct to_latency_parts - seconds of an iteration, and a lower bound of any algorithm */
struct to_latency_parts {
	double seconds, bound;
};

/**
 * to_allreduce_tree_latency() - seconds of a pipelined reduction and broadcast
 * @depth: hops from the deepest leaf to the root
 * @path: seconds of latency from there to the root
 * @step: seconds of a message
 * @busy: seconds that the bytes keep the busiest link busy
 *
 * In c chunks, the first passes 2 @depth hops, and the others follow a message apart. Of
 * all c, the one that takes least: about the root of (2 @depth - 1) @busy / @step
 * (Sanders, Speck and Träff, 2009).
 *
 * Return: what that takes beside @busy.
 */
double to_allreduce_tree_latency(unsigned int depth, double path, double step, double busy);

/**
 * to_allreduce_latency() - find the latency of rings and trees, of a plan that has latencies
 * @busy: seconds that AllReduce keeps the busiest link busy
 *
 * A ring of n takes 2(n - 1) steps, recursive halving twice the levels of its hypercube.
 * Each call of a group begins anew. The groups of a server follow each other, in parts of
 * @busy by their bytes; those that share no server run at once. Routes of single sources
 * are not looked at.
 *
 * The bound: what a server has, others know after a step one for each of its ports, so
 * that n know it after log n to the base of one more than these (Bruck et al., "Efficient
 * algorithms for all-to-all communications in multiport message-passing systems", 1997).
 *
 * Return: 0 or -ENOMEM.
 */
int to_allreduce_latency(struct to_forwarding *f, double busy, struct to_latency_parts *parts);

#endif
