// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/fabric_costs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

int to_fabric_costs_load(struct to_fabric_costs *all, const char *path, struct to_error *err)
{
	all->prices = path ? to_prices_load(path, err) : to_prices_default();
	if (all->prices)
		return 0;
	return path ? -EINVAL : to_error_set(err, -ENOMEM, "out of memory");
}

int to_fabric_costs_of(struct to_fabric_costs *all, enum to_cost_fabric fabric,
		       struct to_error *err)
{
	return to_cost(&all->setting, all->prices, fabric, &all->cost[fabric], err);
}

int to_fabric_costs_all(struct to_fabric_costs *all, struct to_error *err)
{
	for (unsigned int f = 0; f < TO_COST_FABRICS; f++) {
		const int ret = to_fabric_costs_of(all, f, &all->why[f]);

		/* the paper names no price of SiP-ML */
		if (ret && f != TO_COST_SIP_ML)
			return to_error_set(err, ret, "%s", all->why[f].text);
	}
	return 0;
}

void to_fabric_costs_free(struct to_fabric_costs *all)
{
	to_prices_free(all->prices);
}

static json_t *costs_one_json(const struct to_fabric_costs *all, enum to_cost_fabric fabric)
{
	const struct to_cost_setting *s = &all->setting;
	const struct to_cost *c = &all->cost[fabric];
	json_t *parts = json_array(), *assumed = json_object(), *object;

	for (unsigned int i = 0; i < c->n_parts; i++) {
		const struct to_cost_part *p = &c->parts[i];

		json_array_append_new(parts, json_pack("{s:s s:f s:f s:f s:f s:f}", "component", p->name,
			"count", p->count, "usd_each", p->each.usd, "usd", p->count * p->each.usd,
			"watts_each", p->each.watts, "watts", p->count * p->each.watts));
	}
	for (unsigned int k = 0; k < TO_COST_KEYS; k++)
		json_object_set_new(assumed, to_cost_assumptions[k].name, json_real(s->assume[k]));
	object = json_pack("{s:s s:s s:i s:i s:I s:f s:f s:f s:f s:f s:o s:o}",
		"fabric", to_cost_fabrics[fabric], "prices", all->prices->name,
		"servers", (int)s->servers, "degree", (int)s->degree,
		"bandwidth_bps", (json_int_t)s->bandwidth,
		"server_bandwidth_bps", c->bandwidth,
		"per_server_usd", c->server.usd, "total_usd", s->servers * c->server.usd,
		"per_server_watts", c->server.watts, "total_watts", s->servers * c->server.watts,
		"components", parts, "assumptions", assumed);
	if (c->ports)
		json_object_update_new(object, json_pack("{s:i s:i}", "ports_needed", (int)c->ports,
							 "ports_sold", (int)c->ports_sold));
	return object;
}

static void costs_print_assumed(const struct to_fabric_costs *all)
{
	printf("Prices: %s. Assumed:\n", all->prices->name);
	for (unsigned int k = 0; k < TO_COST_KEYS; k++)
		printf("  %s=%g: %s\n", to_cost_assumptions[k].name, all->setting.assume[k],
		       to_cost_assumptions[k].help);
}

static void costs_print_ports(const char *name, const struct to_cost *c)
{
	if (c->ports > c->ports_sold)
		printf("%s: %u servers want %u ports of each %s, the largest have %u\n", name, c->ports,
		       c->ports, strcmp(name, "topoopt") ? "optical switch" : "patch panel",
		       c->ports_sold);
}

void to_fabric_costs_print(const struct to_fabric_costs *all, enum to_cost_fabric fabric)
{
	const struct to_cost_setting *s = &all->setting;
	const struct to_cost *c = &all->cost[fabric];

	printf("%s: %u servers, %u x %g Gbit/s each\n", to_cost_fabrics[fabric], s->servers, s->degree,
	       s->bandwidth / 1e9);
	printf("  %-18s %10s %10s %12s %10s\n", "", "a server", "USD each", "USD", "watts");
	for (unsigned int i = 0; i < c->n_parts; i++) {
		const struct to_cost_part *p = &c->parts[i];

		printf("  %-18s %10.4g %10.2f %12.2f %10.2f\n", p->name, p->count, p->each.usd,
		       p->count * p->each.usd, p->count * p->each.watts);
	}
	printf("  %-18s %10s %10s %12.2f %10.2f\n", "a server", "", "", c->server.usd, c->server.watts);
	printf("  %-18s %10s %10s %12.0f %10.0f\n", "all servers", "", "", s->servers * c->server.usd,
	       s->servers * c->server.watts);
	printf("  %.4g Gbit/s a server\n", c->bandwidth / 1e9);
	costs_print_ports(to_cost_fabrics[fabric], c);
	costs_print_assumed(all);
}

void to_fabric_costs_compare(const struct to_fabric_costs *all)
{
	const struct to_cost_setting *s = &all->setting;
	const struct to_cost *c = all->cost;
	const double topoopt = c[TO_COST_TOPOOPT].server.usd;

	printf("%u servers, %u x %g Gbit/s each\n", s->servers, s->degree, s->bandwidth / 1e9);
	printf("  %-18s %12s %10s %10s %10s %14s\n", "", "USD a server", "of topoopt", "watts",
	       "Gbit/s", "USD");
	for (unsigned int f = 0; f < TO_COST_FABRICS; f++)
		if (!*all->why[f].text)
			printf("  %-18s %12.2f %10.3f %10.1f %10.4g %14.0f\n", to_cost_fabrics[f],
			       c[f].server.usd, topoopt > 0 ? c[f].server.usd / topoopt : 0,
			       c[f].server.watts, c[f].bandwidth / 1e9, s->servers * c[f].server.usd);
	for (unsigned int f = 0; f < TO_COST_FABRICS; f++)
		if (*all->why[f].text)
			printf("%s\n", all->why[f].text);
		else
			costs_print_ports(to_cost_fabrics[f], &c[f]);
	costs_print_assumed(all);
}

json_t *to_fabric_costs_json(const struct to_fabric_costs *all, enum to_cost_fabric fabric)
{
	json_t *array;

	if (fabric < TO_COST_FABRICS)
		return costs_one_json(all, fabric);
	array = json_array();
	for (unsigned int f = 0; f < TO_COST_FABRICS; f++)
		if (!*all->why[f].text)
			json_array_append_new(array, costs_one_json(all, f));
	return json_pack("{s:o}", "fabrics", array);
}
