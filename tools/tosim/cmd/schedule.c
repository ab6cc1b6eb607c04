// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "collectives/chunk_json.h"
#include "collectives/chunk_replay.h"
#include "collectives/chunk_search.h"
#include "collectives/dimensions_plan.h"
#include "cli/command.h"
#include "format/plan_json.h"
#include "report/schedule_page.h"

#define SCHEDULE_ROUTES 6	/* that are printed */

struct schedule_args {
	const char *network, *output, *report;
	uint64_t size, chunks, parallel, nodes, jitter, seed, latency;
	uint64_t gpus, gpu_bandwidth;
	int collective, policy, order;
	double threshold;
	bool unordered;
};

enum { SCHEDULE_BASELINE, SCHEDULE_THEMIS, SCHEDULE_OPTIMAL };

static const char *const schedule_policies[] = { "baseline", "themis", "optimal", NULL };

/* A schedule, how it was come by, and what it is compared with. */
struct schedule {
	const struct schedule_args *args;
	struct to_chunk_schedule chunks;
	struct to_chunk_run run;
	struct to_chunk_search search;
	struct to_chunk_replay replay;
	double baseline;	/* seconds */
};

static double schedule_seconds(const struct schedule *s)
{
	return (double)s->run.ps / TO_PS_PER_S;
}

static json_t *schedule_json(const struct schedule *s)
{
	json_t *object = to_chunk_json(&s->chunks, &s->run);
	const char *order = s->args->policy == SCHEDULE_OPTIMAL ? "searched" :
							       to_chunk_orders[s->args->order];

	json_object_update_new(object, json_pack("{s:s s:s s:f}", "policy",
		schedule_policies[s->args->policy], "order", order, "baseline_time_s", s->baseline));
	if (s->args->policy == SCHEDULE_OPTIMAL)
		json_object_set_new(object, "search", json_pack("{s:b s:I s:f}", "proved",
			s->search.proved, "nodes", (json_int_t)s->search.nodes, "bound_s",
			(double)s->search.bound_ps / TO_PS_PER_S));
	if (s->args->jitter)
		json_object_set_new(object, "replay", json_pack("{s:f s:I s:b s:b s:f s:s}",
			"jitter_s", s->args->jitter / 1e9, "seed", (json_int_t)s->args->seed,
			"ordered", s->replay.ordered, "deadlock", s->replay.left > 0,
			"time_s", (double)s->replay.ps / TO_PS_PER_S, "waits", s->replay.waits));
	return object;
}

static int schedule_write(FILE *out, const void *data, struct to_error *err)
{
	json_t *object = schedule_json(data);
	int ret = object ? json_dumpf(object, out, JSON_INDENT(1) | JSON_SORT_KEYS) : -1;

	json_decref(object);
	fputc('\n', out);
	return ret ? to_error_set(err, -ENOMEM, "out of memory") : 0;
}

/* Chunks that take the dimensions in the same order as chunk @c; 0 when an earlier one does. */
static unsigned int schedule_count_route(const struct to_chunk_schedule *s, unsigned int c)
{
	unsigned int n = 0;

	for (unsigned int other = 0; other < s->setting.n_chunks; other++) {
		unsigned int i = 0;

		while (i < s->n_stages && s->stages[c * s->n_stages + i].dimension ==
					  s->stages[other * s->n_stages + i].dimension)
			i++;
		if (i < s->n_stages)
			continue;
		if (other < c)
			return 0;
		n++;
	}
	return n;
}

static void schedule_print_routes(const struct to_chunk_schedule *s)
{
	unsigned int printed = 0, left = 0;

	for (unsigned int c = 0; c < s->setting.n_chunks; c++) {
		unsigned int n = schedule_count_route(s, c);

		if (!n)
			continue;
		if (printed++ >= SCHEDULE_ROUTES) {
			left += n;
			continue;
		}
		printf("  %5u chunk%s through", n, n == 1 ? " " : "s");
		for (unsigned int i = 0; i < s->n_stages; i++) {
			const struct to_chunk_stage *stage = &s->stages[c * s->n_stages + i];

			printf("%s %d", stage->gather && i && !stage[-1].gather ? " |" : "",
			       stage->dimension + 1);
		}
		putchar('\n');
	}
	if (left)
		printf("  %5u chunk%s in %u other orders\n", left, left == 1 ? "" : "s",
		       printed - SCHEDULE_ROUTES);
}

