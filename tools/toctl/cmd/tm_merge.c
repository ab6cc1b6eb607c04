// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "data/tm.h"
#include "format/tm_json.h"
#include "measure/tm_merge.h"

#define MERGE_PORTS 4096	/* bytes of the names of ports in a warning */

struct merge_args {
	const char *output;
	bool partial;
};

/* One link over all samples. */
struct merge_link {
	uint64_t carried, seen, bypass;
	int64_t residual, lost;
};

static struct merge_link merge_sum(const struct to_tm *tm, unsigned int l)
{
	struct merge_link sum = {};

	for (unsigned int k = 0; k < tm->n_samples; k++) {
		const struct to_tm_link_bytes *link = &tm->samples[k].links[l];

		sum.carried += link->carried;
		sum.seen += link->seen;
		sum.bypass += link->bypass;
		sum.lost += link->lost;
	}
	sum.residual = sum.carried - sum.seen - sum.bypass;
	return sum;
}

static uint64_t merge_pairs(const struct to_tm *tm)
{
	uint64_t bytes = 0;

	for (unsigned int k = 0; k < tm->n_samples; k++)
		for (unsigned int i = 0; i < tm->samples[k].n_flows; i++)
			bytes += tm->samples[k].flows[i].bytes;
	return bytes;
}

/* Samples that lack a server's part. */
static unsigned int merge_absent(const struct to_tm *tm)
{
	unsigned int absent = 0;

	for (unsigned int k = 0; k < tm->n_samples; k++)
		absent += !!tm->samples[k].absent;
	return absent;
}

/* Warn of what makes the matrix less exact. */
static void merge_warn(const struct to_call *call, const struct to_tm *tm)
{
	const unsigned int absent = merge_absent(tm);
	char ports[MERGE_PORTS] = "";
	size_t at = 0;

	if (absent)
		to_call_note(call, "%u of %u samples lack a server's part", absent, tm->n_samples);
	if (!tm->n_stale)
		return;
	for (unsigned int i = 0; i < tm->n_stale && at < sizeof(ports); i++)
		at += snprintf(ports + at, sizeof(ports) - at, " %s:%s",
			       tm->servers[tm->stale[i].server], tm->stale[i].port);
	to_call_note(call, "counters that stand still while bytes pass:%s; %u samples remain, where both ends of a link have such ones",
		     ports, tm->n_samples);
}

/* The largest of all samples. */
static uint64_t merge_spread(const struct to_tm *tm)
{
	uint64_t spread = 0;

	for (unsigned int k = 0; k < tm->n_samples; k++)
		if (tm->samples[k].spread_ns > spread)
			spread = tm->samples[k].spread_ns;
	return spread;
}

static void merge_print_text(FILE *out, const struct to_tm *tm)
{
	struct merge_link total = {};

	for (unsigned int l = 0; l < tm->n_links; l++) {
		struct merge_link sum = merge_sum(tm, l);
		const struct to_tm_link *link = &tm->links[l];

		total.carried += sum.carried;
		total.seen += sum.seen;
		total.bypass += sum.bypass;
		total.residual += llabs(sum.residual);
		total.lost += sum.lost;
		if (sum.bypass || sum.residual || sum.lost)
			fprintf(out, "%s:%s -> %s:%s: carried %" PRIu64 ", seen %" PRIu64
				", bypassing RDMA %" PRIu64 ", residual %" PRId64
				", lost %" PRId64 "\n",
				tm->servers[link->from.server], link->from.port,
				tm->servers[link->to.server], link->to.port,
				sum.carried, sum.seen, sum.bypass, sum.residual,
				sum.lost);
	}
	fprintf(out, "%u servers, %u links, %u samples of %g ms: %" PRIu64
		" bytes between pairs, %" PRIu64 " of them RDMA that bypassed the kernel at both ends; residual %"
		PRId64 " of %" PRIu64 " bytes on links\n", tm->n_servers, tm->n_links,
		tm->n_samples, tm->interval_ns * 1e-6, merge_pairs(tm), total.bypass,
		total.residual, total.carried);
	if (merge_spread(tm))
		fprintf(out, "counters of a server were read within %g ms\n",
			merge_spread(tm) * 1e-6);
}

static void merge_print_json(FILE *out, const struct to_tm *tm)
{
	json_t *links = json_array(), *stale = json_array(), *report;
	uint64_t bypass = 0, carried = 0, residual = 0;

	for (unsigned int l = 0; l < tm->n_links; l++) {
		struct merge_link sum = merge_sum(tm, l);
		const struct to_tm_link *link = &tm->links[l];

		bypass += sum.bypass;
		carried += sum.carried;
		residual += llabs(sum.residual);
		json_array_append_new(links, json_pack(
			"{s:s+++, s:s+++, s:I, s:I, s:I, s:I, s:I}",
			"from", tm->servers[link->from.server], ":", link->from.port, "",
			"to", tm->servers[link->to.server], ":", link->to.port, "",
			"carried", (json_int_t)sum.carried, "seen", (json_int_t)sum.seen,
			"bypass", (json_int_t)sum.bypass,
			"residual", (json_int_t)sum.residual,
			"lost", (json_int_t)sum.lost));
	}
	for (unsigned int i = 0; i < tm->n_stale; i++)
		json_array_append_new(stale, json_sprintf("%s:%s",
							  tm->servers[tm->stale[i].server],
							  tm->stale[i].port));
	report = json_pack("{s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:o, s:o}",
			   "servers", tm->n_servers, "samples", tm->n_samples,
			   "absent", merge_absent(tm),
			   "bytes", (json_int_t)merge_pairs(tm),
			   "bypass", (json_int_t)bypass, "carried", (json_int_t)carried,
			   "residual", (json_int_t)residual,
			   "spread_ns", (json_int_t)merge_spread(tm), "stale", stale,
			   "links", links);
	json_dumpf(report, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(report);
}

static int merge_run(struct to_call *call, const void *data)
{
	const struct merge_args *args = data;
	const bool piped = !strcmp(args->output, "-");
	struct to_tm **records, *tm = NULL;
	int ret = -EINVAL;
	unsigned int n;

	records = calloc(call->n_operands, sizeof(*records));
	if (!records)
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	for (n = 0; n < call->n_operands; n++) {
		records[n] = to_tm_load(call->operands[n], &call->err);
		if (!records[n])
			goto out;
	}
	tm = to_tm_merge(records, n, args->partial, &call->err);
	if (!tm)
		goto out;
	ret = to_tm_save(tm, args->output, &call->err);
	if (ret)
		goto out;
	if (call->json)
		merge_print_json(piped ? stderr : stdout, tm);
	else
		merge_print_text(piped ? stderr : stdout, tm);
	merge_warn(call, tm);
out:
	to_tm_free(tm);
	while (n)
		to_tm_free(records[--n]);
	free(records);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct merge_args, field)

static const struct to_option merge_options[] = {
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), true, "FILE",
	  .help = "matrix to write; - is standard output" },
	{ "partial", 0, TO_OPTION_FLAG, FIELD(partial),
	  .help = "merge although servers are missing" },
	{}
};

const struct to_command to_cmd_tm_merge = {
	.name = "tm merge",
	.summary = "Merge recordings of servers into a traffic matrix",
	.operands = "TM...",
	.min_operands = 1,
	.max_operands = UINT_MAX,
	.options = merge_options,
	.args_size = sizeof(struct merge_args),
	.run = merge_run,
};
