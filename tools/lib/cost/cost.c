// SPDX-License-Identifier: GPL-2.0-or-later
#include "cost/cost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const to_cost_fabrics[] = {
	"topoopt", "topoopt-reconfig", "ideal", "cost-equivalent", "oversubscribed", "sip-ml",
	"expander", NULL
};

const struct to_cost_assumption to_cost_assumptions[TO_COST_KEYS] = {
	{ "optical-fibres", 1, 0, 8, false, "fibres an interface to panels or optical switches" },
	{ "fibre-length", 500, 0, 100000, false, "metres of a fibre, mean" },
	{ "look-ahead", 1, 0, 1, true, "1: two panels an interface and a 1x2 switch; 0: one panel" },
	{ "ocs-extra", 0, 0, 1e6, false, "USD more for an interface to an optical switch" },
	{ "tree-levels", 3, 1, 3, true, "levels of switches in a tree: 3 is a fat-tree, 1 one switch" },
	{ "oversubscription", 2, 1, 64, false, "of the oversubscribed tree, above its ToR switches" },
};

void to_cost_assume_defaults(struct to_cost_setting *setting)
{
	for (unsigned int k = 0; k < TO_COST_KEYS; k++)
		setting->assume[k] = to_cost_assumptions[k].value;
}

int to_cost_assume(struct to_cost_setting *setting, const char *text, struct to_error *err)
{
	size_t len = strcspn(text, "=");
	char names[256] = "", *end;
	double value;

	for (unsigned int k = 0; k < TO_COST_KEYS; k++) {
		const struct to_cost_assumption *a = &to_cost_assumptions[k];
		size_t used = strlen(names);

		snprintf(names + used, sizeof(names) - used, "%s%s", k ? ", " : "", a->name);
		if (!text[len] || strlen(a->name) != len || strncmp(a->name, text, len))
			continue;
		value = strtod(text + len + 1, &end);
		if (end == text + len + 1 || *end || !(value >= a->min && value <= a->max) ||
		    (a->whole && value != floor(value)))
			return to_error_set(err, -EINVAL, "%s: expected %s from %g to %g, not \"%s\"",
					    a->name, a->whole ? "a whole number" : "a number",
					    a->min, a->max, text + len + 1);
		setting->assume[k] = value;
		return 0;
	}
	return to_error_set(err, -EINVAL, "expected KEY=VALUE with a key of %s, not \"%s\"", names,
			    text);
}

static void cost_add(struct to_cost *cost, const char *name, double count, struct to_price each)
{
	if (!(count > 0))
		return;
	cost->parts[cost->n_parts++] = (struct to_cost_part){ name, count, each };
	cost->server.usd += count * each.usd;
	cost->server.watts += count * each.watts;
}

static void cost_add_fibres(struct to_cost *cost, const struct to_cost_setting *s,
			    const struct to_prices *prices, double count)
{
	struct to_price fibre = {
		.usd = s->assume[TO_COST_FIBRE_LENGTH] * prices->fibre_usd_per_m
	};

	cost_add(cost, "fibre", count, fibre);
}

/*
 * @lanes a server into a tree. A lane has one link to its ToR switch and a share of the
 * levels above, of which each is 1 / @oversubscription of the lane.
 */
static void cost_tree(struct to_cost *cost, const struct to_cost_setting *s,
		      const struct to_prices *prices, const struct to_speed_prices *speed,
		      double lanes, double oversubscription)
{
	double uplinks = (s->assume[TO_COST_TREE_LEVELS] - 1) / oversubscription;

	cost_add(cost, "NIC", lanes, speed->nic);
	cost_add(cost, "transceiver", lanes * 2 * (1 + uplinks), speed->transceiver);
	cost_add(cost, "switch port", lanes * (1 + 2 * uplinks), speed->switch_port);
	cost_add_fibres(cost, s, prices, lanes * (1 + uplinks));
	cost->bandwidth = lanes * s->bandwidth;
}

