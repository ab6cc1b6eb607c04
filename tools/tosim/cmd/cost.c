// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "cost/cost.h"
#include "data/cluster.h"

#define COST_ALL -1	/* no --fabric */

struct cost_args {
	uint64_t servers, degree, bandwidth;
	int fabric;
	bool curve;
	const char *prices;
	struct to_words assume;
};

/* The axis of Figure 11: full k-ary fat-trees have k^3/4 servers. */
static const unsigned int cost_curve[] = { 128, 432, 1024, 2000 };

#define COST_CURVE (sizeof(cost_curve) / sizeof(*cost_curve))

static json_t *cost_total_json(const struct to_cost *c, unsigned int servers)
{
	return json_pack("{s:i s:f s:f}", "servers", (int)servers,
			 "total_usd", servers * c->server.usd, "total_watts", servers * c->server.watts);
}

static json_t *cost_json(const struct cost_args *args, const struct to_cost_setting *s,
			 const struct to_prices *prices, enum to_cost_fabric fabric,
			 const struct to_cost *c)
{
	json_t *parts = json_array(), *assumed = json_object(), *curve = json_array(), *object;

	for (unsigned int i = 0; i < c->n_parts; i++) {
		const struct to_cost_part *p = &c->parts[i];

		json_array_append_new(parts, json_pack("{s:s s:f s:f s:f s:f s:f}", "component", p->name,
			"count", p->count, "usd_each", p->each.usd, "usd", p->count * p->each.usd,
			"watts_each", p->each.watts, "watts", p->count * p->each.watts));
	}
	for (unsigned int k = 0; k < TO_COST_KEYS; k++)
		json_object_set_new(assumed, to_cost_assumptions[k].name, json_real(s->assume[k]));
	for (unsigned int i = 0; args->curve && i < COST_CURVE; i++)
		json_array_append_new(curve, cost_total_json(c, cost_curve[i]));
	object = json_pack("{s:s s:s s:i s:i s:I s:f s:f s:f s:f s:f s:o s:o s:o}",
		"fabric", to_cost_fabrics[fabric], "prices", prices->name,
		"servers", (int)s->servers, "degree", (int)s->degree,
		"bandwidth_bps", (json_int_t)s->bandwidth,
		"server_bandwidth_bps", c->bandwidth,
		"per_server_usd", c->server.usd, "total_usd", s->servers * c->server.usd,
		"per_server_watts", c->server.watts, "total_watts", s->servers * c->server.watts,
		"components", parts, "assumptions", assumed, "curve", curve);
	if (c->ports)
		json_object_update_new(object, json_pack("{s:i s:i}", "ports_needed", (int)c->ports,
							 "ports_sold", (int)c->ports_sold));
	return object;
}

static void cost_print_assumed(const struct to_cost_setting *s, const struct to_prices *prices)
{
	printf("Prices: %s. Assumed:\n", prices->name);
	for (unsigned int k = 0; k < TO_COST_KEYS; k++)
		printf("  %s=%g: %s\n", to_cost_assumptions[k].name, s->assume[k],
		       to_cost_assumptions[k].help);
}

static void cost_print_ports(const char *name, const struct to_cost *c)
{
	if (c->ports > c->ports_sold)
		printf("%s: %u servers want %u ports of each %s, the largest have %u\n", name, c->ports,
		       c->ports, strcmp(name, "topoopt") ? "optical switch" : "patch panel",
		       c->ports_sold);
}

static void cost_print(const struct to_cost_setting *s, enum to_cost_fabric fabric,
		       const struct to_cost *c)
{
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
	cost_print_ports(to_cost_fabrics[fabric], c);
}

static void cost_print_curve(const char *name, const struct to_cost *c)
{
	printf("  %-18s", name);
	for (unsigned int i = 0; i < COST_CURVE; i++)
		printf(" %10.3f", cost_curve[i] * c->server.usd / 1e6);
	putchar('\n');
}

static void cost_print_curve_head(void)
{
	printf("million USD, by servers\n  %-18s", "");
	for (unsigned int i = 0; i < COST_CURVE; i++)
		printf(" %10u", cost_curve[i]);
	putchar('\n');
}

