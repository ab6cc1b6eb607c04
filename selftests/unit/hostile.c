// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The readers of files and replies, many documents in one process, for test_hostile_names.py.
 *
 * Each document on standard input is a line "FORMAT LENGTH" and LENGTH bytes. Each answer is
 * a line: "accepted", or the error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "data/plan.h"
#include "data/tm.h"
#include "doctor/inventory.h"
#include "format/cluster_json.h"
#include "format/demand_json.h"
#include "format/plan_json.h"
#include "format/tm_json.h"
#include "shard/shard_trace.h"

static bool hostile_accepts(const char *format, const char *text, size_t len, struct to_error *err)
{
	bool accepted = false;

	if (!strcmp(format, "cluster")) {
		struct to_cluster *cluster = to_cluster_parse(text, len, "doc", err);

		accepted = cluster;
		to_cluster_free(cluster);
	} else if (!strcmp(format, "job")) {
		struct to_demand *demand = to_demand_parse(text, len, "doc", TO_SERVERS_USUAL, err);

		accepted = demand;
		to_demand_free(demand);
	} else if (!strcmp(format, "plan")) {
		struct to_plan *plan = to_plan_parse(text, len, "doc", err);

		accepted = plan;
		to_plan_free(plan);
	} else if (!strcmp(format, "tm")) {
		struct to_tm *tm = to_tm_parse(text, len, "doc", NULL, err);

		accepted = tm;
		to_tm_free(tm);
	} else if (!strcmp(format, "trace")) {
		struct to_shard_trace trace;

		accepted = !to_shard_trace_parse(&trace, text, len, "doc", err);
		if (accepted)
			to_shard_trace_free(&trace);
	} else if (!strcmp(format, "inventory")) {
		struct to_inventory inventory;

		accepted = !to_inventory_parse(&inventory, text, len, "doc", err);
		if (accepted)
			to_inventory_free(&inventory);
	}
	return accepted;
}

int main(void)
{
	char format[32];
	size_t len;

	while (scanf("%31s %zu%*1[\n]", format, &len) == 2) {
		struct to_error err = { "no such format" };
		char *text = malloc(len + 1);

		if (!text || fread(text, 1, len, stdin) != len)
			return 1;
		text[len] = '\0';
		puts(hostile_accepts(format, text, len, &err) ? "accepted" : err.text);
		free(text);
	}
	return 0;
}
