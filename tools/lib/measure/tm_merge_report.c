// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/tm_merge_report.h"

#include <inttypes.h>
#include <stdlib.h>

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

unsigned int to_tm_merge_report_absent(const struct to_tm *tm)
{
	unsigned int absent = 0;

	for (unsigned int k = 0; k < tm->n_samples; k++)
		absent += !!tm->samples[k].absent;
	return absent;
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

void to_tm_merge_report_print(FILE *out, const struct to_tm *tm)
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

json_t *to_tm_merge_report_json(const struct to_tm *tm)
{
	json_t *links = json_array(), *stale = json_array();
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
	return json_pack("{s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:o, s:o}",
			 "servers", tm->n_servers, "samples", tm->n_samples,
			 "absent", to_tm_merge_report_absent(tm),
			 "bytes", (json_int_t)merge_pairs(tm),
			 "bypass", (json_int_t)bypass, "carried", (json_int_t)carried,
			 "residual", (json_int_t)residual,
			 "spread_ns", (json_int_t)merge_spread(tm), "stale", stale,
			 "links", links);
}
