/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_COST_H
#define TOPOOPT_COST_H

/*
 * What a network costs, by component and server: TopoOpt section 5.2, Figure 11. Every
 * server has @degree interfaces of @bandwidth, or as many lanes of that speed into a tree
 * of switches. Figures are a server's share, also of switches: trees are full.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cost/prices.h"

/**
 * enum to_cost_fabric - what the servers are joined by; the names are to_cost_fabrics[]
 * @TO_COST_TOPOOPT: patch panels, 2 of them an interface with a 1x2 switch before (look-ahead)
 * @TO_COST_TOPOOPT_RECONFIG: optical switches, one an interface
 * @TO_COST_IDEAL: fat-tree of full bisection bandwidth
 * @TO_COST_EQUIVALENT: the same with as much bandwidth as the price of TO_COST_TOPOOPT buys
 * @TO_COST_OVERSUBSCRIBED: the fat-tree with a part of its links above the ToR switches
 * @TO_COST_SIP_ML: silicon photonics, a wavelength an interface
 * @TO_COST_EXPANDER: cables between servers
 */
enum to_cost_fabric {
	TO_COST_TOPOOPT,
	TO_COST_TOPOOPT_RECONFIG,
	TO_COST_IDEAL,
	TO_COST_EQUIVALENT,
	TO_COST_OVERSUBSCRIBED,
	TO_COST_SIP_ML,
	TO_COST_EXPANDER,
	TO_COST_FABRICS,
};

/** Names of the fabrics, NULL-terminated. */
extern const char *const to_cost_fabrics[];

/** enum to_cost_key - assumptions where the paper is silent */
enum to_cost_key {
	TO_COST_OPTICAL_FIBRES,
	TO_COST_FIBRE_LENGTH,
	TO_COST_LOOK_AHEAD,
	TO_COST_OCS_EXTRA,
	TO_COST_TREE_LEVELS,
	TO_COST_OVERSUBSCRIPTION,
	TO_COST_KEYS,
};

/**
 * struct to_cost_assumption - one of them
 * @value: by default
 * @whole: whole numbers only
 */
struct to_cost_assumption {
	const char *name;
	double value, min, max;
	bool whole;
	const char *help;
};

extern const struct to_cost_assumption to_cost_assumptions[TO_COST_KEYS];

/** struct to_cost_setting - what is priced; @assume by enum to_cost_key */
struct to_cost_setting {
	unsigned int servers, degree;
	uint64_t bandwidth;
	double assume[TO_COST_KEYS];
};

/** to_cost_assume_defaults() - fill to_cost_setting.assume */
void to_cost_assume_defaults(struct to_cost_setting *setting);

/** to_cost_assume() - set one, of "KEY=VALUE". Return: 0 or -EINVAL with @err set. */
int to_cost_assume(struct to_cost_setting *setting, const char *text, struct to_error *err);

/** struct to_cost_part - @count components a server, each for @each */
struct to_cost_part {
	const char *name;
	double count;
	struct to_price each;
};

/**
 * struct to_cost - of one fabric
 * @parts: its components, @n_parts of them
 * @server: sum of a server
 * @bandwidth: that a server has into the fabric, bits/s
 * @ports: that each panel or optical switch needs, one a server; 0 where there is none
 * @ports_sold: that the largest one has
 */
struct to_cost {
	struct to_cost_part parts[6];
	unsigned int n_parts;
	struct to_price server;
	double bandwidth;
	unsigned int ports, ports_sold;
};

/**
 * to_cost() - price @fabric
 *
 * Return: 0; -ENOENT without a price of a component, which @err names.
 */
int to_cost(const struct to_cost_setting *setting, const struct to_prices *prices,
	    enum to_cost_fabric fabric, struct to_cost *cost, struct to_error *err);

#endif
