// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "fabric_options.h"
#include "format/demand_json.h"
#include "large.h"
#include "shard/shard_plan.h"
#include "shards.h"
#include "switches.h"

struct add_args {
	const char *state, *job, *on;
	uint64_t servers, effort, seed;
	bool fixed, rings, apply, dry_run;
	struct to_shards_apply how;
};

/* "s0,s3" as names, in place. Return: how many. */
static unsigned int add_split(char *text, const char **names, unsigned int most)
{
	unsigned int n = 0;
	char *rest;

	for (char *name = strtok_r(text, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		if (n < most)
			names[n] = name;
		n++;
	}
	return n;
}

static struct to_plan *add_plan(struct to_call *call, const struct add_args *args,
				const struct to_shards *s, const struct to_demand *demand)
{
	struct to_shard_request request = {
		.name = call->operands[0], .demand = demand,
		.planner = { .fixed = args->fixed, .rings = args->rings, .effort = args->effort,
			     .seed = args->seed } };
	const char **names = calloc(demand->n, sizeof(*names));
	char *text = strdup(args->on ? args->on : "");
	struct to_plan *plan = NULL;
	unsigned int n = 0;

	if (!names || !text) {
		to_error_set(&call->err, -ENOMEM, "out of memory");
	} else {
		n = add_split(text, names, demand->n);
		request.servers = args->on ? names : NULL;
		if (args->on && n != demand->n)
			to_error_set(&call->err, -EINVAL, "%s: the job has %u servers, --on names %u",
				     args->job, demand->n, n);
		else
			plan = to_shard_plan(s, &request, &call->err);
	}
	free(names);
	free(text);
	return plan;
}

static int add_shard(struct to_call *call, const struct add_args *args, struct to_shards *s,
		     const struct to_demand *demand)
{
	struct to_plan *plan = add_plan(call, args, s, demand);
	struct to_shard *shard;
	int ret;

	if (!plan)
		return -EINVAL;
	shard = to_shards_add(s, call->operands[0], plan, &call->err);
	if (!shard)
		return -EIO;
	ret = to_shards_verify(s, shard, &call->err);
	if (!ret && args->apply)
		ret = to_shards_activate(call, s, shard, &args->how);
	else if (!ret && !args->dry_run)
		ret = to_shards_save(s, &call->err);
	return ret ? ret : to_shards_print(call, s, shard);
}

static int add_run(struct to_call *call, const void *data)
{
	const struct add_args *args = data;
	const char *name = call->operands[0];
	struct to_demand *demand;
	struct to_error none;
	struct to_shards s;
	int ret;

	if (args->apply && args->dry_run)
		return to_usage(call, "--apply and --dry-run are mutually exclusive");
	if (!to_json_is_name(name))
		return to_usage(call, "expected a name of letters, digits, \".\", \"_\" and \"-\", not \"%.80s\"",
				name);
	demand = to_demand_load(args->job, to_large_most(false), &call->err);
	if (!demand)
		return -EINVAL;
	if (args->servers && args->servers != demand->n) {
		ret = to_error_set(&call->err, -EINVAL, "%s: the job has %u servers, not %llu", args->job,
				   demand->n, (unsigned long long)args->servers);
		to_demand_free(demand);
		return ret;
	}
	ret = to_shards_open(&s, args->state, !args->dry_run, &call->err);
	if (!ret && to_shards_find(&s, name, &none))
		ret = to_error_set(&call->err, -EEXIST, "%.300s: there is a shard %s", s.dir, name);
	else if (!ret)
		ret = add_shard(call, args, &s, demand);
	to_shards_close(&s);
	to_demand_free(demand);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct add_args, field)

static const struct to_option add_options[] = {
	{ "job", 'j', TO_OPTION_STRING, FIELD(job), .required = true, .argument = "FILE",
	  .help = "traffic of one training iteration" },
	{ "servers", 'n', TO_OPTION_NUMBER, FIELD(servers), .argument = "K",
	  .min = 2, .max = TO_SERVERS_MAX, .help = "refuse a job that has not K servers" },
	{ "on", 0, TO_OPTION_STRING, FIELD(on), .argument = "NAME[,NAME...]",
	  .help = "on these servers, in the job's order; default: chosen" },
	{ "fixed", 'f', TO_OPTION_FLAG, FIELD(fixed),
	  .help = "keep the links in place between its servers; move nothing" },
	{ "rings", 0, TO_OPTION_FLAG, FIELD(rings),
	  .help = "AllReduce on rings alone, for clients that know no trees (MPI, NCCL)" },
	{ "effort", 'e', TO_OPTION_NUMBER, FIELD(effort), .argument = "E",
	  .min = TO_EFFORT_MIN, .max = TO_EFFORT_MAX,
	  .help = "1 to 9: better plans for more time, which each step doubles; default: 5" },
	{ "seed", 's', TO_OPTION_NUMBER, FIELD(seed), .argument = "S", .max = INT64_MAX,
	  .help = "random seed; same state and seed, same plan; default: 1" },
	{ "dry-run", 0, TO_OPTION_FLAG, FIELD(dry_run),
	  .help = "print servers and moves; change nothing, take nothing" },
	{ "apply", 'a', TO_OPTION_FLAG, FIELD(apply),
	  .help = "set the optical switches and all servers' tables, as toctl shard apply does" },
	TO_ALLOW_OPTION(struct add_args, how.allow),
	TO_FABRIC_OPTIONS(struct add_args, how.fabric, "apply"),
	TO_SHARDS_STATE_OPTION(struct add_args, state),
	{}
};

const struct to_command to_cmd_shard_add = {
	.name = "shard add",
	.summary = "Give a job servers of a shared cluster",
	.operands = "NAME",
	.min_operands = 1,
	.max_operands = 1,
	.description =
		"Takes as many free servers as the job has, plans for them, and prints the "
		"cross-connects to move by hand. No server, optical port or address of another shard "
		"is in that plan. Nothing is applied: when the fibres are in place, toctl shard apply "
		"NAME does that; or --apply, where no people are needed.\n\n"
		"Of two choices of servers it takes the one for which fewer cross-connects are moved: "
		"the free servers whose fibres end nearest to each other, out of the smallest group of "
		"servers on the same optical switches that has enough; and those with the most links "
		"left in place between them by earlier shards. --on, or a job that names its servers, "
		"takes these.\n\n"
		"In the plan the job has the name of the shard. While another toctl is changing the "
		"cluster, this one says so and ends.",
	.options = add_options,
	.args_size = sizeof(struct add_args),
	.defaults = &(const struct add_args){
		.effort = TO_EFFORT_DEFAULT, .seed = 1, .how.fabric = TO_FABRIC_DEFAULTS },
	.run = add_run,
};