static void schedule_print(const struct schedule *s)
{
	const struct to_chunk_schedule *c = &s->chunks;
	char size[16], chunk[16], time[16];

	printf("%s of %s on %u ranks, %u chunks of %s, %s%s%s\n",
	       to_chunk_collectives[c->setting.collective],
	       to_bytes_text(c->setting.bytes, size), c->network.ranks, c->setting.n_chunks,
	       to_bytes_text((double)c->setting.bytes / c->setting.n_chunks, chunk),
	       schedule_policies[s->args->policy],
	       s->args->policy == SCHEDULE_OPTIMAL ? "" : ", ",
	       s->args->policy == SCHEDULE_OPTIMAL ? "" : to_chunk_orders[s->args->order]);
	printf("  %s, %.2f %% of the bandwidth used, %.3f times as fast as the baseline\n",
	       to_seconds_text(schedule_seconds(s), time),
	       100 * to_chunk_run_utilisation(&s->run, c, c->network.n),
	       s->run.ps ? s->baseline / schedule_seconds(s) : 1);
	if (s->args->policy == SCHEDULE_OPTIMAL)
		printf("  %s; no schedule takes less than %s\n",
		       s->search.proved ? "proved to be the best" : "the best found so far, see --nodes",
		       to_seconds_text((double)s->search.bound_ps / TO_PS_PER_S, time));
	printf("  %-9s %-8s %6s %10s %12s %8s\n", "dimension", "kind", "size", "Gbit/s", "latency", "used");
	for (unsigned int k = 0; k < c->network.n; k++)
		printf("  %-9u %-8s %6u %10.4g %12s %7.2f%%\n", k + 1,
		       to_dimension_kinds[c->network.list[k].kind], c->network.list[k].size,
		       c->network.list[k].bandwidth / 1e9,
		       to_seconds_text(c->network.list[k].latency_ns / 1e9, time),
		       100 * to_chunk_run_utilisation(&s->run, c, k));
	schedule_print_routes(c);
	if (!s->args->jitter)
		return;
	if (s->replay.left)
		printf("  DEADLOCK after %s with ranks that %s: %s\n",
		       to_seconds_text((double)s->replay.ps / TO_PS_PER_S, time),
		       s->replay.ordered ? "keep to the order" : "take what they have ready",
		       s->replay.waits);
	else
		printf("  %s with ranks that are late by up to %g us and %s\n",
		       to_seconds_text((double)s->replay.ps / TO_PS_PER_S, time),
		       s->args->jitter / 1e3,
		       s->replay.ordered ? "keep to the order" : "take what they have ready");
}

/* Schedule as the arguments say; the baseline is run first, to compare with. */
static int schedule_make(struct to_call *call, struct schedule *s)
{
	const struct schedule_args *args = s->args;

	to_chunk_schedule_baseline(&s->chunks);
	if (to_chunk_run(&s->run, &s->chunks, TO_CHUNK_FIFO))
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	s->baseline = schedule_seconds(s);
	if (args->policy == SCHEDULE_OPTIMAL) {
		s->search.nodes_max = args->nodes;
		return to_chunk_search(&s->chunks, &s->run, &s->search, &call->err);
	}
	if (args->policy == SCHEDULE_THEMIS)
		to_chunk_schedule_themis(&s->chunks);
	if (to_chunk_run(&s->run, &s->chunks, args->order))
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	return 0;
}

static int schedule_play(struct to_call *call, struct schedule *s)
{
	if (!s->args->jitter)
		return 0;
	s->replay = (struct to_chunk_replay){
		.jitter_ps = s->args->jitter * 1000, .seed = s->args->seed,
		.ordered = !s->args->unordered,
	};
	return to_chunk_replay(&s->chunks, &s->run, &s->replay, &call->err);
}

