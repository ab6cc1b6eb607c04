/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_WCMP_H
#define TOPOOPT_WCMP_H

/* Weighted-cost multipath: next hops and weights that minimise the maximum link utilisation. */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "data/graph.h"
#include "data/plan.h"
#include "data/port_loads.h"

#define TO_WCMP_NEXT_HOPS 32	/* next hops of a server for a destination, as in the kernel */
#define TO_WCMP_WEIGHTS TO_GROUP_SHARES	/* what their weights add up to at most */

/**
 * struct to_wcmp - a demand on its paths over the links
 * @ways: of the arcs
 * @base: per way, bytes that are on it whatever is done
 * @bytes: per way, with those of all destinations
 * @seconds_per_byte: per way
 * @n_roots: destinations that something is sent to
 * @root: these
 * @row: per server, its row in the arrays below, UINT32_MAX when nothing is
 *	sent to it
 * @demand: per row, bytes that each of n servers sends there
 * @n_reached: per row, servers that reach the destination, itself included
 * @order: per row, n servers: each after all those that it sends to, the
 *	destination first; those that do not reach it are left out
 * @flow: per row, bytes on every arc
 * @weight: per row and arc, weight of the next hop, 0 where nothing is sent;
 *	NULL before to_wcmp_round()
 *
 * The next hops for one destination never form a cycle. Demand of servers that do
 * not reach it is left out. All bytes in transit load the PCIe links of their relays, also
 * where a card passes them on: which bytes of a way these are depends on all splits before.
 */
struct to_wcmp {
	const struct to_graph *graph;
	struct to_port_loads ways;
	double *base;
	double *bytes, *seconds_per_byte;	/* of @ways */
	unsigned int n_roots;
	uint32_t *root, *row, *n_reached, *order;
	uint64_t *demand;
	float *flow;
	uint8_t *weight;
	double *damping;		/* per row, of steps */
	double stretch;
	uint16_t *distance;		/* per row, n servers: hops to the destination */
	/* prices: see wcmp_price() */
	unsigned int squarings;
	double idle, full, least_spb;
	double *price, *slope;
	/* scratch */
	double *next, *delta, *label, *curve, *far, *inflow;
	uint32_t *place, *changed, *touched, *best;
	bool *listed;
	uint64_t *used;			/* per server, arcs that it sends by, from graph.out on */
	uint16_t *hops, *room;
	struct to_arena arena;		/* has all arrays */
};

/**
 * to_wcmp_init() - with nothing routed yet
 * @demand: bytes, n x n, row = source; copied
 * @base: bytes per arc, copied
 * @stretch: most hops of any path, over those of a shortest one; >= 1
 *
 * Return: 0 or -ENOMEM.
 */
int to_wcmp_init(struct to_wcmp *wcmp, const struct to_graph *graph,
		 const struct to_cluster *cluster, const uint64_t *demand,
		 const double *base, double stretch);
void to_wcmp_free(struct to_wcmp *wcmp);

/**
 * to_wcmp_balance() - route the demand
 * @passes: over all destinations, >= 1; each takes n_roots x n_arcs steps
 *
 * A link costs a power of its load, which is raised from pass to pass. For one
 * destination after the other, servers move bytes from costly next hops to the
 * cheapest, by Newton steps on their splits (R. Gallager, "A minimum delay
 * routing algorithm using distributed computation", 1977), in an order of the
 * servers that keeps the next hops acyclic (H. Bar-Gera, "Origin-based algorithm for
 * the traffic assignment problem", 2002). A search along the step keeps what
 * they do together from costing more than before.
 */
void to_wcmp_balance(struct to_wcmp *wcmp, unsigned int passes);

/**
 * to_wcmp_round() - make integer weights express all splits
 * @passes: >= 1; from the second on they keep only what is better
 *
 * Each pass moves the bytes for one destination after the other once more, so
 * that later ones make up for what rounding did to earlier ones. Weights of a
 * server for a destination add up to a power of two up to TO_WCMP_WEIGHTS,
 * small where few bytes are split.
 *
 * Return: 0 or -ENOMEM.
 */
int to_wcmp_round(struct to_wcmp *wcmp, unsigned int passes);

/**
 * to_wcmp_apportion() - integer weights for shares of some bytes, as few as do
 *	no harm to the loads
 * @share: @n shares that add up to 1, up to TO_WCMP_NEXT_HOPS
 * @seconds: that all these bytes would keep a link busy
 * @weight: gets @n weights, as to_wcmp_round() makes them
 *
 * Return: what the weights add up to.
 */
unsigned int to_wcmp_apportion(const struct to_wcmp *wcmp, const double *share, unsigned int n,
			       double seconds, unsigned int *weight);

/** to_wcmp_busiest() - seconds that the busiest link is busy */
double to_wcmp_busiest(const struct to_wcmp *wcmp);

/**
 * to_wcmp_bound() - lower bound of to_wcmp_busiest() over all routings
 *
 * The dual of the linear program at the present prices: near the optimum
 * when the loads are.
 */
double to_wcmp_bound(struct to_wcmp *wcmp);

#endif
