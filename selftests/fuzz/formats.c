// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer on the loaders of all formats; a plan that loads must survive
 * being printed and read again.
 */

#include <stdlib.h>

#include "base/limits.h"
#include "collectives/chunk_run.h"
#include "cost/prices.h"
#include "data/plan.h"
#include "data/tm.h"
#include "format/cluster_json.h"
#include "format/demand_json.h"
#include "format/plan_json.h"
#include "format/tm_json.h"
#include "shard/shard_trace.h"
#include "simulate/network_json.h"
#include "workload/dnn_model.h"
#include "workload/trace.h"

static void reload(const struct to_plan *plan)
{
	struct to_plan *again;
	struct to_error err;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int ret = to_plan_print(plan, out, &err);

	fclose(out);
	if (!ret) {
		again = to_plan_parse(text, len, "printed", &err);
		if (!again) {
			fprintf(stderr, "%s\n", err.text);
			abort();
		}
		to_plan_free(again);
	}
	free(text);
}

/* A network that loads can be scheduled for, or is refused. */
static void schedule(const struct to_dimensions *dims)
{
	const struct to_chunk_setting setting = { .bytes = 1000000, .n_chunks = 8, .threshold = 0.0625 };
	struct to_chunk_schedule s;
	struct to_chunk_run run;
	struct to_error err;

	if (to_chunk_schedule_init(&s, dims, &setting, &err))
		return;
	to_chunk_schedule_themis(&s);
	if (to_chunk_run_init(&run, &s) || to_chunk_run(&run, &s, TO_CHUNK_SCF) ||
	    to_chunk_run_utilisation(&run, &s, dims->n) > 1)
		abort();
	to_chunk_run_free(&run);
	to_chunk_schedule_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data;
	struct to_dimensions dims;
	struct to_plan *plan;
	struct to_shard_trace jobs;
	struct to_trace trace;
	struct to_error err;

	plan = to_plan_parse(text, len, "plan", &err);
	if (plan)
		reload(plan);
	to_plan_free(plan);
	to_cluster_free(to_cluster_parse(text, len, "cluster", &err));
	to_demand_free(to_demand_parse(text, len, "job", TO_SERVERS_USUAL, &err));
	to_dnn_model_free(to_dnn_model_parse(text, len, "model", &err));
	if (!to_dimensions_parse(text, len, "dims", &dims, &err))
		schedule(&dims);
	to_network_free(to_network_parse(text, len, "network", 0, &err));
	to_prices_free(to_prices_parse(text, len, "prices", &err));
	to_tm_free(to_tm_parse(text, len, "tm", NULL, &err));
	if (!to_trace_parse(&trace, "trace", text, len, &err))
		to_trace_free(&trace);
	if (!to_shard_trace_parse(&jobs, text, len, "jobs", &err))
		to_shard_trace_free(&jobs);
	return 0;
}
