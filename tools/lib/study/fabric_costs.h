/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FABRIC_COSTS_H
#define TOPOOPT_FABRIC_COSTS_H

/* What fabrics cost, one by component or all beside each other, as text and JSON. */

#include <jansson.h>

#include "cost/cost.h"

/** struct to_fabric_costs - prices, and what fabrics cost by them */
struct to_fabric_costs {
	struct to_cost_setting setting;
	struct to_prices *prices;
	struct to_cost cost[TO_COST_FABRICS];
	struct to_error why[TO_COST_FABRICS];	/* why a fabric has no price, or empty */
};

/** to_fabric_costs_load() - load prices of @path, NULL for the paper's; 0 or a negative errno */
int to_fabric_costs_load(struct to_fabric_costs *all, const char *path, struct to_error *err);
void to_fabric_costs_free(struct to_fabric_costs *all);

/** to_fabric_costs_of() - price @fabric; 0 or a negative errno with @err set */
int to_fabric_costs_of(struct to_fabric_costs *all, enum to_cost_fabric fabric,
		       struct to_error *err);

/** to_fabric_costs_all() - price all fabrics; 0 or a negative errno with @err set */
int to_fabric_costs_all(struct to_fabric_costs *all, struct to_error *err);

/** to_fabric_costs_print() - print components of @fabric as text */
void to_fabric_costs_print(const struct to_fabric_costs *all, enum to_cost_fabric fabric);

/** to_fabric_costs_compare() - print all fabrics beside each other as text */
void to_fabric_costs_compare(const struct to_fabric_costs *all);

/** to_fabric_costs_json() - make JSON of @fabric, or of all for TO_COST_FABRICS */
json_t *to_fabric_costs_json(const struct to_fabric_costs *all, enum to_cost_fabric fabric);

#endif
