// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "data/cluster.h"
#include "output.h"
#include "study/fabric_costs.h"

struct cost_args {
	uint64_t servers, degree, bandwidth;
	const char *fabric, *prices;
	struct to_words assume;
};

/* Find the fabric that @word names, TO_COST_FABRICS without a word. */
static int cost_find_fabric(struct to_call *call, const char *word, enum to_cost_fabric *fabric)
{
	char names[256] = "";

	for (*fabric = 0; *fabric < TO_COST_FABRICS; ++*fabric) {
		if (word && !strcmp(word, to_cost_fabrics[*fabric]))
			return 0;
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 *fabric ? ", " : "", to_cost_fabrics[*fabric]);
	}
	return word ? to_usage(call, "--fabric: expected one of %s, not \"%.80s\"", names, word) : 0;
}

static int cost_show(struct to_call *call, struct to_fabric_costs *all, enum to_cost_fabric fabric)
{
	const bool one = fabric < TO_COST_FABRICS;
	int ret = one ? to_fabric_costs_of(all, fabric, &call->err) :
			to_fabric_costs_all(all, &call->err);

	if (ret)
		return ret;
	if (call->json)
		return to_output_json(to_fabric_costs_json(all, fabric),
				      JSON_INDENT(2) | JSON_SORT_KEYS, &call->err);
	if (one)
		to_fabric_costs_print(all, fabric);
	else
		to_fabric_costs_compare(all);
	return 0;
}

static int cost_run(struct to_call *call, const void *data)
{
	const struct cost_args *args = data;
	struct to_fabric_costs all = { .setting = {
		.servers = args->servers, .degree = args->degree, .bandwidth = args->bandwidth } };
	enum to_cost_fabric fabric;
	int ret = cost_find_fabric(call, args->fabric, &fabric);

	if (ret)
		return ret;
	to_cost_assume_defaults(&all.setting);
	for (unsigned int i = 0; i < args->assume.n; i++) {
		struct to_error why = { "" };

		if (to_cost_assume(&all.setting, args->assume.list[i], &why))
			return to_usage(call, "--assume: %.490s", why.text);
	}
	ret = to_fabric_costs_load(&all, args->prices, &call->err);
	if (!ret)
		ret = cost_show(call, &all, fabric);
	to_fabric_costs_free(&all);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct cost_args, field)

static const struct to_option cost_options[] = {
	{ "servers", 'n', TO_OPTION_NUMBER, FIELD(servers), .argument = "N", .required = true,
	  .min = 2, .max = TO_SERVERS_MAX, .help = "number of servers" },
	{ "degree", 'd', TO_OPTION_NUMBER, FIELD(degree), .argument = "D", .required = true,
	  .min = 1, .max = TO_PORTS_MAX, .help = "ports of a server" },
	{ "bandwidth", 'b', TO_OPTION_RATE, FIELD(bandwidth), .argument = "RATE", .required = true,
	  .min = 1, .max = INT64_MAX, .help = "bandwidth of a port; the prices must have it" },
	{ "fabric", 0, TO_OPTION_STRING, FIELD(fabric), .argument = "FABRIC",
	  .help = "fabric to price by component; default: compare all" },
	{ "prices", 0, TO_OPTION_STRING, FIELD(prices), .argument = "FILE",
	  .help = "prices.json; default: Table 3 of the TopoOpt paper" },
	{ "assume", 0, TO_OPTION_WORDS, FIELD(assume), .argument = "KEY=VALUE",
	  .help = "assumption that tosim-cost(8) lists; may be given more than once" },
	{}
};

const struct to_command to_cmd_cost = {
	.name = "cost",
	.summary = "Price a fabric and those it is compared with",
	.options = cost_options,
	.args_size = sizeof(struct cost_args),
	.run = cost_run,
};
