// SPDX-License-Identifier: GPL-2.0-or-later
#include "route_print.h"

#include <stdio.h>

void to_route_print_answer(const json_t *answer)
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

void to_route_print_tree(const json_t *node)
{
	route_print_tree(node, 0);
}

void to_route_print_shares(const char *server, json_t *shares)
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