/* Interfaces that meet at panels or optical switches, one port of each for a server. */
static void cost_optical(struct to_cost *cost, const struct to_cost_setting *s,
			 const struct to_prices *prices, const struct to_speed_prices *speed,
			 bool reconfig)
{
	unsigned int d = s->degree;
	struct to_price ocs = prices->ocs_port;
	bool look_ahead = s->assume[TO_COST_LOOK_AHEAD];

	cost_add(cost, "NIC", d, speed->nic);
	cost_add(cost, "transceiver", d, speed->transceiver);
	ocs.usd += s->assume[TO_COST_OCS_EXTRA];
	if (reconfig) {
		cost_add(cost, "OCS port", d, ocs);
	} else {
		cost_add(cost, "patch panel port", look_ahead ? 2 * d : d, prices->panel_port);
		cost_add(cost, "1x2 switch", look_ahead ? d : 0, prices->switch_1x2);
	}
	cost_add_fibres(cost, s, prices, d * s->assume[TO_COST_OPTICAL_FIBRES]);
	cost->ports = s->servers;
	cost->ports_sold = reconfig ? prices->ocs_ports : prices->panel_ports;
}

static int cost_sip_ml(struct to_cost *cost, const struct to_cost_setting *s,
		       const struct to_prices *prices, struct to_error *err)
{
	if (!prices->sip_ml)
		return to_error_set(err, -ENOENT, "sip-ml has no price: the paper names none, give "
				    "\"sip_ml_port\" in --prices");
	cost_add(cost, "SiP-ML port", s->degree, prices->sip_ml_port);
	cost_add_fibres(cost, s, prices, s->degree * s->assume[TO_COST_OPTICAL_FIBRES]);
	return 0;
}

/* A cable joins two interfaces, so each has half of its fibre. */
static void cost_expander(struct to_cost *cost, const struct to_cost_setting *s,
			  const struct to_prices *prices, const struct to_speed_prices *speed)
{
	cost_add(cost, "NIC", s->degree, speed->nic);
	cost_add(cost, "transceiver", s->degree, speed->transceiver);
	cost_add_fibres(cost, s, prices, 0.5 * s->degree);
}

/* Lanes that the price of topoopt buys, and rarely whole ones. */
static double cost_equivalent_lanes(const struct to_cost_setting *s, const struct to_prices *prices,
				    const struct to_speed_prices *speed)
{
	struct to_cost panels = {}, tree = {};

	cost_optical(&panels, s, prices, speed, false);
	cost_tree(&tree, s, prices, speed, s->degree, 1);
	return tree.server.usd > 0 ? s->degree * panels.server.usd / tree.server.usd : 0;
}

static int cost_no_speed(const struct to_cost_setting *s, const struct to_prices *prices,
			 struct to_error *err)
{
	char speeds[256] = "";

	for (unsigned int i = 0; i < prices->n_speeds; i++) {
		size_t used = strlen(speeds);

		snprintf(speeds + used, sizeof(speeds) - used, "%s%g", i ? ", " : "",
			 prices->speeds[i].bandwidth / 1e9);
	}
	return to_error_set(err, -ENOENT, "no prices for %g Gbit/s in \"%s\", but for %s",
			    s->bandwidth / 1e9, prices->name, speeds);
}

int to_cost(const struct to_cost_setting *s, const struct to_prices *prices,
	    enum to_cost_fabric fabric, struct to_cost *cost, struct to_error *err)
{
	const struct to_speed_prices *speed = to_prices_speed(prices, s->bandwidth);

	*cost = (struct to_cost){ .bandwidth = (double)s->degree * s->bandwidth };
	if (!speed)
		return cost_no_speed(s, prices, err);
	switch (fabric) {
	case TO_COST_TOPOOPT:
	case TO_COST_TOPOOPT_RECONFIG:
		cost_optical(cost, s, prices, speed, fabric == TO_COST_TOPOOPT_RECONFIG);
		break;
	case TO_COST_IDEAL:
		cost_tree(cost, s, prices, speed, s->degree, 1);
		break;
	case TO_COST_EQUIVALENT:
		cost_tree(cost, s, prices, speed, cost_equivalent_lanes(s, prices, speed), 1);
		break;
	case TO_COST_OVERSUBSCRIBED:
		cost_tree(cost, s, prices, speed, s->degree, s->assume[TO_COST_OVERSUBSCRIPTION]);
		break;
	case TO_COST_SIP_ML:
		return cost_sip_ml(cost, s, prices, err);
	case TO_COST_EXPANDER:
		cost_expander(cost, s, prices, speed);
		break;
	case TO_COST_FABRICS:
		return to_error_set(err, -EINVAL, "no such fabric");
	}
	return 0;
}
