// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <linux/netlink.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/password.h"
#include "cli/command.h"
#include "collectives/collective_result.h"
#include "collectives/rendezvous.h"
#include "format/plan_json.h"
#include "format/tm_names.h"
#include "kernel/netlink.h"
#include "measure/counters.h"
#include "node.h"

#define COLLECTIVE_UNSAID (-1)

struct collective_args {
	const char *node, *output, *token_file;
	uint64_t size, group, timeout_ns, repeat;
	int algorithm;
	double tolerance;
	bool check, node_addresses;
};

/* This server's counters and the file of its steps. */
struct collective_host {
	struct to_netlink netlink;
	struct to_counters *counters;
	unsigned int n_ports;
	FILE *steps;
};

static int collective_count(void *data, uint64_t sent[TO_PORTS_MAX], struct to_error *err)
{
	struct to_tm_counters values[TO_PORTS_MAX];
	const struct collective_host *host = data;
	int ret = to_counters_read(host->counters, values, err);

	for (unsigned int q = 0; !ret && q < host->n_ports; q++)
		sent[q] = values[q].tx_bytes;
	return ret;
}

static void collective_note(void *data, unsigned int repetition, const struct to_exchange_done *done)
{
	const struct collective_host *host = data;

	to_collective_run_print_step(host->steps, repetition, done);
	fflush(host->steps);
}

static int collective_open(struct collective_host *host, const struct collective_args *args,
			   const struct to_server *server, struct to_error *err)
{
	int ret = to_netlink_open(&host->netlink, NETLINK_ROUTE, err);

	if (ret)
		return ret;
	host->n_ports = server->n_ports;
	host->counters = to_counters_open_server(&host->netlink, server, err);
	if (!host->counters) {
		to_netlink_close(&host->netlink);
		return -ENODEV;
	}
	if (!args->output)
		return 0;
	host->steps = strcmp(args->output, "-") ? to_file_stream(args->output, false, err) : stdout;
	return host->steps ? 0 : -EIO;
}

static void collective_close(struct collective_host *host)
{
	if (host->counters) {
		to_counters_close(host->counters);
		to_netlink_close(&host->netlink);
	}
	if (host->steps && host->steps != stdout)
		fclose(host->steps);
}

static int collective_do(struct to_call *call, const struct collective_args *args,
			 const struct to_collective_plan *c, int server, const char *token)
{
	struct collective_host host = {};
	struct to_collective_run run = {
		.plan = c, .token = token, .repeat = args->repeat, .port = TO_RENDEZVOUS_PORT,
		.timeout_ns = args->timeout_ns, .count = collective_count, .data = &host };
	const struct to_server *here = &c->plan->cluster->servers[server];
	const int self = to_collective_plan_member(c, server);
	struct to_collective_part own, *all = calloc(c->n, sizeof(*all));
	const bool print = !args->output || strcmp(args->output, "-");
	char fingerprint[17];
	int ret = to_tm_fingerprint(call->operands[0], fingerprint, &call->err);

	if (!all)
		ret = to_error_set(&call->err, -ENOMEM, "out of memory");
	else if (self < 0)
		ret = to_error_set(&call->err, -ENOENT, "server %s is no member of the group",
				   here->name);
	else if (!ret)
		ret = collective_open(&host, args, here, &call->err);
	if (!ret) {
		run.self = self;
		run.fingerprint = fingerprint;
		run.note = host.steps ? collective_note : NULL;
		ret = to_collective_run(&run, &own, all, &call->err);
		if (ret && ret != -EPROTO)
			ret = TO_EXIT_UNKNOWN;
	}
	if (!ret) {
		ret = to_collective_result_report(print ? stdout : NULL, call->json, &run, &own, all,
						  args->check ? args->tolerance : INFINITY, &call->err);
		ret = ret < 0 ? TO_EXIT_UNKNOWN : ret;
	}
	collective_close(&host);
	free(all);
	return ret;
}

