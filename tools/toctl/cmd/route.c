// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "format/plan_json.h"
#include "kernel/diff.h"
#include "kernel/genl.h"
#include "kernel/rtnl.h"
#include "node.h"
#include "verify/route_trace.h"

struct route_args {
	const char *dev, *plan, *node;
};

/* What was asked: packets from @src to @dst, @server is here. */
struct question {
	struct to_kernel_route key;
	struct to_plan *plan;
	struct to_route_end dst, src;
	bool has_src;
	uint32_t server;
};

static int route_parse(struct to_call *call, struct question *q)
{
	const char *dst = call->operands[0], *src = NULL;
	int family = 0, src_family = 0, ret;

	if (call->n_operands == 3 && !strcmp(call->operands[1], "from"))
		src = call->operands[2];
	else if (call->n_operands != 1)
		return to_usage(call, "expected DST [from SRC]");
	q->has_src = src;
	if (q->plan) {
		ret = to_route_trace_find(q->plan, dst, &q->dst, &family, q->key.dst, &call->err);
		if (!ret && src)
			ret = to_route_trace_find(q->plan, src, &q->src, &src_family,
						  q->key.src, &call->err);
		if (ret)
			return ret;
	} else {
		family = inet_pton(AF_INET, dst, q->key.dst) == 1 ? AF_INET :
			 inet_pton(AF_INET6, dst, q->key.dst) == 1 ? AF_INET6 : 0;
		if (!family)
			return to_usage(call, "%s is not an address (names need --plan)", dst);
		src_family = !src ? 0 :
			     inet_pton(AF_INET, src, q->key.src) == 1 ? AF_INET :
			     inet_pton(AF_INET6, src, q->key.src) == 1 ? AF_INET6 : 0;
		if (src && !src_family)
			return to_usage(call, "%s is not an address (names need --plan)", src);
	}
	if (src && src_family != family)
		return to_usage(call, "%s and %s are of different families", dst, src);
	q->key.family = family;
	q->key.src_len = !src ? 0 : family == AF_INET ? 32 : 128;
	return 0;
}

/* The kernel's answer as an object, NULL where there is no device to ask. */
static int route_ask(struct to_call *call, const struct question *q,
		     const char *dev, json_t **answer)
{
	struct to_kernel_route route = q->key;
	struct to_kernel_group group = {};
	uint32_t ifindex = if_nametoindex(dev);
	struct to_diff_names names = {};
	struct to_nic *nics = NULL;
	struct to_netlink rt;
	uint64_t generation;
	struct to_genl genl;
	int ret;

	*answer = NULL;
	if (!ifindex)
		return q->plan ? 0 : to_error_set(&call->err, -ENODEV,
			"there is no topoopt device %s to ask; --plan works without one", dev);
	ret = to_netlink_open(&rt, NETLINK_ROUTE, &call->err);
	if (ret)
		return ret;
	ret = to_rtnl_nics(&rt, &nics, &names.n, &call->err);
	to_netlink_close(&rt);
	names.nics = nics;
	if (!ret)
		ret = to_genl_open(&genl, &call->err);
	if (!ret) {
		ret = to_genl_route(&genl, ifindex, &route, &group, &generation,
				    &call->err);
		to_genl_close(&genl);
	}
	if (!ret) {
		*answer = to_route_json(&route, group.n ? &group : NULL, &names);
		json_object_set_new(*answer, "generation", json_integer(generation));
	}
	free(group.nexthops);
	free(nics);
	return ret;
}

static void route_print_answer(const json_t *answer)
{
	const char *src = json_string_value(json_object_get(answer, "src"));
	size_t i;
	json_t *nh;

	printf("%s%s%s", json_string_value(json_object_get(answer, "dst")),
	       src ? " from " : "", src ? src : "");
	if (!json_object_get(answer, "nexthops"))
		printf(" %s", json_string_value(json_object_get(answer, "type")));
	json_array_foreach(json_object_get(answer, "nexthops"), i, nh) {
		const char *ingress = json_string_value(json_object_get(nh, "ingress"));
		int weight = json_integer_value(json_object_get(nh, "weight"));

		printf("%s%s %s", i ? ", " : " via ",
		       json_string_value(json_object_get(nh, "port")),
		       json_string_value(json_object_get(nh, "mac")));
		if (weight != 1)
			printf(" weight %d", weight);
		if (ingress)
			printf(" ingress %s", ingress);
		printf("%s%s", json_is_true(json_object_get(nh, "backup")) ? " backup" : "",
		       json_is_true(json_object_get(nh, "live")) ? "" : " dead");
	}
	printf(" generation %" JSON_INTEGER_FORMAT "\n",
	       json_integer_value(json_object_get(answer, "generation")));
}

