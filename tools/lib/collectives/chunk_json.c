// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/chunk_json.h"

static double chunk_json_seconds(uint64_t ps)
{
	return (double)ps / TO_PS_PER_S;
}

static json_t *chunk_json_dimension(const struct to_chunk_schedule *s, const struct to_chunk_run *run,
				    unsigned int k)
{
	const struct to_dimension *d = &s->network.list[k];
	const uint32_t *order = &run->order[(size_t)k * run->per_dimension];
	json_t *stages = json_array();
	uint64_t busy = 0;
	double bytes = 0;

	for (unsigned int i = 0; i < run->per_dimension; i++) {
		const struct to_chunk_stage *stage = &s->stages[order[i]];

		busy += stage->ps;
		bytes += to_chunk_stage_bytes(s, stage);
		json_array_append_new(stages, json_pack("[i, i]", (int)(order[i] / s->n_stages),
							(int)(order[i] % s->n_stages)));
	}
	return json_pack("{s:s s:i s:I s:f s:f s:f s:f s:f s:o}",
		"kind", to_dimension_kinds[d->kind], "size", (int)d->size,
		"bandwidth_bps", (json_int_t)d->bandwidth, "latency_s", d->latency_ns / 1e9,
		"utilisation", to_chunk_run_utilisation(run, s, k), "bytes", bytes,
		"busy_s", chunk_json_seconds(busy), "load_s", chunk_json_seconds(s->load_ps[k]),
		"order", stages);
}

static json_t *chunk_json_chunk(const struct to_chunk_schedule *s, const struct to_chunk_run *run,
				unsigned int chunk)
{
	json_t *stages = json_array();

	for (unsigned int i = 0; i < s->n_stages; i++) {
		size_t at = (size_t)chunk * s->n_stages + i;
		const struct to_chunk_stage *stage = &s->stages[at];
		uint64_t end = run->start[at] + stage->ps +
			       to_chunk_latency_ps(&s->network.list[stage->dimension]);

		json_array_append_new(stages, json_pack("{s:i s:s s:f s:f s:f}",
			"dimension", stage->dimension + 1,
			"operation", stage->gather ? "allgather" : "reduce-scatter",
			"bytes", to_chunk_stage_bytes(s, stage),
			"start_s", chunk_json_seconds(run->start[at]), "end_s", chunk_json_seconds(end)));
	}
	return stages;
}

json_t *to_chunk_json(const struct to_chunk_schedule *s, const struct to_chunk_run *run)
{
	json_t *dimensions = json_array(), *chunks = json_array();

	for (unsigned int k = 0; k < s->network.n; k++)
		json_array_append_new(dimensions, chunk_json_dimension(s, run, k));
	for (unsigned int c = 0; c < s->setting.n_chunks; c++)
		json_array_append_new(chunks, chunk_json_chunk(s, run, c));
	return json_pack("{s:s s:i s:s s:I s:I s:f s:i s:f s:f s:o s:o}",
		"format", "topoopt-schedule", "version", 1,
		"collective", to_chunk_collectives[s->setting.collective],
		"ranks", (json_int_t)s->network.ranks, "bytes", (json_int_t)s->setting.bytes,
		"threshold", s->setting.threshold, "parallel", (int)s->setting.parallel,
		"time_s", chunk_json_seconds(run->ps),
		"utilisation", to_chunk_run_utilisation(run, s, s->network.n),
		"per_dimension", dimensions, "chunks", chunks);
}