static int cost_one(struct to_call *call, const struct cost_args *args,
		    const struct to_cost_setting *s, const struct to_prices *prices)
{
	struct to_cost c;
	json_t *object;
	int ret = to_cost(s, prices, args->fabric, &c, &call->err);

	if (ret)
		return ret;
	if (call->json) {
		object = cost_json(args, s, prices, args->fabric, &c);
		json_dumpf(object, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
		putchar('\n');
		json_decref(object);
		return 0;
	}
	cost_print(s, args->fabric, &c);
	if (args->curve) {
		cost_print_curve_head();
		cost_print_curve(to_cost_fabrics[args->fabric], &c);
	}
	cost_print_assumed(s, prices);
	return 0;
}

static void cost_compare_print(const struct cost_args *args, const struct to_cost_setting *s,
			       const struct to_prices *prices, const struct to_cost *all,
			       const struct to_error *why)
{
	double topoopt = all[TO_COST_TOPOOPT].server.usd;

	printf("%u servers, %u x %g Gbit/s each\n", s->servers, s->degree, s->bandwidth / 1e9);
	printf("  %-18s %12s %10s %10s %10s %14s\n", "", "USD a server", "of topoopt", "watts",
	       "Gbit/s", "USD");
	for (unsigned int f = 0; f < TO_COST_FABRICS; f++)
		if (!*why[f].text)
			printf("  %-18s %12.2f %10.3f %10.1f %10.4g %14.0f\n", to_cost_fabrics[f],
			       all[f].server.usd, topoopt > 0 ? all[f].server.usd / topoopt : 0,
			       all[f].server.watts, all[f].bandwidth / 1e9, s->servers * all[f].server.usd);
	if (args->curve) {
		cost_print_curve_head();
		for (unsigned int f = 0; f < TO_COST_FABRICS; f++)
			if (!*why[f].text)
				cost_print_curve(to_cost_fabrics[f], &all[f]);
	}
	for (unsigned int f = 0; f < TO_COST_FABRICS; f++)
		if (*why[f].text)
			printf("%s\n", why[f].text);
		else
			cost_print_ports(to_cost_fabrics[f], &all[f]);
	cost_print_assumed(s, prices);
}

static int cost_compare(struct to_call *call, const struct cost_args *args,
			const struct to_cost_setting *s, const struct to_prices *prices)
{
	struct to_cost all[TO_COST_FABRICS];
	struct to_error why[TO_COST_FABRICS] = {};
	json_t *array, *object;
	int ret;

	for (unsigned int f = 0; f < TO_COST_FABRICS; f++) {
		ret = to_cost(s, prices, f, &all[f], &why[f]);
		if (ret && f != TO_COST_SIP_ML)
			return to_error_set(&call->err, ret, "%s", why[f].text);
	}
	if (!call->json) {
		cost_compare_print(args, s, prices, all, why);
		return 0;
	}
	array = json_array();
	for (unsigned int f = 0; f < TO_COST_FABRICS; f++)
		if (!*why[f].text)
			json_array_append_new(array, cost_json(args, s, prices, f, &all[f]));
	object = json_pack("{s:o}", "fabrics", array);
	json_dumpf(object, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
	json_decref(object);
	return 0;
}

static int cost_run(struct to_call *call, const void *data)
{
	const struct cost_args *args = data;
	struct to_cost_setting s = {
		.servers = args->servers, .degree = args->degree, .bandwidth = args->bandwidth,
	};
	struct to_prices *prices;
	int ret;

	to_cost_assume_defaults(&s);
	for (unsigned int i = 0; i < args->assume.n; i++) {
		struct to_error why = { "" };

		if (to_cost_assume(&s, args->assume.list[i], &why))
			return to_usage(call, "--assume: %.490s", why.text);
	}
	prices = args->prices ? to_prices_load(args->prices, &call->err) : to_prices_default();
	if (!prices)
		return args->prices ? -EINVAL : to_error_set(&call->err, -ENOMEM, "out of memory");
	ret = args->fabric == COST_ALL ? cost_compare(call, args, &s, prices) :
					 cost_one(call, args, &s, prices);
	to_prices_free(prices);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct cost_args, field)

static const struct to_option cost_options[] = {
	{ "servers", 'n', TO_OPTION_NUMBER, FIELD(servers), .argument = "N", .required = true,
	  .min = 2, .max = TO_SERVERS_MAX, .help = "how many servers" },
	{ "degree", 'd', TO_OPTION_NUMBER, FIELD(degree), .argument = "D", .required = true,
	  .min = 1, .max = TO_PORTS_MAX, .help = "interfaces of a server" },
	{ "bandwidth", 'b', TO_OPTION_RATE, FIELD(bandwidth), .argument = "RATE", .required = true,
	  .min = 1, .max = INT64_MAX, .help = "of an interface; one that the prices have" },
	{ "fabric", 'f', TO_OPTION_CHOICE, FIELD(fabric), .argument = "FABRIC",
	  .choices = to_cost_fabrics,
	  .help = "which fabric; default: all, side by side" },
	{ "prices", 'p', TO_OPTION_STRING, FIELD(prices), .argument = "FILE",
	  .help = "prices.json; default: Table 3 of the TopoOpt paper, and typical watts" },
	{ "assume", 'a', TO_OPTION_WORDS, FIELD(assume), .argument = "KEY=VALUE",
	  .help = "an assumption, see above; may be given more than once" },
	{ "curve", 'c', TO_OPTION_FLAG, FIELD(curve),
	  .help = "also for the 128 to 2000 servers of Figure 11" },
	{}
};

const struct to_command to_cmd_cost = {
	.name = "cost",
	.summary = "Price a fabric and those it is compared with",
	.options = cost_options,
	.args_size = sizeof(struct cost_args),
	.defaults = &(const struct cost_args){ .fabric = COST_ALL },
	.run = cost_run,
};