static int schedule_save_page(struct to_call *call, const struct schedule *s)
{
	char how[32];

	if (s->args->policy == SCHEDULE_OPTIMAL)
		snprintf(how, sizeof(how), "%s", s->search.proved ? "optimal" : "best found");
	else
		snprintf(how, sizeof(how), "%s, %s", schedule_policies[s->args->policy],
			 to_chunk_orders[s->args->order]);
	return to_schedule_page_save(&s->chunks, &s->run, how, TO_VERSION, s->args->report, &call->err);
}

static bool schedule_is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

static int schedule_show(struct to_call *call, const struct schedule *s)
{
	const struct schedule_args *args = s->args;
	int ret = 0;

	if (args->output)
		ret = to_file_write(args->output, schedule_write, s, &call->err);
	if (!ret && args->report)
		ret = schedule_save_page(call, s);
	if (ret || schedule_is_stdout(args->output) || schedule_is_stdout(args->report))
		return ret;
	if (call->json)
		return schedule_write(stdout, s, &call->err);
	schedule_print(s);
	return 0;
}

static int schedule_read_plan(const char *data, size_t len, const struct schedule_args *args,
			      struct to_dimensions *network, struct to_error *err)
{
	struct to_plan *plan = to_plan_parse(data, len, args->network, err);
	struct to_error why = { "" };
	int ret = -EINVAL;

	if (plan)
		ret = to_dimensions_of_plan(plan, args->latency, network, &why);
	if (!ret && args->gpus)
		ret = to_dimensions_put_inside(network, &(const struct to_dimension){
			TO_DIMENSION_SWITCH, args->gpus, args->gpu_bandwidth, args->latency }, &why);
	if (plan && ret)
		to_error_set(err, ret, "%s: %.400s", args->network, why.text);
	to_plan_free(plan);
	return ret;
}

/* Dimensions of a dims.json, or of a plan. */
static int schedule_read(const struct schedule_args *args, struct to_dimensions *network,
			 struct to_error *err)
{
	struct to_json_doc doc;
	struct to_json at, member;
	bool plan = false;
	char *data;
	size_t len;
	int ret = to_file_read(args->network, TO_FILE_MAX, &data, &len, err);

	if (ret)
		return ret;
	ret = to_json_open_deferred(&doc, &at, data, len, args->network, "tables", NULL, err);
	if (!ret && json_is_object(at.value)) {
		member = to_json_member(&at, "format");
		plan = json_is_string(member.value) &&
		       !strcmp(json_string_value(member.value), "topoopt-plan");
	}
	to_json_close(&doc);
	if (!ret && !plan && args->gpus)
		ret = to_error_set(err, -EINVAL, "%s: --gpus is for plans: dims.json has all dimensions",
				   args->network);
	if (!ret)
		ret = plan ? schedule_read_plan(data, len, args, network, err) :
			     to_dimensions_parse(data, len, args->network, network, err);
	free(data);
	return ret;
}

static int schedule_run(struct to_call *call, const void *data)
{
	const struct schedule_args *args = data;
	struct schedule s = { .args = args };
	struct to_chunk_setting setting = {
		.collective = args->collective, .bytes = args->size, .n_chunks = args->chunks,
		.threshold = args->threshold, .parallel = args->parallel,
	};
	struct to_dimensions network;
	int ret;

	if (!(args->threshold >= 0))
		return to_usage(call, "--threshold is a share of a chunk, 0 or more");
	if (schedule_is_stdout(args->output) && schedule_is_stdout(args->report))
		return to_usage(call, "schedule and report cannot both go to standard output");
	ret = schedule_read(args, &network, &call->err);
	if (!ret)
		ret = to_chunk_schedule_init(&s.chunks, &network, &setting, &call->err);
	if (ret)
		return ret;
	if (to_chunk_run_init(&s.run, &s.chunks))
		ret = to_error_set(&call->err, -ENOMEM, "out of memory");
	if (!ret)
		ret = schedule_make(call, &s);
	if (!ret)
		ret = schedule_play(call, &s);
	if (!ret)
		ret = schedule_show(call, &s);
	to_chunk_run_free(&s.run);
	to_chunk_schedule_free(&s.chunks);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct schedule_args, field)