static int collective_run(struct to_call *call, const void *data)
{
	const struct collective_args *args = data;
	const char *path = call->operands[0];
	char token[TO_PASSWORD_MAX];
	struct to_collective_plan c;
	struct to_plan *plan;
	int ret, server;

	if (args->size % sizeof(float))
		return to_usage(call, "--size: expected whole elements, 4 bytes each");
	if (!args->token_file && !getenv(TO_COLLECTIVE_TOKEN))
		return to_usage(call, "no token: give --token-file FILE, equal on all servers, or $" TO_COLLECTIVE_TOKEN);
	ret = to_collective_run_token(token, args->token_file, &call->err);
	if (ret)
		return ret;
	plan = to_plan_load_shared(path, &call->err);
	if (!plan)
		return -EINVAL;
	server = to_node_find(plan, path, args->node, &call->err);
	ret = server < 0 ? server :
	      to_collective_plan_init(&c, plan, args->algorithm == COLLECTIVE_UNSAID ?
				      plan->collective : (enum to_collective_algorithm)args->algorithm,
				      args->group, args->node_addresses, args->size / sizeof(float),
				      &call->err);
	if (!ret) {
		ret = collective_do(call, args, &c, server, token);
		to_collective_plan_free(&c);
	}
	to_plan_free(plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct collective_args, field)

static const struct to_option collective_options[] = {
	{ "size", 0, TO_OPTION_BYTES, FIELD(size), true, "BYTES", .min = 8, .max = 1ull << 40,
	  .help = "buffer of each server, in 32-bit floats" },
	{ "node", 0, TO_OPTION_STRING, FIELD(node), .argument = "NAME",
	  .help = "name of this server in the plan; default: the host name" },
	{ "algorithm", 0, TO_OPTION_CHOICE, FIELD(algorithm), .choices = to_collective_algorithms,
	  .help = "algorithm of AllReduce; default: the one that the plan was made for" },
	{ "group", 0, TO_OPTION_NUMBER, FIELD(group), .argument = "G",
	  .max = TO_COLLECTIVE_NO_GROUP - 1,
	  .help = "AllReduce group; default: the first, or all servers" },
	{ "repeat", 0, TO_OPTION_NUMBER, FIELD(repeat), .argument = "N", .min = 1, .max = 1000000,
	  .help = "repetitions, of which the mean time is printed; default: 1" },
	{ "check", 0, TO_OPTION_FLAG, FIELD(check),
	  .help = "also compare the bytes of links with the planned bytes" },
	{ "tolerance", 0, TO_OPTION_REAL, FIELD(tolerance), .argument = "PERCENT", .with = "check",
	  .help = "tolerated deviation of a link from the planned bytes; default: 5" },
	{ "node-addresses", 0, TO_OPTION_FLAG, FIELD(node_addresses),
	  .help = "use node addresses, which survive the loss of a link" },
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "file for a line of JSON per step of this server" },
	{ "token-file", 0, TO_OPTION_STRING, FIELD(token_file), .argument = "FILE",
	  .help = "secret of all servers of the group; default: $TOPOOPT_COLLECTIVE_TOKEN" },
	{ "timeout", 0, TO_OPTION_DURATION, FIELD(timeout_ns), .argument = "TIME", .min = 1,
	  .max = INT64_MAX / 2, .help = "time for all repetitions; default: 120s" },
	{}
};

const struct to_command to_cmd_collective_run = {
	.name = "collective run",
	.summary = "Do an AllReduce over a plan's links and check sums",
	.operands = "PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.options = collective_options,
	.args_size = sizeof(struct collective_args),
	.defaults = &(const struct collective_args){
		.algorithm = COLLECTIVE_UNSAID, .group = TO_COLLECTIVE_NO_GROUP,
		.tolerance = 5, .repeat = 1, .timeout_ns = 120 * TO_NS_PER_S },
	.run = collective_run,
};
