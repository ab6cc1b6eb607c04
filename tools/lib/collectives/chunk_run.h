/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CHUNK_RUN_H
#define TOPOOPT_CHUNK_RUN_H

/*
 * When each stage of a schedule runs, if all ranks keep pace: Themis sections 4.3 and
 * 4.6.2. The order of stages in a dimension that comes out is the one that all ranks have
 * to keep to, however they are delayed.
 */

#include <stdint.h>

#include "collectives/chunk_schedule.h"

/**
 * enum to_chunk_order - which of the stages that wait for a dimension is next
 * @TO_CHUNK_FIFO: the one that waits longest; the first chunk among equals
 * @TO_CHUNK_SCF: the one whose chunk is smallest then, and waits longest
 * @TO_CHUNK_GIVEN: as to_chunk_run.order says
 */
enum to_chunk_order { TO_CHUNK_FIFO, TO_CHUNK_SCF, TO_CHUNK_GIVEN };

/** Names of TO_CHUNK_FIFO and TO_CHUNK_SCF, NULL-terminated. */
extern const char *const to_chunk_orders[];

/**
 * struct to_chunk_run - a schedule in time
 * @ps: until the last stage is done
 * @per_dimension: stages in each dimension
 * @start: when each stage begins to send, as in to_chunk_schedule.stages
 * @order: stages of each dimension as they begin, [dimension * per_dimension + i]
 */
struct to_chunk_run {
	uint64_t ps;
	unsigned int per_dimension;
	uint64_t *start;
	uint32_t *order;
};

/** to_chunk_run_init() - room for runs of @s. Return: 0 or -ENOMEM. */
int to_chunk_run_init(struct to_chunk_run *run, const struct to_chunk_schedule *s);
void to_chunk_run_free(struct to_chunk_run *run);

/**
 * to_chunk_run() - run @s
 *
 * Return: 0; -EDEADLK when an order of TO_CHUNK_GIVEN cannot be kept; -ENOMEM.
 */
int to_chunk_run(struct to_chunk_run *run, const struct to_chunk_schedule *s,
		 enum to_chunk_order order);

/**
 * to_chunk_run_utilisation() - bytes sent over those that all dimensions could have sent
 *
 * The mean of the dimensions by bandwidth (Themis section 3), 0 to 1; of one with
 * @dimension, of all with to_dimensions.n.
 */
double to_chunk_run_utilisation(const struct to_chunk_run *run, const struct to_chunk_schedule *s,
				unsigned int dimension);

#endif
