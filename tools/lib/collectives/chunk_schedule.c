// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/chunk_schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SCHEDULE_PS_MAX ((unsigned __int128)1 << 62)	/* 53 days */

const char *const to_chunk_collectives[] = { "allreduce", "reduce-scatter", "allgather", NULL };

uint64_t to_chunk_latency_ps(const struct to_dimension *d)
{
	return to_dimension_steps(d) * d->latency_ns * 1000;
}

/* A rank sends size - 1 of @parts parts of the chunk. 128 bits: 2^63 bytes, 2^20 ranks. */
static unsigned __int128 chunk_schedule_ps(const struct to_chunk_setting *setting,
					   const struct to_dimension *d, uint32_t parts)
{
	unsigned __int128 bits = (unsigned __int128)setting->bytes * 8 * (d->size - 1);

	return bits * TO_PS_PER_S / ((unsigned __int128)d->bandwidth * setting->n_chunks * parts);
}

double to_chunk_stage_bytes(const struct to_chunk_schedule *s, const struct to_chunk_stage *stage)
{
	return (double)s->setting.bytes / s->setting.n_chunks / stage->parts *
	       (s->network.list[stage->dimension].size - 1);
}

uint32_t to_chunk_stage_parts(const struct to_chunk_schedule *s, const struct to_chunk_stage *stage)
{
	return stage->gather ? stage->parts : stage->parts / s->network.list[stage->dimension].size;
}

/* No time of a run is longer than all stages one after the other, each with a whole chunk. */
static int chunk_schedule_check(const struct to_dimensions *network,
				const struct to_chunk_setting *setting, struct to_error *err)
{
	unsigned __int128 ps = 0;

	if (setting->bytes < setting->n_chunks)
		return to_error_set(err, -EINVAL, "chunks of 0 bytes: %llu bytes in %u chunks",
				    (unsigned long long)setting->bytes, setting->n_chunks);
	for (unsigned int k = 0; k < network->n; k++) {
		const struct to_dimension *d = &network->list[k];

		ps += 2 * setting->n_chunks *
		      (chunk_schedule_ps(setting, d, d->size) +
		       (unsigned __int128)to_dimension_steps(d) * d->latency_ns * 1000);
	}
	if (ps >= SCHEDULE_PS_MAX)
		return to_error_set(err, -ERANGE, "it could take 50 days: too many bytes or latencies "
				    "for this bandwidth");
	return 0;
}

int to_chunk_schedule_init(struct to_chunk_schedule *s, const struct to_dimensions *network,
			   const struct to_chunk_setting *setting, struct to_error *err)
{
	int ret = chunk_schedule_check(network, setting, err);

	*s = (struct to_chunk_schedule){ .network = *network, .setting = *setting };
	if (ret)
		return ret;
	s->n_stages = network->n * (setting->collective == TO_CHUNK_ALLREDUCE ? 2 : 1);
	s->stages = calloc((size_t)setting->n_chunks * s->n_stages, sizeof(*s->stages));
	return s->stages ? 0 : to_error_set(err, -ENOMEM, "out of memory");
}

void to_chunk_schedule_free(struct to_chunk_schedule *s)
{
	free(s->stages);
	s->stages = NULL;
}

/* Before the first chunk, a dimension's load is the fixed delay of the whole collective. */
static void chunk_schedule_begin(struct to_chunk_schedule *s)
{
	for (unsigned int k = 0; k < s->network.n; k++)
		s->load_ps[k] = to_chunk_latency_ps(&s->network.list[k]) * s->n_stages / s->network.n;
}

void to_chunk_schedule_route(struct to_chunk_schedule *s, unsigned int chunk,
			     const uint8_t *dimensions)
{
	struct to_chunk_stage *stages = &s->stages[(size_t)chunk * s->n_stages];
	unsigned int scatters = s->setting.collective == TO_CHUNK_ALLGATHER ? 0 : s->network.n;
	uint32_t parts = scatters ? 1 : s->network.ranks;

	for (unsigned int i = 0; i < s->n_stages; i++) {
		const struct to_dimension *d = &s->network.list[dimensions[i]];
		bool gather = i >= scatters;

		if (!gather)
			parts *= d->size;
		stages[i] = (struct to_chunk_stage){
			.dimension = dimensions[i], .gather = gather, .parts = parts,
			.ps = chunk_schedule_ps(&s->setting, d, parts),
		};
		s->load_ps[dimensions[i]] += stages[i].ps;
		if (gather)
			parts /= d->size;
	}
}

/* Reduce-scatters in the order of @first, all-gathers back. */
static void chunk_schedule_there_and_back(struct to_chunk_schedule *s, unsigned int chunk,
					  const uint8_t *first)
{
	uint8_t dimensions[2 * TO_DIMENSIONS_MAX];
	unsigned int n = s->network.n, scatters = s->setting.collective == TO_CHUNK_ALLGATHER ? 0 : n;

	for (unsigned int i = 0; i < s->n_stages; i++)
		dimensions[i] = i < scatters ? first[i] : first[n - 1 - (i - scatters)];
	to_chunk_schedule_route(s, chunk, dimensions);
}

void to_chunk_schedule_baseline(struct to_chunk_schedule *s)
{
	uint8_t first[TO_DIMENSIONS_MAX];

	for (unsigned int k = 0; k < s->network.n; k++)
		first[k] = k;
	chunk_schedule_begin(s);
	for (unsigned int c = 0; c < s->setting.n_chunks; c++)
		chunk_schedule_there_and_back(s, c, first);
}

/* Dimensions from least to most loaded, the inner one first among equals; or the baseline's. */
static void chunk_schedule_choose(const struct to_chunk_schedule *s, uint8_t *first)
{
	const uint64_t *load = s->load_ps;
	unsigned int n = s->network.n, least, most;

	for (unsigned int k = 0; k < n; k++) {
		unsigned int i = k;

		for (; i && load[first[i - 1]] > load[k]; i--)
			first[i] = first[i - 1];
		first[i] = k;
	}
	least = first[0];
	most = first[n - 1];
	if (load[most] - load[least] <
	    s->setting.threshold * chunk_schedule_ps(&s->setting, &s->network.list[least],
						     s->network.list[least].size))
		for (unsigned int k = 0; k < n; k++)
			first[k] = k;
}

void to_chunk_schedule_themis(struct to_chunk_schedule *s)
{
	uint8_t first[TO_DIMENSIONS_MAX];

	chunk_schedule_begin(s);
	for (unsigned int c = 0; c < s->setting.n_chunks; c++) {
		chunk_schedule_choose(s, first);
		chunk_schedule_there_and_back(s, c, first);
	}
}
