/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CHUNK_SCHEDULE_H
#define TOPOOPT_CHUNK_SCHEDULE_H

/*
 * Which dimension a chunk of a collective takes first (Rashidi et al., "Themis: A Network
 * Bandwidth-Aware Collective Scheduling Policy for Distributed Training of DL Models",
 * ISCA 2022). A buffer is cut into chunks; each goes through all dimensions, is scattered
 * in one after the other, and gathered again.
 *
 * Times are whole picoseconds, computed without rounding of floating-point numbers: ranks
 * on different machines have to come to the same schedule.
 */

#include <stdbool.h>
#include <stdint.h>

#include "collectives/dimensions.h"

#define TO_CHUNKS_MAX 4096
#define TO_PS_PER_S 1000000000000ull

/**
 * enum to_chunk_collective - what is done with the buffer
 * @TO_CHUNK_ALLREDUCE: a reduce-scatter in every dimension, then an all-gather
 */
enum to_chunk_collective { TO_CHUNK_ALLREDUCE, TO_CHUNK_REDUCE_SCATTER, TO_CHUNK_ALLGATHER };

extern const char *const to_chunk_collectives[];

/**
 * struct to_chunk_setting - what is to be scheduled
 * @bytes: of a rank's buffer, before a reduce-scatter or after an all-gather
 * @n_chunks: 1 to TO_CHUNKS_MAX
 * @threshold: share of a chunk; while loads differ by less than it would take on the
 *	least loaded dimension, Themis keeps to the baseline
 * @parallel: chunks that a dimension has under way at most, 0 for any number
 *
 * A chunk under way has its links until its last byte is sent; another one may be sent
 * while its steps' latencies pass (section 4.3), which @parallel limits.
 */
struct to_chunk_setting {
	enum to_chunk_collective collective;
	uint64_t bytes;
	unsigned int n_chunks;
	double threshold;
	unsigned int parallel;
};

/**
 * struct to_chunk_stage - a chunk in one dimension
 * @gather: an all-gather; else a reduce-scatter
 * @parts: into how many the chunk is scattered after a reduce-scatter or before an
 *	all-gather
 * @ps: that its bytes take at full bandwidth
 */
struct to_chunk_stage {
	uint8_t dimension;
	bool gather;
	uint32_t parts;
	uint64_t ps;
};

/**
 * struct to_chunk_schedule - order of dimensions of each chunk
 * @n_stages: of a chunk
 * @stages: [chunk * n_stages + i]
 * @load_ps: of each dimension, with the fixed delay of the collective (section 4.4)
 */
struct to_chunk_schedule {
	struct to_dimensions network;
	struct to_chunk_setting setting;
	unsigned int n_stages;
	struct to_chunk_stage *stages;
	uint64_t load_ps[TO_DIMENSIONS_MAX];
};

/**
 * to_chunk_schedule_init() - a schedule without orders yet
 *
 * Return: 0; -EINVAL for chunks of 0 bytes, -ERANGE for what could take 50 days, -ENOMEM.
 */
int to_chunk_schedule_init(struct to_chunk_schedule *s, const struct to_dimensions *network,
			   const struct to_chunk_setting *setting, struct to_error *err);
void to_chunk_schedule_free(struct to_chunk_schedule *s);

/** to_chunk_schedule_baseline() - reduce-scatters from the innermost dimension, all-gathers to it */
void to_chunk_schedule_baseline(struct to_chunk_schedule *s);

/** to_chunk_schedule_themis() - reduce-scatters from the least loaded dimension (Algorithm 1) */
void to_chunk_schedule_themis(struct to_chunk_schedule *s);

/** to_chunk_schedule_route() - give @chunk an order: n_stages dimensions, reduce-scatters first */
void to_chunk_schedule_route(struct to_chunk_schedule *s, unsigned int chunk,
			     const uint8_t *dimensions);

/** to_chunk_latency_ps() - fixed delay of a stage in a dimension: its steps */
uint64_t to_chunk_latency_ps(const struct to_dimension *d);

/** to_chunk_stage_bytes() - that a rank sends in a stage */
double to_chunk_stage_bytes(const struct to_chunk_schedule *s, const struct to_chunk_stage *stage);

/** to_chunk_stage_parts() - into how many its chunk is scattered when it begins: few, if large */
uint32_t to_chunk_stage_parts(const struct to_chunk_schedule *s, const struct to_chunk_stage *stage);

#endif
