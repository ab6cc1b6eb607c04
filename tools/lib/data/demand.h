/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DEMAND_H
#define TOPOOPT_DEMAND_H

/* What a job sends per training iteration: job.json. */

#include <stdint.h>

#include "data/cluster.h"

#define TO_CALLS_MAX 1000000u	/* of an AllReduce group in an iteration */

/**
 * struct to_allreduce - one AllReduce group
 * @members: server indices inside the job, in the order given
 * @bytes: size of the buffer reduced per iteration (M; a ring AllReduce puts
 *	2(n-1)/n * M on every link of the ring)
 * @calls: that reduce a part of the buffer each, one after the other; 0 counts as 1
 */
struct to_allreduce {
	unsigned int n_members;
	uint32_t *members;
	uint64_t bytes;
	unsigned int calls;
};

/**
 * struct to_demand - demand of one job
 * @n: servers of the job
 * @names: their names, or NULL when the job only counts them
 * @mp: MP transfers in bytes, n x n, row = source; diagonal 0; never NULL
 */
struct to_demand {
	char name[TO_NAME_MAX];
	unsigned int n;
	char (*names)[TO_NAME_MAX];
	unsigned int n_groups;
	struct to_allreduce *groups;
	uint64_t *mp;
};

struct to_demand *to_demand_copy(const struct to_demand *demand);

/** to_demand_turn() - make @n x @n numbers with row = source those with row = destination */
void to_demand_turn(uint64_t *bytes, unsigned int n);

/**
 * to_demand_join_groups() - make AllReduce groups that are equal one with all their calls
 *
 * What is planned for a group serves each of its calls, so 250 equal groups, as of 250
 * layers, cost what one does. Return: 0 or -ENOMEM.
 */
int to_demand_join_groups(struct to_demand *demand);
void to_demand_free(struct to_demand *demand);

#endif
