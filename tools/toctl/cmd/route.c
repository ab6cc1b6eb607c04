// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/command.h"
#include "format/plan_json.h"
#include "kernel/route_query.h"
#include "node.h"
#include "route_print.h"
#include "verify/route_trace.h"

struct route_args {
	const char *dev, *plan, *node;
};

/* Packets that the command is about. */
struct question {
	struct to_kernel_route key;	/* their addresses */
	struct to_plan *plan;		/* or NULL */
	struct to_route_end dst, src;	/* by the plan */
	bool has_src;
	uint32_t server;		/* this server, by the plan */
};

/* Family of the address @text, which goes to @address; 0: it is none. */
static int route_address(const char *text, uint8_t *address)
{
	return inet_pton(AF_INET, text, address) == 1 ? AF_INET :
	       inet_pton(AF_INET6, text, address) == 1 ? AF_INET6 : 0;
}

/* Read one end of the path: an address, or with a plan a name, too. */
static int route_end(struct to_call *call, const struct question *q, const char *text,
		     struct to_route_end *end, int *family, uint8_t *address)
{
	if (q->plan)
		return to_route_trace_find(q->plan, text, end, family, address, &call->err);
	*family = route_address(text, address);
	return *family ? 0 : to_usage(call, "%s is not an address (names need --plan)", text);
}

static int route_parse(struct to_call *call, struct question *q)
{
	const char *dst = call->operands[0], *src = NULL;
	int family = 0, src_family = 0, ret;

	if (call->n_operands == 3 && !strcmp(call->operands[1], "from"))
		src = call->operands[2];
	else if (call->n_operands != 1)
		return to_usage(call, "expected DST [from SRC]");
	q->has_src = src;
	ret = route_end(call, q, dst, &q->dst, &family, q->key.dst);
	if (!ret && src)
		ret = route_end(call, q, src, &q->src, &src_family, q->key.src);
	if (ret)
		return ret;
	if (src && src_family != family)
		return to_usage(call, "%s and %s are of different families", dst, src);
	q->key.family = family;
	q->key.src_len = !src ? 0 : family == AF_INET ? 32 : 128;
	return 0;
}

static int route_answer(struct to_call *call, const struct route_args *args,
			const struct question *q)
{
	const struct to_route_end src = q->has_src ? q->src : (struct to_route_end){ q->server, 0 };
	json_t *answer = NULL, *path = NULL, *shares = NULL;
	int ret = to_route_query(args->dev, &q->key, &answer, &call->err);

	/* a plan answers without a device, too */
	if (ret && (ret != -ENODEV || !q->plan))
		return TO_EXIT_UNKNOWN;
	if (q->plan) {
		path = to_route_trace(q->plan, q->server, src, q->dst);
		if (!q->dst.slot)
			shares = to_route_trace_shares(q->plan, src.server, q->dst.server);
	}
	if (call->json) {
		json_t *both = json_pack("{s:O?, s:O?, s:O*}", "kernel", answer, "path", path,
					 "rdma_shares", shares);

		to_json_write(both, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(both);
	} else {
		if (answer)
			to_route_print_answer(answer);
		if (path)
			to_route_print_tree(path);
		if (shares)
			to_route_print_shares(q->plan->cluster->servers[q->dst.server].name, shares);
	}
	json_decref(answer);
	json_decref(path);
	json_decref(shares);
	return 0;
}

static int route_run(struct to_call *call, const void *data)
{
	const struct route_args *args = data;
	struct question q = {};
	int ret = 0;

	if (args->plan) {
		q.plan = to_plan_load_shared(args->plan, &call->err);
		if (!q.plan)
			return -EINVAL;
		ret = to_node_find(q.plan, args->plan, args->node, &call->err);
		q.server = ret;
	}
	if (ret >= 0)
		ret = route_parse(call, &q);
	if (!ret)
		ret = route_answer(call, args, &q);
	to_plan_free(q.plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct route_args, field)

static const struct to_option route_options[] = {
	{ "plan", 0, TO_OPTION_STRING, FIELD(plan), .argument = "FILE",
	  .help = "follow the path through this plan's tables, hop by hop" },
	{ "node", 0, TO_OPTION_STRING, FIELD(node), .argument = "NAME",
	  .help = "name of this server in the plan; default: the host name" },
	{ "dev", 0, TO_OPTION_STRING, FIELD(dev), .argument = "DEV",
	  .help = "topoopt device; default: topo0" },
	{}
};

const struct to_command to_cmd_route = {
	.name = "route",
	.summary = "Print the path between two addresses",
	.operands = "DST [from SRC]",
	.min_operands = 1,
	.max_operands = 3,
	.options = route_options,
	.args_size = sizeof(struct route_args),
	.defaults = &(const struct route_args){ .dev = "topo0" },
	.run = route_run,
};