static void route_print_tree(const json_t *node, int depth)
{
	static const char *const ends[] = { "arrives", "unreachable", "loop", "seen" };
	const char *server = json_string_value(json_object_get(node, "server"));
	json_t *hop, *then;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (json_object_get(node, ends[i]))
			printf("%*s%s: %s\n", 2 * depth, "", server,
			       i == 3 ? "as above" : ends[i]);
	json_array_foreach(json_object_get(node, "next"), i, hop) {
		const char *peer = json_string_value(json_object_get(hop, "peer"));
		const char *ingress = json_string_value(json_object_get(hop, "ingress"));
		int weight = json_integer_value(json_object_get(hop, "weight"));

		printf("%*s%s:%s -> %s", 2 * depth, "", server,
		       json_string_value(json_object_get(hop, "port")),
		       peer ? peer : "(dark)");
		if (weight != 1)
			printf(" weight %d", weight);
		if (json_is_true(json_object_get(hop, "backup")))
			printf(" backup");
		if (ingress)
			printf(" for what arrives at %s", ingress);
		printf("\n");
		then = json_object_get(hop, "then");
		if (then)
			route_print_tree(then, depth + 1);
	}
}

/* Shares of the ports that RDMA enters @dst through, NULL when there are none. */
static json_t *route_shares(const struct to_plan *plan, uint32_t src, uint32_t dst)
{
	const struct to_server *server = &plan->cluster->servers[dst];
	size_t pair = (size_t)src * plan->cluster->n_servers + dst;
	json_t *shares = NULL;

	for (unsigned int q = 0; plan->port_shares && q < server->n_ports; q++) {
		unsigned int share = plan->port_shares[pair * (plan->slots - 1) + q];

		if (!share)
			continue;
		if (!shares)
			shares = json_object();
		json_object_set_new(shares, server->ports[q].name,
				    json_real((double)share / TO_PORT_SHARES));
	}
	return shares;
}

static void route_print_shares(const char *server, json_t *shares)
{
	const char *before = "", *port;
	json_t *share;

	printf("RDMA to %s:", server);
	json_object_foreach(shares, port, share) {
		printf("%s %s %.4g %%", before, port, 100 * json_real_value(share));
		before = ",";
	}
	putchar('\n');
}

static int route_answer(struct to_call *call, const struct route_args *args,
			struct question *q)
{
	struct to_route_end src = q->has_src ? q->src : (struct to_route_end){ q->server, 0 };
	json_t *answer, *path = NULL, *shares = NULL;
	int ret;

	ret = route_ask(call, q, args->dev, &answer);
	if (ret)
		return ret;
	if (q->plan) {
		path = to_route_trace(q->plan, q->server, src, q->dst);
		if (!q->dst.slot)
			shares = route_shares(q->plan, src.server, q->dst.server);
	}
	if (call->json) {
		json_t *both = json_pack("{s:o?, s:o?, s:o*}", "kernel", answer, "path", path,
					 "rdma_shares", shares);

		json_dumpf(both, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(both);
		return 0;
	}
	if (answer)
		route_print_answer(answer);
	if (path)
		route_print_tree(path, 0);
	if (shares)
		route_print_shares(q->plan->cluster->servers[q->dst.server].name, shares);
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
	if (q.plan)
		to_plan_free(q.plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct route_args, field)

static const struct to_option route_options[] = {
	{ "plan", 'p', TO_OPTION_STRING, FIELD(plan), .argument = "FILE",
	  .help = "follow the path hop by hop through this plan's tables" },
	{ "node", 'n', TO_OPTION_STRING, FIELD(node), .argument = "NAME",
	  .help = "name of this server in the plan; default: the host name" },
	{ "dev", 'd', TO_OPTION_STRING, FIELD(dev), .argument = "DEV",
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