static const struct to_option schedule_options[] = {
	{ "network", 'n', TO_OPTION_STRING, FIELD(network), .argument = "FILE", .required = true,
	  .help = "dims.json, or a plan whose links are a torus, full meshes, BCube or rails" },
	{ "size", 's', TO_OPTION_BYTES, FIELD(size), .argument = "BYTES", .required = true, .min = 1,
	  .max = INT64_MAX,
	  .help = "of a rank's buffer: 100MB, 64MiB; what an allgather ends with" },
	{ "collective", 'c', TO_OPTION_CHOICE, FIELD(collective), .choices = to_chunk_collectives,
	  .help = "what is done with it; default: allreduce" },
	{ "chunks", 'k', TO_OPTION_NUMBER, FIELD(chunks), .argument = "N", .min = 1,
	  .max = TO_CHUNKS_MAX, .help = "that it is cut into; default: 64" },
	{ "policy", 'p', TO_OPTION_CHOICE, FIELD(policy), .choices = schedule_policies,
	  .help = "who chooses the dimensions of a chunk; default: themis" },
	{ "order", 0, TO_OPTION_CHOICE, FIELD(order), .choices = to_chunk_orders,
	  .help = "which chunk is next in a dimension; default: scf, smallest chunk first" },
	{ "threshold", 0, TO_OPTION_REAL, FIELD(threshold), .argument = "SHARE",
	  .help = "of a chunk: themis keeps to the baseline while loads differ by less; default: "
		  "0.0625" },
	{ "parallel", 0, TO_OPTION_NUMBER, FIELD(parallel), .argument = "N", .max = TO_CHUNKS_MAX,
	  .help = "chunks that a dimension has under way at most; default: 0, any number" },
	{ "nodes", 0, TO_OPTION_NUMBER, FIELD(nodes), .argument = "N", .min = 1, .max = INT64_MAX,
	  .help = "partial schedules that optimal looks at, at most; default: 1000000" },
	{ "jitter", 0, TO_OPTION_DURATION, FIELD(jitter), .argument = "DURATION", .min = 1,
	  .max = 1000000000000, .help = "also play it with ranks that are late by up to this" },
	{ "seed", 0, TO_OPTION_NUMBER, FIELD(seed), .argument = "N", .max = INT64_MAX,
	  .with = "jitter", .help = "of the delays; default: 1" },
	{ "unordered", 0, TO_OPTION_FLAG, FIELD(unordered), .with = "jitter",
	  .help = "play it with ranks that take what they have ready, and may deadlock" },
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "where to write schedule.json" },
	{ "report", 'r', TO_OPTION_OUTPUT, FIELD(report), .argument = "FILE",
	  .help = "also write an HTML page: chunks over time, utilisation by size and chunks" },
	{ "latency", 0, TO_OPTION_DURATION, FIELD(latency), .argument = "DURATION",
	  .max = 1000000000000, .help = "of a step, where the network is a plan; default: 1us" },
	{ "gpus", 'g', TO_OPTION_NUMBER, FIELD(gpus), .argument = "N", .min = 2, .max = 1024,
	  .with = "gpu-bandwidth",
	  .help = "of a server of the plan: ranks that share its ports, the innermost dimension" },
	{ "gpu-bandwidth", 0, TO_OPTION_RATE, FIELD(gpu_bandwidth), .argument = "RATE", .min = 1,
	  .max = INT64_MAX, .with = "gpus", .help = "of a GPU into the switch that joins those of a server" },
	{}
};

const struct to_command to_cmd_schedule = {
	.name = "schedule",
	.summary = "Schedule the chunks of a collective on a network",
	.options = schedule_options,
	.args_size = sizeof(struct schedule_args),
	.defaults = &(const struct schedule_args){
		.chunks = 64, .policy = SCHEDULE_THEMIS, .order = TO_CHUNK_SCF, .threshold = 0.0625,
		.nodes = 1000000, .seed = 1, .latency = 1000,
	},
	.run = schedule_run,
};
